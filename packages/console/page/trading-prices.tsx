// The prices of the trading page: candles, and the lines of what is typed, which can be moved.
import type { Candle } from '@tradeport/client'
import { CandleSection } from './candle-section.tsx'
import {
  lineIfPriced,
  timeframeNames,
  usualTimeframe,
  type PriceLine,
  type Timeframe,
} from './candles.ts'
import { QuerySelect } from './filters.tsx'
import { parseTyped } from './format.ts'
import { Section } from './parts.tsx'
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
}) =>
  symbol === '' ? (
    <Section title="Prices" whyHidden={candles.whyHidden}>
      <p class="quiet">Enter a symbol.</p>
    </Section>
  ) : (
    <CandleSection
      title={`Prices of ${symbol}`}
      aside={
        !candles.whyHidden && (
          <QuerySelect
            label={<span class="sr-only">Length of a candle</span>}
            name="candles"
            value={timeframe}
            options={timeframeNames.map((name) => [name, name])}
            fallback={usualTimeframe}
          />
        )
      }
      read={candles}
      none={`The broker has no candles of ${symbol}.`}
      lines={lines}
      label={`Candles of ${symbol}. The fields beside hold the same prices as the lines.`}
      onMove={(id, price) => onEdit(id as PriceField, price.toFixed(digits))}
      note={`Bid prices. ${lines.some(({ isMovable }) => isMovable) ? 'Drag a line, or choose it and press the arrow keys; nothing is sent before you confirm it.' : ''}`}
    />
  )

export const linesOfFields = (
  { price, stopLoss, takeProfit }: Readonly<Record<PriceField, string>>,
  entryPrice: number | undefined,
  last: number | undefined,
  isNow: boolean,
  digits: number,
): readonly PriceLine[] => [
  ...lineIfPriced('now', isNow ? 'Now' : 'Last', 'now', last),
  ...lineIfPriced('entry', 'Entry', 'entry', entryPrice),
  ...lineIfPriced('price', 'Price', 'entry', parseTyped(price, digits), true),
  ...lineIfPriced('stopLoss', 'Stop loss', 'stop', parseTyped(stopLoss, digits), true),
  ...lineIfPriced('takeProfit', 'Take profit', 'target', parseTyped(takeProfit, digits), true),
]
