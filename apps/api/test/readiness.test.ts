// How often the checks of readiness are made, and how long they may take.
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReadiness } from '../src/readiness.ts'
import { throttled } from '../src/throttled.ts'

const counting = (answer: () => Promise<boolean>) => {
  const seen = { calls: 0 }
  const check = (): Promise<boolean> => {
    seen.calls += 1
    return answer()
  }
  return { seen, check }
}

describe('a throttled read', () => {
  const throttle = { everyMs: 60_000, deadlineMs: 60_000, fallback: false }

  it('is made once for all who ask within its time, whatever its result', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), fc.boolean(), async (askers, result) => {
        const { seen, check } = counting(async () => result)
        const read = throttled(check, throttle)
        const results = await Promise.all(Array.from({ length: askers }, read))
        expect(new Set([...results, await read()])).toEqual(new Set([result]))
        expect(seen.calls).toBe(1)
      }),
      { numRuns: 20 },
    )
  })

  it('is made again after its time', async () => {
    const results = [true, false, true]
    const { seen, check } = counting(async () => results[seen.calls - 1] ?? false)
    const read = throttled(check, { ...throttle, everyMs: 20 })
    for (const result of results) {
      expect(await read()).toBe(result)
      await setTimeout(40)
    }
    expect(seen.calls).toBe(3)
  })

  it('has the fallback as its result when it rejects', async () => {
    expect(await throttled(() => Promise.reject(new Error('unavailable')), throttle)()).toBe(false)
  })

  it('is replaced by another when it exceeds its deadline', async () => {
    const hanging = Promise.withResolvers<boolean>()
    const { seen, check } = counting(() => (seen.calls === 1 ? hanging.promise : Promise.resolve(true)))
    const read = throttled(check, { ...throttle, everyMs: 1, deadlineMs: 20 })
    expect(await Promise.all([read(), read()])).toEqual([false, false])
    expect(seen.calls).toBe(1)
    await setTimeout(10)
    expect(await read()).toBe(true)
    expect(seen.calls).toBe(2)
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
