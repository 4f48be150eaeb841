// How often the checks of readiness are made, how long they may take, and what they say.
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createReadiness } from '../src/readiness.ts'
import { throttled } from '../src/throttled.ts'

describe('a throttled read', () => {
  const throttle = { everyMs: 60_000, deadlineMs: 60_000, fallback: false }

  it('is made once for all who ask within its time, and again after it', async () => {
    const check = vi.fn(async () => check.mock.calls.length !== 2)
    const read = throttled(check, { ...throttle, everyMs: 50 })
    for (const result of [true, false, true]) {
      expect(await Promise.all([read(), read(), read()])).toEqual([result, result, result])
      await setTimeout(80)
    }
    expect(check).toHaveBeenCalledTimes(3)
  })

  it('has the fallback as its result when it rejects, and is replaced when it exceeds its deadline', async () => {
    expect(await throttled(() => Promise.reject(new Error('unavailable')), throttle)()).toBe(false)
    const check = vi.fn(() =>
      check.mock.calls.length === 1 ? new Promise<boolean>(() => undefined) : Promise.resolve(true),
    )
    const read = throttled(check, { ...throttle, everyMs: 1, deadlineMs: 20 })
    expect(await Promise.all([read(), read()])).toEqual([false, false])
    await setTimeout(10)
    expect([await read(), check.mock.calls.length]).toEqual([true, 2])
  })
})

const limiter = () => 'shared' as const

it('readiness names every check that fails and no other, and asks nothing once the instance drains', async () => {
  const checks = {
    database: vi.fn(async () => false),
    migrations: async () => true,
    jobs: async () => false,
  }
  expect(await createReadiness({ limiter, isDraining: () => false, checks })()).toEqual({
    failing: ['database', 'jobs'],
    limiter: 'shared',
  })
  expect(await createReadiness({ limiter, isDraining: () => true, checks })()).toEqual({
    failing: ['draining'],
    limiter: 'shared',
  })
  expect(checks.database).toHaveBeenCalledTimes(1)
})
