// Fewer points of a line that looks the same: largest triangle three buckets.
import type { Column } from './trade-results.ts'

/**
 * The places of `count` points of a line, ascending. The first, the last and those in `kept` are
 * always among them. Of the others, each of equal buckets gives the point that makes the largest
 * triangle with the point chosen before it and the mean of the next bucket (S. Steinarsson,
 * Downsampling Time Series for Visual Representation, University of Iceland, 2013).
 * @param count at least 2 more than there are in `kept`
 */
export const largestTriangles = (
  x: Column,
  y: Column,
  count: number,
  kept: readonly number[] = [],
): readonly number[] => {
  const last = x.length - 1
  if (x.length <= count) return Array.from(x, (_, index) => index)
  const inner = new Set(kept.filter((index) => index > 0 && index < last))
  const others = Array.from(x, (_, index) => index).filter((index) => !inner.has(index))
  const xAt = (place: number): number => x[others[place] ?? last] ?? 0
  const yAt = (place: number): number => y[others[place] ?? last] ?? 0
  const buckets = count - 2 - inner.size
  const startOf = (bucket: number): number =>
    Math.floor((bucket * (others.length - 2)) / buckets) + 1
  const chosen = [0]
  let before = 0
  for (let bucket = 0; bucket < buckets; bucket++) {
    const [start, end] = [startOf(bucket), startOf(bucket + 1)]
    const nextEnd = Math.min(startOf(bucket + 2), others.length)
    let [meanX, meanY] = [0, 0]
    for (let place = end; place < nextEnd; place++) {
      meanX += xAt(place) / (nextEnd - end)
      meanY += yAt(place) / (nextEnd - end)
    }
    const [x0, y0] = [xAt(before), yAt(before)]
    let largest = -1
    for (let place = start; place < end; place++) {
      const area = Math.abs((x0 - meanX) * (yAt(place) - y0) - (x0 - xAt(place)) * (meanY - y0))
      if (area > largest) {
        largest = area
        before = place
      }
    }
    chosen.push(others[before] ?? last)
  }
  return [...chosen, ...inner, last].toSorted((a, b) => a - b)
}
