// Real histories of brokers, folded and compared with what exact rational arithmetic made of them.
// They are other people's files, in the folder that TEST_HISTORIES names; without them the test is
// shown as skipped.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareTickets } from '../../src/primitives/tickets.ts'
import { tradeStatistics } from '../../src/statistics/trade-statistics.ts'
import type { Deal } from '../../src/trades/deal.ts'
import {
  foldDeals,
  foldPosition,
  groupByPosition,
  type FoldedTrade,
} from '../../src/trades/fold.ts'

const folder = process.env['TEST_HISTORIES'] ?? ''
const names = existsSync(folder)
  ? readdirSync(folder).flatMap((file) =>
      file.endsWith('.expected.json') ? [file.slice(0, -'.expected.json'.length)] : [],
    )
  : []

type ProviderDeal = Omit<Deal, 'side' | 'entry' | 'time'> & {
  readonly type: string
  readonly entryType?: string
  readonly time?: string
}

const sides: Readonly<Record<string, Deal['side']>> = {
  DEAL_TYPE_BUY: 'buy',
  DEAL_TYPE_SELL: 'sell',
}
const entries: Readonly<Record<string, Deal['entry']>> = {
  DEAL_ENTRY_IN: 'in',
  DEAL_ENTRY_OUT: 'out',
  DEAL_ENTRY_INOUT: 'inout',
  DEAL_ENTRY_OUT_BY: 'out_by',
}

const toDeal = ({ type, entryType = '', time, ...rest }: ProviderDeal): Deal => {
  const [side, entry] = [sides[type], entries[entryType]]
  return {
    ...rest,
    ...(side && { side }),
    ...(entry && { entry }),
    ...(time !== undefined && { time: Date.parse(time) }),
  }
}

const toExpectedShape = ({ side, openedAt, closedAt, ...trade }: FoldedTrade): object => ({
  ...trade,
  type: side,
  openedAt: new Date(openedAt).toISOString(),
  closedAt: new Date(closedAt).toISOString(),
})

const ratios = new Set([
  'entryPrice',
  'exitPrice',
  'winRate',
  'profitFactor',
  'averageWin',
  'averageLoss',
  'sharpeRatio',
  'lower',
  'upper',
])

/**
 * What was found, with prices and ratios that are right to 1e-9 replaced by the expected ones, so
 * that all else compares exactly.
 */
const settledRatios = (found: unknown, expected: unknown, key = ''): unknown => {
  if (typeof found === 'number' && typeof expected === 'number') {
    return ratios.has(key) && Math.abs(found - expected) <= 1e-9 * Math.abs(expected)
      ? expected
      : found
  }
  if (
    typeof found !== 'object' ||
    found === null ||
    typeof expected !== 'object' ||
    expected === null
  )
    return found
  const ended = Object.entries(found).map(
    ([key, item]) =>
      [key, settledRatios(item, (expected as Record<string, unknown>)[key], key)] as const,
  )
  return Array.isArray(found) ? ended.map(([, item]) => item) : Object.fromEntries(ended)
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))

describe.skipIf(names.length === 0)(
  'real histories (from the folder that TEST_HISTORIES names)',
  () => {
    it.each(names.length > 0 ? names : ['none'])(
      '%s: trades, skipped, open and statistics are as expected',
      (name) => {
        const { deals } = read(`${name}.json`) as { deals: readonly ProviderDeal[] }
        const history = deals.map(toDeal)
        const { trades, skipped } = foldDeals(history)
        const found = {
          trades: trades.map(toExpectedShape),
          skipped,
          open: [...groupByPosition(history)]
            .flatMap(([id, own]) => (foldPosition(id, own).status === 'open' ? [id] : []))
            .toSorted(compareTickets),
          statistics: tradeStatistics(trades),
        }
        const expected = read(`${name}.expected.json`)
        expect(settledRatios(found, expected)).toEqual(expected)
      },
    )
  },
)
