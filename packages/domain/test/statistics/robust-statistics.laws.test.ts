// The bootstrap, compared with a plain implementation of the same draws, and how often its
// intervals contain the truth.
import { shuffled, times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxDrawdown } from '../../src/statistics/drawdown.ts'
import { meanOf } from '../../src/statistics/sample-moments.ts'
import { createRandom, seedOf } from '../../src/statistics/random.ts'
import {
  robustStatistics,
  type RobustStatistics,
  statisticsOf,
} from '../../src/statistics/index.ts'
import { normalProbability, studentTQuantile } from '../../src/statistics/student-t.ts'
import { expectRelative } from './expect-relative.ts'

type Figure = Exclude<keyof NonNullable<RobustStatistics['intervals']>, 'maxDrawdown'>

const figures: { readonly [Name in Figure]: (values: readonly number[]) => number } = {
  expectancy: meanOf,
  winRate: (values) => statisticsOf(values).winRate,
  profitFactor: (values) => statisticsOf(values).profitFactor ?? Infinity,
  sharpeRatio: (values) =>
    new Set(values).size > 1 ? statisticsOf(values).sharpeRatio : Math.sign(total(values)) / 0 || 0,
}

const quantile = (sorted: readonly number[], probability: number): number | null => {
  const place = probability * (sorted.length - 1)
  const [low = 0, high = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  const value = low === high ? low : low + (place - Math.floor(place)) * (high - low)
  return Number.isFinite(value) ? value : null
}
const ascending = (values: readonly number[]) =>
  values.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
const normalQuantile = (p: number) => studentTQuantile(p, Infinity)
const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

const bcaOf = (
  figure: (values: readonly number[]) => number,
  trades: readonly number[],
  resamples: readonly (readonly number[])[],
) => {
  const values = ascending(resamples.map(figure))
  const jackknife = trades.map((_, left) => figure(trades.toSpliced(left, 1)))
  const mean = total(jackknife) / jackknife.length
  const offsets = jackknife.map((value) => mean - value)
  const squares = total(offsets.map((offset) => offset * offset))
  const cubes = total(offsets.map((offset) => offset * offset * offset))
  const acceleration = cubes / (6 * squares ** 1.5)
  const estimate = figure(trades)
  const isCertain = values[0] === values.at(-1)
  if (!Number.isFinite(acceleration) || !Number.isFinite(estimate) || isCertain)
    return { lower: null, upper: null }
  const isSame = (value: number) => Math.abs(value - estimate) <= 1e-12 * Math.abs(estimate)
  const below = values.filter((value) => value < estimate && !isSame(value)).length
  const share = (below + values.filter(isSame).length / 2) / values.length
  const bias = normalQuantile(
    Math.min(1 - 0.5 / values.length, Math.max(0.5 / values.length, share)),
  )
  const boundAt = (z: number): number | null =>
    quantile(values, normalProbability(bias + (bias + z) / (1 - acceleration * (bias + z))))
  return {
    lower: boundAt(normalQuantile((1 - 0.95) / 2)),
    upper: boundAt(normalQuantile((1 + 0.95) / 2)),
  }
}

const at = (number: number, bound: number) => Math.floor((number * bound) / 2 ** 32)

/** Draws of the same random numbers, one after the other. */
const plainRobust = (trades: readonly number[], resamples: number) => {
  const count = trades.length
  const random = createRandom(seedOf(Float64Array.from(trades)))
  const numbers = () => {
    const drawn = new Uint32Array(count)
    random(drawn)
    return [...drawn]
  }
  const samples = times(resamples, () => numbers().map((number) => trades[at(number, count)] ?? 0))
  let order = trades
  const drawdownsOf = times(resamples, () => {
    const left = [...order]
    order = numbers().map((number, place) => {
      const drawn = at(number, count - place)
      const [first = 0, chosen = 0] = [left[0], left[drawn]]
      left[drawn] = first
      left.shift()
      return chosen
    })
    return maxDrawdown(order)
  })
  return { samples, drawdownsOf: ascending(drawdownsOf) }
}

const repeated = (amount: number) => times(12, () => amount)
const cents = fc.integer({ min: -300, max: 350 }).map((amount) => amount / 100)
const manyTrades = fc.array(cents, { minLength: 10, maxLength: 40 })

describe('the bootstrap', () => {
  it('gives what a plain implementation gives of the same draws', () => {
    fc.assert(
      fc.property(manyTrades, (trades) => {
        const resamples = 200
        const { samples, drawdownsOf } = plainRobust(trades, resamples)
        const found = robustStatistics(Float64Array.from(trades), resamples)
        const { intervals } = found
        for (const name of ['expectancy', 'winRate', 'profitFactor'] as const)
          expect(intervals?.[name], name).toEqual({
            estimate: finite(figures[name](trades)),
            ...bcaOf(figures[name], trades, samples),
          })
        // Of a spread, the last digits depend on how it is computed.
        const sharpe = bcaOf(figures.sharpeRatio, trades, samples)
        expect(intervals?.sharpeRatio.estimate).toBe(statisticsOf(trades).sharpeRatio)
        for (const end of ['lower', 'upper'] as const)
          expectRelative(intervals?.sharpeRatio[end] ?? Infinity, sharpe[end] ?? Infinity, 1e-9)
        expect(intervals?.maxDrawdown).toEqual({
          estimate: maxDrawdown(trades),
          lower: quantile(drawdownsOf, (1 - 0.95) / 2),
          upper: quantile(drawdownsOf, (1 + 0.95) / 2),
        })
        const losses = samples.filter((sample) => statisticsOf(sample).netProfit < 0)
        expect(found.probabilityOfLoss).toBe(losses.length / resamples)
      }),
      {
        numRuns: 15,
        // Some draws have only trades that are equal, or neither profit nor loss.
        examples: [[[-1, ...repeated(2)]], [[-1, -1, ...repeated(2)]], [[1, ...repeated(0)]]],
      },
    )
  })

  it('gives the same for the same trades, and nothing below ten', () => {
    fc.assert(
      fc.property(
        manyTrades.chain((trades) => fc.tuple(fc.constant(trades), shuffled(trades))),
        ([trades, others]) => {
          const found = robustStatistics(Float64Array.from(trades), 50)
          expect(robustStatistics(Float64Array.from(trades), 50)).toEqual(found)
          expect(robustStatistics(Float64Array.from(others), 50).seed === found.seed).toBe(
            trades.every((trade, index) => trade === others[index]),
          )
          const few = robustStatistics(Float64Array.from(trades.slice(0, 9)), 50)
          expect(few).toMatchObject({ trades: 9, intervals: null, probabilityOfLoss: null })
        },
      ),
      { numRuns: 20 },
    )
  })

  it.each([
    ['wins only', times(12, (at) => at + 1), { estimate: null, lower: null, upper: null }],
    ['one loss', [-1, ...repeated(2)], { estimate: 24, lower: null, upper: null }],
    ['all equal', repeated(-0.3), { estimate: 0, lower: null, upper: null }],
  ])(
    'has a profit factor of %s, and no interval where all draws agree',
    (_, trades, profitFactor) => {
      const { intervals } = robustStatistics(Float64Array.from(trades), 1_000)
      expect(intervals?.profitFactor).toEqual(profitFactor)
      const differ = new Set(trades).size > 1
      expect(intervals?.expectancy.lower === null).toBe(!differ)
      const winRate = statisticsOf(trades).winRate
      if (winRate === 0 || winRate === 100)
        expect(intervals?.winRate).toEqual({ estimate: winRate, lower: null, upper: null })
    },
  )

  it('takes amounts of any size', () => {
    for (const size of [1e-12, 1e90, 1 / 3]) {
      const trades = Float64Array.from([5, -2, 3, 4, -1, 2, -3, 6, 1, -4, 2], (one) => one * size)
      const estimate = maxDrawdown(trades)
      const { intervals } = robustStatistics(trades, 1_000)
      expect(intervals?.maxDrawdown).toMatchObject({ estimate })
      const { lower, upper, estimate: mean } = intervals?.expectancy ?? {}
      expect(Number(lower)).toBeLessThan(Number(mean))
      expect(Number(upper)).toBeGreaterThan(Number(mean))
    }
  })
})

describe('95 % intervals', () => {
  const source = createRandom(20_261_123)
  const one = new Uint32Array(1)
  const uniform = () => {
    source(one)
    return ((one[0] ?? 0) + 0.5) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  const logNormal = () => 100 * (Math.exp(normal() / 2) - 1)
  const student5 = () => {
    const squares = times(5, () => normal() ** 2)
    return 100 * (0.1 + normal() / Math.sqrt(total(squares) / 5))
  }

  const ofLogNormal = {
    expectancy: 100 * Math.expm1(1 / 8),
    winRate: 50,
    profitFactor: 1.885_406_445_808_988_5,
    sharpeRatio: Math.expm1(1 / 8) / Math.exp(1 / 8) / Math.sqrt(Math.expm1(1 / 4)),
  }
  const ofStudent5 = {
    expectancy: 10,
    winRate: 53.788_553,
    profitFactor: 1.234_519_100_6,
    sharpeRatio: 0.1 / Math.sqrt(5 / 3),
  }
  const figures = ['expectancy', 'winRate', 'profitFactor', 'sharpeRatio'] as const

  // What BCa does not reach is in the documentation: the mean of few trades.
  it.each([
    ['log-normal', logNormal, ofLogNormal],
    ['fat-tailed', student5, ofStudent5],
  ])('of %s trades contain the truth', (_, draw, truth) => {
    const hits = { expectancy: 0, winRate: 0, profitFactor: 0, sharpeRatio: 0 }
    const simulations = 1_000
    for (let simulation = 0; simulation < simulations; simulation++) {
      const trades = Float64Array.from({ length: 50 }, () => Math.round(draw() * 100) / 100)
      const { intervals } = robustStatistics(trades, 500)
      for (const name of figures) {
        const { lower, upper } = intervals?.[name] ?? {}
        if ((lower ?? Infinity) <= truth[name] && truth[name] <= (upper ?? -Infinity))
          hits[name] += 1
      }
    }
    for (const name of figures) {
      const percent = (100 * hits[name]) / simulations
      expect(percent, name).toBeGreaterThanOrEqual(name === 'expectancy' ? 91 : 93)
      expect(percent, name).toBeLessThanOrEqual(97)
    }
  })
})

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)
