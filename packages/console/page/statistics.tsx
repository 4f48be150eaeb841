// Statistics with their uncertainty: an interval is drawn, and too few trades are greyed.
import type { TradeStatistics } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { duration, number, percent, pluralIs } from './format.ts'
import { Result, useMoney } from './parts.tsx'

/** Below this many trades the figures say next to nothing. */
export const enoughTrades = 30

/** Why figures are grey. */
export const fewNote = `Grey: fewer than ${enoughTrades} trades, too few to tell skill from luck.`

/** What lost most comes first. */
export const worstFirst = <Row extends { readonly netProfit: number }>(
  rows: readonly Row[],
): readonly Row[] => rows.toSorted((one, other) => one.netProfit - other.netProfit)

/** An interval on a scale, with the estimate as a point and a line to compare with. */
export const Interval = ({
  bounds: { lower, upper },
  estimate,
  reference,
  text,
  words,
}: {
  bounds: { lower: number; upper: number }
  estimate: number
  /** Where the line is; undefined where there is nothing to compare with. */
  reference: number | undefined
  text: (value: number) => string
  /** What the line means. */
  words: string
}) => {
  const ends = [lower, upper, estimate, ...(reference === undefined ? [] : [reference])]
  const least = Math.min(...ends)
  const span = Math.max(...ends) - least || 1
  // A margin at both ends, so that nothing is cut off.
  const at = (value: number): number => 5 + (90 * (value - least)) / span
  const compared = reference === undefined ? '' : `${words} ${text(reference)}`
  return (
    <>
      <svg
        class="interval"
        viewBox="0 0 100 12"
        preserveAspectRatio="none"
        role="img"
        aria-label={`95 % interval from ${text(lower)} to ${text(upper)}${compared && `; the line: ${compared}`}`}
      >
        <rect x={at(lower)} y="4" width={Math.max(0.5, at(upper) - at(lower))} height="4" />
        {reference !== undefined && (
          <line class="reference" x1={at(reference)} x2={at(reference)} y1="0" y2="12" />
        )}
        <line class="estimate" x1={at(estimate)} x2={at(estimate)} y1="2" y2="10" />
      </svg>
      <span class="quiet">
        {text(lower)} to {text(upper)}
        {compared && ` · line: ${compared}`}
      </span>
    </>
  )
}

type Figure = readonly [
  name: string,
  hint: string | undefined,
  value: ComponentChildren,
  detail: ComponentChildren,
]

export const Figures = ({ rows, isFew = false }: { rows: readonly Figure[]; isFew?: boolean }) => (
  <dl class={isFew ? 'figures few' : 'figures'}>
    {rows.map(([name, hint, value, detail]) => (
      <div class="figure-card" key={name}>
        <dt title={hint}>{name}</dt>
        <dd>
          <span class="value">{value}</span>
          {typeof detail === 'string' ? <span class="quiet">{detail}</span> : detail}
        </dd>
      </div>
    ))}
  </dl>
)

/** The win rate at which winners and losers of their mean sizes cancel out. */
const breakEvenRate = ({ averageWin, averageLoss }: TradeStatistics): number | undefined =>
  averageWin > 0 && averageLoss > 0 ? (100 * averageLoss) / (averageWin + averageLoss) : undefined

export const verdict = (statistics: TradeStatistics): string => {
  const { confidenceIntervals, totalTrades, totalLoss } = statistics
  const bounds = confidenceIntervals.averageTrade
  if (bounds === null || totalTrades < enoughTrades)
    return `${pluralIs(totalTrades, 'trade')} too few to tell skill from luck; at least ${enoughTrades} are needed.`
  if (bounds.lower === bounds.upper) return 'All trades are equal, which proves nothing.'
  if (totalLoss === 0)
    return 'No trade lost, so nothing shows how large a loss would be: the result cannot be told from luck.'
  if (bounds.lower > 0)
    return 'The average trade is above zero with 95 % confidence: luck alone seldom looks like this.'
  if (bounds.upper < 0)
    return 'The average trade is below zero with 95 % confidence: bad luck alone seldom looks like this.'
  return 'The result cannot be told from luck: the 95 % interval of the average trade includes zero.'
}

export const Statistics = ({ statistics }: { statistics: TradeStatistics }) => {
  const { totalTrades, confidenceIntervals, profitFactor, maxDrawdownPercent } = statistics
  const { sortinoRatio, averageHoldingTime } = statistics
  const { money: amount, signed } = useMoney()
  if (totalTrades === 0) return <p class="quiet">No closed trade, so there is nothing to sum up.</p>
  const averageTrade = statistics.netProfit / totalTrades
  const reference = breakEvenRate(statistics)
  const isFew = totalTrades < enoughTrades
  const ofWins = (value: number): string => (statistics.winningTrades > 0 ? amount(value) : 'none')
  const ofLosses = (value: number): string => (statistics.losingTrades > 0 ? amount(value) : 'none')
  const rows: readonly Figure[] = [
    [
      'Net profit',
      'Profit with commission and swap.',
      <Result amount={statistics.netProfit} />,
      `${amount(statistics.totalProfit)} won, ${amount(statistics.totalLoss)} lost`,
    ],
    [
      'Trades',
      'Closed positions that match the filters.',
      number(totalTrades),
      `${number(statistics.winningTrades)} won, ${number(statistics.losingTrades)} lost`,
    ],
    [
      'Average trade',
      "Net profit over the number of trades; Student's t interval of the mean.",
      <Result amount={averageTrade} />,
      confidenceIntervals.averageTrade !== null && (
        <Interval
          bounds={confidenceIntervals.averageTrade}
          estimate={averageTrade}
          reference={0}
          words="no gain"
          text={signed}
        />
      ),
    ],
    [
      'Win rate',
      "Trades with a net profit above 0; Wilson's interval.",
      percent(statistics.winRate),
      confidenceIntervals.winRate !== null && (
        <Interval
          bounds={confidenceIntervals.winRate}
          estimate={statistics.winRate}
          reference={reference}
          words="breaks even at"
          text={percent}
        />
      ),
    ],
    [
      'Average win, loss',
      'The mean of the winning and of the losing trades.',
      <>
        {ofWins(statistics.averageWin)}
        <span class="quiet"> / </span>
        {ofLosses(statistics.averageLoss)}
      </>,
      `best ${ofWins(statistics.largestWin)}, worst ${ofLosses(statistics.largestLoss)}`,
    ],
    [
      'Deepest drawdown',
      'The deepest fall of the summed net profit from a peak, and its share of the highest balance before it, which withdrawals do not lower.',
      amount(statistics.maxDrawdown),
      typeof maxDrawdownPercent === 'number' &&
        `${percent(maxDrawdownPercent)} of the highest balance`,
    ],
    [
      'Profit factor',
      'What was won over what was lost.',
      profitFactor === null ? 'no loss' : number(profitFactor),
      'above 1: more was won than lost',
    ],
    [
      'Sharpe ratio',
      'The mean trade over its standard deviation, per trade, not annualised.',
      number(statistics.sharpeRatio),
      `per trade${typeof sortinoRatio === 'number' ? `; Sortino ${number(sortinoRatio)}` : ''}`,
    ],
  ]
  const holding: readonly Figure[] =
    averageHoldingTime === undefined
      ? []
      : [
          [
            'Average holding time',
            'The mean time that a position was open.',
            duration(Math.round(averageHoldingTime)),
            `streaks: ${statistics.longestWinStreak} won, ${statistics.longestLossStreak} lost`,
          ],
        ]
  return (
    <>
      <p class="verdict">
        {verdict(statistics)}
        {isFew && ' That is why the figures are grey.'}
      </p>
      <Figures rows={[...rows, ...holding]} isFew={isFew} />
    </>
  )
}
