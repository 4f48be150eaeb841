// Candles with lines, of which the user can move some: with the pointer, or with the arrow keys.
import type { Candle } from '@tradeport/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { drawCandles, type CandleChart } from './candle-chart.ts'
import { digitsOf, type PriceLine, type PriceMarker } from './candles.ts'
import { priceFormat } from './format.ts'

export interface PriceChartProps {
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
      const y = line && drawn.yOf(line.price)
      handle.hidden = y === undefined
      // A line beyond the scale stays within reach at the edge.
      handle.style.top = `${Math.min(Math.max(y ?? 0, handlePx / 2), height - handlePx / 2)}px`
      handle.style.width = `${width}px`
    }
  }
  useEffect(() => {
    const element = container.current
    if (element === null) return undefined
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    let drawn: CandleChart | undefined
    const draw = (): void => {
      drawn?.remove()
      const next: CandleChart = drawCandles(element, digits, () => placeHandles(next))
      drawn = next
      setChart(next)
    }
    draw()
    // A chart has the colours that it was drawn with.
    scheme.addEventListener('change', draw)
    return () => {
      scheme.removeEventListener('change', draw)
      drawn?.remove()
      setChart(undefined)
    }
  }, [digits])
  useEffect(() => chart?.setCandles(candles), [chart, candles])
  useEffect(() => chart?.setMarkers(markers), [chart, candles, markers])
  useEffect(() => {
    chart?.setLines(lines)
    if (chart) placeHandles(chart)
  }, [chart, lines])
  return (
    <div class="price-chart" ref={frame}>
      <div class="chart" role="img" aria-label={label} ref={container} />
      {chart &&
        onMove &&
        lines
          .filter(({ isMovable }) => isMovable)
          .map((line) => <Handle key={line.id} {...{ line, chart, digits, onMove }} />)}
    </div>
  )
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
  onMove,
}: {
  line: PriceLine
  chart: CandleChart
  digits: number
  onMove: (id: string, price: number) => void
}) => {
  const format = priceFormat(digits)
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
      aria-valuemin={0}
      aria-valuemax={2 * price}
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
