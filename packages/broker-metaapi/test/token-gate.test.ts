// The gate before a token, under fake clocks.
import { times } from '@tradeport/testkit'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTokenGate, type TokenLimits } from '../src/token-gate.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const patient = () => new AbortController().signal
const gateOf = (limits: Partial<TokenLimits> = {}) =>
  createTokenGate(
    { perSecondPerAccount: 2, readsAtOnce: 3, readsAtOncePerAccount: 2, ...limits },
    { now: () => Date.now() },
    { elapsedMs: () => Date.now() },
  )
const key = (accountKey = 'a', limitKey = 't', route: 'positions' | 'orders' = 'positions') => ({
  limitKey,
  accountKey,
  route,
  kind: 'read' as const,
})
const trade = { ...key(), kind: 'trade' } as const
const ofToken = { isOfAccount: false, isOfMethod: false }
const unavailable = { fault: { kind: 'unavailable' } }

describe('the gate of a token', () => {
  it('starts as many requests a second as its accounts that answered within an hour allow', async () => {
    const gate = gateOf({ readsAtOnce: 100, readsAtOncePerAccount: 100 })
    const startsOf = async (calls: number) => {
      const started: number[] = []
      const begunAt = Date.now()
      for (let call = 0; call < calls; call += 1)
        void gate.enter(key(), patient()).then(() => started.push(Date.now() - begunAt))
      await vi.advanceTimersByTimeAsync(5_000)
      return started
    }
    expect(await startsOf(6)).toEqual([0, 0, 1_000, 1_000, 2_000, 2_000])
    gate.recordAnswer(key('a'))
    gate.recordAnswer(key('b'))
    expect(await startsOf(5)).toEqual([0, 0, 0, 0, 1_000])
    await vi.advanceTimersByTimeAsync(3_600_000)
    gate.recordAnswer(key('b'))
    expect(await startsOf(5)).toEqual([0, 0, 1_000, 1_000, 2_000])
  })

  it.each([
    ['probes', 'positions', 'probe'],
    ['margins', 'calculate-margin', 'read'],
  ] as const)('starts other reads although many %s are under way', async (_, route, kind) => {
    const gate = gateOf({ perSecondPerAccount: 100, readsAtOnce: 8 })
    let slow = 0
    for (let account = 0; account < 100; account += 1)
      void gate.enter({ ...key(`${account}`), route, kind }, patient()).then(() => (slow += 1))
    ;(await gate.enter(key('1'), patient()))()
    expect(slow).toBe(2)
  })

  it.each([
    ['margin', 'calculate-margin', ['x', 'y', 'a']],
    ['price', 'price', ['a', 'a', 'a']],
  ] as const)(
    'starts a read of an account behind a %s of it that has to wait',
    async (_, route, accounts) => {
      const gate = gateOf({ perSecondPerAccount: 100, readsAtOnce: 8 })
      for (const account of accounts) void gate.enter({ ...key(account), route }, patient())
      ;(await gate.enter(key('a'), patient()))()
    },
  )

  it('rejects all while the token is limited, for the longest limit, and no other token', async () => {
    const gate = gateOf({ waitingPerAccount: 1 })
    const waiting = times(4, () => gate.enter(trade, patient()))
    const outcomes = Promise.allSettled(waiting)
    gate.recordRateLimit(key(), 60_000, ofToken)
    const limited = { fault: { kind: 'rate_limited', retryAt: Date.now() + 60_000 } }
    expect((await outcomes).slice(2)).toMatchObject([{ reason: limited }, { reason: limited }])
    await expect(gate.enter(key(), patient())).rejects.toMatchObject(limited)
    await gate.enter(key('a', 'another'), patient())
    gate.recordRateLimit(trade, 1_000, ofToken)
    await vi.advanceTimersByTimeAsync(59_999)
    await expect(gate.enter(trade, patient())).rejects.toMatchObject({
      fault: { kind: 'rate_limited' },
    })
    await vi.advanceTimersByTimeAsync(1)
    await gate.enter(trade, patient())
  })

  it.each([true, false])(
    'rejects what a limit of one method is of, and nothing else of the token: of the account alone %s',
    async (isOfAccount) => {
      const gate = gateOf({ perSecondPerAccount: 9, readsAtOnce: 9 })
      gate.recordRateLimit(key(), 1_000, { isOfAccount, isOfMethod: true })
      const outcomes = await Promise.allSettled([
        gate.enter(key(), patient()),
        gate.enter(key('b'), patient()),
        gate.enter(key('a', 't', 'orders'), patient()),
        gate.enter({ ...trade, route: 'trade' }, patient()),
      ])
      expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
        false,
        isOfAccount,
        true,
        true,
      ])
    },
  )

  it('rejects a request whose time is over or before which too many reads of its account wait, and starts the next', async () => {
    const gate = gateOf({ readsAtOncePerAccount: 1, waitingPerAccount: 2 })
    const leave = await gate.enter(key(), patient())
    const controller = new AbortController()
    const { signal } = controller
    const impatient = Promise.allSettled([gate.enter(key(), signal)])
    const next = gate.enter(key(), patient())
    await expect(gate.enter(key(), patient())).rejects.toMatchObject(unavailable)
    const others = [gate.enter(trade, patient()), gate.enter(key('b'), patient())]
    controller.abort()
    expect(await impatient).toMatchObject([{ reason: unavailable }])
    await expect(gate.enter(key(), signal)).rejects.toMatchObject(unavailable)
    leave()
    await vi.advanceTimersByTimeAsync(1_000)
    await Promise.all([next, ...others])
  })

  it('starts every trade before the reads, and of the reads that may start the first of an account with the fewest under way or that waited for two seconds, within every limit, and leaves no timer', async () => {
    const call = fc.record({
      account: fc.constantFrom('a', 'b', 'c'),
      kind: fc.constantFrom('trade', 'read', 'probe'),
      afterMs: fc.nat({ max: 700 }),
      runsMs: fc.nat({ max: 1_500 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
        const gate = gateOf()
        const starts: number[] = []
        const waiting: (typeof calls)[number][] = []
        const running: typeof waiting = []
        const countOf = ({ account }: (typeof calls)[number]) =>
          running.filter((one) => one.account === account).length
        const mayRead = (call: (typeof calls)[number]) =>
          running.length < 3 &&
          countOf(call) < 2 &&
          !(call.kind === 'probe' && running.some(({ kind }) => kind === 'probe'))
        const arrivals = new Map<(typeof calls)[number], number>()
        const rankOf = (call: (typeof calls)[number]) =>
          Date.now() - (arrivals.get(call) ?? 0) >= 2_000 ? 0 : countOf(call)
        const nextRead = () =>
          waiting.filter(mayRead).toSorted((one, other) => rankOf(one) - rankOf(other))[0]
        const calling = calls.map(async (call) => {
          await new Promise((resolve) => setTimeout(resolve, call.afterMs))
          waiting.push(call)
          arrivals.set(call, Date.now())
          const leave = await gate.enter({ ...key(call.account), kind: call.kind }, patient())
          expect(call).toBe(waiting.find(({ kind }) => kind === 'trade') ?? nextRead())
          waiting.splice(waiting.indexOf(call), 1)
          starts.push(Date.now())
          expect(starts.filter((at) => Date.now() - at < 1_000).length).toBeLessThanOrEqual(2)
          if (call.kind === 'trade') return
          running.push(call)
          await new Promise((resolve) => setTimeout(resolve, call.runsMs))
          running.splice(running.indexOf(call), 1)
          leave()
        })
        const all = Promise.all(calling)
        await vi.advanceTimersByTimeAsync(120_000)
        await all
        expect([starts.length, vi.getTimerCount()]).toEqual([calls.length, 0])
      }),
      { numRuns: 200 },
    )
  })
})
