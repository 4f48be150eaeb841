// The gate: never more than its calls at once for one account, in turn, and never closed for good.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCallGate } from '../src/call-gate.ts'
import { createMovableClock, settled } from './fake-source.ts'

const gateOf = (maxCalls: number) => {
  const clock = createMovableClock()
  return { clock, gate: createCallGate({ clock, maxCalls, maxCallMs: 1_000 }) }
}

describe('the call gate', () => {
  it('lets as many calls through as it may, in the order in which they came, however and whenever each ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat(10), { minLength: 1, maxLength: 30 }),
        async (maxCalls, ends) => {
          const { gate } = gateOf(maxCalls)
          const begun: number[] = []
          const open: (() => void)[] = []
          const all = ends.map((end, index) =>
            gate.through('a', () => {
              begun.push(index)
              return new Promise<void>((resolve, reject) => open.push(end % 2 ? resolve : reject))
            })(),
          )
          const over = Promise.allSettled(all)
          for (const [ended, end] of ends.entries()) {
            await settled()
            expect(begun).toStrictEqual([...ends.keys()].slice(0, ended + maxCalls))
            open.splice(end % open.length, 1)[0]?.()
          }
          await over
        },
      ),
      { numRuns: 50 },
    )
  })

  it('counts each account by itself, and is not closed by calls that never settle', async () => {
    const { gate, clock } = gateOf(1)
    const begun: string[] = []
    const call = (account: string) =>
      void gate.through(account, () => {
        begun.push(account)
        return new Promise(() => {})
      })()
    for (const account of ['a', 'a', 'b']) call(account)
    await settled()
    expect(begun).toStrictEqual(['a', 'b'])
    clock.advance(1_000)
    call('b')
    await settled()
    expect(begun).toStrictEqual(['a', 'b', 'b'])
  })
})
