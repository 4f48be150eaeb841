// The capability `insights`: what is computed of closed trades beyond their statistics.
import { dealReasons, type BrokerDeal } from '@tradeport/domain/journal'
import type { Side } from '@tradeport/domain/positions'
import type { Instant } from '@tradeport/domain/primitives'
import {
  cashFlowReasons,
  breakdownKeys,
  parseTimeZone,
  utc,
  type TradeGroup,
} from '@tradeport/domain/statistics'
import {
  accountIdInPath,
  commission,
  limit,
  paginationShape,
  paging,
  profit,
  provenanceShape,
  side,
  swap,
  symbol,
} from '../fields.ts'
import {
  decimal,
  flag,
  list,
  nullable,
  object,
  oneOf,
  parsedString,
  partial,
  mapOutput,
  queryInteger,
  record,
  text,
  time,
  whole,
  withDefault,
} from '../schema.ts'
import { route } from '../use-cases.ts'
import { accountsQuery, meta, statisticsFields, tradeRoute, tradesRoute } from './trades.ts'

const capability = 'insights'

const percent = (example: number) =>
  nullable(
    decimal(
      'In percent of the highest balance before it, deposits included, which withdrawals do not lower; null where balances are not known.',
      example,
    ),
  )

const curve = record('TradeCurve', 'How net profit and balance grew, by closing order.', {
  points: list(
    object('After a trade closed.', {
      time: time('When it closed.'),
      netProfit: decimal('The sum of the net profits up to here.', 1_204.3),
      balance: nullable(
        decimal(
          "The account's balance, with deposits and withdrawals; null over several accounts, and while it is not known.",
          11_204.3,
        ),
      ),
      drawdown: decimal('How far netProfit is below its highest value so far, from 0 on.', 86.2),
      drawdownPercent: percent(0.76),
    }),
    'At most `points`. The first, the last, and the peak and the trough of the deepest drawdown are always among them.',
  ),
  cashFlows: nullable(
    object(
      'What moved the balance but buys and sells: deposits, withdrawals and what the broker books by itself, whatever the symbol; null where balances are not known.',
      {
        count: whole('How many there are.', 1),
        inflows: decimal('The sum of the amounts above 0.', 10_000),
        outflows: decimal('The sum of the amounts below 0, as a positive magnitude.', 0),
        points: list(
          object('One of them.', {
            time: time('When it was booked.'),
            amount: decimal('In money; below 0 where it left the account.', 10_000),
            reason: oneOf(
              cashFlowReasons,
              'Why. A charge is a fee, a commission, a tax or interest, in either direction.',
              'deposit',
            ),
            balance: decimal("The account's balance after everything of that millisecond.", 10_000),
          }),
          'By time. Of more than 500 the largest.',
        ),
      },
    ),
  ),
  maxDrawdown: object('The deepest drawdown.', {
    amount: decimal('In money; 0 when there is none.', 811.2),
    percent: percent(7.4),
    peakAt: nullable(
      time(
        'The trade after which netProfit was at the peak, the last of several equal ones; null without a drawdown, and where netProfit was below 0 from the first trade on.',
      ),
    ),
    troughAt: nullable(time('The trade after which it was deepest; null when there is none.')),
    recoveredAt: nullable(
      time('The trade after which netProfit was back at its peak; null when it is not yet.'),
      null,
    ),
  }),
})

const breakdown = record('TradeBreakdown', 'The statistics of groups of trades.', {
  groups: list(
    record('TradeGroup', 'The trades of one key.', {
      key: text(
        'The symbol, side or account, or in the zone the month (2026-11), weekday (1, Monday, to 7), hour (0 to 23) or both (1_09), the holding time (such as 1m_5m) or the result (such as -20_-10, under_-200 or over_400).',
        'EURUSD',
      ),
      ...statisticsFields,
      enough: flag('Whether there are 30 trades or more, so that the figures say something.'),
    }),
    'In the order of the keys, without empty groups.',
  ),
})

const deal = mapOutput(
  object('As the broker gave it. What the broker did not give is left out.', {
    id: text("The broker's number of the deal.", '46000001'),
    time: time('When it was made.'),
    type: side,
    ...partial({
      entry: oneOf(['in', 'out', 'inout', 'out_by'], 'Whether it opens or closes.'),
      orderId: text("The broker's number of the order that made it.", '46000000'),
      symbol,
      volume: decimal('Lots; left out where the broker does not report it.', 0.2),
      price: decimal('The price of the deal.', 1.0842),
    }),
    profit,
    commission,
    swap,
    ...partial({
      reason: oneOf(dealReasons, 'Who or what caused it.', 'client'),
      stopLoss: decimal('Of an opening deal: the stop loss of its order.', 1.08),
      takeProfit: decimal('Of an opening deal: the take profit of its order.', 1.09),
    }),
  }),
  // A trade is folded only of deals that have both.
  ({ side: type, time: at, ...deal }: BrokerDeal) => ({
    ...deal,
    type: type as Side,
    time: at as Instant,
  }),
)

const tradeDeals = record(
  'TradeDeals',
  'The deals that a trade was folded from, and the sums of all of them.',
  {
    deals: list(deal, 'A page, in the order in which they are folded: by time, then by number.'),
    sums: object('Exact sums of all deals, each rounded once: the figures of the trade.', {
      openedVolume: decimal('Lots of the opening deals, as far as they report them.', 0.2),
      closedVolume: decimal('Lots of the closing deals, as far as they report them.', 0.2),
      profit,
      commission,
      swap,
      netProfit: decimal('profit + commission + swap.', 35.48),
    }),
  },
)

const whereNotCompared = 'null where they were not compared since deals last changed.'
const reconciliation = record(
  'Reconciliation',
  'Whether the deals of an account add up to its balance.',
  {
    deals: whole('How many deals are kept.', 2_168),
    firstDealAt: nullable(time('The earliest deal; null without any.')),
    lastDealAt: nullable(time('The latest deal; null without any.')),
    sum: decimal('What all deals together moved the balance by.', 10_250.4),
    balance: nullable(
      decimal(`The balance that the broker reported; ${whereNotCompared}`, 10_250.4),
    ),
    difference: nullable(decimal(`balance less sum; ${whereNotCompared}`, 0)),
    complete: flag(
      'Whether the deals explain the balance, and the history need not be read anew. A position that lacks deals may be skipped all the same.',
    ),
    checkedAt: nullable(time(`When both were compared; ${whereNotCompared}`)),
  },
)

const timeZone = parsedString(
  'the name of an IANA time zone, such as Europe/Berlin',
  parseTimeZone,
  'An IANA time zone, in which months, weekdays and hours are counted.',
  'Europe/Berlin',
  { minLength: 1, maxLength: 64 },
)

const robustInterval = (description: string, example: readonly [number, number, number]) => {
  const [estimate, lower, upper] = example
  return object(`${description} An end is null where it cannot be given.`, {
    estimate: nullable(decimal('The figure of the trades themselves.', estimate)),
    lower: nullable(decimal('The lower end.', lower)),
    upper: nullable(decimal('The upper end.', upper)),
  })
}

const robust = record(
  'RobustStatistics',
  'How far the statistics could have come out otherwise, from resamples of the trades.',
  {
    method: oneOf(
      ['bca'],
      'Bias-corrected and accelerated bootstrap intervals, at 95 %, of all figures but maxDrawdown.',
    ),
    resamples: whole('How many resamples were drawn.', 10_000),
    seed: whole('Follows from the trades: the same trades have the same figures.', 3_962_555_708),
    trades: whole('How many trades there are.', 312),
    intervals: nullable(
      object(
        'Null below 10 trades. A small sample in which rare large losses are missing looks better than it is.',
        {
          expectancy: robustInterval('The mean net profit, in money.', [9.57, 3.1, 15.9]),
          winRate: robustInterval('Winning trades in percent of all.', [59.94, 54.2, 65.1]),
          profitFactor: robustInterval('Null with profit and no loss.', [1.62, 1.17, 2.2]),
          sharpeRatio: robustInterval('Per trade, not annualised.', [0.17, 0.05, 0.28]),
          maxDrawdown: robustInterval(
            'The estimate is what happened; the ends are the 2.5 % and 97.5 % quantiles over random orders of the same trades. They may leave it outside, and say nothing about drawdowns to come.',
            [811.2, 402.5, 1_390.1],
          ),
        },
      ),
    ),
    probabilityOfLoss: nullable(
      decimal(
        'The share of resamples whose sum is below 0; null below 10 trades. Resamples hold only what happened: without a losing trade it is 0, whatever may come.',
        0.002,
      ),
    ),
  },
)

const calculationRoute = {
  ...tradesRoute,
  capability,
  refusals: [...tradesRoute.refusals, 'RateLimitExceeded'],
  meta,
} as const

export const insightRoutes = [
  route('GET /trades/curve', 'getTradeCurve', 'Net profit, balance and drawdown over time.', {
    ...calculationRoute,
    query: {
      ...accountsQuery,
      points: withDefault(queryInteger('The maximum of points.', 4, 2_000), 500),
    },
    data: curve,
  }),
  route(
    'GET /trades/breakdown',
    'getTradeBreakdown',
    'Statistics of closed trades by symbol, side, account, time or holding time.',
    {
      ...calculationRoute,
      query: {
        ...accountsQuery,
        by: oneOf(breakdownKeys, 'What the trades are grouped by.'),
        timeZone: withDefault(timeZone, utc),
      },
      data: mapOutput(breakdown, (groups: readonly TradeGroup[]) => ({ groups })),
    },
  ),
  route('GET /trades/robust', 'getRobustStatistics', 'Bootstrap intervals of trade statistics.', {
    ...calculationRoute,
    query: {
      ...accountsQuery,
      resamples: withDefault(queryInteger('How many resamples to draw.', 1_000, 20_000), 10_000),
    },
    data: robust,
  }),
  route('GET /trades/:id/deals', 'getTradeDeals', 'Get the deals of a closed trade.', {
    ...tradeRoute,
    capability,
    query: { page: paging.page, limit: limit(1_000, 1_000) },
    data: tradeDeals,
    meta: { ...meta, pagination: paginationShape },
  }),
  route(
    'GET /accounts/:id/reconciliation',
    'getReconciliation',
    'Compare the deals of an account with its balance.',
    {
      ...tradesRoute,
      capability,
      params: { id: accountIdInPath },
      data: reconciliation,
      meta: { provenance: provenanceShape },
    },
  ),
]
