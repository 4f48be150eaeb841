// What holds for every sequence of answers: how often a request is sent, when, and what is told of it.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { knownCodes } from '../src/error-details.ts'
import { isTradeportError } from '../src/errors.ts'
import type { TradeportError } from '../src/errors.ts'
import { routes } from '../src/routes.ts'
import type { Operation, Sending } from '../src/routes.ts'
import { send } from '../src/send.ts'
import { callOf, scriptedPlatform } from './support/scripted.ts'
import type { Scripted } from './support/scripted.ts'

const operationsBy = (sending: Sending): fc.Arbitrary<Operation> =>
  fc.constantFrom(...(Object.keys(routes) as Operation[]).filter((name) => routes[name].sending === sending))

const anyOperation = fc.constantFrom(...(Object.keys(routes) as Operation[]))
const seconds = fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined })
const withSeconds = (retryAfter: number | undefined) => (retryAfter === undefined ? {} : { retryAfter })

const scripted: fc.Arbitrary<Scripted> = fc.oneof(
  fc.constant<Scripted>({ kind: 'success' }),
  fc.constant<Scripted>({ kind: 'lost' }),
  fc.constant<Scripted>({ kind: 'cut off' }),
  fc
    .record({
      status: fc.constantFrom(400, 401, 403, 404, 409, 422, 429, 500, 501, 503, 504),
      code: fc.constantFrom(...knownCodes(), 'NEW_CODE'),
      seconds,
    })
    .map(({ status, code, seconds: s }): Scripted => ({ kind: 'refusal', status, code, ...withSeconds(s) })),
  fc
    .constantFrom(200, 302, 404, 429, 502, 503, 504)
    .chain((status) => seconds.map((s): Scripted => ({ kind: 'foreign', status, ...withSeconds(s) }))),
  // What the service says most when it is asked too much.
  fc.integer({ min: 1, max: 5 }).map((retryAfter): Scripted => ({ kind: 'refusal', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter })),
)
const script = fc.array(scripted, { minLength: 1, maxLength: 8 })
const policy = fc.record({ attempts: fc.integer({ min: 1, max: 6 }), withinMs: fc.integer({ min: 0, max: 120_000 }) })
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** The answer at the n-th request, from 1. */
const nth = (all: readonly Scripted[], n: number): Scripted => all[Math.min(n, all.length) - 1] ?? { kind: 'lost' }

/** Whether the service's own reply proves that a write was not done. */
const provesNotDone = (one: Scripted): boolean =>
  one.kind === 'refusal' &&
  one.code !== 'IDEMPOTENCY_IN_PROGRESS' &&
  (one.status < 500 ||
    one.status === 501 ||
    ['BROKER_UNAVAILABLE', 'CHALLENGE_CHECK_UNAVAILABLE', 'LIMIT_CHECK_UNAVAILABLE'].includes(one.code))

const outcomeOf = async (
  operation: Operation,
  answers: readonly Scripted[],
  retry: { attempts: number; withinMs: number },
  random: number,
) => {
  const platform = scriptedPlatform(answers, random)
  const headers = routes[operation].sending === 'keyed' ? { 'Idempotency-Key': 'one' } : {}
  const result: TradeportError | undefined = await send(platform.runtime, callOf(operation, { retry, headers })).then(
    () => undefined,
    (error: unknown) => {
      if (!isTradeportError(error)) throw error
      return error
    },
  )
  return { ...platform, error: result }
}

describe('sending', () => {
  it('sends no more often than was allowed, and begins no try later than was allowed', () =>
    fc.assert(
      fc.asyncProperty(anyOperation, script, policy, chance, async (operation, answers, retry, random) => {
        const { sent } = await outcomeOf(operation, answers, retry, random)
        expect(sent.length).toBeGreaterThanOrEqual(1)
        expect(sent.length).toBeLessThanOrEqual(retry.attempts)
        for (const { atMs } of sent.slice(1)) expect(atMs).toBeLessThanOrEqual(retry.withinMs)
      }),
    ))

  it('sends nothing more after a success, and fails only when the last answer was none', () =>
    fc.assert(
      fc.asyncProperty(anyOperation, script, policy, chance, async (operation, answers, retry, random) => {
        const { sent, error } = await outcomeOf(operation, answers, retry, random)
        for (let n = 1; n < sent.length; n++) expect(nth(answers, n).kind).not.toBe('success')
        if (error === undefined && operation !== 'exportTrades') expect(nth(answers, sent.length).kind).toBe('success')
        if (error !== undefined) expect(error.attempts).toBe(sent.length)
      }),
    ))

  it('sends a write without a key again only after the two refusals that come before anything is done', () =>
    fc.assert(
      fc.asyncProperty(operationsBy('once'), script, policy, chance, async (operation, answers, retry, random) => {
        const { sent } = await outcomeOf(operation, answers, retry, random)
        for (let n = 1; n < sent.length; n++)
          expect(nth(answers, n), `answer ${n}`).toEqual({
            kind: 'refusal',
            status: 429,
            code: expect.stringMatching(/^(?:RATE_LIMIT_EXCEEDED|BROKER_RATE_LIMITED)$/),
            retryAfter: expect.any(Number),
          })
      }),
    ))

  it('sends the same request at every try, with the same Idempotency-Key', () =>
    fc.assert(
      fc.asyncProperty(operationsBy('keyed'), script, policy, chance, async (operation, answers, retry, random) => {
        const { sent } = await outcomeOf(operation, answers, retry, random)
        const requests = sent.map(({ url, init: { method, headers, body } }) => ({ url, method, headers, body }))
        expect(new Set(requests.map((one) => JSON.stringify(one))).size).toBe(1)
        expect(requests[0]?.headers).toMatchObject({ 'Idempotency-Key': 'one' })
      }),
    ))

  it('never sends again before Retry-After, and after 429 only where there is one', () =>
    fc.assert(
      fc.asyncProperty(anyOperation, script, policy, chance, async (operation, answers, retry, random) => {
        const { sent } = await outcomeOf(operation, answers, retry, random)
        sent.slice(1).forEach(({ atMs }, index) => {
          const before = nth(answers, index + 1)
          const asked = before.kind === 'refusal' || before.kind === 'foreign' ? before.retryAfter : undefined
          const waitedMs = atMs - (sent[index]?.atMs ?? 0)
          if (asked !== undefined) expect(waitedMs).toBeGreaterThanOrEqual(asked * 1_000)
          if ((before.kind === 'refusal' || before.kind === 'foreign') && before.status === 429) expect(asked).toBeDefined()
        })
      }),
    ))

  it('says that a write was not done only where every answer proves it, and of a read always', () =>
    fc.assert(
      fc.asyncProperty(anyOperation, script, policy, chance, async (operation, answers, retry, random) => {
        const { sent, error } = await outcomeOf(operation, answers, retry, random)
        if (error === undefined) return
        const isCertain = routes[operation].sending === 'read' || sent.every((_, index) => provesNotDone(nth(answers, index + 1)))
        expect(error.outcome).toBe(isCertain ? 'not_done' : 'unknown')
      }),
    ))

  it('never sends again after BROKER_OUTCOME_UNKNOWN', () =>
    fc.assert(
      fc.asyncProperty(anyOperation, script, policy, chance, async (operation, answers, retry, random) => {
        const unknown: Scripted = { kind: 'refusal', status: 504, code: 'BROKER_OUTCOME_UNKNOWN', retryAfter: 1 }
        const { sent } = await outcomeOf(operation, [unknown, ...answers], retry, random)
        expect(sent).toHaveLength(1)
      }),
    ))

  it('tries until the answer comes, where each answer before it says for how long to wait', () =>
    fc.assert(
      fc.asyncProperty(anyOperation, fc.integer({ min: 0, max: 4 }), chance, async (operation, refusals, random) => {
        const limited: Scripted = { kind: 'refusal', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: 2 }
        const answers = [...Array.from({ length: refusals }, () => limited), { kind: 'success' } as const]
        const { sent, error } = await outcomeOf(operation, answers, { attempts: 5, withinMs: 60_000 }, random)
        expect(error).toBeUndefined()
        expect(sent).toHaveLength(refusals + 1)
      }),
    ))
})
