// The curve as a chart; in a file of its own, because the library is loaded with it.
import type { DataOf } from '@tradeport/client'
import {
  AreaSeries,
  createChart,
  LineSeries,
  LineType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { colourOf, drawInColours, frameOptions } from './chart-frame.ts'
import { localDay, localMoment, money } from './format.ts'

export type CurveData = DataOf<'getTradeCurve'>
export type Point = CurveData['points'][number]

interface CurveOptions {
  readonly points: readonly Point[]
  readonly currency: string | undefined
}

/** Of the time axis. */
const maxSteps = 600

/**
 * One value for each of the equal steps of time in which something closed. The library spaces what it
 * is given evenly, so that the steps between are given without a value.
 */
const valuesOf = (points: readonly Point[], valueOf: (some: readonly Point[]) => number) => {
  const seconds = points.map(({ time }) => Math.floor(Date.parse(time) / 1_000))
  const start = seconds[0] ?? 0
  const length = Math.max(1, Math.ceil(((seconds.at(-1) ?? 0) - start) / maxSteps))
  const steps = Map.groupBy(points, (_, index) =>
    Math.floor(((seconds[index] ?? 0) - start) / length),
  )
  return Array.from({ length: Math.max(...steps.keys()) + 1 }, (_, step) => {
    const time = (start + step * length) as UTCTimestamp
    const closed = steps.get(step)
    return closed === undefined ? { time } : { time, value: valueOf(closed) }
  })
}

const lastBalance = (points: readonly Point[]): number => {
  const last = points.at(-1)
  return last?.balance ?? last?.netProfit ?? 0
}
const deepestDrawdown = (points: readonly Point[]): number =>
  Math.min(...points.map(({ drawdown }) => -drawdown))

/** Returns what removes it. */
export const drawCurve = (element: HTMLElement, options: CurveOptions): (() => void) =>
  drawInColours(() => draw(element, options))

const draw = (element: HTMLElement, { points, currency }: CurveOptions): (() => void) => {
  const colour = colourOf(element)
  const frame = frameOptions(element)
  const chart = createChart(element, {
    ...frame,
    timeScale: {
      ...frame.timeScale,
      tickMarkFormatter: (time: Time) => localDay(new Date(Number(time) * 1_000).toISOString()),
    },
    localization: {
      timeFormatter: (time: Time) => localMoment(Number(time)),
      priceFormatter: (value: number) => money(value, currency),
    },
  })
  const line = chart.addSeries(LineSeries, {
    color: colour('--accent'),
    lineWidth: 2,
    lineType: LineType.WithSteps,
    priceLineVisible: false,
  })
  line.setData(valuesOf(points, lastBalance))
  const drawdown = chart.addSeries(
    AreaSeries,
    {
      lineColor: colour('--loss'),
      topColor: 'transparent',
      bottomColor: colour('--loss-fill'),
      // Filled between the curve and zero, which is at the top.
      invertFilledArea: true,
      lineWidth: 1,
      lineType: LineType.WithSteps,
      priceLineVisible: false,
      lastValueVisible: false,
    },
    1,
  )
  drawdown.setData(valuesOf(points, deepestDrawdown))
  const [upper, lower] = chart.panes()
  upper?.setStretchFactor(3)
  lower?.setStretchFactor(1)
  chart.timeScale().fitContent()
  return () => chart.remove()
}
