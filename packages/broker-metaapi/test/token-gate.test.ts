// The gate in front of a token, under fake clocks: rates and numbers at once are kept, trades go
// first, and nobody waits for ever.
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTokenGate } from '../src/token-gate.ts'
import type { TokenLimits } from '../src/token-gate.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const clock = { now: () => Date.now() }
const stopwatch = { elapsedMs: () => Date.now() }
const patient = (): AbortSignal => new AbortController().signal

const gateOf = (limits: Partial<TokenLimits> = {}) =>
  createTokenGate(
    { perSecondPerAccount: 2, readsAtOnce: 3, readsAtOncePerAccount: 2, ...limits },
    clock,
    stopwatch,
  )

const key = (account = 'a', token = 't') => ({ token, account })

describe('the gate of a token', () => {
  it('starts so many requests a second for each account that has answered', async () => {
    const gate = gateOf({ readsAtOnce: 100, readsAtOncePerAccount: 100 })
    const started: number[] = []
    const begunAt = Date.now()
    for (let call = 0; call < 6; call += 1)
      void gate.enter(key(), 'read', patient()).then(() => started.push(Date.now() - begunAt))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(started).toEqual([0, 0, 1_000, 1_000, 2_000, 2_000])
    gate.answered(key('a'))
    gate.answered(key('b'))
    started.length = 0
    for (let call = 0; call < 5; call += 1)
      void gate
        .enter(key(), 'read', patient())
        .then(() => started.push(Date.now() - begunAt - 5_000))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(started).toEqual([0, 0, 0, 0, 1_000])
  })

  it('starts trades before reads that have waited for longer', async () => {
    const gate = gateOf()
    const started: string[] = []
    for (const what of ['read 1', 'read 2', 'read 3', 'trade 1', 'trade 2', 'trade 3'])
      void gate
        .enter(key(), what.startsWith('trade') ? 'trade' : 'read', patient())
        .then((leave) => {
          started.push(what)
          return leave()
        })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(started).toEqual(['read 1', 'read 2', 'trade 1', 'trade 2', 'trade 3', 'read 3'])
  })

  it('fails whoever waits with the time left once the token is limited, and lets another token be', async () => {
    const gate = gateOf()
    const waiting = Array.from({ length: 4 }, () => gate.enter(key(), 'trade', patient()))
    const outcomes = Promise.allSettled(waiting)
    gate.limit('t', 60_000)
    const limited = { fault: { _tag: 'RateLimited', retryAt: Date.now() + 60_000 } }
    expect((await outcomes).slice(2)).toMatchObject([{ reason: limited }, { reason: limited }])
    await expect(gate.enter(key(), 'read', patient())).rejects.toMatchObject(limited)
    await gate.enter(key('a', 'another'), 'read', patient())
    // A shorter limit does not end a longer one.
    gate.limit('t', 1_000)
    await vi.advanceTimersByTimeAsync(59_999)
    await expect(gate.enter(key(), 'trade', patient())).rejects.toMatchObject({
      fault: { _tag: 'RateLimited' },
    })
    await vi.advanceTimersByTimeAsync(1)
    await gate.enter(key(), 'trade', patient())
  })

  it('fails whoever has waited for its whole time, without a failure of the account, and starts the next', async () => {
    const gate = gateOf({ readsAtOncePerAccount: 1 })
    const leave = await gate.enter(key(), 'read', patient())
    const controller = new AbortController()
    const impatient = Promise.allSettled([gate.enter(key(), 'read', controller.signal)])
    const next = gate.enter(key(), 'read', patient())
    controller.abort(new Error('too late'))
    expect(await impatient).toMatchObject([{ reason: { fault: { _tag: 'Unavailable' } } }])
    await expect(gate.enter(key(), 'read', controller.signal)).rejects.toMatchObject({
      fault: { _tag: 'Unavailable' },
    })
    leave()
    ;(await next)()
  })

  it('keeps every limit, serves everybody, and ends empty', async () => {
    const call = fc.record({
      account: fc.constantFrom('a', 'b', 'c'),
      kind: fc.constantFrom('trade' as const, 'read' as const),
      afterMs: fc.nat({ max: 700 }),
      takesMs: fc.nat({ max: 1_500 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
        const gate = gateOf()
        const starts: number[] = []
        const running: string[] = []
        const calling = calls.map(async ({ account, kind, afterMs, takesMs }) => {
          await new Promise((resolve) => setTimeout(resolve, afterMs))
          const leave = await gate.enter(key(account), kind, patient())
          starts.push(Date.now())
          if (kind === 'read') running.push(account)
          expect(running.length).toBeLessThanOrEqual(3)
          expect(running.filter((one) => one === account).length).toBeLessThanOrEqual(2)
          expect(starts.filter((at) => Date.now() - at < 1_000).length).toBeLessThanOrEqual(2)
          await new Promise((resolve) => setTimeout(resolve, takesMs))
          if (kind === 'read') running.splice(running.indexOf(account), 1)
          leave()
        })
        const all = Promise.all(calling)
        await vi.advanceTimersByTimeAsync(120_000)
        await all
        expect(starts.length).toBe(calls.length)
        expect(vi.getTimerCount()).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})
