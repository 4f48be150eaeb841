// Folded histories, kept for five seconds for each account (4.5, section 8). Long ones weigh more, so that a few cannot fill the memory.
import type { AccountHistory, BrokerReadError, Clock, Histories, HistoryTooLarge } from '@tradeport/domain'
import { accountKey, accountOfKey } from './account-key.ts'
import type { ForgetsAccounts } from './account-key.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'

export const historyTtlMs = 5_000

const maxAccounts = 10_000
const defaultMaxTrades = 250_000

export interface CachedHistoriesOptions {
  readonly clock: Clock
  /** The most trades and skipped positions kept over all accounts; 250,000 when left out. */
  readonly maxTrades?: number
  readonly tallies?: Tallies | undefined
}

export const cachedHistories = (
  histories: Histories,
  { clock, maxTrades = defaultMaxTrades, tallies }: CachedHistoriesOptions,
): Histories & ForgetsAccounts => {
  const kept = createSingleFlightCache<string, BrokerReadError | HistoryTooLarge, AccountHistory>({
    clock,
    ttlMs: historyTtlMs,
    maxEntries: maxAccounts,
    maxWeight: maxTrades,
    weigh: ({ trades, skipped }) => 1 + trades.length + skipped.length,
    groupOf: accountOfKey,
    tally: tallies?.('histories'),
  })
  return {
    read: (account) => kept.read(accountKey(account), histories.read(account)),
    forget: kept.dropGroup,
  }
}
