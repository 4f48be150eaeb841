// Caches of what the broker reports of an account. A change of the account invalidates what they
// keep of its positions and figures, but not of its market data.
import {
  requireBrokerAccount,
  type AccountReading,
  type BrokerAccount,
} from '@tradeport/domain/accounts'
import type { BrokerReadError, Refusal, ServiceUnavailable } from '@tradeport/domain/errors'
import type {
  Broker,
  LiveAccounts,
  MarketData,
  MarketDataFeed,
  MarketDataFeeds,
  PositionTrading,
} from '@tradeport/domain/ports'
import type { BrokerInstrument, Candle, Quote } from '@tradeport/domain/market'
import type { PositionsReading } from '@tradeport/domain/positions'
import type { AccountId, Instant } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import pLimit, { type LimitFunction } from 'p-limit'
import { createLruCache } from './lru-cache.ts'
import { createSingleFlightCache, type CacheParts } from './single-flight-cache.ts'

interface InvalidatesAccounts {
  /** Later reads of the account see nothing that was read before, even if it is in progress. */
  readonly invalidate: (accountId: AccountId) => void
}

const maxAccounts = 10_000
const positionsTtlMs = 2_500
/** Some 2.5 KB each with its margin and its text. */
const maxPositions = 100_000
const marginTtlMs = 60_000
const maxMargins = 100_000
const maxMarginCalls = 4
/** Positions and previews are returned without their margin if it takes longer. */
const maxMarginWaitMs = 4_000
/** How long after a change positions are read from the terminal. */
const freshMs = 30_000
const liveAccountTtlMs = 5_000
const quoteTtlMs = 1_000
const maxQuotes = 50_000
const maxCandles = 200_000
/** How long it is kept that a symbol has no candles so early: its provider may load more. */
const noCandlesTtlMs = 60_000
const maxEmptyPages = 10_000
/** How long symbols and their terms are kept. */
const termsTtlMs = 3_600_000
/** A terminal that has just connected may list only some of the symbols. */
const unconfirmedSymbolsTtlMs = 60_000
/** Over all accounts. */
const maxSymbols = 1_000_000
const maxInstruments = 20_000

/**
 * Keeps positions for 2.5 seconds and margins for a minute, failures not at all. That the provider
 * cannot compute a margin is kept like a number. Account information and deals pass through.
 *
 * The provider answers reads from a copy that lags behind the broker's terminal. For half a minute
 * after `invalidate`, positions are read from the terminal, so that they show the change.
 */
export const cachedBroker = (
  broker: Broker,
  parts: CacheParts & { readonly positionTrading: Pick<PositionTrading, 'freshPositions'> },
): Broker & InvalidatesAccounts => {
  const { clock, positionTrading } = parts
  const { keyOf, invalidate } = createAccountKeys()
  const positions = createSingleFlightCache<BrokerReadError, PositionsReading>(parts, 'positions', {
    ttlMs: positionsTtlMs,
    maxWeight: maxPositions,
    weigh: (reading) => 1 + reading.positions.length,
  })
  const margins = createSingleFlightCache<BrokerReadError, O.Option<number>>(parts, 'margins', {
    ttlMs: marginTtlMs,
    maxWeight: maxMargins,
  })
  const invalidatedAt = createLruCache<AccountId, Instant>(maxAccounts)
  const limits = createLruCache<AccountId, LimitFunction>(maxAccounts)
  const limitOf = (accountId: AccountId): LimitFunction => {
    const limit = limits.get(accountId) ?? pLimit(maxMarginCalls)
    limits.set(accountId, limit)
    return limit
  }
  return {
    ...broker,
    positions: (account) =>
      positions.read(keyOf(account), () => {
        const ageMs = clock.now() - (invalidatedAt.get(account.accountId) ?? -Infinity)
        // A clock that was set back makes an age negative.
        const isRecent = ageMs >= 0 && ageMs < freshMs
        const source = isRecent ? positionTrading.freshPositions : broker.positions
        return source(account)()
      }),
    requiredMargin: (account, query) => {
      const { symbol, side, volume, openPrice } = query
      return noneOnTimeout(
        maxMarginWaitMs,
        margins.read(keyOf(account, symbol, side, volume, openPrice), () =>
          limitOf(account.accountId)(broker.requiredMargin(account, query)),
        ),
      )
    },
    invalidate: (accountId) => {
      invalidatedAt.set(accountId, clock.now())
      invalidate(accountId)
    },
  }
}

/** None if the read takes longer; it continues, and later readers get its result. */
const noneOnTimeout =
  <A>(
    ms: number,
    read: TE.TaskEither<BrokerReadError, O.Option<A>>,
  ): TE.TaskEither<BrokerReadError, O.Option<A>> =>
  () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(E.right(O.none)), ms)
      read()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })

/**
 * The keys of an account's values contain its link, so that a new link shows at once, and a number
 * that `invalidate` increments.
 */
const createAccountKeys = () => {
  // More accounts than can change while a value is kept.
  const versions = createLruCache<AccountId, number>(100_000)
  let lastVersion = 0
  return {
    keyOf: (account: BrokerAccount, ...more: readonly (string | number)[]): string => {
      const { accountId, owner, providerAccountId, region, platform } = account
      const version = versions.get(accountId)
      const { tenantId, userId } = owner
      const link = [accountId, version, tenantId, userId, providerAccountId, region, platform]
      // No stored text holds U+0000.
      return [...link, ...more].join('\0')
    },
    invalidate: (accountId: AccountId): void => {
      lastVersion += 1
      versions.set(accountId, lastVersion)
    },
  }
}

/** Keeps live reads of accounts for five seconds, failures not at all. */
export const cachedLiveAccounts = (
  liveAccounts: LiveAccounts,
  parts: CacheParts,
): LiveAccounts & InvalidatesAccounts => {
  const { keyOf, invalidate } = createAccountKeys()
  const readings = createSingleFlightCache<BrokerReadError | ServiceUnavailable, AccountReading>(
    parts,
    'live_accounts',
    {
      ttlMs: liveAccountTtlMs,
      maxWeight: maxAccounts,
    },
  )
  return {
    read: (account) => {
      const read = liveAccounts.read(account)
      const linked = requireBrokerAccount(account)
      return E.isLeft(linked) ? read : readings.read(keyOf(linked.right), read)
    },
    invalidate,
  }
}

/** Rate limits are not kept: they have their own retry time, and until then no request is made. */
const failureTtlMs = ({ _tag }: { readonly _tag: string }): number =>
  _tag === 'BrokerRateLimited' ? 0 : quoteTtlMs

interface ListedSymbols {
  readonly names: readonly string[]
  /** Whether their number has not changed for a minute. */
  readonly isConfirmed: boolean
}

/**
 * Keeps quotes and the latest candles for a second, the terms of symbols for an hour, an account's
 * symbols for a minute while their number still changes and then for an hour, and for a minute that
 * there are no candles so early. A failed read is kept for a second, but for a rate limit. Ticks
 * pass through.
 */
export const cachedMarketData = (marketData: MarketData, parts: CacheParts): MarketData => {
  const { clock } = parts
  const { keyOf } = createAccountKeys()
  const symbolCounts = createLruCache<string, { readonly count: number; readonly since: Instant }>(
    maxAccounts,
  )
  const listedSymbols =
    (key: string) =>
    (names: readonly string[]): ListedSymbols => {
      const now = clock.now()
      const known = symbolCounts.get(key)
      const { since } = known?.count === names.length ? known : { since: now }
      symbolCounts.set(key, { count: names.length, since })
      return { names, isConfirmed: now - since >= unconfirmedSymbolsTtlMs }
    }
  const symbols = createSingleFlightCache<BrokerReadError, ListedSymbols>(parts, 'symbols', {
    ttlMs: ({ isConfirmed }) => (isConfirmed ? termsTtlMs : unconfirmedSymbolsTtlMs),
    maxWeight: maxSymbols,
    failureTtlMs,
    weigh: ({ names }) => 1 + names.length,
  })
  const instruments = createSingleFlightCache<BrokerReadError, BrokerInstrument>(
    parts,
    'instruments',
    {
      ttlMs: termsTtlMs,
      failureTtlMs,
      maxWeight: maxInstruments,
    },
  )
  const quotes = createSingleFlightCache<BrokerReadError, Quote>(parts, 'quotes', {
    ttlMs: quoteTtlMs,
    failureTtlMs,
    maxWeight: maxQuotes,
  })
  const latestCandles = createSingleFlightCache<
    BrokerReadError | ServiceUnavailable,
    readonly Candle[]
  >(parts, 'candles', {
    ttlMs: quoteTtlMs,
    failureTtlMs,
    // A reader that joins takes the candles to be as recent as its own request.
    ageFrom: 'start',
    maxWeight: maxCandles,
    weigh: (candles) => 1 + candles.length,
  })
  const emptyCandlePages = createSingleFlightCache<
    BrokerReadError | ServiceUnavailable,
    readonly Candle[]
  >(parts, undefined, {
    ttlMs: noCandlesTtlMs,
    failureTtlMs,
    maxWeight: maxEmptyPages,
    isKept: (candles) => candles.length === 0,
  })
  return {
    ...marketData,
    symbols: (account) => {
      const key = keyOf(account)
      const read = TE.map(listedSymbols(key))(marketData.symbols(account))
      return TE.map(({ names }: ListedSymbols) => names)(symbols.read(key, read))
    },
    instrument: (account, symbol) =>
      instruments.read(keyOf(account, symbol), () => marketData.instrument(account, symbol)()),
    // Built inside the callback, since to build a task takes 2 microseconds.
    quote: (account, symbol) =>
      quotes.read(keyOf(account, symbol), () => marketData.quote(account, symbol)()),
    candles: (account, symbol, window) => {
      const read = marketData.candles(account, symbol, window)
      const { timeframe, to, limit } = window
      return to > clock.now()
        ? latestCandles.read(keyOf(account, symbol, timeframe, limit), read)
        : emptyCandlePages.read(keyOf(account, symbol, timeframe, limit, to), read)
    },
  }
}

/** Keeps for a second which feed the operator chose. */
export const cachedMarketDataFeeds = (
  { find }: MarketDataFeeds,
  parts: CacheParts,
): MarketDataFeeds => {
  const feeds = createSingleFlightCache<
    Refusal<'ServiceUnavailable' | 'NotImplemented'>,
    O.Option<MarketDataFeed>
  >(parts, 'market_data_feed', {
    ttlMs: quoteTtlMs,
    maxWeight: 1,
  })
  return { find: feeds.read('', find) }
}
