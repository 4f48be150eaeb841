// Group commit: each call gets its own result, in few runs, and none waits for company.
import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inBatches } from '../src/in-batches.ts'

describe('inBatches', () => {
  it('gives each call its own result, in batches no greater and lanes no more than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 10 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 7 }),
        async (waves, lanes, maxSize) => {
          let running = 0
          const call = inBatches({ lanes, maxSize }, async (items: readonly number[]) => {
            running += 1
            expect(running).toBeLessThanOrEqual(lanes)
            expect(items.length).toBeGreaterThan(0)
            expect(items.length).toBeLessThanOrEqual(maxSize)
            await setImmediate()
            running -= 1
            return items.map((item) => item * 2)
          })
          let next = 0
          const calls: Promise<number>[] = []
          const asked: number[] = []
          for (const size of waves) {
            for (let index = 0; index < size; index++) {
              asked.push(next)
              calls.push(call(next++))
            }
            await setImmediate()
          }
          expect(await Promise.all(calls)).toStrictEqual(asked.map((item) => item * 2))
        },
      ),
    )
  })

  it('runs the calls of one turn together', async () => {
    const sizes: number[] = []
    const call = inBatches({ lanes: 1, maxSize: 100 }, async (items: readonly number[]) => {
      sizes.push(items.length)
      return items
    })
    await Promise.all(Array.from({ length: 50 }, (_, index) => call(index)))
    expect(sizes).toStrictEqual([50])
  })

  it('fails the calls of a run that fails, and goes on with the next', async () => {
    const call = inBatches({ lanes: 1, maxSize: 10 }, async (items: readonly number[]) => {
      if (items.includes(13)) throw new Error('unlucky')
      return items
    })
    await expect(Promise.allSettled([call(12), call(13)])).resolves.toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    expect(await call(14)).toBe(14)
  })
})
