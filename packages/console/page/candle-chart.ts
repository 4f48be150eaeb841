// Candles with lines and markers, drawn by the library.
import type { Candle } from '@tradeport/client'
import {
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  LineSeries,
  LineStyle,
  TickMarkType,
  type IPriceLine,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { PriceLine, PriceMarker } from './candles.ts'
import { localDay, localSecond, localTimeOfDay, priceFormat } from './format.ts'

export type CandleChart = ReturnType<typeof drawCandles>

const secondsOf = (iso: string): UTCTimestamp => Math.floor(Date.parse(iso) / 1_000) as UTCTimestamp

/** A colour of the page's style, by its name, as it is in the user's colour scheme. */
const colourOf =
  (element: HTMLElement) =>
  (name: `--${string}`): string => {
    element.style.color = `var(${name})`
    const { color } = getComputedStyle(element)
    element.style.color = ''
    return color
  }

const colourNames = {
  entry: '--accent',
  stop: '--loss',
  target: '--gain',
  now: '--quiet',
} as const

/** How far lines may stretch the scale of prices, as a multiple of the height of the candles. */
const maxStretch = 1

/** @param onLayout is called whenever a price may have moved to another place */
export const drawCandles = (element: HTMLElement, digits: number, onLayout: () => void) => {
  const colour = colourOf(element)
  const chart = createChart(element, {
    autoSize: true,
    layout: {
      // The logo writes a style element, which the policy forbids; the page names the library.
      attributionLogo: false,
      background: { color: 'transparent' },
      textColor: colour('--quiet'),
      fontFamily: getComputedStyle(element).fontFamily,
      fontSize: 11,
    },
    grid: { vertLines: { visible: false }, horzLines: { color: colour('--line') } },
    // Room for the axis label of a line at either edge.
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.08, bottom: 0.08 } },
    timeScale: {
      borderVisible: false,
      timeVisible: true,
      rightOffset: 4,
      tickMarkFormatter: (time: Time, type: TickMarkType) => {
        const at = Number(time) * 1_000
        return type >= TickMarkType.Time ? localTimeOfDay(at) : localDay(at)
      },
    },
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
    localization: {
      timeFormatter: (time: Time) => localSecond(Number(time) * 1_000),
      priceFormatter: priceFormat(digits),
    },
  })
  let lines: readonly PriceLine[] = []
  let heldRange: { readonly minValue: number; readonly maxValue: number } | undefined
  let lastRange: typeof heldRange
  const series = chart.addSeries(CandlestickSeries, {
    upColor: 'transparent',
    downColor: colour('--loss'),
    borderUpColor: colour('--gain'),
    borderDownColor: colour('--loss'),
    wickUpColor: colour('--gain'),
    wickDownColor: colour('--loss'),
    priceLineVisible: false,
    lastValueVisible: false,
    priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits },
    autoscaleInfoProvider: (own: () => { priceRange: typeof heldRange | null } | null) => {
      const range = own()?.priceRange
      if (range === null || range === undefined) return null
      const height = range.maxValue - range.minValue || range.maxValue / 1_000
      const drawn = lines
        .map(({ price }) => price)
        .filter(
          (price) =>
            price > range.minValue - maxStretch * height &&
            price < range.maxValue + maxStretch * height,
        )
      lastRange = heldRange ?? {
        minValue: Math.min(range.minValue, ...drawn),
        maxValue: Math.max(range.maxValue, ...drawn),
      }
      return { priceRange: lastRange }
    },
  })
  // The only notice that the library gives of a scale that has moved.
  series.attachPrimitive({ updateAllViews: () => queueMicrotask(onLayout) })
  const markers = createSeriesMarkers(series)
  /** From the first marker to the last. */
  const path = chart.addSeries(LineSeries, {
    color: colour('--accent'),
    lineWidth: 2,
    lineStyle: LineStyle.Dotted,
    priceLineVisible: false,
    lastValueVisible: false,
    crosshairMarkerVisible: false,
  })
  const drawn = new Map<string, IPriceLine>()
  let times: readonly number[] = []
  return {
    setCandles: (candles: readonly Candle[]): void => {
      const isFirst = times.length === 0
      times = candles.map(({ time }) => secondsOf(time))
      series.setData(candles.map(({ time, ...prices }) => ({ ...prices, time: secondsOf(time) })))
      if (isFirst) chart.timeScale().fitContent()
    },
    setLines: (next: readonly PriceLine[]): void => {
      lines = next
      for (const [id, line] of drawn)
        if (!next.some((one) => one.id === id)) {
          series.removePriceLine(line)
          drawn.delete(id)
        }
      for (const { id, kind, price, label, isMovable } of next) {
        const options = {
          price,
          color: colour(colourNames[kind]),
          lineWidth: 1 as const,
          lineStyle: kind === 'entry' ? LineStyle.Solid : LineStyle.Dashed,
          axisLabelVisible: true,
          // One that can be moved has a handle, which names it.
          title: isMovable ? '' : label,
        }
        const line = drawn.get(id)
        if (line === undefined) drawn.set(id, series.createPriceLine(options))
        else line.applyOptions(options)
      }
    },
    setMarkers: (next: readonly PriceMarker[]): void => {
      // The library draws only at the opening of a candle.
      const placed = next.map((marker) => {
        const opening = times.findLast((at) => at <= secondsOf(marker.time)) ?? times[0] ?? 0
        return { ...marker, time: opening as UTCTimestamp }
      })
      markers.setMarkers(
        placed.map(({ time, price, label, isBuy }) => ({
          time,
          price,
          position: isBuy ? ('atPriceBottom' as const) : ('atPriceTop' as const),
          shape: isBuy ? ('arrowUp' as const) : ('arrowDown' as const),
          color: colour('--accent'),
          text: label,
        })),
      )
      // Of several deals in one candle the last.
      path.setData(
        [...new Map(placed.map(({ time, price }) => [time, price]))].map(([time, value]) => ({
          time,
          value,
        })),
      )
    },
    /** While a line is moved, the scale of prices stands still. */
    holdScale: (isHeld: boolean): void => {
      heldRange = isHeld ? lastRange : undefined
      if (!isHeld) series.applyOptions({})
    },
    /** Pixels from the top; undefined where there are no candles. */
    yOf: (price: number) => series.priceToCoordinate(price) ?? undefined,
    priceAt: (y: number) => series.coordinateToPrice(y) ?? undefined,
    /** Of the part with candles, in pixels. */
    size: () => ({
      width: chart.timeScale().width(),
      height: chart.panes()[0]?.getHeight() ?? 0,
    }),
    remove: (): void => chart.remove(),
  }
}
