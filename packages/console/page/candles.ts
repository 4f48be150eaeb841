// Candles, the broker's instrument, and what is drawn with them. The chart is loaded with its library.
import type { Candle } from '@tradeport/client'
import { decimalsOf } from './format.ts'
import { useData } from './read.ts'
import { instrumentFor } from './symbols.ts'

export const timeframes = {
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '30m': 1_800,
  '1h': 3_600,
  '4h': 14_400,
  '1d': 86_400,
  '1w': 604_800,
} as const

export type Timeframe = keyof typeof timeframes
export const timeframeNames = Object.keys(timeframes) as readonly Timeframe[]
export const usualTimeframe: Timeframe = '15m'

/**
 * What the service finds for a symbol in capitals; undefined until it is read, and where there is
 * none or several.
 */
export const useInstrument = (accountId: string, symbol: string) => {
  const search = { accountId, search: symbol, limit: 50 }
  const { data = [] } = useData('prices', 'listSymbols', symbol === '' ? undefined : [search])
  return instrumentFor(
    symbol,
    data.filter((one) => 'digits' in one),
  )
}

/** The decimals of the broker's prices. */
export const digitsOf = (candles: readonly Candle[]): number =>
  decimalsOf(candles.slice(-100).flatMap(({ open, close }) => [open, close]))

/** A price that is drawn across the chart. */
export interface PriceLine {
  readonly id: string
  readonly label: string
  readonly kind: 'entry' | 'stop' | 'target' | 'now'
  readonly price: number
  /** Whether the user may move it. */
  readonly isMovable: boolean
}

/** Something that happened at a time and a price. */
export interface PriceMarker {
  /** ISO 8601. */
  readonly time: string
  readonly price: number
  readonly label: string
  readonly isBuy: boolean
}

export const lineIfPriced = (
  id: string,
  label: string,
  kind: PriceLine['kind'],
  price: number | undefined,
  isMovable = false,
): readonly PriceLine[] =>
  price !== undefined && price > 0 ? [{ id, label, kind, price, isMovable }] : []
