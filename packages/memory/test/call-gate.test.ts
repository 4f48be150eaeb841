// The gate's cases: never more than its calls at once for one account, in turn, and never closed for good.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCallGate } from '../src/call-gate.ts'
import { createMovableClock, createPendingRead, settled } from './fake-source.ts'

const gateOf = (maxCalls: number) => {
  const clock = createMovableClock()
  return { clock, gate: createCallGate({ clock, maxCalls, maxCallMs: 1_000 }) }
}

describe('the call gate', () => {
  it('lets four calls through at once, and the next as one ends, in the order in which they came', async () => {
    const { gate } = gateOf(4)
    const begun: number[] = []
    const { read, calls } = createPendingRead<number>()
    const all = Array.from({ length: 7 }, (_, index) =>
      gate.through('a', () => {
        begun.push(index)
        return read()
      })(),
    )
    const ends = Promise.allSettled(all)
    await settled()
    expect(begun).toStrictEqual([0, 1, 2, 3])
    calls[2]?.resolve(0)
    await settled()
    expect(begun).toStrictEqual([0, 1, 2, 3, 4])
    calls[0]?.reject()
    await settled()
    expect(begun).toStrictEqual([0, 1, 2, 3, 4, 5])
    for (let index = 0; index < 7; index += 1) {
      calls[index]?.resolve(0)
      await settled()
    }
    expect((await ends).map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1)
  })

  it('counts each account by itself', async () => {
    const { gate } = gateOf(1)
    const { read, calls } = createPendingRead<number>()
    void gate.through('a', read)()
    void gate.through('b', read)()
    await settled()
    expect(calls).toHaveLength(2)
  })

  it('does not stay closed behind calls that never settle', async () => {
    const { gate, clock } = gateOf(1)
    const { read, calls } = createPendingRead<number>()
    void gate.through('a', read)()
    await settled()
    clock.advance(1_000)
    void gate.through('a', read)()
    await settled()
    expect(calls).toHaveLength(2)
  })

  it('never lets more through than it may, whatever the order in which calls end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(10), { minLength: 1, maxLength: 30 }), async (maxCalls, ends) => {
        const { gate } = gateOf(maxCalls)
        let running = 0
        let ended = 0
        const open: (() => void)[] = []
        const all = ends.map(() =>
          gate.through('a', async () => {
            running += 1
            expect(running).toBeLessThanOrEqual(maxCalls)
            await new Promise<void>((resolve) => open.push(resolve))
            running -= 1
            ended += 1
          })(),
        )
        for (const end of ends) {
          await settled()
          expect(running).toBe(Math.min(maxCalls, ends.length - ended))
          open.splice(end % Math.max(1, open.length), 1)[0]?.()
        }
        await Promise.all(all)
      }),
      { numRuns: 50 },
    )
  })
})
