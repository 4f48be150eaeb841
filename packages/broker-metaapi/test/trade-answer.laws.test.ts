// Laws of reading the answer to a trade: whatever comes, it is read; and that it was made is said only where a success code is.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verdictOf } from '../src/trade/trade-answer.ts'

const now = 1_000_000_000_000
const successes = {
  codes: [0, 10_008, 10_009, 10_010, 10_025],
  names: /^(?:ERR_NO_ERROR|TRADE_RETCODE_(?:PLACED|DONE|DONE_PARTIAL|NO_CHANGES))$/,
}

const fields = fc.record(
  {
    error: fc.oneof(fc.string(), fc.constantFrom(0, 10_009, 4), fc.jsonValue()),
    description: fc.constantFrom('ERR_NO_ERROR', 'TRADE_RETCODE_DONE', 'ok', ''),
    numericCode: fc.oneof(fc.integer({ min: -12, max: 160 }), fc.integer({ min: 10_000, max: 10_050 }), fc.jsonValue()),
    stringCode: fc.oneof(
      fc.constantFrom('TRADE_RETCODE_DONE', 'TRADE_RETCODE_REJECT', 'ERR_NO_ERROR', 'TRADE_RETCODE_NO_CHANGES'),
      fc.jsonValue(),
    ),
    message: fc.jsonValue(),
    details: fc.jsonValue(),
    metadata: fc.jsonValue(),
    orderId: fc.jsonValue(),
    positionId: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const deliveries = fc.record({
  kind: fc.constant('answered' as const),
  status: fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom(200, 400, 401, 403, 404, 429, 500, 503, 504)),
  retryAfter: fc.oneof(fc.constant(null), fc.string()),
  date: fc.oneof(fc.constant(null), fc.string(), fc.constant(new Date(now).toUTCString())),
  body: fc.oneof(fields, fc.jsonValue(), fc.constant(undefined)),
})

const has = (body: unknown, isIt: (value: unknown) => boolean): boolean =>
  typeof body === 'object' &&
  body !== null &&
  ['numericCode', 'stringCode', 'error', 'description'].some((key) => isIt((body as Record<string, unknown>)[key]))

const isCode = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string'

const isSuccess = (value: unknown): boolean =>
  successes.codes.includes(value as number) || (typeof value === 'string' && successes.names.test(value))

describe('any answer at all', () => {
  it('is read, and is taken only by a success code', () => {
    fc.assert(
      fc.property(deliveries, (delivery) => {
        const verdict = verdictOf(delivery, now)
        if (verdict.kind !== 'taken') return
        expect(has(delivery.body, isSuccess)).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is a no, or not sent, only by a code or by a status of those that do nothing', () => {
    fc.assert(
      fc.property(deliveries, (delivery) => {
        const { kind } = verdictOf(delivery, now)
        if (kind === 'unknown' || kind === 'taken') return
        expect(has(delivery.body, isCode) || delivery.status === 429).toBe(true)
        if (typeof delivery.body !== 'object') expect(delivery.status).toBe(429)
      }),
      { numRuns: 2_000 },
    )
  })

  it('asks for no wait that is before now, and says nothing over several lines or at length', () => {
    fc.assert(
      fc.property(deliveries, (delivery) => {
        const verdict = verdictOf(delivery, now)
        if ((verdict.kind === 'limited' || verdict.kind === 'not_sent') && verdict.retryAfterMs !== null) {
          expect(verdict.retryAfterMs).toBeGreaterThanOrEqual(0)
          expect(Number.isInteger(verdict.retryAfterMs)).toBe(true)
        }
        if (verdict.kind === 'refused' || verdict.kind === 'gone') {
          expect(verdict.reason.message.length).toBeLessThanOrEqual(200)
          expect(verdict.reason.message.trim()).toBe(verdict.reason.message)
          expect(verdict.reason.message).not.toMatch(/[\n\r\t\p{Cc}]/u)
          expect(verdict.reason.message).not.toBe('')
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
