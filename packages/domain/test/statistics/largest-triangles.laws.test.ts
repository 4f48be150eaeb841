// Which points of a line are kept where it has too many.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { sumExactly } from '../../src/primitives/exact-sum.ts'
import { largestTriangles } from '../../src/statistics/largest-triangles.ts'

interface Point {
  readonly x: number
  readonly y: number
}

const keptOf = (points: readonly Point[], count: number, kept?: readonly number[]) =>
  largestTriangles(
    points.map(({ x }) => x),
    points.map(({ y }) => y),
    count,
    kept,
  )

/** Twice the area of the triangle. */
const areaOf = (one: Point, two: Point, three: Point) =>
  Math.abs((two.x - one.x) * (three.y - one.y) - (three.x - one.x) * (two.y - one.y))

const meanOf = (points: readonly Point[]): Point => ({
  x: sumExactly(points.map(({ x }) => x)) / points.length,
  y: sumExactly(points.map(({ y }) => y)) / points.length,
})

/** The first point, so many buckets of equal size, and the last point. */
const bucketsOf = (points: readonly Point[], count: number): readonly (readonly Point[])[] => {
  const inner = points.slice(1, -1)
  const startOf = (bucket: number) => Math.floor((bucket * inner.length) / count)
  return [
    points.slice(0, 1),
    ...times(count, (bucket) => inner.slice(startOf(bucket), startOf(bucket + 1))),
    points.slice(-1),
  ]
}

/** Lines with more points than are to be kept. */
const lines = fc
  .array(
    fc.record({
      width: fc.integer({ min: 1, max: 9 }),
      y: fc.integer({ min: -1e6, max: 1e6 }),
    }),
    { minLength: 4, maxLength: 60 },
  )
  .chain((steps) => {
    let x = 0
    return fc.record({
      points: fc.constant(steps.map(({ width, y }) => ({ x: (x += width), y }))),
      count: fc.integer({ min: 3, max: steps.length - 1 }),
      mustStay: fc.uniqueArray(fc.nat(steps.length - 1), { maxLength: 3 }),
    })
  })

it('of each bucket, it is the one that makes the largest triangle with the one before and the next bucket', () => {
  fc.assert(
    fc.property(lines, ({ points, count }) => {
      const buckets = bucketsOf(points, count - 2)
      const kept = keptOf(points, count).map((index) => points[index])
      expect(kept).toHaveLength(count)
      for (const [place, bucket] of buckets.entries()) {
        const [point, before] = [kept[place] as Point, kept[place - 1]]
        expect(bucket).toContain(point)
        const next = buckets[place + 1]
        if (before === undefined || next === undefined) continue
        const areas = bucket.map((other) => areaOf(before, other, meanOf(next)))
        const rounding = 1e-6
        expect(areaOf(before, point, meanOf(next))).toBeGreaterThan(Math.max(...areas) - rounding)
      }
    }),
  )
})

it('those that must stay are added to those of the line without them', () => {
  fc.assert(
    fc.property(lines, ({ points, count, mustStay }) => {
      const inner = mustStay.filter((index) => index > 0 && index < points.length - 1)
      const others = [...points.keys()].filter((index) => !inner.includes(index))
      const ofOthers = keptOf(
        others.map((index) => points[index] as Point),
        count,
      ).map((place) => others[place] as number)
      expect(keptOf(points, count + inner.length, mustStay)).toEqual(
        [...inner, ...ofOthers].toSorted((one, other) => one - other),
      )
    }),
  )
})

it('all are kept where they are no more than may be', () => {
  const y = [0, 0, 9, 0, 0, 0, -8, 0, 0, 0, 0, 7, 0]
  const points = y.map((height, x) => ({ x, y: height }))
  expect(keptOf(points, 13)).toEqual([...y.keys()])
  expect(keptOf(points, 5)).toEqual([0, 2, 6, 11, 12])
  expect(keptOf(points, 6, [9])).toEqual([0, 2, 6, 9, 11, 12])
  expect(keptOf(points, 2)).toEqual([0, 12])
})
