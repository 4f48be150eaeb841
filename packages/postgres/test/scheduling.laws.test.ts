// Laws of what runs together: calls of one turn share a batch and each gets its own result; a fair
// pool never passes a limit and starts what waits tenant by tenant.
import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { inBatches, batchLookups } from '../src/connection/batches.ts'
import {
  createFairPool,
  takingTurns,
  type FairPoolKey,
  type ReleaseSlot,
} from '../src/connection/fair-pool.ts'

describe('inBatches', () => {
  it('gives each call its own result, in batches no greater, and no more at once, than allowed', async () => {
    const waves = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(
        waves,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 7 }),
        async (sizes, concurrency, maxSize) => {
          let running = 0
          const call = inBatches({ concurrency, maxSize }, async (items: readonly number[]) => {
            running += 1
            expect(running).toBeLessThanOrEqual(concurrency)
            expect(items.length).toBeGreaterThan(0)
            expect(items.length).toBeLessThanOrEqual(maxSize)
            await setImmediate()
            running -= 1
            return items.map((item) => item * 2)
          })
          const calls: Promise<number>[] = []
          for (const size of sizes) {
            for (let index = 0; index < size; index++) calls.push(call(calls.length))
            await setImmediate()
          }
          expect(await Promise.all(calls)).toStrictEqual(calls.map((_, item) => item * 2))
        },
      ),
    )
  })

  it('runs the calls of one turn together, reads each key once, and fails the calls of a run that fails alone', async () => {
    const runs: (readonly string[])[] = []
    const call = batchLookups(
      async (keys) => {
        runs.push(keys)
        if (keys.includes('unlucky')) throw new Error('unlucky')
        return keys.filter((key) => key !== 'none').map((key) => ({ key }))
      },
      (row) => row,
    )
    expect(await Promise.all(['a', 'b', 'a', 'none'].map(call))).toStrictEqual([
      O.some({ key: 'a' }),
      O.some({ key: 'b' }),
      O.some({ key: 'a' }),
      O.none,
    ])
    expect(await Promise.allSettled([call('a'), call('unlucky')])).toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ])
    expect(await call('c')).toStrictEqual(O.some({ key: 'c' }))
    expect(runs).toStrictEqual([['a', 'b', 'none'], ['a', 'unlucky'], ['c']])
  })
})

describe('a fair pool', () => {
  const forever = 1_000_000

  it('gives free slots to the tenants in turn', async () => {
    const pool = createFairPool({ size: 1, perTenant: 1, perMember: 1 })
    const first = await pool.acquire({ tenant: 'a', member: '1' }, forever)
    const order: string[] = []
    const all = ['a', 'a', 'b', 'c'].map(async (tenant) => {
      const release = await pool.acquire({ tenant, member: '1' }, forever)
      order.push(tenant)
      release?.()
    })
    first?.()
    await Promise.all(all)
    expect(order).toEqual(['b', 'c', 'a', 'a'])
  })

  it('lets whoever waits for too long go without a slot, and gives none to it later', async () => {
    const pool = createFairPool({ size: 1, perTenant: 1, perMember: 1 })
    const release = await pool.acquire({ tenant: 'a', member: '1' }, 0)
    for (const patienceMs of [0, 10])
      expect(await pool.acquire({ tenant: 'b', member: '1' }, patienceMs)).toBeUndefined()
    release?.()
    release?.()
    expect([pool.running(), pool.waiting()]).toEqual([0, 0])
    expect(await pool.acquire({ tenant: 'b', member: '1' }, 0)).toBeDefined()
  })

  it('is shared by the reads of a port, user by user', async () => {
    const { promise: free, resolve } = Promise.withResolvers<void>()
    const port = {
      read: (user: string, isHeld = false) =>
        TE.fromTask(async () => {
          if (isHeld) await free
          return user
        }),
    }
    const pool = createFairPool({ size: 3, perTenant: 3, perMember: 2 })
    const { read } = takingTurns(pool, port, (userId) => ({ tenantId: 't', userId }) as Owner, 10)
    const held = [read('busy', true)(), read('busy', true)()]
    expect(await read('other')()).toEqual(E.right('other'))
    expect(await read('busy')()).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
    resolve()
    expect(await Promise.all(held)).toEqual([E.right('busy'), E.right('busy')])
    expect(await read('busy')()).toEqual(E.right('busy'))
  })

  it('never passes a limit, never idles while something could run, and ends empty', async () => {
    const key = fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      member: fc.constantFrom('1', '2'),
    })
    const steps = fc.array(fc.oneof(key, fc.nat()), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const limits = { size: 4, perTenant: 2, perMember: 1 }
        const pool = createFairPool(limits)
        const running: (FairPoolKey & { readonly release: ReleaseSlot })[] = []
        const waiting: FairPoolKey[] = []
        const busy = (tenant: string, member?: string) =>
          running.filter(
            (one) => one.tenant === tenant && (member === undefined || one.member === member),
          ).length
        const check = () => {
          expect(running.length).toBeLessThanOrEqual(limits.size)
          for (const { tenant, member } of running) {
            expect(busy(tenant)).toBeLessThanOrEqual(limits.perTenant)
            expect(busy(tenant, member)).toBeLessThanOrEqual(limits.perMember)
          }
          const startable = waiting.filter(
            ({ tenant, member }) =>
              busy(tenant) < limits.perTenant && busy(tenant, member) < limits.perMember,
          )
          expect(running.length < limits.size && startable.length > 0).toBe(false)
        }
        const begin = async (entry: FairPoolKey) => {
          waiting.push(entry)
          const release = await pool.acquire(entry, forever)
          waiting.splice(waiting.indexOf(entry), 1)
          if (release !== undefined) running.push({ ...entry, release })
        }
        for (const step of plan) {
          if (typeof step === 'number')
            running.splice(step % Math.max(1, running.length), 1)[0]?.release()
          else void begin({ ...step })
          await setImmediate()
          check()
        }
        while (running.length > 0) {
          running.pop()?.release()
          await setImmediate()
        }
        expect([pool.running(), pool.waiting(), waiting.length]).toEqual([0, 0, 0])
      }),
    )
  })
})
