import { array, assert, double, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLatencies, quantile, trendOf } from '../../src/soak/latencies.ts'

describe('latencies by minute', () => {
  it('tell the median and the 99th percentile of each minute, as they were measured', () => {
    const latencies = createLatencies()
    for (let ms = 100; ms > 0; ms -= 1) latencies.add(1, ms)
    latencies.add(0, 7)
    expect(latencies.minutes()).toStrictEqual([
      { minute: 0, count: 1, medianMs: 7, p99Ms: 7 },
      { minute: 1, count: 100, medianMs: 50, p99Ms: 99 },
    ])
  })

  it('a quantile is a value that as many as its share do not exceed, and none below it is', () => {
    assert(
      property(array(integer(), { minLength: 1 }), double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
        const found = quantile(values, share)
        expect(values).toContain(found)
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(share * values.length)
        expect(values.filter((value) => value < found).length).toBeLessThan(share * values.length)
      }),
    )
  })

  it('the trend leaves the warm-up out, and holds the last third against the first', () => {
    const medians = [900, 900, 10, 11, 12, 50, 50, 50, 20, 30, 22]
    const minutes = medians.map((medianMs, minute) => ({ minute, count: 1, medianMs, p99Ms: 1 }))
    expect(trendOf(minutes, 2, ({ medianMs }) => medianMs)).toStrictEqual({ firstMs: 11, lastMs: 22, ratio: 2 })
  })
})
