// What holds for every sequence of answers: how often a request is sent, when, and what is told of
// it.
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { knownCodes } from '../src/error-details.ts'
import { isTradeportError } from '../src/errors.ts'
import type { TradeportError } from '../src/errors.ts'
import { routes } from '../src/routes.ts'
import type { Operation } from '../src/routes.ts'
import { send } from '../src/send.ts'
import { callOf, scriptedPlatform } from './support/scripted.ts'
import type { Scripted } from './support/scripted.ts'

const anyOperation = fc.constantFrom(...(Object.keys(routes) as Operation[]))
const seconds = fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined })
const withSeconds = (retryAfter: number | undefined) =>
  retryAfter === undefined ? {} : { retryAfter }

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
    .map(({ status, code, seconds: s }): Scripted => ({
      kind: 'refusal',
      status,
      code,
      ...withSeconds(s),
    })),
  fc
    .constantFrom(200, 302, 404, 429, 502, 503, 504)
    .chain((status) =>
      seconds.map((s): Scripted => ({ kind: 'foreign', status, ...withSeconds(s) })),
    ),
  // What the service says most when it is asked too much.
  fc.integer({ min: 1, max: 5 }).map((retryAfter): Scripted => ({
    kind: 'refusal',
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfter,
  })),
)
const script = fc.array(scripted, { minLength: 1, maxLength: 8 })
const policy = fc.record({
  attempts: fc.integer({ min: 1, max: 6 }),
  withinMs: fc.integer({ min: 0, max: 120_000 }),
})
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** The answer at the n-th request, from 1. */
const nth = (all: readonly Scripted[], n: number): Scripted =>
  all[Math.min(n, all.length) - 1] ?? { kind: 'lost' }

/** Whether the service's own reply proves that a write was not done. */
const provesNotDone = (one: Scripted): boolean =>
  one.kind === 'refusal' &&
  one.code !== 'IDEMPOTENCY_IN_PROGRESS' &&
  (one.status < 500 ||
    one.status === 501 ||
    ['BROKER_UNAVAILABLE', 'CHALLENGE_CHECK_UNAVAILABLE', 'LIMIT_CHECK_UNAVAILABLE'].includes(
      one.code,
    ))

const outcomeOf = async (
  operation: Operation,
  answers: readonly Scripted[],
  retry: { attempts: number; withinMs: number },
  random: number,
) => {
  const platform = scriptedPlatform(answers, random)
  const headers = routes[operation].sending === 'keyed' ? { 'Idempotency-Key': 'one' } : {}
  const result: TradeportError | undefined = await send(
    platform.runtime,
    callOf(operation, { retry, headers }),
  ).then(
    () => undefined,
    (error: unknown) => {
      if (!isTradeportError(error)) throw error
      return error
    },
  )
  return { ...platform, error: result }
}

const unknownOutcome: Scripted = {
  kind: 'refusal',
  status: 504,
  code: 'BROKER_OUTCOME_UNKNOWN',
  retryAfter: 1,
}
const mayRepeat = ({ kind, ...one }: Scripted): boolean =>
  kind === 'refusal' &&
  'code' in one &&
  one.status === 429 &&
  ['RATE_LIMIT_EXCEEDED', 'BROKER_RATE_LIMITED'].includes(one.code) &&
  one.retryAfter !== undefined

it('a request is sent as often as was allowed and is safe, no sooner than was asked, and its outcome is told as far as it is known', () =>
  fc.assert(
    fc.asyncProperty(
      anyOperation,
      script,
      policy,
      chance,
      async (operation, answers, retry, random) => {
        const { sent, error } = await outcomeOf(operation, answers, retry, random)
        const { sending } = routes[operation]
        const received = sent.map((_, index) => nth(answers, index + 1))
        expect(sent.length).toBeGreaterThanOrEqual(1)
        expect(sent.length).toBeLessThanOrEqual(retry.attempts)
        for (const [index, { atMs }] of sent.slice(1).entries()) {
          const before = nth(answers, index + 1)
          const asked = 'retryAfter' in before ? before.retryAfter : undefined
          expect(atMs).toBeLessThanOrEqual(retry.withinMs)
          expect(before.kind).not.toBe('success')
          expect(before).not.toMatchObject({ code: 'BROKER_OUTCOME_UNKNOWN' })
          expect(atMs - (sent[index]?.atMs ?? 0)).toBeGreaterThanOrEqual((asked ?? 0) * 1_000)
          if ('status' in before && before.status === 429) expect(asked).toBeDefined()
          // Without a key a write is repeated only after the two refusals that come before anything
          // is done.
          if (sending === 'once') expect(mayRepeat(before)).toBe(true)
        }
        const requests = sent.map(({ url, init: { method, headers, body } }) =>
          JSON.stringify({ url, method, headers, body }),
        )
        expect(new Set(requests).size).toBe(1)
        if (sending === 'keyed')
          expect(sent[0]?.init.headers).toMatchObject({ 'Idempotency-Key': 'one' })
        if (error === undefined && operation !== 'exportTrades')
          expect(received.at(-1)?.kind).toBe('success')
        if (error === undefined) return
        expect(error.attempts).toBe(sent.length)
        // Of a read always, of a write only where every answer proves it.
        expect(error.outcome).toBe(
          sending === 'read' || received.every(provesNotDone) ? 'not_done' : 'unknown',
        )
      },
    ),
    {
      numRuns: 500,
      examples: [
        [
          'closePosition',
          [unknownOutcome, { kind: 'success' }],
          { attempts: 5, withinMs: 60_000 },
          0,
        ],
      ],
    },
  ))

it('a request is tried until the answer comes, where each answer before it says for how long to wait', () =>
  fc.assert(
    fc.asyncProperty(
      anyOperation,
      fc.integer({ min: 0, max: 4 }),
      chance,
      async (operation, refusals, random) => {
        const limited: Scripted = {
          kind: 'refusal',
          status: 429,
          code: 'RATE_LIMIT_EXCEEDED',
          retryAfter: 2,
        }
        const answers = [
          ...Array.from({ length: refusals }, () => limited),
          { kind: 'success' } as const,
        ]
        const { sent, error } = await outcomeOf(
          operation,
          answers,
          { attempts: 5, withinMs: 60_000 },
          random,
        )
        expect([error, sent.length]).toEqual([undefined, refusals + 1])
      },
    ),
  ))
