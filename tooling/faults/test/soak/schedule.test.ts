import { describe, expect, it } from 'vitest'
import { arrivalOf, paced } from '../../src/soak/schedule.ts'

const kinds = [
  { name: 'often', weight: 9 },
  { name: 'seldom', weight: 1 },
]

const drawn = (seed: number) =>
  Array.from({ length: 200 }, (_, index) => {
    const { kind, random } = arrivalOf(seed, kinds, index)
    return `${kind.name} ${random.whole(0, 1_000_000)}`
  })

describe('arrivals', () => {
  it('are the same for the same seed, with the same randomness each, and others for another', () => {
    expect(drawn(1)).toStrictEqual(drawn(1))
    expect(drawn(1)).not.toStrictEqual(drawn(2))
    expect(new Set(drawn(1)).size).toBeGreaterThan(190)
  })

  it('come as often as their weights say', () => {
    const seldom = Array.from({ length: 20_000 }, (_, index) => arrivalOf(3, kinds, index)).filter(({ kind }) => kind.name === 'seldom')
    expect(seldom.length / 20_000).toBeCloseTo(0.1, 1)
  })

  it('begin each once, in order, at the times of a constant rate, however late they are', async () => {
    const startsAt = Date.now() - 5_000
    const begun: (readonly [number, number])[] = []
    const count = await paced(
      { perSecond: 4, startsAt, endsAt: startsAt + 2_000 },
      10,
      (index, at) => void begun.push([index, at - startsAt]),
    )
    expect(count).toBe(8)
    expect(begun).toStrictEqual(Array.from({ length: 8 }, (_, place) => [10 + place, place * 250]))
  })
})
