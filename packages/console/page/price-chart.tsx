// Candles with lines, of which the reader can move some: with the pointer, or with the arrow keys.
import type { Candle } from '@tradeport/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CandleChart, PriceLine, PriceMarker } from './candle-chart.ts'
import { decimalsOf, priceIn } from './format.ts'

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

/** The decimals of the broker's prices. */
export const digitsOf = (candles: readonly Candle[]): number =>
  decimalsOf(candles.slice(-100).flatMap(({ open, close }) => [open, close]))

/** A line where there is a price. */
export const lineAt = (
  id: string,
  label: string,
  kind: PriceLine['kind'],
  price: number | undefined,
  isMovable = false,
): readonly PriceLine[] =>
  price !== undefined && price > 0 ? [{ id, label, kind, price, isMovable }] : []

interface PriceChartProps {
  readonly candles: readonly Candle[]
  readonly lines: readonly PriceLine[]
  readonly markers?: readonly PriceMarker[]
  /** What is drawn, for readers who do not see it. */
  readonly label: string
  readonly onMove?: (id: string, price: number) => void
}

/** The height of a handle; its style sheet has the same. */
const handlePx = 24

const noMarkers: readonly PriceMarker[] = []

export const PriceChart = ({
  candles,
  lines,
  markers = noMarkers,
  label,
  onMove,
}: PriceChartProps) => {
  const container = useRef<HTMLDivElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<CandleChart>()
  const digits = digitsOf(candles)
  const latest = useRef(lines)
  latest.current = lines
  // The handles follow the chart without a rendering for every frame.
  const placeHandles = (drawn: CandleChart): void => {
    const { width, height } = drawn.size()
    for (const handle of frame.current?.querySelectorAll<HTMLElement>('.handle') ?? []) {
      const line = latest.current.find(({ id }) => id === handle.dataset['line'])
      const y = line === undefined ? undefined : drawn.yOf(line.price)
      handle.hidden = y === undefined
      // A line beyond the scale stays within reach at the edge.
      handle.style.top = `${Math.min(Math.max(y ?? 0, handlePx / 2), height - handlePx / 2)}px`
      handle.style.width = `${width}px`
    }
  }
  useEffect(() => {
    const element = container.current
    if (element === null) return undefined
    let remove: (() => void) | undefined
    let isGone = false
    // Loaded when candles are first shown, with the library of all charts.
    const load = async (): Promise<void> => {
      const { drawCandles, drawInColours } = await import('./candle-chart.ts')
      if (isGone) return
      remove = drawInColours(() => {
        const drawn: CandleChart = drawCandles(element, {
          digits,
          onLayout: () => placeHandles(drawn),
        })
        setChart(drawn)
        return drawn.remove
      })
    }
    void load()
    return () => {
      isGone = true
      remove?.()
      setChart(undefined)
    }
  }, [digits])
  useEffect(() => chart?.setCandles(candles), [chart, candles])
  useEffect(() => chart?.setMarkers(markers), [chart, candles, markers])
  useEffect(() => {
    chart?.setLines(lines)
    if (chart !== undefined) placeHandles(chart)
  }, [chart, lines])
  return (
    <div class="price-chart" ref={frame}>
      <div class="chart" role="img" aria-label={label} ref={container} />
      {chart !== undefined &&
        onMove !== undefined &&
        lines
          .filter(({ isMovable }) => isMovable === true)
          .map((line) => (
            <Handle key={line.id} {...{ line, chart, digits, onMove }} bounds={boundsOf(candles)} />
          ))}
    </div>
  )
}

/** Lowest and highest price for a handle: three heights of the candles below and above them. */
const boundsOf = (candles: readonly Candle[]): { readonly low: number; readonly high: number } => {
  const low = Math.min(...candles.map((candle) => candle.low))
  const high = Math.max(...candles.map((candle) => candle.high))
  const margin = 3 * (high - low)
  return { low: Math.max(low - margin, 0), high: high + margin }
}

const keySteps: Readonly<Record<string, number>> = {
  ArrowUp: 1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
}

const Handle = ({
  line: { id, label, price, kind },
  chart,
  digits,
  bounds,
  onMove,
}: {
  line: PriceLine
  chart: CandleChart
  digits: number
  bounds: { readonly low: number; readonly high: number }
  onMove: (id: string, price: number) => void
}) => {
  const format = priceIn(digits)
  const move = (to: number): void => onMove(id, Number(Math.max(to, 0).toFixed(digits)))
  const drag = (event: PointerEvent & { readonly currentTarget: HTMLElement }): void => {
    const handle = event.currentTarget
    const top = handle.parentElement?.getBoundingClientRect().top ?? 0
    const grip = event.clientY - top - handle.offsetTop
    handle.setPointerCapture(event.pointerId)
    chart.holdScale(true)
    const follow = ({ clientY }: PointerEvent): void => {
      const to = chart.priceAt(clientY - top - grip)
      if (to !== undefined) move(to)
    }
    const end = (): void => {
      handle.removeEventListener('pointermove', follow)
      chart.holdScale(false)
    }
    handle.addEventListener('pointermove', follow)
    handle.addEventListener('lostpointercapture', end, { once: true })
  }
  return (
    <div
      class={`handle ${kind}`}
      data-line={id}
      role="slider"
      tabIndex={0}
      aria-label={`${label} on the chart`}
      aria-orientation="vertical"
      aria-valuenow={price}
      aria-valuemin={Math.min(bounds.low, price)}
      aria-valuemax={Math.max(bounds.high, price)}
      aria-valuetext={format(price)}
      title="Drag it, or move it with the arrow keys; Page Up and Page Down move it ten times as far."
      onPointerDown={drag}
      onKeyDown={(event) => {
        const steps = keySteps[event.key]
        if (steps === undefined) return
        event.preventDefault()
        move(price + steps * 10 ** (1 - digits))
      }}
    >
      <span>
        {label} {format(price)}
      </span>
    </div>
  )
}
