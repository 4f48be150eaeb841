// The prices of the trading page: candles, and the lines of what is typed, which can be moved.
import type { Candle, Order } from '@tradeport/client'
import type { PriceLine } from './candle-chart.ts'
import { Select } from './fields.tsx'
import { numberOf } from './format.ts'
import { setQuery } from './location.ts'
import { Notice, Section, Shown } from './parts.tsx'
import { lineAt, PriceChart, timeframes, type Timeframe } from './price-chart.tsx'
import type { Read } from './read.ts'

/** A price of an order or a position that is a line on the chart. */
export type PriceField = 'price' | 'stopLoss' | 'takeProfit'

export const PricePanel = ({
  candles,
  symbol,
  timeframe,
  lines,
  digits,
  onEdit,
}: {
  candles: Read<readonly Candle[]>
  symbol: string
  timeframe: Timeframe
  lines: readonly PriceLine[]
  digits: number
  onEdit: (name: PriceField, text: string) => void
}) => (
  <Section
    title={symbol === '' ? 'Prices' : `Prices of ${symbol}`}
    aside={
      candles.hidden === undefined && (
        <Select
          label="Length of a candle"
          value={timeframe}
          options={Object.keys(timeframes).map((name) => [name, name])}
          onChange={(value) => setQuery({ candles: value === '15m' ? '' : value })}
        />
      )
    }
  >
    {symbol === '' && candles.hidden === undefined ? (
      <p class="quiet">Enter a symbol.</p>
    ) : (
      <Shown read={candles}>
        {(list) =>
          list.length === 0 ? (
            <Notice>The broker has no candles of {symbol}.</Notice>
          ) : (
            <>
              <PriceChart
                candles={list}
                lines={lines}
                label={`Candles of ${symbol}. The fields beside hold the same prices as the lines.`}
                onMove={(id, price) => onEdit(id as PriceField, price.toFixed(digits))}
              />
              <p class="quiet">
                Bid prices.{' '}
                {lines.some(({ isMovable }) => isMovable === true) &&
                  'Drag a line, or choose it and press the arrow keys; nothing is sent before you confirm it.'}
              </p>
            </>
          )
        }
      </Shown>
    )}
  </Section>
)

export const linesOf = (
  { price, stopLoss, takeProfit }: Readonly<Record<PriceField, string>>,
  entryPrice: number | undefined,
  last: number | undefined,
  isNow: boolean,
): readonly PriceLine[] => [
  ...lineAt('now', isNow ? 'Now' : 'Last', 'now', last),
  ...lineAt('entry', 'Entry', 'entry', entryPrice),
  ...lineAt('price', 'Price', 'entry', numberOf(price), true),
  ...lineAt('stopLoss', 'Stop loss', 'stop', numberOf(stopLoss), true),
  ...lineAt('takeProfit', 'Take profit', 'target', numberOf(takeProfit), true),
]

/**
 * First places for lines on the chart, to be moved from there; undefined without candles.
 * @param price of a pending order, where it is known
 */
export const suggestionsOf = (
  candles: readonly Candle[] | undefined,
  side: 'buy' | 'sell',
  orderType: Order['orderType'],
  price: number | undefined,
): Readonly<Record<PriceField, number>> | undefined => {
  const last = candles?.at(-1)?.close
  if (candles === undefined || last === undefined) return undefined
  const recent = candles.slice(-50)
  const height =
    Math.max(...recent.map(({ high }) => high)) - Math.min(...recent.map(({ low }) => low))
  const up = side === 'buy' ? height : -height
  const from = price !== undefined && price > 0 ? price : last
  return {
    // A limit order waits for a better price, a stop order for a worse one.
    price: orderType === 'limit' ? last - up / 4 : last + up / 4,
    stopLoss: from - up / 3,
    takeProfit: from + up / 2,
  }
}
