// The prices around a closed trade: candles with its deals and the levels that it was opened with.
import type { DataOf, Trade } from '@tradeport/client'
import { useMemo } from 'preact/hooks'
import type { PriceLine, PriceMarker } from './candle-chart.ts'
import { lots } from './format.ts'
import { Notice, Section, Shown } from './parts.tsx'
import { lineAt, PriceChart, timeframes, type Timeframe } from './price-chart.tsx'
import { dataOf, useRead } from './read.ts'

/** The most candles of the trade itself, and how many are shown before and after it. */
const [maxInside, around] = [90, 30]

interface Range {
  readonly timeframe: Timeframe
  readonly startTime: string
  readonly endTime: string
}

/** The shortest candles that show the whole trade with what was before and after it. */
const rangeOf = ({ openedAt, closedAt }: Trade): Range => {
  const [from, to] = [Date.parse(openedAt), Date.parse(closedAt)]
  const names = Object.keys(timeframes) as Timeframe[]
  const timeframe =
    names.find((name) => to - from <= maxInside * timeframes[name] * 1_000) ?? names.at(-1) ?? '1d'
  const margin = around * timeframes[timeframe] * 1_000
  return {
    timeframe,
    startTime: new Date(from - margin).toISOString(),
    endTime: new Date(Math.min(to + margin, Date.now())).toISOString(),
  }
}

export const TradePrices = ({
  trade,
  deals,
}: {
  trade: Trade
  /** Undefined while they are read, and where the key may not read them. */
  deals: DataOf<'getTradeDeals'>['deals'] | undefined
}) => {
  const { timeframe, startTime, endTime } = rangeOf(trade)
  const candles = useRead('prices', trade.id, (client, signal) => {
    const range = { timeframe, startTime, endTime, limit: 1_000, accountId: trade.accountId }
    return client.listCandles(trade.symbol.toUpperCase(), range, { signal }).then(dataOf)
  })
  const markers = useMemo(() => markersOf(trade, deals), [trade, deals])
  const lines = useMemo(() => linesOf(trade, deals), [trade, deals])
  const levels = lines.filter(({ kind }) => kind !== 'entry')
  return (
    <Section
      title="Prices around it"
      aside={candles.data !== undefined && `Candles of ${timeframe}, bid prices`}
    >
      <Shown read={candles}>
        {(list) =>
          list.length === 0 ? (
            <Notice>The broker has no candles of {trade.symbol} for the time of the trade.</Notice>
          ) : (
            <>
              <PriceChart
                candles={list}
                lines={lines}
                markers={markers}
                label={`Candles of ${trade.symbol} around the trade, with its entry and exit. The figures above sum it up.`}
              />
              <p class="quiet">
                {levels.length > 0
                  ? 'The stop and the target are those that it was opened with; later changes are not drawn.'
                  : 'No stop and no target are known that it was opened with.'}
              </p>
            </>
          )
        }
      </Shown>
    </Section>
  )
}

/** More of them would hide the candles. */
const maxMarkers = 12

/** Every deal where they are known and few, else the averages of the trade. */
const markersOf = (
  trade: Trade,
  deals: DataOf<'getTradeDeals'>['deals'] | undefined,
): readonly PriceMarker[] => {
  const known = (deals ?? []).flatMap(({ time, price, type, entry, volume }) =>
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

const linesOf = (
  { entryPrice }: Trade,
  deals: DataOf<'getTradeDeals'>['deals'] | undefined,
): readonly PriceLine[] => {
  const opening = (deals ?? []).find(({ entry }) => entry === 'in')
  return [
    ...lineAt('entry', 'Entry', 'entry', entryPrice),
    ...lineAt('stop', 'Stop', 'stop', opening?.stopLoss),
    ...lineAt('target', 'Target', 'target', opening?.takeProfit),
  ]
}
