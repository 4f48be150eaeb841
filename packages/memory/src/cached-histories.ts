// Folded histories, kept for five seconds for each account (4.5, section 8). All are kept packed, so that fifty of the longest fit; those that were
// asked for last also as they are read.
import type { AccountHistory, Breather, BrokerReadError, Clock, Histories, HistoryTooLarge } from '@tradeport/domain'
import { pipe } from 'fp-ts/lib/function.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { LRUCache } from 'lru-cache'
import { accountKey, accountOfKey } from './account-key.ts'
import type { ForgetsAccounts } from './account-key.ts'
import { packHistory, unpackHistory } from './packed-history.ts'
import type { PackedHistory } from './packed-history.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'
import { letsGoOfStale, staleStandsMs } from './stale-values.ts'

const historyTtlMs = 5_000

const maxAccounts = 10_000
/** Some 110 bytes each. Twenty thousand deals, the most that are read of an account, are at most ten thousand trades. */
const defaultMaxTrades = 600_000
/** A read is given two minutes by those who make it, and then is folded: who comes meanwhile waits with the others, and makes no second one. */
const maxReadMs = 180_000

/** Some 400 bytes each. A history of the most trades that twenty thousand deals can make fits. */
const defaultMaxUnpackedTrades = 15_000

export interface CachedHistoriesOptions extends Breather {
  readonly clock: Clock
  /** The most trades and skipped positions kept over all accounts; 600,000 when left out. */
  readonly maxTrades?: number
  /** The most of them that are kept unpacked as well; 15,000 when left out. */
  readonly maxUnpackedTrades?: number
  readonly tallies?: Tallies | undefined
}

export const cachedHistories = (histories: Histories, options: CachedHistoriesOptions): Histories & ForgetsAccounts => {
  const { clock, maxTrades = defaultMaxTrades, maxUnpackedTrades = defaultMaxUnpackedTrades, tallies } = options
  const kept = createSingleFlightCache<string, BrokerReadError | HistoryTooLarge, PackedHistory>({
    clock,
    ttlMs: historyTtlMs,
    maxFlightMs: maxReadMs,
    maxEntries: maxAccounts,
    maxWeight: maxTrades,
    weigh,
    groupOf: accountOfKey,
    onGone: (packed) => unpacked.delete(packed),
    tally: tallies?.('histories'),
  })
  // By what it was unpacked from, so that it is never given out for anything else. Its time is for those that were dropped while they were read.
  const unpacked = new LRUCache<PackedHistory, Promise<AccountHistory>>({
    max: maxAccounts,
    ttl: historyTtlMs + staleStandsMs,
    ...letsGoOfStale,
    maxSize: maxUnpackedTrades,
    sizeCalculation: (_, packed) => weigh(packed),
  })

  const pack =
    (history: AccountHistory): T.Task<PackedHistory> =>
    async () => {
      const packed = await packHistory(history, options)
      unpacked.set(packed, Promise.resolve(history))
      return packed
    }
  const unpack =
    (packed: PackedHistory): T.Task<AccountHistory> =>
    () => {
      const found = unpacked.get(packed)
      if (found !== undefined) return found
      const history = unpackHistory(packed, options)
      unpacked.set(packed, history)
      return history
    }

  return {
    read: (account) => pipe(kept.read(accountKey(account), pipe(histories.read(account), TE.flatMapTask(pack))), TE.flatMapTask(unpack)),
    forget: kept.dropGroup,
  }
}

const weigh = ({ length, skipped }: PackedHistory): number => 1 + length + skipped.length
