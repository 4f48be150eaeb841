// For every sequence of answers: how often a request is sent, when, and which error results.
import * as fc from 'fast-check'
import { beforeEach, expect, it, vi } from 'vitest'
import { routes } from '../src/contract-tables.ts'
import {
  callWith,
  clientWith,
  cutOff,
  errorOf,
  lost,
  refusal,
  success,
  type Answer,
} from './service.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  return () => void vi.useRealTimers()
})

type Routed = Exclude<keyof typeof routes, 'streamEvents' | 'streamQuotes'>

/** An answer, and what the laws need to know of it. */
interface Scripted {
  readonly answer: Answer
  readonly kind: 'success' | 'refusal' | 'other'
  readonly status?: number
  readonly code?: string
  readonly retryAfter?: number | undefined
  readonly details?: unknown
  /** Kept from an earlier attempt with the same key. */
  readonly isReplayed?: boolean
}

const headersFor = (retryAfter: number | undefined): Record<string, string> =>
  retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
const refused = (
  status: number,
  code: string,
  retryAfter?: number,
  details?: unknown,
): Scripted => ({
  kind: 'refusal',
  status,
  code,
  retryAfter,
  details,
  answer: refusal(status, code, details, headersFor(retryAfter)),
})
const replayed = (status: number, code: string): Scripted => ({
  ...refused(status, code),
  isReplayed: true,
  answer: refusal(status, code, undefined, { 'Idempotent-Replayed': 'true' }),
})
const succeeded: Scripted = { kind: 'success', answer: success() }

const codes = [
  'VALIDATION_ERROR',
  'ACCOUNT_DISCONNECTED',
  'BROKER_OUTCOME_UNKNOWN',
  'BROKER_RATE_LIMITED',
  'BROKER_UNAVAILABLE',
  'CHALLENGE_CHECK_UNAVAILABLE',
  'IDEMPOTENCY_IN_PROGRESS',
  'INTERNAL_TIMEOUT',
  'LIMIT_CHECK_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'SERVICE_UNAVAILABLE',
  'NEW_CODE',
]
const statuses = [400, 401, 403, 404, 409, 422, 429, 500, 501, 503, 504]
const seconds = fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined })
const scripted: fc.Arbitrary<Scripted> = fc.oneof(
  fc.constantFrom<Scripted>(
    succeeded,
    { kind: 'other', answer: lost },
    { kind: 'other', answer: cutOff },
  ),
  fc
    .tuple(fc.constantFrom(...statuses), fc.constantFrom(...codes), seconds)
    .map((one) => refused(...one)),
  fc
    .tuple(fc.constantFrom(200, 302, 404, 429, 502, 503, 504), seconds)
    .map(([status, retryAfter]): Scripted => ({
      kind: 'other',
      status,
      retryAfter,
      answer: () => new Response('<html>', { status, headers: headersFor(retryAfter) }),
    })),
  fc.integer({ min: 1, max: 5 }).map((s) => refused(429, 'RATE_LIMIT_EXCEEDED', s)),
  fc.constantFrom(
    refused(503, 'SERVICE_UNAVAILABLE'),
    refused(503, 'SERVICE_UNAVAILABLE', 1, { outcome: 'unknown' }),
    refused(504, 'INTERNAL_TIMEOUT'),
    replayed(422, 'TRADE_REJECTED'),
    replayed(504, 'BROKER_OUTCOME_UNKNOWN'),
  ),
)

const operations = fc.constantFrom(
  ...(Object.keys(routes) as Routed[]).filter((operation) => !('reply' in routes[operation])),
)
const policies = fc.record({
  attempts: fc.integer({ min: 1, max: 6 }),
  withinMs: fc.integer({ min: 0, max: 120_000 }),
})

/** Calls a method, with time passing at once. */
const play = async (
  operation: Routed,
  script: readonly Scripted[],
  retry: { readonly attempts: number; readonly withinMs: number },
) => {
  const { client, sent } = clientWith(
    script.map(({ answer }) => answer),
    { retry, accessToken: async () => 'token' },
  )
  const { route } = routes[operation]
  const startedAt = performance.now()
  const result = errorOf(callWith(client, operation, {}))
  const state = { isDone: false }
  void result.finally(() => {
    state.isDone = true
  })
  while (!state.isDone) {
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(vi.getTimerCount()).toBe(0)
  const answers = sent.map((_, index) => script[Math.min(index, script.length - 1)] ?? succeeded)
  const isRead = route.startsWith('GET') || operation === 'previewOrder'
  return { sent, answers, startedAt, error: await result, method: route.split(' ')[0], isRead }
}

/** Whether the service's own reply proves that a write was not done. */
const provesNotDone = ({ kind, status = 0, code = '', details }: Scripted) =>
  kind === 'refusal' &&
  code !== 'IDEMPOTENCY_IN_PROGRESS' &&
  (status < 500 ||
    status === 501 ||
    /^((BROKER|(CHALLENGE|LIMIT)_CHECK)_UNAVAILABLE|INTERNAL_TIMEOUT)$/.test(code) ||
    (code === 'SERVICE_UNAVAILABLE' && details === undefined))

it('a request is sent only as often as is allowed and safe, and its outcome is reported as far as it is known', () =>
  fc.assert(
    fc.asyncProperty(
      operations,
      fc.array(scripted, { minLength: 1, maxLength: 8 }),
      policies,
      async (operation, script, retry) => {
        const { sent, answers, startedAt, error, method, isRead } = await play(
          operation,
          script,
          retry,
        )
        expect(sent.length).toBeGreaterThanOrEqual(1)
        const countedAttempts = answers.filter(
          ({ code }, index) => index === 0 || code !== 'IDEMPOTENCY_IN_PROGRESS',
        )
        expect(countedAttempts.length).toBeLessThanOrEqual(retry.attempts)
        for (const [index, before] of answers.slice(0, -1).entries()) {
          const [from, to] = [sent[index]?.atMs ?? 0, sent[index + 1]?.atMs ?? 0]
          const { kind, status, code = '', retryAfter } = before
          expect(to - startedAt).toBeLessThanOrEqual(retry.withinMs + 1)
          expect(to - from).toBeGreaterThanOrEqual((retryAfter ?? 0) * 1_000)
          expect(kind).not.toBe('success')
          expect(['BROKER_OUTCOME_UNKNOWN', 'ACCOUNT_DISCONNECTED']).not.toContain(code)
          if (status === 429 && code !== 'IDEMPOTENCY_IN_PROGRESS') expect(retryAfter).toBeDefined()
          // Without a key only after the two refusals that come before anything is done.
          if (method === 'PUT' || method === 'DELETE')
            expect(
              kind === 'refusal' &&
                status === 429 &&
                ['RATE_LIMIT_EXCEEDED', 'BROKER_RATE_LIMITED'].includes(code),
            ).toBe(true)
        }
        const requests = sent.map(({ url, headers, body }) =>
          JSON.stringify([url, [...headers], body]),
        )
        expect(new Set(requests).size).toBe(1)
        // A preview does nothing, and its replay would be an old one.
        expect(sent[0]?.headers.has('Idempotency-Key')).toBe(method === 'POST' && !isRead)
        if (error === undefined) {
          expect(answers.at(-1)?.kind).toBe('success')
          return
        }
        expect(error.attempts).toBe(sent.length)
        // What is replayed is the answer to the first attempt.
        const unproven = answers.at(-1)?.isReplayed === true ? answers.slice(-1) : answers
        expect(error.outcome).toBe(isRead || unproven.every(provesNotDone) ? 'not_done' : 'unknown')
      },
    ),
    {
      numRuns: 500,
      examples: [
        [
          'closePosition',
          [refused(504, 'BROKER_OUTCOME_UNKNOWN', 1), succeeded],
          { attempts: 5, withinMs: 60_000 },
        ],
        [
          'closePosition',
          [{ kind: 'other', answer: lost }, replayed(422, 'TRADE_REJECTED')],
          { attempts: 5, withinMs: 60_000 },
        ],
      ],
    },
  ))

it('a request is sent again until it succeeds while every refusal says when', () =>
  fc.assert(
    fc.asyncProperty(operations, fc.integer({ min: 0, max: 4 }), async (operation, refusals) => {
      const limited = Array.from({ length: refusals }, () => refused(429, 'RATE_LIMIT_EXCEEDED', 2))
      const retry = { attempts: 5, withinMs: 60_000 }
      const { sent, error } = await play(operation, [...limited, succeeded], retry)
      expect([error, sent.length]).toEqual([undefined, refusals + 1])
    }),
  ))

it.each([
  [40, undefined],
  [80, 'IDEMPOTENCY_IN_PROGRESS'],
])(
  'a POST whose first attempt takes %i s to end is repeated within the time limit',
  async (inProgress, code) => {
    const waiting = refused(409, 'IDEMPOTENCY_IN_PROGRESS', 1)
    const script = [
      { kind: 'other', answer: lost } as const,
      ...Array.from({ length: inProgress }, () => waiting),
      succeeded,
    ]
    const { error } = await play('placeOrder', script, { attempts: 4, withinMs: 60_000 })
    expect(error?.code).toBe(code)
  },
)

/** Date, and not performance, counts the hour of the suspension. */
const lostAndSuspended: Answer = () => {
  setTimeout(() => vi.setSystemTime(Date.now() + 3_600_000), 100)
  return Promise.reject(new TypeError('fetch failed'))
}

it('a request is not sent again on a machine that was suspended until it would be too late', async () => {
  const script = [{ kind: 'other', answer: lostAndSuspended } as const, succeeded]
  const { sent, error } = await play('placeOrder', script, { attempts: 4, withinMs: 60_000 })
  expect(sent).toHaveLength(1)
  expect(error).toMatchObject({ code: 'NETWORK_FAILURE', outcome: 'unknown' })
})
