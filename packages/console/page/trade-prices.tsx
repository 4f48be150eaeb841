// The prices around a closed trade: candles with its deals and the levels that it was opened with.
import type { DataOf, Trade } from '@tradeport/client'
import { useMemo } from 'preact/hooks'
import { CandleSection } from './candle-section.tsx'
import {
  lineIfPriced,
  timeframeNames,
  timeframes,
  useInstrument,
  type PriceLine,
  type PriceMarker,
} from './candles.ts'
import { lots } from './format.ts'
import { useData } from './read.ts'
import { withoutOthers } from './symbols.ts'

/** The most candles of the trade itself, and how many are shown before and after it. */
const [maxInside, around] = [90, 30]

/** The shortest candles that show the whole trade with what was before and after it. */
const rangeOf = ({ accountId, openedAt, closedAt }: Trade) => {
  const [from, to] = [Date.parse(openedAt), Date.parse(closedAt)]
  const timeframe =
    timeframeNames.find((name) => to - from <= maxInside * timeframes[name] * 1_000) ?? '1w'
  const margin = around * timeframes[timeframe] * 1_000
  return {
    timeframe,
    startTime: new Date(from - margin).toISOString(),
    endTime: new Date(to + margin).toISOString(),
    limit: 1_000,
    accountId,
  }
}

/** Undefined while they are read, and where the key may not read them. */
type Deals = DataOf<'getTradeDeals'>['deals'] | undefined

export const TradePrices = ({ trade, deals }: { trade: Trade; deals: Deals }) => {
  const range = rangeOf(trade)
  const symbol = trade.symbol.toUpperCase()
  const candles = withoutOthers(
    useData('prices', 'listCandles', [symbol, range]),
    trade.symbol,
    useInstrument(trade.accountId, symbol),
  )
  const markers = useMemo(() => markersOf(trade, deals), [trade, deals])
  const lines = useMemo(() => linesOfTrade(trade, deals), [trade, deals])
  const levels = lines.filter(({ kind }) => kind !== 'entry')
  return (
    <CandleSection
      title="Prices around it"
      aside={candles.data && `Candles of ${range.timeframe}, bid prices`}
      read={candles}
      none={`The broker has no candles of ${trade.symbol} for the time of the trade.`}
      {...{ lines, markers }}
      label={`Candles of ${trade.symbol} around the trade, with its entry and exit. The figures above sum it up.`}
      note={
        levels.length > 0
          ? 'Stop loss and take profit are those that it was opened with; later changes are not drawn.'
          : 'No stop loss and no take profit are known that it was opened with.'
      }
    />
  )
}

/** More of them would hide the candles. */
const maxMarkers = 12

/** Every deal where they are known and few, else the averages of the trade. */
const markersOf = (trade: Trade, deals: Deals = []): readonly PriceMarker[] => {
  const known = deals.flatMap(({ time, price, type, entry, volume }) =>
    price === undefined
      ? []
      : [
          {
            time,
            price,
            isBuy: type === 'buy',
            label: `${entry === 'in' ? 'in' : 'out'}${volume === undefined ? '' : ` ${lots(volume)}`}`,
          },
        ],
  )
  if (known.length > 0 && known.length <= maxMarkers) return known
  const isBuy = trade.type === 'buy'
  return [
    { time: trade.openedAt, price: trade.entryPrice, isBuy, label: 'in' },
    { time: trade.closedAt, price: trade.exitPrice, isBuy: !isBuy, label: 'out' },
  ]
}

const linesOfTrade = ({ entryPrice }: Trade, deals: Deals): readonly PriceLine[] => {
  const opening = deals?.find(({ entry }) => entry === 'in')
  return [
    ...lineIfPriced('entry', 'Entry', 'entry', entryPrice),
    ...lineIfPriced('stop', 'Stop loss', 'stop', opening?.stopLoss),
    ...lineIfPriced('target', 'Take profit', 'target', opening?.takeProfit),
  ]
}
