// Prices and instruments of a broker account, through the provider.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../accounts/account.ts'
import type { BrokerReadError, Refusal } from '../errors.ts'
import type { BrokerInstrument, Candle, Quote, Tick, Timeframe } from '../market/market-data.ts'
import type { Instant } from '../primitives/instant.ts'

/** The most candles or ticks of one read. */
export const marketDataPageSize = 1_000

/** NotFound: the broker does not have the symbol. */
export type MarketDataError = BrokerReadError | Refusal<'NotFound'>

export interface CandlesWindow {
  readonly timeframe: Timeframe
  /** The latest opening time, included. */
  readonly to: Instant
  /** 1 to `marketDataPageSize`. */
  readonly limit: number
}

export interface TicksWindow {
  /** The earliest time, included. */
  readonly from: Instant
  /** Ticks to skip from there. */
  readonly offset: number
  /** 1 to `marketDataPageSize`. */
  readonly limit: number
}

/** Symbols are as the broker spells them. A failure is never an empty list. */
export interface MarketData {
  readonly symbols: (account: BrokerAccount) => TE.TaskEither<BrokerReadError, readonly string[]>
  readonly instrument: (
    account: BrokerAccount,
    symbol: string,
  ) => TE.TaskEither<MarketDataError, BrokerInstrument>
  readonly quote: (account: BrokerAccount, symbol: string) => TE.TaskEither<MarketDataError, Quote>
  /**
   * The last candles that opened at `to` or before, oldest first, each once; the newest may be
   * unfinished. An empty list: there is none so early.
   */
  readonly candles: (
    account: BrokerAccount,
    symbol: string,
    window: CandlesWindow,
  ) => TE.TaskEither<MarketDataError, readonly Candle[]>
  /** The first ticks from a time on, oldest first. No broker keeps them on MT4. */
  readonly ticks: (
    account: BrokerAccount,
    symbol: string,
    window: TicksWindow,
  ) => TE.TaskEither<MarketDataError, readonly Tick[]>
}
