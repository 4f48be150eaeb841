// Groups of trades as charts: when money was made and lost, and how large results were. They need
// nothing but the groups, and print.
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { Group } from './breakdown.tsx'
import { compact, number, plural, sumOf, weekdayName } from './format.ts'
import { Result, Scroll, Table, useMoney } from './parts.tsx'
import { ChartFrame, ticks, useWidth } from './chart-frame.tsx'
import { enoughTrades, fewNote } from './statistics.tsx'

interface ChartProps {
  readonly groups: readonly Group[]
}

type Cell = Pick<Group, 'totalTrades' | 'netProfit'>

const allOf = (cells: readonly Cell[]): Cell => ({
  totalTrades: sumOf(cells, ({ totalTrades }) => totalTrades),
  netProfit: sumOf(cells, ({ netProfit }) => netProfit),
})

const inMoney = (currency: string | undefined): string =>
  `Net profit${currency ? ` in ${currency}` : ''}`

const Count = ({ count }: { count: number }) => (
  <small>
    {number(count)}
    <span class="sr-only"> trades</span>
  </small>
)

interface Axis {
  readonly key: string
  readonly name: string
}

/** A table whose cells are coloured by what they hold. */
const HeatTable = ({
  label,
  rows,
  columns,
  corner,
  cellOf,
  isNarrow,
  isSummed,
}: {
  label: string
  rows: readonly Axis[]
  columns: readonly Axis[]
  corner: string
  cellOf: (row: string, column: string) => Cell | undefined
  /** Whether there are few columns, which are not to be as wide as the page. */
  isNarrow?: boolean
  /** Whether there is a row of sums of the columns. */
  isSummed?: boolean
}) => {
  const { signed } = useMoney()
  const cells = rows.flatMap((row) => columns.map((column) => cellOf(row.key, column.key)))
  const largest = Math.max(...cells.map((cell) => Math.abs(cell?.netProfit ?? 0))) || 1
  const shown = (cell: Cell | undefined, key: string): ComponentChildren =>
    cell === undefined ? (
      <td key={key} />
    ) : (
      <td key={key} class={heatOf(cell, largest)} title={signed(cell.netProfit)}>
        {compact(cell.netProfit, 'exceptZero')}
        <Count count={cell.totalTrades} />
      </td>
    )
  return (
    <Scroll label={label}>
      <table class={isNarrow ? 'heat narrow' : 'heat'}>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map(({ key, name }) => (
              <th key={key} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">{row.name}</th>
              {columns.map((column) => shown(cellOf(row.key, column.key), column.key))}
            </tr>
          ))}
        </tbody>
        {isSummed && (
          <tfoot>
            <tr>
              <th scope="row">Sum</th>
              {columns.map(({ key }) => {
                const { totalTrades, netProfit } = allOf(
                  rows.map((row) => cellOf(row.key, key)).filter((cell) => cell !== undefined),
                )
                return (
                  <td key={key}>
                    <Result amount={netProfit} />
                    <Count count={totalTrades} />
                  </td>
                )
              })}
            </tr>
          </tfoot>
        )}
      </table>
    </Scroll>
  )
}

const shades = 4

const heatOf = ({ totalTrades, netProfit }: Cell, largest: number): string => {
  const few = totalTrades < enoughTrades ? 'few' : ''
  if (netProfit === 0) return few
  const sign = netProfit > 0 ? 'gain' : 'loss'
  if (few) return `few ${sign}`
  return `${sign} shade-${Math.max(1, Math.ceil((shades * Math.abs(netProfit)) / largest))}`
}

const monthNames = Array.from({ length: 12 }, (_, month) => ({
  key: String(month + 1).padStart(2, '0'),
  name: new Intl.DateTimeFormat(undefined, { month: 'short' }).format(new Date(2026, month, 1)),
}))

/** Groups by month: a column for each year. */
export const Months = ({ groups, zone }: ChartProps & { readonly zone: string }) => {
  const { currency } = useMoney()
  const cells = new Map(groups.map((group) => [group.key, group]))
  const years = [...new Set(groups.map(({ key }) => key.split('-')[0] ?? ''))]
  const won = groups.filter(({ netProfit }) => netProfit > 0).length
  return (
    <ChartFrame
      title="Months"
      note={
        <>
          {inMoney(currency)} by the month of closing in {zone}, with the number of trades.{' '}
          {number(won)} of {number(groups.length)} months with trades made money. {fewNote}
        </>
      }
    >
      <HeatTable
        label="Months"
        corner="Month"
        rows={monthNames.filter((month) => groups.some(({ key }) => key.endsWith(`-${month.key}`)))}
        columns={years.map((year) => ({ key: year, name: year }))}
        cellOf={(month, year) => cells.get(`${year}-${month}`)}
        isNarrow={years.length < 6}
        isSummed
      />
    </ChartFrame>
  )
}

const weekdays = Array.from({ length: 7 }, (_, index) => ({
  key: String(index + 1),
  name: weekdayName(index + 1, 'short'),
}))

const hour = (at: number): string => String(at).padStart(2, '0')

/** Hours in one row: the smallest step that puts most trades into cells with enough of them. */
const hourSteps = [1, 2, 4] as const

/** Groups by weekday and hour. */
export const WeekHours = ({ groups, zone }: ChartProps & { readonly zone: string }) => {
  const { currency } = useMoney()
  const cellsOf = (step: number): ReadonlyMap<string, Cell> => {
    const cells = Map.groupBy(groups, ({ key }) => {
      const [day = '', at = ''] = key.split('_')
      return `${day}_${hour(Math.floor(Number(at) / step) * step)}`
    })
    return new Map([...cells].map(([key, some]) => [key, allOf(some)]))
  }
  const all = allOf(groups).totalTrades
  const isEnough = (cells: ReadonlyMap<string, Cell>): boolean =>
    allOf([...cells.values()].filter(({ totalTrades }) => totalTrades >= enoughTrades))
      .totalTrades >
    all / 2
  const step = hourSteps.find((one) => isEnough(cellsOf(one))) ?? 4
  const cells = cellsOf(step)
  const days = weekdays.filter(({ key }) => groups.some((group) => group.key.startsWith(`${key}_`)))
  const missing = weekdays.filter((day) => !days.includes(day)).map(({ name }) => name)
  return (
    <ChartFrame
      title="Weekday and hour"
      note={
        <>
          {inMoney(currency)} by the weekday and hour of closing in {zone}, with the number of
          trades. {step > 1 && `${step} hours are one row, because single ones have few trades. `}
          {missing.length > 0 && `Nothing was closed on ${missing.join(', ')}. `}
          {fewNote}
        </>
      }
    >
      <HeatTable
        label="Weekday and hour"
        corner="Hours"
        rows={Array.from({ length: 24 / step }, (_, index) => ({
          key: hour(index * step),
          name: `${hour(index * step)}–${hour((index + 1) * step)}`,
        }))}
        columns={days}
        cellOf={(at, day) => cells.get(`${day}_${at}`)}
      />
    </ChartFrame>
  )
}

/** The trades with a result above `lower` and up to `upper`. */
interface ResultStep extends Cell {
  readonly lower: number
  readonly upper: number
}

const stepOf = ({ key, totalTrades, netProfit }: Group): ResultStep => {
  const [lower = NaN, upper = NaN] = key
    .replace('under', '-Infinity')
    .replace(/over_(.*)/, '$1_Infinity')
    .split('_')
    .map(Number)
  return { lower, upper, totalTrades, netProfit }
}

const [plotHeight, plotTop, axisHeight] = [150, 16, 20]

/** Groups by result: how many trades ended with how much. */
export const Distribution = ({ groups }: ChartProps) => {
  const { money: text, signed } = useMoney()
  const svg = useRef<SVGSVGElement>(null)
  const width = useWidth(svg)
  const steps = groups.map(stepOf)
  const inner = steps.filter(({ lower, upper }) => Number.isFinite(upper - lower))
  const [start, end] = [inner[0]?.lower ?? 0, inner.at(-1)?.upper ?? 1]
  const size = (inner[0]?.upper ?? 1) - start
  const { totalTrades, netProfit } = allOf(groups)
  const mean = netProfit / totalTrades
  // One step more at an end that has results beyond it.
  const [least, most] = [
    steps[0]?.lower === -Infinity ? start - size : start,
    steps.at(-1)?.upper === Infinity ? end + size : end,
  ]
  const drawnMean = Math.min(Math.max(mean, least), most)
  const left = 30
  const x = (value: number): number =>
    left + ((value - least) / (most - least)) * (width - left - 4)
  const highest = Math.max(...steps.map((step) => step.totalTrades))
  const bottom = plotTop + plotHeight
  const y = (count: number): number => bottom - (plotHeight * count) / highest
  const range = ({ lower, upper }: ResultStep): string =>
    lower === -Infinity
      ? `${text(upper)} or less`
      : upper === Infinity
        ? `above ${text(lower)}`
        : `${text(lower)} to ${text(upper)}`
  const beyond = steps.filter((step) => !inner.includes(step))
  return (
    <ChartFrame
      title="Distribution of results"
      note={
        <>
          How many of {plural(totalTrades, 'trade')} ended with which net profit, in steps of{' '}
          {size < 0.01 ? number(size, 8) : text(size)}. The dashed line is the average trade,{' '}
          {signed(mean)}
          {drawnMean !== mean && ', which is beyond the end'}.
          {beyond.map(
            (step) =>
              ` ${number(step.totalTrades)} with ${range(step)} made ${signed(step.netProfit)} together and are the bar at the end.`,
          )}
          {totalTrades < enoughTrades && ` ${fewNote}`}
        </>
      }
      table={(label) => (
        <Table
          label={label}
          rows={steps}
          keyOf={({ lower }) => lower}
          columns={[
            ['Net profit of a trade', range, 'row'],
            ['Trades', (step) => number(step.totalTrades), 'figure'],
            ['Together', (step) => signed(step.netProfit), 'figure'],
          ]}
        />
      )}
    >
      <svg
        ref={svg}
        class={totalTrades < enoughTrades ? 'bars few' : 'bars'}
        viewBox={`0 0 ${width} ${bottom + axisHeight}`}
        role="img"
        aria-label={`Most trades, ${number(highest)}, ended with ${range(steps.find((step) => step.totalTrades === highest) ?? (steps[0] as ResultStep))}. The table beneath has every step.`}
      >
        {ticks(0, highest, 3).map((count) => (
          <g key={count}>
            <line class="grid" x1={left} x2={width} y1={y(count)} y2={y(count)} />
            <text x={left - 4} y={y(count) + 4} text-anchor="end">
              {compact(count)}
            </text>
          </g>
        ))}
        {steps.map((step) => {
          const [from, to] = [Math.max(step.lower, least), Math.min(step.upper, most)]
          return (
            <rect
              key={step.lower}
              class={step.netProfit < 0 ? 'loss' : 'gain'}
              x={x(from) + 0.5}
              width={Math.max(1, x(to) - x(from) - 1)}
              y={y(step.totalTrades)}
              height={bottom - y(step.totalTrades)}
            >
              <title>{`${range(step)}: ${number(step.totalTrades)} trades`}</title>
            </rect>
          )
        })}
        <line class="mean" x1={x(drawnMean)} x2={x(drawnMean)} y1={plotTop - 8} y2={bottom} />
        {ticks(start, end, Math.max(2, Math.min(8, Math.floor(width / 70)))).map((value) => (
          <text key={value} x={x(value)} y={bottom + 14} text-anchor="middle">
            {compact(value)}
          </text>
        ))}
      </svg>
    </ChartFrame>
  )
}
