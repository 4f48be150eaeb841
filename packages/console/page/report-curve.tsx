// The balance of a report, and the drawdown beneath it, as pictures that stay sharp on paper.
import type { CurveData } from './curve.tsx'
import { localDay, money } from './format.ts'

const width = 720
const left = 78
const right = 10
const balanceHeight = 190
const drawdownTop = 222
const drawdownHeight = 60
const height = 306

/** Round steps of an axis: at most so many, and at least the two ends. */
const ticksOf = (least: number, most: number, count: number): readonly number[] => {
  const rough = (most - least) / count || 1
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10)
  const first = Math.ceil(least / step)
  const last = Math.floor(most / step)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

/** From one corner to the next, as a balance changes: at once, and not between two trades. */
const stepsThrough = (corners: readonly (readonly [number, number])[]): string =>
  corners
    .map(([x, y], index) =>
      index === 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}` : `H${x.toFixed(1)}V${y.toFixed(1)}`,
    )
    .join('')

const wholeMoney = (value: number, currency: string): string =>
  money(value, currency).replace(/[.,]00(?=\D*$)/, '')

export const ReportCurve = ({
  curve: { points },
  currency,
}: {
  curve: CurveData
  currency: string
}) => {
  const times = points.map(({ time }) => Date.parse(time))
  const [start = 0, end = 0] = [times[0], times.at(-1)]
  const balances = points.map(({ balance, netProfit }) => balance ?? netProfit)
  const [least, most] = [Math.min(...balances), Math.max(...balances)]
  const deepest = Math.max(...points.map(({ drawdown }) => drawdown))
  const x = (at: number): number =>
    left + ((width - left - right) * (at - start)) / Math.max(1, end - start)
  const y = (balance: number): number =>
    10 + ((balanceHeight - 10) * (most - balance)) / (most - least || 1)
  const depth = (drawdown: number): number =>
    drawdownTop + (drawdownHeight * drawdown) / (deepest || 1)
  const days = Array.from({ length: 5 }, (_, index) => start + ((end - start) * index) / 4)
  const fallen = points.map(
    ({ drawdown }, index) => [x(times[index] ?? 0), depth(drawdown)] as const,
  )
  return (
    <svg
      class="report-curve"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Balance from ${money(balances[0] ?? 0, currency)} to ${money(balances.at(-1) ?? 0, currency)}, at least ${money(least, currency)} and at most ${money(most, currency)}; deepest drawdown ${money(deepest, currency)}.`}
    >
      {ticksOf(least, most, 5).map((tick) => (
        <g key={tick}>
          <line class="grid" x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} />
          <text class="tick" x={left - 8} y={y(tick) + 3.5} text-anchor="end">
            {wholeMoney(tick, currency)}
          </text>
        </g>
      ))}
      <path
        class="balance"
        d={stepsThrough(balances.map((balance, index) => [x(times[index] ?? 0), y(balance)]))}
      />
      <line class="axis" x1={left} x2={width - right} y1={drawdownTop} y2={drawdownTop} />
      <text class="tick" x={left - 8} y={drawdownTop + 3.5} text-anchor="end">
        0
      </text>
      {deepest > 0 && (
        <>
          <path
            class="drawdown"
            d={`${stepsThrough(fallen)}V${drawdownTop}H${x(start).toFixed(1)}Z`}
          />
          <text class="tick" x={left - 8} y={drawdownTop + drawdownHeight + 3.5} text-anchor="end">
            {money(-deepest, currency)}
          </text>
        </>
      )}
      {days.map((at, index) => (
        <text
          key={at}
          class="tick"
          x={x(at)}
          y={height - 4}
          text-anchor={index === 0 ? 'start' : index === days.length - 1 ? 'end' : 'middle'}
        >
          {localDay(new Date(at).toISOString())}
        </text>
      ))}
    </svg>
  )
}
