// Work is limited in all, per tenant and per account, and what waits is started tenant by tenant.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairPool } from '../src/fair-pool.ts'
import type { ReleaseSlot } from '../src/fair-pool.ts'

const forever = 1_000_000
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

describe('a fair pool', () => {
  it('starts another tenant while one has its share, and the next account while one has its own', async () => {
    const pool = createFairPool({ size: 8, perTenant: 4, perAccount: 2 })
    const started: string[] = []
    const begin = (tenant: string, account: string) =>
      void pool.acquire({ tenant, account }, forever).then(() => started.push(`${tenant}/${account}`))
    for (const account of ['1', '1', '1', '2', '3', '3']) begin('hung', account)
    begin('other', '1')
    await settle()
    expect(started).toEqual(['hung/1', 'hung/1', 'hung/2', 'hung/3', 'other/1'])
    expect([pool.running(), pool.waiting()]).toEqual([5, 2])
  })

  it('gives free slots to the tenants in turn', async () => {
    const pool = createFairPool({ size: 1, perTenant: 1, perAccount: 1 })
    const first = await pool.acquire({ tenant: 'a', account: '1' }, forever)
    const order: string[] = []
    const begin = (tenant: string) =>
      pool.acquire({ tenant, account: '1' }, forever).then((release) => order.push(tenant) && setImmediate(() => release?.()))
    const all = [begin('a'), begin('a'), begin('b'), begin('c')]
    first?.()
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'c', 'a'])
  })

  it('lets whoever waits for too long go without a slot, and takes none for it later', async () => {
    const pool = createFairPool({ size: 1, perTenant: 1, perAccount: 1 })
    const release = await pool.acquire({ tenant: 'a', account: '1' }, 0)
    expect(await pool.acquire({ tenant: 'b', account: '1' }, 0)).toBeUndefined()
    expect(await pool.acquire({ tenant: 'b', account: '1' }, 10)).toBeUndefined()
    release?.()
    release?.()
    expect([pool.running(), pool.waiting()]).toEqual([0, 0])
    expect(await pool.acquire({ tenant: 'b', account: '1' }, 0)).toBeDefined()
  })

  it('never passes a limit, never idles while something could run, and ends empty', async () => {
    const key = fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), account: fc.constantFrom('1', '2') })
    const steps = fc.array(fc.oneof(key, fc.nat()), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const limits = { size: 4, perTenant: 2, perAccount: 1 }
        const pool = createFairPool(limits)
        const running: { readonly tenant: string; readonly account: string; readonly release: ReleaseSlot }[] = []
        const waiting: { tenant: string; account: string }[] = []
        const check = (): void => {
          const busy = (tenant: string, account?: string): number =>
            running.filter((one) => one.tenant === tenant && (account === undefined || one.account === account)).length
          expect(running.length).toBeLessThanOrEqual(limits.size)
          for (const { tenant, account } of running) {
            expect(busy(tenant)).toBeLessThanOrEqual(limits.perTenant)
            expect(busy(tenant, account)).toBeLessThanOrEqual(limits.perAccount)
          }
          const startable = waiting.filter(
            ({ tenant, account }) => busy(tenant) < limits.perTenant && busy(tenant, account) < limits.perAccount,
          )
          expect(running.length < limits.size && startable.length > 0).toBe(false)
        }
        for (const step of plan) {
          if (typeof step === 'number') running.splice(step % Math.max(1, running.length), 1)[0]?.release()
          else {
            const entry = { ...step }
            waiting.push(entry)
            const begin = async (): Promise<void> => {
              const release = await pool.acquire(step, forever)
              waiting.splice(waiting.indexOf(entry), 1)
              if (release !== undefined) running.push({ ...step, release })
            }
            void begin()
          }
          await settle()
          check()
        }
        while (running.length > 0) {
          running.pop()?.release()
          await settle()
        }
        expect([pool.running(), pool.waiting(), waiting.length]).toEqual([0, 0, 0])
      }),
    )
  })
})
