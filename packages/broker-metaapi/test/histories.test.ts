// Real histories of brokers, read as the provider has them, folded, and compared with what exact
// rational arithmetic made of them. They are other people's files, in the folder that TEST_HISTORIES
// names; without them the test is shown as skipped.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareTickets, sumExactly } from '@tradeport/domain/primitives'
import { extendedStatistics, tradeStatistics } from '@tradeport/domain/statistics'
import {
  compareDealOrder,
  foldDeals,
  foldPosition,
  groupByPosition,
  type FoldedTrade,
} from '@tradeport/domain/trades'
import { dealsIn } from '../src/translate.ts'
import { rightOf } from './support.ts'

const folder = process.env['TEST_HISTORIES'] ?? ''
const names = existsSync(folder)
  ? readdirSync(folder).flatMap((file) =>
      file.endsWith('.expected.json') ? [file.slice(0, -'.expected.json'.length)] : [],
    )
  : []

const toExpectedShape = ({ side, openedAt, closedAt, ...trade }: FoldedTrade): object => ({
  ...trade,
  type: side,
  openedAt: new Date(openedAt).toISOString(),
  closedAt: new Date(closedAt).toISOString(),
})

const bytesOf = (file: string): Buffer => readFileSync(join(folder, file))

const roots = new Set(['sharpeRatio', 'lower', 'upper'])

/** What must be found: what needs a root to 1e-9, all else exactly. */
const expectedIn = (file: string): unknown =>
  JSON.parse(bytesOf(file).toString(), (key, value: unknown) =>
    roots.has(key) && typeof value === 'number'
      ? expect.toSatisfy(
          (found: number) => Math.abs(found - value) <= 1e-9 * Math.abs(value),
          String(value),
        )
      : value,
  )

describe.skipIf(names.length === 0)(
  'real histories (from the folder that TEST_HISTORIES names)',
  () => {
    it.each(names.length > 0 ? names : ['none'])(
      '%s: trades, skipped, open and statistics are as expected',
      (name) => {
        const history = rightOf(dealsIn(bytesOf(`${name}.json`)))
        const { trades, skipped } = foldDeals(history)
        const found = {
          trades: trades.map(toExpectedShape),
          skipped,
          open: [...groupByPosition(history)]
            .flatMap(([id, own]) => (foldPosition(id, own).status === 'open' ? [id] : []))
            .toSorted(compareTickets),
          statistics: tradeStatistics(trades),
        }
        expect(found).toEqual(expectedIn(`${name}.expected.json`))
      },
    )

    // As the tester's reports state them (geraked/metatrader5, MIT). Of accounts with commissions
    // on opening deals the tester counts the results without those.
    it.each([
      ['tester-28-symbols', 1518.144982, '55770.15 (13.80%)', 11, 4],
      ['tester-grid-audusd', 28.241481, '2816.60 (4.33%)', 29, 12],
    ] as const)(
      '%s: expected payoff, drawdown and streaks are those of the report',
      (name, payoff, drawdown, wins, losses) => {
        const history = rightOf(dealsIn(bytesOf(`${name}.json`)))
        const { trades } = foldDeals(history)
        const movements = history.toSorted(compareDealOrder)
        const column = (of: (trade: FoldedTrade) => number) => trades.map(of)
        const found = extendedStatistics(
          {
            netProfits: column(({ netProfit }) => netProfit),
            closedAt: column(({ closedAt }) => closedAt),
            holdingTimes: column(({ holdingTime }) => holdingTime),
          },
          {
            opening: 0,
            times: movements.map(({ time = 0 }) => time),
            amounts: movements.map(({ profit, commission, swap }) =>
              sumExactly([profit, commission, swap]),
            ),
          },
        )
        expect({
          payoff: Number(found.expectancy.toFixed(6)),
          drawdown: `${found.maxDrawdown.toFixed(2)} (${found.maxDrawdownPercent?.toFixed(2)}%)`,
          wins: found.longestWinStreak,
          losses: found.longestLossStreak,
        }).toEqual({ payoff, drawdown, wins, losses })
      },
    )
  },
)
