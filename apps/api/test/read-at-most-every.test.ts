// How often a check that anybody may cause is made, and how long it may take.
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { readAtMostEvery } from '../src/read-at-most-every.ts'

describe('a read that anybody may cause', () => {
  const throttle = { everyMs: 60_000, deadlineMs: 60_000, fallback: false }

  it('is made once for all who ask within its time, and again after it', async () => {
    const check = vi.fn(async () => check.mock.calls.length !== 2)
    const read = readAtMostEvery(check, { ...throttle, everyMs: 50 })
    for (const result of [true, false, true]) {
      expect(await Promise.all([read(), read(), read()])).toEqual([result, result, result])
      await setTimeout(80)
    }
    expect(check).toHaveBeenCalledTimes(3)
  })

  it('has the fallback as its result when it rejects, and is replaced when it exceeds its deadline', async () => {
    const fail = vi.fn(() => Promise.reject(new Error('unavailable')))
    const readFailing = readAtMostEvery(fail, throttle)
    expect([await readFailing(), await readFailing(), fail.mock.calls.length]).toEqual([
      false,
      false,
      1,
    ])
    const check = vi.fn(() =>
      check.mock.calls.length === 1 ? new Promise<boolean>(() => undefined) : Promise.resolve(true),
    )
    const read = readAtMostEvery(check, { ...throttle, everyMs: 0, deadlineMs: 20 })
    expect(await Promise.all([read(), read()])).toEqual([false, false])
    await setTimeout(10)
    expect([await read(), check.mock.calls.length]).toEqual([true, 2])
  })
})
