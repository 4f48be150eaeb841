// The memory of settled positions never forgets one, or a position would be folded in two halves (decision 34).
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { SettledIds } from '../../src/trades/settled-ids.ts'

it('has every id that was added, and none of many that were not', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 12 })), fc.nat({ max: 2 ** 31 }), (names, start) => {
      const tickets = Array.from({ length: 3_000 }, (_, i) => String(start + i))
      const ids = new SettledIds()
      for (const id of [...names, ...tickets]) ids.add(id)
      expect([...names, ...tickets].filter((id) => !ids.mayHave(id))).toEqual([])
      expect(tickets.map((id) => `x${id}`).filter((id) => ids.mayHave(id) && !names.includes(id))).toEqual([])
    }),
    { numRuns: 50 },
  )
})
