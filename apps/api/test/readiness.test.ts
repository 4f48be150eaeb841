// How checks are held back: no oftener than they may be, never two at once, and never longer than their deadline.
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldBack } from '../src/held-back.ts'
import { createReadiness } from '../src/readiness.ts'

const counting = (answer: () => Promise<boolean>) => {
  const seen = { calls: 0, atOnce: 0, mostAtOnce: 0 }
  const check = async (): Promise<boolean> => {
    seen.calls += 1
    seen.atOnce += 1
    seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce)
    try {
      return await answer()
    } finally {
      seen.atOnce -= 1
    }
  }
  return { seen, check }
}

describe('a check that is held back', () => {
  it('is made once for all who ask within its time, whatever it says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.boolean(), async (askers, answer) => {
        const { seen, check } = counting(async () => answer)
        const isGood = heldBack(check, { everyMs: 60_000, deadlineMs: 60_000, otherwise: false })
        const answers = await Promise.all(Array.from({ length: askers }, isGood))
        expect(new Set([...answers, await isGood()])).toEqual(new Set([answer]))
        expect(seen.calls).toBe(1)
      }),
      { numRuns: 20 },
    )
  })

  it('is made anew once its time is over', async () => {
    const answers = [true, false, true]
    const { seen, check } = counting(async () => answers[seen.calls - 1] ?? false)
    const isGood = heldBack(check, { everyMs: 20, deadlineMs: 60_000, otherwise: false })
    for (const answer of answers) {
      expect(await isGood()).toBe(answer)
      await setTimeout(40)
    }
    expect(seen.calls).toBe(3)
  })

  it('has failed when it rejects', async () => {
    const isGood = heldBack(() => Promise.reject(new Error('away')), { everyMs: 1, deadlineMs: 60_000, otherwise: false })
    expect(await isGood()).toBe(false)
  })

  it('has failed when it takes too long, and is not made again before it is over', async () => {
    const hanging = Promise.withResolvers<boolean>()
    const { seen, check } = counting(() => hanging.promise)
    const isGood = heldBack(check, { everyMs: 1, deadlineMs: 20, otherwise: false })
    for (let count = 0; count < 5; count += 1) expect(await isGood()).toBe(false)
    expect(seen).toMatchObject({ calls: 1, mostAtOnce: 1 })
    hanging.resolve(true)
    await setTimeout(10)
    expect(await isGood()).toBe(true)
    expect(seen).toMatchObject({ calls: 2, mostAtOnce: 1 })
  })
})

describe('readiness', () => {
  const parts = { limiter: () => 'shared' as const, isDraining: () => false }

  it('names every check that fails, and no other', async () => {
    const names = ['database', 'migrations', 'jobs']
    await fc.assert(
      fc.asyncProperty(fc.subarray(names), async (failing) => {
        const checks = Object.fromEntries(names.map((name) => [name, async () => !failing.includes(name)]))
        expect(await createReadiness({ ...parts, checks })()).toEqual({ failing, limiter: 'shared' })
      }),
    )
  })

  it('asks nothing more once the instance drains', async () => {
    const { seen, check } = counting(async () => true)
    expect(await createReadiness({ ...parts, isDraining: () => true, checks: { database: check } })()).toEqual({
      failing: ['draining'],
      limiter: 'shared',
    })
    expect(seen.calls).toBe(0)
  })
})
