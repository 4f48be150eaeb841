// What is said of an order and of a change of a position for each answer that a trade can get. A
// wrong yes loses a trade, a wrong no makes it twice.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  brokerOutcomeUnknown,
  brokerRateLimited,
  brokerUnavailable,
  notProvisioned,
  positionNotFound,
  serviceUnavailable,
  tradeRejected,
} from '@tradeport/domain/errors'
import type { BrokerChangeError, UnavailableCause } from '@tradeport/domain/errors'
import type { PlacementAnswer } from '@tradeport/domain/orders'
import { returnCodeOf, returnCodes } from '../src/trade/return-codes.ts'
import { verdictOf } from '../src/trade/trade-answer.ts'
import {
  account,
  accountPath,
  always,
  apiWith,
  close,
  closeNetwork,
  informationRow,
  move,
  notSent,
  now,
  order,
  place,
  provider,
  provisioningHost,
  ticket,
  token,
  tradePath,
  unknown,
  writes,
} from './support.ts'

closeNetwork()

const { accountId } = account

type Change = E.Either<BrokerChangeError, object>
/** Of an order, of a change of levels and of a close. */
interface Said {
  readonly order: PlacementAnswer
  readonly levels: Change
  readonly close: Change
}
const both = (answer: PlacementAnswer, change: BrokerChangeError): Said => ({
  order: answer,
  levels: E.left(change),
  close: E.left(change),
})
const taken = (answer: PlacementAnswer, progress: string): Said => ({
  order: answer,
  levels: E.right({ progress }),
  close: E.right({ progress, orderId: '7' }),
})
const refused = (code: string, message: string): Said =>
  both({ kind: 'refused', reason: { code, message } }, tradeRejected(code, message))
const unavailable = (reason: unknown, cause?: UnavailableCause): Said =>
  both(notSent(null, cause), brokerUnavailable(accountId, reason as string, cause))
const limited = (waitMs: number | null): Said =>
  both(notSent(waitMs), brokerRateLimited(accountId, now + (waitMs ?? 0), now))
const outcomeUnknown = both(unknown, brokerOutcomeUnknown(accountId))

type Headers = Readonly<Record<string, string>>

/** Each trade over an adapter of its own, which has learnt nothing from those before. */
const sendEach = async (api = () => apiWith(), of = account): Promise<Said> => ({
  order: await place(api(), of),
  levels: await move.make(api().positionDesk, of),
  close: await close.make(api().positionDesk, of),
})

const saidOf = (status: number, body: object | string, headers: Headers = {}): Promise<Said> => {
  provider()
    .post(tradePath)
    .times(3)
    .reply(status, body, { ...headers })
  return sendEach()
}

// Written out once more, by what they mean, so that a slip in the table shows.
const rejections = [
  -9, -8, -4, 2, 3, 5, 7, 8, 9, 64, 65, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140,
  141, 145, 147, 148, 149, 150, 4754, 10004, 10006, 10007, 10011, 10013, 10014, 10015, 10016, 10017,
  10018, 10019, 10020, 10021, 10022, 10023, 10026, 10027, 10028, 10029, 10030, 10032, 10033, 10034,
  10035, 10038, 10039, 10040, 10041, 10042, 10043, 10044, 10045, 10046,
]
const expected: readonly (readonly [readonly number[], (name: string) => Said])[] = [
  [[0, 10009], () => taken({ kind: 'filled', fill: {} }, 'done')],
  [[10010], () => taken({ kind: 'partially_filled', fill: {} }, 'accepted')],
  [[10008], () => taken({ kind: 'placed', orderId: '7' }, 'accepted')],
  [[10025], () => ({ ...outcomeUnknown, levels: E.right({ progress: 'unchanged' }) })],
  [
    [4753, 10036],
    (name) => ({
      ...refused(name, 'Because.'),
      levels: E.left(positionNotFound),
      close: E.left(positionNotFound),
    }),
  ],
  [[10024], () => limited(null)],
  [[-10, -6, -5, 4, 6, 146], (name) => unavailable(`trade: ${name}`)],
  [[-11, -7, -1, 1, 128, 10012, 10031], () => outcomeUnknown],
  [rejections, (name) => refused(name, 'Because.')],
]
const expectedOf = new Map(
  expected.flatMap(([codes, said]) => codes.map((code) => [code, said] as const)),
)

describe('a return code', () => {
  it('is listed once, and no other is', () => {
    expect(returnCodes.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual(
      [...expectedOf.keys()].toSorted((a, b) => a - b),
    )
    expect(new Set(returnCodes.map(({ name }) => name)).size).toBe(returnCodes.length)
  })

  it.each(returnCodes)(
    '$code $name says of every trade what it means, in every form and whatever the status',
    async ({ code, name }) => {
      const body = { message: 'Because. (a1b2c3d4e5)', orderId: 7 }
      const forms = [
        { numericCode: code, stringCode: name, error: 'TradeError' },
        { numericCode: code },
        { stringCode: name },
      ]
      expect(await saidOf(200, { ...body, ...forms[0] })).toEqual(expectedOf.get(code)?.(name))
      const verdict = (status: number, form: object) =>
        verdictOf(
          { kind: 'answered', status, retryAfter: null, date: null, body: { ...body, ...form } },
          now,
        )
      for (const form of [...forms, { error: code, description: name }])
        for (const status of [200, 400, 500])
          expect(verdict(status, form)).toEqual(verdict(200, forms[0] ?? {}))
    },
  )

  it.each<readonly [string, object]>([
    ['that no table lists', { numericCode: 10047, stringCode: 'TRADE_RETCODE_NEW' }],
    [
      'that is not listed beside a name that is',
      { numericCode: 99, stringCode: 'TRADE_RETCODE_REJECT' },
    ],
    ['by a name that is not listed', { stringCode: 'TRADE_RETCODE_FINE' }],
    ['of success whose name says no', { numericCode: 10009, stringCode: 'TRADE_RETCODE_REJECT' }],
    ['of a no whose name says success', { numericCode: 10006, stringCode: 'TRADE_RETCODE_DONE' }],
    ['of no change whose name says no', { numericCode: 10025, stringCode: 'TRADE_RETCODE_REJECT' }],
    [
      'of a refusal whose name says that the position is gone',
      { numericCode: 10006, stringCode: 'TRADE_RETCODE_POSITION_CLOSED' },
    ],
    ['written as text', { numericCode: '10009', stringCode: 'TRADE_RETCODE_DONE' }],
    ['that is an object', { numericCode: {}, stringCode: 'TRADE_RETCODE_DONE' }],
    ['that is a fraction', { numericCode: 10009.5 }],
    ['in an older form without its name', { error: 0 }],
    ['in an older form with some other name', { error: 0, description: 'ok' }],
    ['that is absent', { message: 'Done' }],
    ['in a list', [{ numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE' }]],
  ])('%s leaves the outcome unknown', async (_, body) => {
    expect(await saidOf(200, body)).toEqual(outcomeUnknown)
  })

  it('is not looked up by a name of every object', () => {
    expect(returnCodeOf(undefined, 'constructor')).toBeUndefined()
  })
})

const retryAt = (ms: number) => ({
  metadata: { recommendedRetryTime: new Date(now + ms).toISOString() },
})
const tooMany = { error: 'TooManyRequestsError' }
const busy = { numericCode: 10024, stringCode: 'TRADE_RETCODE_TOO_MANY_REQUESTS' }
const noMoney = (message: unknown): object => ({
  numericCode: 10019,
  stringCode: 'TRADE_RETCODE_NO_MONEY',
  message,
})
const refusal = (words: string): Said => refused('TRADE_RETCODE_NO_MONEY', words)
const invalid = (body: object): object => ({ error: 'ValidationError', ...body })
const validation = (words: string): Said => refused('VALIDATION', words)

describe('an answer', () => {
  it.each<readonly [number, object | string]>([
    [200, ''],
    [200, '<html></html>'],
    [200, '{"numericCode":10009,"stringCode":"TRADE_RETCODE_DO'],
    [200, 'null'],
    [200, '10009'],
    [200, {}],
    [201, {}],
    [204, ''],
    [302, ''],
    [400, '<html>Bad request</html>'],
    [400, {}],
    [401, 'Unauthorized'],
    [403, '<html>Forbidden</html>'],
    [404, '<html>no such site</html>'],
    [405, { error: 'MethodNotAllowedError' }],
    [409, { error: 'ConflictError', message: 'state' }],
    [500, { error: 'InternalError' }],
    [502, ''],
    [503, '<html><h1>503</h1></html>'],
    [504, { error: 'TimeoutError', message: 'not connected', metadata: {} }],
  ])('of %i %j leaves the outcome unknown', async (status, body) => {
    expect(await saidOf(status, body)).toEqual(outcomeUnknown)
  })

  it.each<readonly [string, number, object | string, Headers, Said]>([
    [
      'a refused token',
      401,
      { error: 'SomeError' },
      {},
      unavailable('trade: answered 401', 'token_refused'),
    ],
    ['a forbidden token', 403, { error: 'SomeError' }, {}, unavailable('trade: answered 403')],
    ['a limit with a header in seconds', 429, tooMany, { 'retry-after': '7' }, limited(7_000)],
    [
      'a limit with a date in its header',
      429,
      '',
      { 'retry-after': new Date(now + 9_000).toUTCString() },
      limited(9_000),
    ],
    ['a limit with a time in its body', 429, { ...tooMany, ...retryAt(1_250) }, {}, limited(1_250)],
    ['a limit without a time', 429, tooMany, {}, limited(1_000)],
    [
      'a limit with a time that cannot be read',
      429,
      '<html></html>',
      { 'retry-after': 'soon' },
      limited(1_000),
    ],
    ["the broker's limit with a header", 200, busy, { 'retry-after': '7' }, limited(7_000)],
    [
      "the broker's limit with a time in its body",
      200,
      { ...busy, ...retryAt(1_250) },
      {},
      limited(1_250),
    ],
    [
      "the broker's limit until a time that has passed",
      200,
      { ...busy, ...retryAt(-1_250) },
      {},
      limited(0),
    ],
    [
      'a refusal with control characters',
      200,
      noMoney('Not enough\u0007 money\r\n '),
      {},
      refusal('Not enough money'),
    ],
    [
      'a refusal with the mark of the request',
      200,
      noMoney('Not enough money (f3a9c01b7de2)'),
      {},
      refusal('Not enough money'),
    ],
    [
      'a refusal with other words in brackets',
      200,
      noMoney('Too low (minimum)'),
      {},
      refusal('Too low (minimum)'),
    ],
    ['a refusal at length', 200, noMoney('x'.repeat(5_000)), {}, refusal('x'.repeat(200))],
    [
      'a refusal with nothing to read',
      200,
      noMoney(' \n'),
      {},
      refusal('The broker refused the trade.'),
    ],
    [
      'a refusal without words',
      200,
      noMoney({ a: 1 }),
      {},
      refusal('The broker refused the trade.'),
    ],
    [
      'an invalid trade',
      400,
      invalid({ message: 'Validation failed (aa11bb22cc33)' }),
      {},
      validation('Validation failed'),
    ],
    [
      'an invalid trade with details',
      400,
      invalid({
        message: 'Failed',
        details: [{ parameter: 'volume', message: 'too fine' }, { parameter: 'symbol' }, null],
      }),
      {},
      validation('Failed; volume: too fine; symbol'),
    ],
    [
      'an invalid trade without words',
      400,
      invalid({ details: 'E_SOMETHING' }),
      {},
      validation('The trade is not valid.'),
    ],
  ])('of %s is said as it is', async (_, status, body, headers, said) => {
    expect(await saidOf(status, body, headers)).toEqual(said)
  })

  it.each<readonly [number, object | string, Said]>([
    [
      200,
      informationRow,
      {
        ...refused('SYMBOL_NOT_FOUND', 'not found'),
        levels: E.left(positionNotFound),
        close: E.left(positionNotFound),
      },
    ],
    [404, { error: 'NotFoundError' }, both(notSent(), notProvisioned(accountId))],
    [504, { error: 'TimeoutError' }, unavailable('account-information: answered 504 TimeoutError')],
    [200, '<html></html>', unavailable(expect.any(String))],
    [
      401,
      { error: 'UnauthorizedError' },
      unavailable('account-information: answered 401 UnauthorizedError', 'token_refused'),
    ],
    [429, { ...tooMany, ...retryAt(3_000) }, limited(3_000)],
  ])(
    'of 404 means what the trade names only where the account can be read: %i %j',
    async (status, body, said) => {
      provider().get(`${accountPath}/account-information`).times(3).reply(status, body)
      expect(
        await saidOf(404, { error: 'NotFoundError', message: 'not found (b5d1c2e3f4)' }),
      ).toEqual(said)
    },
  )

  it.each([
    ['46655555', '46655555'],
    [undefined, null],
    ['', null],
    [2 ** 53, null],
    [{}, null],
  ])('with the order id %j gives a close the number %j', async (orderId, read) => {
    provider().post(tradePath).reply(200, { numericCode: 10009, orderId })
    expect(await close.make(apiWith().positionDesk)).toEqual(
      E.right({ progress: 'done', orderId: read }),
    )
  })
})

describe('no trade is sent', () => {
  // Whatever left would meet a closed network, and another answer.
  it.each([
    ['there is no token', TE.right(O.none)],
    ['the store of tokens cannot be read', TE.left(serviceUnavailable(token))],
    ['the token is none', TE.right(O.some('line\nbreak'))],
    ['the store of tokens throws', () => Promise.reject(new Error(token))],
  ])('where %s', async (_, found) => {
    const said = await sendEach(() => apiWith({ providerToken: () => found }))
    expect(said).toEqual(unavailable(expect.any(String)))
    expect(JSON.stringify(said)).not.toContain('secret-part')
  })

  it.each([
    { region: 'evil.example/' },
    { region: '' },
    { region: 'a:1' },
    { providerAccountId: '' },
    { providerAccountId: '..' },
  ])('to an account of %j', async (fields) => {
    expect(await sendEach(apiWith, { ...account, ...fields })).toEqual(
      unavailable(expect.any(String)),
    )
  })

  it.each<readonly [number, object, Said]>([
    [
      401,
      { error: 'UnauthorizedError' },
      unavailable('account-region: answered 401 UnauthorizedError', 'token_refused'),
    ],
    [404, { error: 'NotFoundError' }, both(notSent(), notProvisioned(accountId))],
    [504, { error: 'TimeoutError' }, unavailable('account-region: answered 504 TimeoutError')],
    [429, retryAt(2_000), limited(2_000)],
  ])('where provisioning answers %i %j to where the account is', async (status, body, said) => {
    provider(provisioningHost).get(accountPath).times(3).reply(status, body)
    expect(await sendEach(apiWith, { ...account, region: null })).toEqual(said)
  })

  it('of lots that no platform could count', async () => {
    const { trading, positionDesk } = apiWith()
    expect(await trading.placeOrder(account, { ...order, volume: 1e-12 }, always)()).toMatchObject({
      reason: { code: 'INVALID_VOLUME' },
    })
    expect(await positionDesk.closePosition(account, ticket, 1e-12, always)()).toMatchObject({
      left: { code: 'INVALID_VOLUME' },
    })
  })
})

describe('what is sent', () => {
  const position = { positionId: ticket }
  const { positionDesk, trading } = apiWith()
  const { stopLoss: _stop, takeProfit: _take, ...plain } = order
  const caller = { ...plain, side: 'sell' as const, comment: 'mine', price: 1.1 }

  it.each<readonly [string, () => Promise<unknown>, object]>([
    [
      'of an order all that the provider needs',
      () => trading.placeOrder(account, order, always)(),
      { actionType: 'ORDER_TYPE_BUY', ...order, side: undefined },
    ],
    [
      "of an order nothing of the caller's own",
      () => trading.placeOrder(account, caller, always)(),
      { actionType: 'ORDER_TYPE_SELL', symbol: 'EURUSD', volume: 0.1, clientId: order.clientId },
    ],
    [
      'of levels both',
      () => positionDesk.setLevels(account, ticket, { stopLoss: 1.055, takeProfit: 1.2 }, always)(),
      { actionType: 'POSITION_MODIFY', ...position, stopLoss: 1.055, takeProfit: 1.2 },
    ],
    [
      'of levels none that is to be taken off',
      () =>
        positionDesk.setLevels(account, ticket, { stopLoss: undefined, takeProfit: 1.2 }, always)(),
      { actionType: 'POSITION_MODIFY', ...position, takeProfit: 1.2 },
    ],
    [
      'to close all',
      () => positionDesk.closePosition(account, ticket, null, always)(),
      { actionType: 'POSITION_CLOSE_ID', ...position },
    ],
    [
      'to close a part, without what binary fractions leave',
      () => positionDesk.closePosition(account, ticket, 0.1 + 0.2, always)(),
      { actionType: 'POSITION_PARTIAL', ...position, volume: 0.3 },
    ],
  ])('is %s, once', async (_, send, body) => {
    const bodies: unknown[] = []
    provider()
      .post(tradePath)
      .twice()
      .reply(504, async (request: Request) => {
        bodies.push(await request.json())
        return ''
      })
    await send()
    expect(bodies).toEqual([JSON.parse(JSON.stringify(body))])
  })
})

it('the token is in no answer, whatever the provider repeats', async () => {
  provider().get(`${accountPath}/account-information`).reply(500, token).persist()
  for (const status of [200, 400, 401, 404, 429, 500]) {
    for (const coded of [{}, { numericCode: 10019, stringCode: token }]) {
      const body = {
        error: token,
        message: `Bearer ${token}`,
        details: [{ parameter: token, message: token }],
        ...coded,
      }
      provider().post(tradePath).times(4).reply(status, body)
      expect(JSON.stringify(await place())).not.toContain('secret-part')
      for (const { make } of writes)
        expect(JSON.stringify(await make(apiWith().positionDesk))).not.toContain('secret-part')
    }
  }
})

const codes = fc.oneof(
  fc.constantFrom(...returnCodes.map(({ code }) => code)),
  fc.integer({ min: 9_990, max: 10_050 }),
  fc.jsonValue(),
)
const names = fc.oneof(fc.constantFrom(...returnCodes.map(({ name }) => name)), fc.jsonValue())
const fields = fc.record(
  {
    error: fc.oneof(fc.string(), codes),
    description: names,
    numericCode: codes,
    stringCode: names,
    message: fc.jsonValue(),
    details: fc.jsonValue(),
    metadata: fc.jsonValue(),
    orderId: fc.jsonValue(),
  },
  { requiredKeys: [] },
)
const successes: readonly unknown[] = expected
  .slice(0, 4)
  .flatMap(([listed]) => [...listed, ...listed.map((code) => returnCodeOf(code, undefined)?.name)])

it('any answer at all is read: taken only by a success code, a no only by a code or a status that does nothing, in words on one line', () => {
  const statuses = fc.oneof(
    fc.integer({ min: 100, max: 599 }),
    fc.constantFrom(200, 400, 401, 403, 404, 429, 500, 503, 504),
  )
  const dates = fc.oneof(fc.constant(null), fc.string(), fc.constant(new Date(now).toUTCString()))
  const bodies = fc.oneof(fields, fc.jsonValue(), fc.constant(undefined))
  fc.assert(
    fc.property(statuses, dates, dates, bodies, (status, retryAfter, date, body) => {
      const verdict = verdictOf({ kind: 'answered', status, retryAfter, date, body }, now)
      const { numericCode, stringCode, error, description } = (body ?? {}) as Readonly<
        Record<string, unknown>
      >
      const said = [numericCode, stringCode, error, description].filter(
        (value) => value !== undefined && value !== null,
      )
      if ('tickets' in verdict) expect(said.some((value) => successes.includes(value))).toBe(true)
      else if (verdict.kind !== 'unknown') expect(said.length > 0 || status === 429).toBe(true)
      if ('retryAfterMs' in verdict)
        expect(verdict.retryAfterMs ?? 0).toSatisfy((ms: number) => Number.isInteger(ms) && ms >= 0)
      if ('reason' in verdict)
        expect(verdict.reason.message).toMatch(
          /^[^\s\p{Cc}](?:[^\n\r\t\p{Cc}]{0,198}[^\s\p{Cc}])?$/u,
        )
    }),
    { numRuns: 3_000 },
  )
})
