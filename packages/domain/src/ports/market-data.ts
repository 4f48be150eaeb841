// Prices and instruments of a broker account, through the provider.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { AsyncResult, BrokerReadError, BrokerReadTag } from '../errors.ts'
import type { CandleRange } from '../market/candle-ranges.ts'
import type { BrokerInstrument, Candle, Quote, Tick, Timeframe } from '../market/market-data.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** The most candles or ticks of one read. */
export const marketDataPageSize = 1_000

/** The last `limit` candles up to a time. */
export interface CandlesWindow {
  readonly timeframe: Timeframe
  /** The latest opening time, included. */
  readonly to: Instant
  /** 1 to `marketDataPageSize`. */
  readonly limit: number
}

/** The first `limit` ticks from a time on, after some that are skipped. */
export interface TicksWindow {
  /** The earliest time, included. */
  readonly from: Instant
  /** Ticks to skip from there. */
  readonly offset: number
  /** 1 to `marketDataPageSize`. */
  readonly limit: number
}

/** The candles of one symbol of an account. */
export interface CandleSeries {
  readonly account: BrokerAccount
  /** As the broker spells it. */
  readonly symbol: string
  readonly timeframe: Timeframe
}

/** What is kept of a range of opening times. */
export interface KeptCandles {
  /** The parts of the range of which every candle is kept. */
  readonly known: readonly CandleRange[]
  /** The first so many of the range, or the last so many; oldest first. */
  readonly candles: readonly Candle[]
}

/**
 * Complete candles as they were read from the broker, by account and its link. Every method has the
 * account, which holds its owner.
 */
export interface CandleStore {
  /** Never a candle outside the range. */
  readonly read: (
    series: CandleSeries,
    range: CandleRange,
    page: { readonly limit: number; readonly end: 'first' | 'last' },
  ) => AsyncResult<KeptCandles>
  /**
   * Keeps the candles, and that there are no others in the range. A candle that is kept already
   * stays as it is.
   */
  readonly add: (
    series: CandleSeries,
    range: CandleRange,
    candles: readonly Candle[],
  ) => AsyncResult<void>
}

/** The account that the operator chose for the prices of the listed instruments. */
export interface MarketDataFeed {
  readonly owner: Owner
  readonly accountId: AccountId
  /** The broker's spelling by the listed symbol, where the usual rule does not find it. */
  readonly symbols: Readonly<Record<string, string>>
}

/** The feed for callers who name no account. */
export interface MarketDataFeeds {
  /** None where the operator chose none; refused without the capability. */
  readonly find: AsyncResult<O.Option<MarketDataFeed>, 'NotImplemented'>
}

/**
 * Symbols are as the broker spells them, and of its own list: that the provider does not know one is
 * a failure. A failure is never an empty list.
 */
export interface MarketData {
  /** All that the broker lists, in no particular order. */
  readonly symbols: (account: BrokerAccount) => TE.TaskEither<BrokerReadError, readonly string[]>
  /** The broker's terms for trading it. */
  readonly instrument: (
    account: BrokerAccount,
    symbol: string,
  ) => TE.TaskEither<BrokerReadError, BrokerInstrument>
  /** The latest quote, however old: its time says so. */
  readonly quote: (account: BrokerAccount, symbol: string) => TE.TaskEither<BrokerReadError, Quote>
  /**
   * The last candles that opened at `to` or before, oldest first, each once; the newest may be
   * unfinished. An empty list: there is none so early.
   */
  readonly candles: (
    account: BrokerAccount,
    symbol: string,
    window: CandlesWindow,
  ) => AsyncResult<readonly Candle[], BrokerReadTag>
  /** The first ticks from a time on, oldest first. No broker keeps them on MT4. */
  readonly ticks: (
    account: BrokerAccount,
    symbol: string,
    window: TicksWindow,
  ) => AsyncResult<readonly Tick[], BrokerReadTag>
}
