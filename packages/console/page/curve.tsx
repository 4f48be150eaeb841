// Balance over time with deposits and withdrawals, and the drawdown beneath: one SVG, which also
// prints.
import type { DataOf } from '@tradeport/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { axisLabels, compact, localDay, localTime, number, percent, timeBetween } from './format.ts'
import { Facts, TimeWithDay, Result, Table, Time, useMoney } from './parts.tsx'
import { ChartFrame, ticks, useWidth } from './chart-frame.tsx'

export type CurveData = DataOf<'getTradeCurve'>

/** What open positions have made as a whole. */
export interface OpenResult {
  readonly amount: number
  readonly at: string
}

/** The account's equity as it is now. */
interface EquityNow {
  readonly equity: number
  readonly at: string
  /** Undefined where it is not known. */
  readonly open: OpenResult | undefined
}

interface CurveProps {
  readonly curve: CurveData
  /** Left out where it is unknown, and where the curve ends before now. */
  readonly now?: EquityNow | undefined
}

/** What changed the drawn line: a closed trade, or a cash flow. */
interface Step {
  readonly at: number
  readonly value: number
  /** How far net profit was below its peak; undefined at a cash flow. */
  readonly drawdown?: number
  readonly flow?: NonNullable<CurveData['cashFlows']>['points'][number]
}

/**
 * In the order of time. Where balances are not known the line is net profit, and there are no cash
 * flows.
 */
const stepsOf = ({ points, cashFlows }: CurveData): readonly Step[] =>
  [
    ...points.map(({ time, balance, netProfit, drawdown }) => ({
      at: Date.parse(time),
      value: balance ?? netProfit,
      drawdown,
    })),
    ...(cashFlows?.points ?? []).map((flow) => ({
      at: Date.parse(flow.time),
      value: flow.balance,
      flow,
    })),
  ].toSorted((a, b) => a.at - b.at)

const reasons = {
  deposit: 'deposit',
  withdrawal: 'withdrawal',
  charge: 'charge of the broker',
  correction: 'correction of the broker',
  other: 'other movement',
} as const

export const Curve = ({ curve, now }: CurveProps) => {
  const { money, signed } = useMoney()
  const steps = stepsOf(curve)
  const isBalance = curve.cashFlows !== null
  if (curve.points.length === 0)
    return <p class="quiet">No trade was closed, so there is no curve.</p>
  return (
    <>
      <ChartFrame
        title={isBalance ? 'Balance' : 'Net profit'}
        note={
          <>
            {!isBalance &&
              "The balance is not known: the deals changed, and were not compared with the broker's balance since. "}
            After each closed trade
            {isBalance && ', with what was booked in ▲ and out ▼'}; open positions do not move it
            until they close. Beneath, how far net profit was below its peak.
            {curve.maxDrawdown.troughAt !== null && ' The deepest drawdown is shaded.'}
          </>
        }
        table={(label) => (
          <Table
            label={label}
            rows={steps}
            keyOf={(_, index) => index}
            columns={[
              ['Time', ({ at }) => <Time iso={new Date(at).toISOString()} />],
              [
                'What',
                ({ flow }) =>
                  flow ? `${reasons[flow.reason]} ${signed(flow.amount)}` : 'trade closed',
              ],
              ['Value after it', ({ value }) => money(value), 'figure'],
              [
                'Below its peak',
                ({ drawdown }) => drawdown !== undefined && money(drawdown),
                'figure',
              ],
            ]}
          />
        )}
      >
        <CurveDrawing {...{ curve, steps }} now={isBalance ? now : undefined} />
      </ChartFrame>
      <CurveFacts {...{ curve, now }} />
      {isBalance && now?.open && (
        <p class="quiet">
          What is booked in less what is booked out, closed trades and open positions together are
          the equity, but for what prices moved between the two times, a credit of the broker, and
          positions whose deals do not add up.
        </p>
      )}
    </>
  )
}

const At = ({ iso: time }: { iso: string }) => <span class="quiet">at {localTime(time)}</span>

/** What was paid and booked, closed trades and open positions make the equity. */
const CurveFacts = ({ curve: { points, cashFlows, maxDrawdown }, now }: CurveProps) => {
  const { money } = useMoney()
  const { amount, percent: share, peakAt, troughAt, recoveredAt } = maxDrawdown
  return (
    <Facts
      facts={[
        [
          'Booked besides trades',
          cashFlows !== null && (
            <>
              {money(cashFlows.inflows)} in, {money(cashFlows.outflows)} out
              {cashFlows.count > cashFlows.points.length && (
                <span class="quiet">
                  {' '}
                  the {number(cashFlows.points.length)} largest of {number(cashFlows.count)} are
                  drawn
                </span>
              )}
            </>
          ),
        ],
        ['Net profit of closed trades', <Result amount={points.at(-1)?.netProfit ?? 0} />],
        [
          'Open positions, with commission and swap',
          now &&
            (now.open ? (
              <>
                <Result amount={now.open.amount} /> <At iso={now.open.at} />
              </>
            ) : (
              'not known'
            )),
        ],
        [
          'Equity now',
          now && (
            <>
              {money(now.equity)} <At iso={now.at} />
            </>
          ),
        ],
        [
          'Deepest drawdown',
          `${money(amount)}${share === null ? '' : ` (${percent(share)} of the highest balance)`}`,
        ],
        [
          'From peak to recovery',
          troughAt !== null && (
            <>
              {peakAt === null ? (
                'from the start'
              ) : (
                <>
                  from <TimeWithDay iso={peakAt} />
                </>
              )}{' '}
              {recoveredAt === null ? (
                'and not recovered since'
              ) : (
                <>
                  to <TimeWithDay iso={recoveredAt} />
                  {peakAt !== null && ` (${timeBetween(peakAt, recoveredAt)})`}
                </>
              )}
            </>
          ),
        ],
      ]}
    />
  )
}

/** Half of a mark. */
const left = 6
const [upperHeight, lowerHeight, gap, top, axisHeight] = [210, 70, 14, 16, 22]
const height = top + upperHeight + gap + lowerHeight + axisHeight
const lowerTop = top + upperHeight + gap
const bottom = lowerTop + lowerHeight

const CurveDrawing = ({ curve, steps, now }: CurveProps & { readonly steps: readonly Step[] }) => {
  const { money, signed } = useMoney()
  const svg = useRef<SVGSVGElement>(null)
  const width = useWidth(svg)
  const [pointed, setPointed] = useState<Step>()
  // A new curve has other steps.
  useEffect(() => setPointed(undefined), [curve])
  const [first, last] = [steps[0], steps.at(-1)] as [Step, Step]
  const nowAt = now ? Math.max(last.at, Date.parse(now.at)) : last.at
  const right = width - 58
  const x = (at: number): number =>
    ((at - first.at) / (nowAt - first.at || 1)) * (right - left) + left
  const values = [...steps.map(({ value }) => value), ...(now ? [now.equity] : [])]
  const valueTicks = ticks(Math.min(...values), Math.max(...values), 4)
  const valueLabels = axisLabels(valueTicks)
  const least = Math.min(...values, ...valueTicks)
  const most = Math.max(...values, ...valueTicks)
  const y = (value: number): number =>
    top + upperHeight * (1 - (value - least) / (most - least || 1))
  const { maxDrawdown } = curve
  const deepest = maxDrawdown.amount || 1
  const fallY = (drawdown: number): number => lowerTop + (lowerHeight * drawdown) / deepest

  const line = steps.map(({ at, value }) => `H${x(at)}V${y(value)}`).join('')
  const falls = steps
    .map(({ at, drawdown }) => (drawdown === undefined ? '' : `H${x(at)}V${fallY(drawdown)}`))
    .join('')
  const start = maxDrawdown.peakAt === null ? first.at : Date.parse(maxDrawdown.peakAt)
  const end = maxDrawdown.recoveredAt === null ? nowAt : Date.parse(maxDrawdown.recoveredAt)
  const dayCount = Math.max(2, Math.min(6, Math.floor(right / 130)))
  const describe = ({ drawdown, flow }: Step): string => {
    if (flow) return `, ${reasons[flow.reason]} ${signed(flow.amount)}`
    return drawdown === undefined || drawdown === 0
      ? ', at its peak'
      : `, ${money(drawdown)} below its peak`
  }
  const point = (event: PointerEvent): void => {
    const box = svg.current?.getBoundingClientRect()
    if (!box) return
    const pointedX = ((event.clientX - box.left) / box.width) * width
    setPointed(steps.findLast(({ at }) => x(at) <= pointedX) ?? first)
  }
  return (
    <>
      <svg
        ref={svg}
        class="curve"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`From ${money(first.value)} on ${localDay(first.at)} to ${money(last.value)} on ${localDay(last.at)}. The table beneath has every step.`}
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        {maxDrawdown.troughAt !== null && (
          <rect
            class="worst"
            x={x(start)}
            y={top}
            width={Math.max(1, x(end) - x(start))}
            height={bottom - top}
          />
        )}
        {valueTicks.map((value, index) => (
          <g key={value}>
            <line class="grid" x1="0" x2={right} y1={y(value)} y2={y(value)} />
            <text x={right + 6} y={y(value) + 4}>
              {valueLabels[index]}
            </text>
          </g>
        ))}
        <line class="grid" x1="0" x2={right} y1={lowerTop} y2={lowerTop} />
        <text x={right + 6} y={lowerTop + 4}>
          0
        </text>
        {maxDrawdown.amount > 0 && (
          <text x={right + 6} y={bottom + 4}>
            {compact(-maxDrawdown.amount)}
          </text>
        )}
        <path class="fall" d={`M${left},${lowerTop}${falls}H${x(nowAt)}V${lowerTop}Z`} />
        <path class="line" d={`M${left},${y(first.value)}${line}H${x(nowAt)}`} />
        <Flows {...{ steps, x, y, right }} />
        {now && (
          <>
            <line
              class="equity"
              x1={x(nowAt)}
              x2={x(nowAt)}
              y1={y(last.value)}
              y2={y(now.equity)}
            />
            <circle class="equity" cx={x(nowAt)} cy={y(now.equity)} r="4">
              <title>{`Equity now: ${money(now.equity)}`}</title>
            </circle>
          </>
        )}
        {pointed && (
          <line class="pointed" x1={x(pointed.at)} x2={x(pointed.at)} y1={top} y2={bottom} />
        )}
        {Array.from({ length: dayCount }, (_, index) => {
          const share = index / (dayCount - 1)
          const anchor = index === 0 ? 'start' : index === dayCount - 1 ? 'end' : 'middle'
          return (
            <text key={index} x={left + (right - left) * share} y={height - 4} text-anchor={anchor}>
              {localDay(first.at + share * (nowAt - first.at))}
            </text>
          )
        })}
      </svg>
      <p class="quiet readout" aria-hidden="true">
        {pointed === undefined
          ? 'Point at the curve to read it.'
          : `${localTime(pointed.at)}: ${money(pointed.value)}${describe(pointed)}`}
      </p>
    </>
  )
}

/** Each cash flow as a mark; its amount beside it where there is room. */
const Flows = ({
  steps,
  x,
  y,
  right,
}: {
  steps: readonly Step[]
  x: (at: number) => number
  y: (value: number) => number
  right: number
}) => {
  let free = -Infinity
  return steps.flatMap(({ at, value, flow }, index) => {
    if (!flow) return []
    const [middle, isIn] = [x(at), flow.amount > 0]
    const isLabelled = middle >= free && (flow.reason === 'deposit' || flow.reason === 'withdrawal')
    if (isLabelled) free = middle + 64
    const isLate = middle > right - 60
    return (
      <g key={index} class={isIn ? 'flow in' : 'flow out'}>
        <title>{`${localDay(at)}: ${reasons[flow.reason]} ${compact(flow.amount)}`}</title>
        <path
          d={isIn ? `M${middle},${y(value) + 3}l5,9h-10z` : `M${middle},${y(value) - 3}l5,-9h-10z`}
        />
        {isLabelled && (
          <text
            x={middle + (isLate ? -8 : 8)}
            y={y(value) + (isIn ? 12 : -6)}
            text-anchor={isLate ? 'end' : 'start'}
          >
            {compact(flow.amount)}
          </text>
        )}
      </g>
    )
  })
}
