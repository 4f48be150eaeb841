// Every return code of the provider, and what is said of a change that it answers. The codes are written out here by what they
// mean for a change, so that a slip in the table shows.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { brokerOutcomeUnknown, brokerRateLimited, brokerUnavailable, positionNotFound, tradeRejected } from '@tradeport/domain'
import { returnCodes } from '../../src/trade/return-codes.ts'
import { account, now } from '../support.ts'
import { answered, close, closePart, deskAnswered, move, writes } from './desk-support.ts'
import type { Answer } from './desk-support.ts'

const { accountId } = account

const rejected = [
  -9, -8, -4, 2, 3, 5, 7, 8, 9, 64, 65, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 145, 147, 148, 149, 150, 4754,
  10004, 10006, 10007, 10011, 10013, 10014, 10015, 10016, 10017, 10018, 10019, 10020, 10021, 10022, 10023, 10026, 10027, 10028, 10029,
  10030, 10032, 10033, 10034, 10035, 10038, 10039, 10040, 10041, 10042, 10043, 10044, 10045, 10046,
]

const unknown: Answer = E.left(brokerOutcomeUnknown(accountId))

/** What is said of a change of levels, and of a close. */
type Said = (name: string) => readonly [Answer, Answer]
const both = (answer: Answer): readonly [Answer, Answer] => [answer, answer]
const taken = (progress: 'done' | 'accepted') => [E.right({ progress }), E.right({ progress, orderId: '7' })] as const

const expected: readonly (readonly [readonly number[], Said])[] = [
  [[0, 10009], () => taken('done')],
  [[10008, 10010], () => taken('accepted')],
  [[10025], () => [E.right({ progress: 'unchanged' }), unknown]],
  [[4753, 10036], () => both(E.left(positionNotFound))],
  [[10024], () => both(E.left(brokerRateLimited(accountId, now + 1_000, now)))],
  [[-10, -6, -5, 4, 6, 146], (name) => both(E.left(brokerUnavailable(accountId, `trade: ${name}`)))],
  [[-11, -7, -1, 1, 128, 10012, 10031], () => both(unknown)],
  [rejected, (name) => both(E.left(tradeRejected(name, 'Because.')))],
]
const saidOf = new Map(expected.flatMap(([codes, said]) => codes.map((code) => [code, said] as const)))

it('lists every code', () => {
  expect([...saidOf.keys()].toSorted((a, b) => a - b)).toEqual(returnCodes.map(({ code }) => code).toSorted((a, b) => a - b))
})

describe.each(returnCodes)('$code $name', ({ code, name }) => {
  const [ofLevels, ofClose] = saidOf.get(code)?.(name) ?? both(unknown)
  const body = { message: 'Because. (a1b2c3d4e5)', orderId: 7 }

  it.each([200, 400, 500])('is said of changes as it should, with status %i', async (status) => {
    const { desk, sent } = deskAnswered(answered(status, { ...body, error: 'TradeError', numericCode: code, stringCode: name }))
    expect(await move(desk)).toEqual(ofLevels)
    expect([await close(desk), await closePart(desk)]).toEqual([ofClose, ofClose])
    expect(sent.length).toBe(3)
  })

  it('is said in the older form, and by its number or its name alone', async () => {
    for (const form of [{ error: code, description: name }, { numericCode: code }, { stringCode: name }]) {
      const { desk } = deskAnswered(answered(200, { ...body, ...form }))
      expect([await move(desk), await close(desk)]).toEqual([ofLevels, ofClose])
    }
  })
})

describe.each(writes)('$what is of unknown outcome', ({ make }) => {
  it.each<readonly [string, unknown]>([
    ['a code that no table lists', { numericCode: 10047, stringCode: 'TRADE_RETCODE_NEW' }],
    ['a success whose name says no', { numericCode: 10009, stringCode: 'TRADE_RETCODE_REJECT' }],
    ['a no whose name says success', { numericCode: 10006, stringCode: 'TRADE_RETCODE_DONE' }],
    ['nothing changed whose name says no', { numericCode: 10025, stringCode: 'TRADE_RETCODE_REJECT' }],
    ['a refusal whose name says that the position is gone', { numericCode: 10006, stringCode: 'TRADE_RETCODE_POSITION_CLOSED' }],
    ['a code written as text', { numericCode: '10009', stringCode: 'TRADE_RETCODE_DONE' }],
    ['an older form that does not name its code', { error: 0 }],
    ['no code', { message: 'Done' }],
    ['a success in a list', [{ numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE' }]],
  ])('where it is answered with %s', async (_, body) => {
    expect(await make(deskAnswered(answered(200, body)).desk)).toEqual(unknown)
  })
})

describe('a change beyond the rate limit', () => {
  it.each<readonly [string | null, object, number]>([
    ['7', {}, 7],
    [null, { metadata: { recommendedRetryTime: new Date(now + 1_250).toISOString() } }, 2],
    [null, { metadata: { recommendedRetryTime: new Date(now - 1_250).toISOString() } }, 1],
    [null, {}, 1],
  ])('by its code tells the wait of %j %j: %i s', async (retryAfter, more, retryAfterSeconds) => {
    const body = { numericCode: 10024, stringCode: 'TRADE_RETCODE_TOO_MANY_REQUESTS', ...more }
    const answer = await move(deskAnswered(answered(200, body, retryAfter)).desk)
    expect(answer).toEqual(E.left({ _tag: 'BrokerRateLimited', accountId, retryAfterSeconds }))
  })
})

describe('the receipt of a close', () => {
  it.each<readonly [unknown, string | null]>([
    ['46655555', '46655555'],
    [46_655_555, '46655555'],
    [undefined, null],
    [null, null],
    ['', null],
    [2 ** 53, null],
    [{}, null],
  ])('names the order %j as %j', async (orderId, read) => {
    const { desk } = deskAnswered(answered(200, { numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE', orderId }))
    expect(await close(desk)).toEqual(E.right({ progress: 'done', orderId: read }))
  })
})
