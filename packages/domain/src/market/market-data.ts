// Quotes, candles, ticks and instruments as the broker of an account has them. Prices are in the
// instrument's own units, volumes in lots.
import type { Instant } from '../primitives/instant.ts'

export interface Quote {
  readonly bid: number
  readonly ask: number
  /** When the broker quoted it. */
  readonly time: Instant
  /**
   * What one tick of a lot is worth in the account's currency, for a position in profit and for one
   * in loss; null where the provider does not report it.
   */
  readonly profitTickValue: number | null
  readonly lossTickValue: number | null
}

/** Opening times of candles follow the broker's clock: a day begins at the broker's midnight. */
export const timeframes = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w', '1M'] as const
export type Timeframe = (typeof timeframes)[number]

export interface Candle {
  /** Its opening. */
  readonly time: Instant
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Ticks. */
  readonly volume: number
}

export interface Tick {
  readonly time: Instant
  /** Null where the tick did not report it. */
  readonly bid: number | null
  readonly ask: number | null
}

export const instrumentTradeModes = [
  'disabled',
  'long_only',
  'short_only',
  'close_only',
  'full',
] as const
export type InstrumentTradeMode = (typeof instrumentTradeModes)[number]

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const

/** Trading hours of a weekday by the broker's clock, `HH:MM:SS.mmm` each. */
export interface TradingSession {
  readonly day: (typeof weekdays)[number]
  readonly from: string
  readonly to: string
}

/** The broker's terms for an instrument. Null where the broker does not report it. */
export interface BrokerInstrument {
  /** As the broker spells it. */
  readonly symbol: string
  readonly description: string | null
  /** Smallest price step. */
  readonly tickSize: number
  /** Units in one lot. */
  readonly contractSize: number
  readonly minVolume: number
  readonly maxVolume: number
  readonly volumeStep: number
  readonly digits: number
  /** Minimum distance of a level from the price, in points. */
  readonly stopsLevel: number
  readonly tradeMode: InstrumentTradeMode | null
  readonly baseCurrency: string | null
  readonly profitCurrency: string | null
  /** For a lot and night, in the unit of the broker's terms. */
  readonly swapLong: number | null
  readonly swapShort: number | null
  readonly sessions: readonly TradingSession[]
}
