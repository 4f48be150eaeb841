// The capability `insights`: what is computed of closed trades beyond their statistics.
import { nullable, decimal, digits, list, object, record, time, withDefault } from '../schema.ts'
import { routesOf } from '../route.ts'
import type { UseCases } from '../use-cases.ts'
import { allOf, ofAccounts, reading, replyWithSums } from './trades.ts'

const route = routesOf<UseCases>()
const capability = 'insights'

const percent = (example: number) =>
  nullable(
    decimal(
      'In percent of the highest balance before it, deposits included; null over several accounts.',
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
          "The account's balance, with deposits and withdrawals; null over several accounts.",
          11_204.3,
        ),
      ),
      drawdown: decimal('How far netProfit is below its highest value so far, from 0 on.', 86.2),
      drawdownPercent: percent(0.76),
    }),
    'At most `points`. The first, the last, and the peak and the trough of the deepest drawdown are always among them.',
  ),
  maxDrawdown: object('The deepest drawdown.', {
    amount: decimal('In money; 0 when there is none.', 811.2),
    percent: percent(7.4),
    peakAt: nullable(
      time(
        'The trade before which it began; null when there is none, or it began with the first trade.',
      ),
    ),
    troughAt: nullable(time('The trade after which it was deepest; null when there is none.')),
    recoveredAt: nullable(
      time('The trade after which netProfit was back at its peak; null when it is not yet.'),
      null,
    ),
  }),
})

export const insightRoutes = [
  route('GET /trades/curve', 'getTradeCurve', 'Net profit, balance and drawdown over time.', {
    ...reading,
    capability,
    query: {
      ...ofAccounts,
      points: withDefault(digits('The maximum of points.', 4, 2_000), 500),
    },
    useCase: (useCases, caller, { query }) =>
      useCases.getTradeCurve(caller, allOf(query), query.points),
    ...replyWithSums(curve),
  }),
]
