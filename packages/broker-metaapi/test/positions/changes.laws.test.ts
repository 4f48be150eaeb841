// Laws of changes: whatever is answered, something is said; done only by a success code, and a no only by what the provider says before it does
// anything.
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokerOutcomeUnknown } from '@tradeport/domain'
import { changeOf, closeReceiptOf } from '../../src/positions/change-answer.ts'
import { returnCodes } from '../../src/trade/return-codes.ts'
import { verdictOf } from '../../src/trade/trade-answer.ts'
import { account, now } from '../support.ts'

const { accountId } = account
const knownCodes = new Set(returnCodes.map(({ code }) => code))
const successes = new Set([0, 10_008, 10_009, 10_010, 10_025])

const said = (status: number, body: unknown, retryAfter: string | null = null) => {
  const verdict = verdictOf({ kind: 'answered', status, retryAfter, date: null, body }, now)
  return verdict.kind === 'not_found' ? 'not_found' : changeOf(account, verdict, now)
}

const statuses = fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom(200, 400, 401, 403, 404, 429, 500, 503, 504))
const codes = fc.oneof(fc.integer({ min: -12, max: 160 }), fc.integer({ min: 4_750, max: 4_756 }), fc.integer({ min: 10_000, max: 10_050 }))

describe('what is said of a change', () => {
  it('is something, whatever is answered', () => {
    fc.assert(
      fc.property(statuses, fc.oneof(fc.jsonValue(), fc.constant(undefined)), fc.option(fc.string()), (status, body, retryAfter) => {
        const answer = said(status, body, retryAfter)
        expect(answer === 'not_found' || E.isLeft(answer) || E.isRight(answer)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is that it was taken only with a success code, and that it is unknown with every code that is not listed', () => {
    fc.assert(
      fc.property(statuses, codes, (status, numericCode) => {
        const answer = said(status, { numericCode, message: 'As it says' })
        expect(answer !== 'not_found' && E.isRight(answer)).toBe(successes.has(numericCode))
        if (!knownCodes.has(numericCode)) expect(answer).toEqual(E.left(brokerOutcomeUnknown(accountId)))
      }),
      { numRuns: 1_000 },
    )
  })

  it('without a code is never that it was taken, and a no only with the statuses that do nothing', () => {
    fc.assert(
      fc.property(statuses, fc.constantFrom({ error: 'SomeError' }, {}, undefined, null, [], 'text'), (status, body) => {
        const answer = said(status, body)
        if (answer === 'not_found') {
          expect(status).toBe(404)
          return
        }
        if (![400, 401, 403, 429].includes(status)) expect(answer).toEqual(E.left(brokerOutcomeUnknown(accountId)))
        expect(E.isLeft(answer)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  it('of a close is never that it was taken where nothing changed', () => {
    fc.assert(
      fc.property(fc.constantFrom('done', 'done_in_part', 'placed', 'no_changes'), (as) => {
        expect(E.isRight(closeReceiptOf(account, { kind: 'taken', as, tickets: {} }))).toBe(as !== 'no_changes')
      }),
    )
  })
})
