// Laws of what several executions make together (decision 22), against whole numbers of the smallest units.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillOfExecutions } from '../../src/index.ts'

const cents = fc.integer({ min: 1, max: 1_000 })
const parts = fc.array(fc.record({ cents, points: fc.integer({ min: 1, max: 200_000 }), at: fc.integer({ min: 0, max: 1_000 }) }), {
  minLength: 1,
  maxLength: 20,
})

describe('executions', () => {
  it('add up to their volume exactly, at the price weighted by it, at the time of the last', () => {
    fc.assert(
      fc.property(parts, ([first, ...rest]) => {
        if (first === undefined) return
        const all = [first, ...rest]
        const lots = all.reduce((sum, part) => sum + part.cents, 0)
        const worth = all.reduce((sum, part) => sum + part.cents * part.points, 0)
        const execution = (part: typeof first) => ({ volume: part.cents / 100, price: part.points / 100_000, at: part.at })
        const fill = fillOfExecutions([execution(first), ...rest.map(execution)])
        expect(fill.volume).toBe(lots / 100)
        expect(Math.abs(fill.price - worth / (lots * 100_000))).toBeLessThanOrEqual(fill.price * Number.EPSILON)
        expect(fill.at).toBe(Math.max(...all.map(({ at }) => at)))
      }),
    )
  })

  it('of one price have that price, whatever binary fractions make of it', () => {
    const part = { volume: 0.1, price: 1.1, at: 0 }
    expect(fillOfExecutions([part, { ...part, volume: 0.2 }, { ...part, volume: 0.03 }])).toEqual({ volume: 0.33, price: 1.1, at: 0 })
  })
})
