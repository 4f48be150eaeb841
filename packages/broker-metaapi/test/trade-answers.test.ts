// The outcome of orders and of changes of positions and orders for each answer that a trade can
// get. A wrong yes loses a trade, a wrong no executes it twice.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  brokerRateLimited,
  refuse,
  type BrokerReadError,
  type Refusal,
  type UnavailableCause,
} from '@tradeport/domain/errors'
import type { PlacementAnswer } from '@tradeport/domain/orders'
import type { LimitOrStop, OrderChangeError, PositionChangeError } from '@tradeport/domain/ports'
import { returnCodeOf, returnCodes } from '../src/return-codes.ts'
import type { CallFailure, ErrorResponse } from '../src/failures.ts'
import { tradeAnswerOf } from '../src/trade-answer.ts'
import {
  account,
  accountPath,
  always,
  apiWith,
  cancelOrder,
  close,
  closeNetwork,
  informationRow,
  modifyOrder,
  setLevels,
  notSent,
  now,
  order,
  pendingOrder,
  place,
  provider,
  provisioningHost,
  ticket,
  token,
  tradePath,
  unknown,
} from './support.ts'

closeNetwork()

const { accountId } = account

const answerOrFailure = (response: ErrorResponse) =>
  E.toUnion(
    E.tryCatch(
      () => tradeAnswerOf(response, now),
      (failure) => failure as CallFailure,
    ),
  )

type Change = E.Either<PositionChangeError, object>
type OrderChange = E.Either<OrderChangeError, object>
interface Outcomes {
  readonly order: PlacementAnswer
  readonly levels: Change
  readonly close: Change
  readonly pendingOrder: PlacementAnswer
  readonly modification: OrderChange
  readonly cancellation: OrderChange
}

const failed = (
  answer: PlacementAnswer,
  change: BrokerReadError | Refusal<'TradeRejected' | 'BrokerOutcomeUnknown'>,
): Outcomes => ({
  order: answer,
  levels: E.left(change),
  close: E.left(change),
  pendingOrder: answer,
  modification: E.left(change),
  cancellation: E.left(change),
})
const accepted = (answer: PlacementAnswer, progress: string): Outcomes => ({
  order: answer,
  levels: E.right({ progress, brokerOrderId: '7' }),
  close: E.right({ progress, brokerOrderId: '7' }),
  pendingOrder: { kind: 'open', brokerOrderId: '7' },
  modification: E.right({ progress, brokerOrderId: '7' }),
  cancellation: E.right({ progress, brokerOrderId: '7' }),
})
const refused = (code: string, message: string): Outcomes =>
  failed({ kind: 'refused', reason: { code, message } }, refuse('TradeRejected', { code, message }))
// Orders are looked for, and here no list can be read.
const doubted = (code: string, message: string): Outcomes =>
  failed(unknown, refuse('TradeRejected', { code, message, isDoubted: true }))
const orderGone = E.left({ _tag: 'OrderGone' } as const)
const gone = (code: string, message: string): Outcomes => ({
  ...refused(code, message),
  levels: E.left(refuse('PositionNotFound')),
  close: E.left(refuse('PositionNotFound')),
  modification: orderGone,
  cancellation: orderGone,
})
// An order that is not there says nothing about the position.
const changesOfPositionsRefused = (code: string, message: string) => {
  const { levels, close: closed } = refused(code, message)
  return { levels, close: closed }
}
const unavailable = (reason: unknown, cause?: UnavailableCause): Outcomes =>
  failed(
    notSent(null, cause),
    refuse('BrokerUnavailable', { accountId, reason: reason as string, cause }),
  )
const limited = (waitMs: number): Outcomes =>
  failed(notSent(waitMs), brokerRateLimited(accountId, now + waitMs, now))
const notProvisioned = failed(notSent(), refuse('NotProvisioned', { accountId }))
const outcomeUnknown = failed(unknown, refuse('BrokerOutcomeUnknown', { accountId }))

/** Each trade through an adapter of its own. */
const sendEach = async (api = () => apiWith(), of = account) => ({
  order: await place(api(), of),
  levels: await setLevels(api().positionTrading, of),
  close: await close(api().positionTrading, of),
  pendingOrder: await place(api(), of, always, pendingOrder),
  modification: await modifyOrder(api().trading, of),
  cancellation: await cancelOrder(api().trading, of),
})

type Headers = Readonly<Record<string, string>>
const outcomesOf = (status: number, body: object | string, headers: Headers = {}) => {
  provider()
    .post(tradePath)
    .times(6)
    .reply(status, body, { ...headers })
  return sendEach()
}

// Written out once more, so that a slip in the table shows. Every other code is a refusal.
const successes: readonly (readonly [number, Outcomes])[] = [
  [0, accepted({ kind: 'filled', fill: {} }, 'done')],
  [10009, accepted({ kind: 'filled', fill: {} }, 'done')],
  [10010, accepted({ kind: 'accepted', brokerOrderId: '7', isPartlyExecuted: true }, 'accepted')],
  [10008, accepted({ kind: 'accepted', brokerOrderId: '7' }, 'accepted')],
  [
    10025,
    {
      ...outcomeUnknown,
      levels: E.right({ progress: 'unchanged', brokerOrderId: '7' }),
      modification: E.right({ progress: 'unchanged', brokerOrderId: '7' }),
    },
  ],
]
const expectedByCode = new Map<number, Outcomes | ((name: string) => Outcomes)>([
  ...successes,
  ...[4753, 10036].map((code) => [code, (name: string) => gone(name, 'Because.')] as const),
  [4754, (name) => ({ ...gone(name, 'Because.'), ...changesOfPositionsRefused(name, 'Because.') })],
  [136, (name) => doubted(name, 'Because.')],
  [10024, limited(1_000)],
  ...[-10, -6, -5, 4, 6, 146].map(
    (code) => [code, (name: string) => unavailable(`trade: ${name}`)] as const,
  ),
  ...[-11, -7, -1, 1, 128, 10012, 10031].map((code) => [code, outcomeUnknown] as const),
])

describe('a return code', () => {
  it('is in the table once, by number and by name', () => {
    for (const field of ['code', 'name'] as const)
      expect(new Set(returnCodes.map((row) => row[field])).size).toBe(84)
  })

  it.each(returnCodes)(
    '$code $name decides every trade, in every form and whatever the status',
    async ({ code, name }) => {
      const body = { message: 'Because. (a1b2c3d4e5)', orderId: 7 }
      const full = { numericCode: code, stringCode: name, error: 'TradeError' }
      const expected = expectedByCode.get(code) ?? refused(name, 'Because.')
      expect(await outcomesOf(200, { ...body, ...full })).toEqual(
        typeof expected === 'function' ? expected(name) : expected,
      )
      const answered = (status: number, form: object) =>
        answerOrFailure({ status, retryAfter: null, date: null, body: { ...body, ...form } })
      const forms = [
        { numericCode: code },
        { stringCode: name },
        { error: code, description: name },
      ]
      for (const form of [full, ...forms])
        for (const status of [200, 400, 500])
          expect(answered(status, form)).toEqual(answered(200, full))
    },
  )

  it.each([
    ['that no table lists', { numericCode: 10047, stringCode: 'TRADE_RETCODE_NEW' }],
    [
      'that is not listed, with a listed name',
      { numericCode: 99, stringCode: 'TRADE_RETCODE_REJECT' },
    ],
    ['with only an unlisted name', { stringCode: 'TRADE_RETCODE_FINE' }],
    ['with only a name of every object', { stringCode: 'constructor' }],
    [
      'of success with the name of a refusal',
      { numericCode: 10009, stringCode: 'TRADE_RETCODE_REJECT' },
    ],
    [
      'of refusal with the name of a success',
      { numericCode: 10006, stringCode: 'TRADE_RETCODE_DONE' },
    ],
    [
      'of no change with the name of a refusal',
      { numericCode: 10025, stringCode: 'TRADE_RETCODE_REJECT' },
    ],
    [
      'of refusal with the name of a missing position',
      { numericCode: 10006, stringCode: 'TRADE_RETCODE_POSITION_CLOSED' },
    ],
    ['written as text', { numericCode: '10009', stringCode: 'TRADE_RETCODE_DONE' }],
    ['that is a fraction', { numericCode: 10009.5 }],
    ['in an older form without its name', { error: 0 }],
    ['in an older form with another name', { error: 0, description: 'ok' }],
    ['in a list', [{ numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE' }]],
  ])('%s leaves the outcome unknown', async (_, body) => {
    expect(await outcomesOf(200, body)).toEqual(outcomeUnknown)
  })
})

const retryAt = (ms: number) => ({
  metadata: { recommendedRetryTime: new Date(now + ms).toISOString() },
})
const tooMany = { error: 'TooManyRequestsError' }
const busy = { numericCode: 10024, stringCode: 'TRADE_RETCODE_TOO_MANY_REQUESTS' }
const someError = { error: 'SomeError' }

describe('an answer', () => {
  it.each([
    [200, ''],
    [200, '<html></html>'],
    [200, '{"numericCode":10009,"stringCode":"TRADE_RETCODE_DO'],
    [200, 'null'],
    [200, '10009'],
    [200, {}],
    [204, ''],
    [302, ''],
    [400, '<html>Bad request</html>'],
    [400, {}],
    [401, 'Unauthorized'],
    [403, '<html>Forbidden</html>'],
    [404, '<html>no such site</html>'],
    [404, { message: 'no route' }],
    [429, '<html>Too Many Requests</html>'],
    [400, { numericCode: 10_047, error: 'ValidationError' }],
    [200, { error: 10_009, description: 'TRADE_RETCODE_REJECT' }],
    [400, { error: 'Bad Request' }],
    [403, { error: 'Forbidden' }],
    [404, { error: 'Not Found' }],
    [429, { error: 'Too Many Requests' }],
    [409, someError],
    [500, someError],
    [502, ''],
    [504, { error: 'TimeoutError', message: 'not connected', metadata: {} }],
  ])('of %i %j leaves the outcome unknown', async (status, body) => {
    expect(await outcomesOf(status, body)).toEqual(outcomeUnknown)
  })

  it.each([
    [401, someError, {}, unavailable('trade: answered 401 SomeError', 'token_refused')],
    [403, someError, {}, unavailable('trade: answered 403 SomeError')],
    [429, tooMany, { 'retry-after': '7' }, limited(7_000)],
    [429, tooMany, { 'retry-after': '0' }, limited(1_000)],
    [429, { ...tooMany, ...retryAt(1_250) }, {}, limited(1_250)],
    [200, busy, { 'retry-after': '7' }, limited(7_000)],
    [200, { ...busy, ...retryAt(1_250) }, {}, limited(1_250)],
  ])('of %i %j with %j was certainly not executed', async (status, body, headers, outcomes) => {
    expect(await outcomesOf(status, body, headers)).toEqual(outcomes)
  })

  it.each([
    ['Not enough\u0007 money\r\n ', 'Not enough money'],
    ['Not enough money (f3a9c01b7de2)', 'Not enough money'],
    ['Too low (minimum)', 'Too low (minimum)'],
    ['x'.repeat(5_000), 'x'.repeat(200)],
    [' \n', 'The broker refused the trade.'],
    [{ a: 1 }, 'The broker refused the trade.'],
  ])('of refusal with the message %j passes on its words', async (message, words) => {
    const name = 'TRADE_RETCODE_NO_MONEY'
    expect(await outcomesOf(200, { numericCode: 10019, stringCode: name, message })).toEqual(
      refused(name, words),
    )
  })

  it.each([
    [{ message: 'Validation failed (aa11bb22cc33)' }, 'Validation failed'],
    [
      {
        message: 'Failed',
        details: [{ parameter: 'volume', message: 'too fine' }, { parameter: 'symbol' }, null],
      },
      'Failed; volume: too fine; symbol',
    ],
    [{ details: 'E_SOMETHING' }, 'The trade is not valid.'],
  ])('of 400 with %j says what is not valid', async (body, words) => {
    expect(await outcomesOf(400, { error: 'ValidationError', ...body })).toEqual(
      refused('VALIDATION', words),
    )
  })

  it.each([
    [200, informationRow, gone('SYMBOL_NOT_FOUND', 'not found')],
    [404, someError, notProvisioned],
    [504, someError, unavailable('account-information: answered 504 SomeError')],
    [200, '<html></html>', unavailable('account-information: the response is not JSON')],
    [401, someError, unavailable('account-information: answered 401 SomeError', 'token_refused')],
    [429, retryAt(3_000), limited(3_000)],
  ])('of 404 is of the account unless that can be read: %i %j', async (status, body, outcomes) => {
    provider().get(`${accountPath}/account-information`).times(6).reply(status, body)
    const notFound = { error: 'NotFoundError', message: 'not found (b5d1c2e3f4)' }
    expect(await outcomesOf(404, notFound)).toEqual(outcomes)
  })

  it.each([
    ['46655555', '46655555'],
    ['4665\0', '4665\ufffd'],
    [undefined, null],
    ['', null],
    ['0', null],
    [0, null],
    [2 ** 53, null],
    [{}, null],
  ])('with the order id %j gives a close the number %j', async (orderId, read) => {
    provider().post(tradePath).reply(200, { numericCode: 10009, orderId })
    expect(await close(apiWith().positionTrading)).toEqual(
      E.right({ progress: 'done', brokerOrderId: read }),
    )
  })

  it.each([
    ['mt5', '88', false],
    ['mt5', ticket, true],
    // There the rest of a position has a new number.
    ['mt4', '88', true],
  ] as const)(
    'on %s about position %s is of the change: %s',
    async (platform, positionId, isOfIt) => {
      const body = { numericCode: 10009, orderId: '7', positionId }
      provider().post(tradePath).times(3).reply(200, body)
      const of = { ...account, platform }
      const done = E.right({ progress: 'done', brokerOrderId: '7' })
      const expected = isOfIt ? done : outcomeUnknown.close
      expect(await setLevels(apiWith().positionTrading, of)).toEqual(expected)
      expect(await close(apiWith().positionTrading, of)).toEqual(expected)
      expect(await cancelOrder(apiWith().trading, of)).toEqual(done)
    },
  )

  it('never contains the token, whatever the provider repeats', async () => {
    provider().get(`${accountPath}/account-information`).reply(500, token).persist()
    const details = [{ parameter: token, message: token }]
    for (const status of [200, 400, 401, 404, 429, 500])
      for (const coded of [{}, { numericCode: 10019, stringCode: token }]) {
        const body = { error: token, message: `Bearer ${token}`, details, ...coded }
        expect(JSON.stringify(await outcomesOf(status, body))).not.toContain('secret-part')
      }
  })
})

describe('no trade is sent', () => {
  // A request that did leave would fail in the closed network, with another outcome.
  it.each([
    ['the tenant has no provider token', TE.right(O.none), 'token_missing' as const],
    [
      "the tenant's provider token cannot be read",
      TE.left(refuse('ServiceUnavailable', { reason: token })),
      'token_unreadable' as const,
    ],
    [
      "the tenant's provider token contains characters that an HTTP header cannot carry",
      TE.right(O.some('line\nbreak')),
    ],
  ])('where %s', async (why, found, cause?: UnavailableCause) => {
    const outcomes = await sendEach(() => apiWith({ providerToken: () => found }))
    expect(outcomes).toEqual(unavailable(`nothing was sent: ${why}`, cause))
    expect(JSON.stringify(outcomes)).not.toContain('secret-part')
  })

  it('and the outcome is unknown, where it fails in a way that none expects', async () => {
    const breaking = { providerToken: () => () => Promise.reject(new Error('unexpected')) }
    expect(await sendEach(() => apiWith(breaking))).toEqual(outcomeUnknown)
  })

  it.each([
    ...['', '.', '..'].map((providerAccountId) => ({ providerAccountId })),
    ...['evil.example/', 'a.b', 'x@y', '-', '', 'a:1'].map((region) => ({ region })),
  ])('to an account of %j', async (fields) => {
    expect(await sendEach(apiWith, { ...account, ...fields })).toEqual(
      unavailable(expect.stringMatching(/^nothing was sent: the .* is not (?:a )?valid/)),
    )
  })

  it.each([
    [401, someError, unavailable('account-region: answered 401 SomeError', 'token_refused')],
    [404, someError, notProvisioned],
    [504, someError, unavailable('account-region: answered 504 SomeError')],
    [429, retryAt(2_000), limited(2_000)],
  ])('if provisioning answers %i %j for its region', async (status, body, outcomes) => {
    provider(provisioningHost).get(accountPath).times(6).reply(status, body)
    expect(await sendEach(apiWith, { ...account, region: null })).toEqual(outcomes)
  })
})

const pendingBody = (type: string, openPrice: number, more: object = {}) => ({
  actionType: `ORDER_TYPE_${type}`,
  ...order,
  side: undefined,
  openPrice,
  ...more,
})

describe('the body', () => {
  const position = { positionId: ticket }
  const ownClientId = expect.stringMatching(/^TP_[0-9a-f]{10}_close$/)
  const { positionTrading, trading } = apiWith()
  const { stopLoss: _stop, takeProfit: _take, ...plain } = order
  const withMore = { ...plain, side: 'sell' as const, comment: 'mine', price: 1.1 }
  const changeLevels = (stopLoss: number | undefined) =>
    positionTrading.setLevels(account, ticket, { stopLoss, takeProfit: 1.2 }, always)
  const closeLots = (lots: number | null) =>
    positionTrading.closePosition(account, ticket, lots, always)

  const expiresAt = Date.parse('2026-05-02T08:00:00.000Z')
  const placePending = (limitOrStop: LimitOrStop, side: 'buy' | 'sell' = 'buy') =>
    trading.placeOrder(account, { ...order, side, limitOrStop }, always)

  it.each([
    [
      'of a limit order has its price and no expiry',
      placePending({ type: 'limit', price: 1.0812345, timeInForce: 'gtc' }),
      pendingBody('BUY_LIMIT', 1.0812345, { expiration: { type: 'ORDER_TIME_GTC' } }),
    ],
    [
      'of a stop order ends with the day',
      placePending({ type: 'stop', price: 1.08, timeInForce: 'day' }, 'sell'),
      pendingBody('SELL_STOP', 1.08, { expiration: { type: 'ORDER_TIME_DAY' } }),
    ],
    [
      'of a stop-limit order has both prices and ends at a time',
      placePending({
        type: 'stop_limit',
        price: 1.12,
        stopLimitPrice: 1.11,
        timeInForce: 'gtd',
        expiresAt,
      }),
      pendingBody('BUY_STOP_LIMIT', 1.12, {
        stopLimitPrice: 1.11,
        expiration: { type: 'ORDER_TIME_SPECIFIED', time: '2026-05-02T08:00:00.000Z' },
      }),
    ],
    [
      'of a change of an order has all terms but those that are to be removed',
      trading.modifyOrder(
        account,
        ticket,
        { price: 1.08, stopLoss: 1.05, timeInForce: 'gtd', expiresAt },
        always,
      ),
      {
        actionType: 'ORDER_MODIFY',
        orderId: ticket,
        openPrice: 1.08,
        stopLoss: 1.05,
        expiration: { type: 'ORDER_TIME_SPECIFIED', time: '2026-05-02T08:00:00.000Z' },
      },
    ],
    [
      'of a change of an order names the expiry that is to be removed',
      trading.modifyOrder(account, ticket, { price: 1.08, timeInForce: 'gtc' }, always),
      {
        actionType: 'ORDER_MODIFY',
        orderId: ticket,
        openPrice: 1.08,
        expiration: { type: 'ORDER_TIME_GTC' },
      },
    ],
    [
      'of a cancellation names the order',
      trading.cancelOrder(account, ticket, always),
      { actionType: 'ORDER_CANCEL', orderId: ticket },
    ],
    [
      'of an order has all that the provider needs',
      trading.placeOrder(account, order, always),
      { actionType: 'ORDER_TYPE_BUY', ...order, side: undefined },
    ],
    [
      "of an order has nothing of the caller's own",
      trading.placeOrder(account, withMore, always),
      { actionType: 'ORDER_TYPE_SELL', symbol: 'EURUSD', volume: 0.1, clientId: order.clientId },
    ],
    [
      'of a change has both levels',
      changeLevels(1.055),
      { actionType: 'POSITION_MODIFY', ...position, stopLoss: 1.055, takeProfit: 1.2 },
    ],
    [
      'of a change has no level that is to be removed',
      changeLevels(undefined),
      { actionType: 'POSITION_MODIFY', ...position, takeProfit: 1.2 },
    ],
    [
      'of a close names the position',
      closeLots(null),
      { actionType: 'POSITION_CLOSE_ID', ...position, clientId: ownClientId },
    ],
    [
      'of a close on MT4 has no client id, which could replace that of the position',
      positionTrading.closePosition({ ...account, platform: 'mt4' }, ticket, null, always),
      { actionType: 'POSITION_CLOSE_ID', ...position },
    ],
    [
      'of a partial close has the volume without binary residue',
      closeLots(0.1 + 0.2),
      { actionType: 'POSITION_PARTIAL', ...position, volume: 0.3, clientId: ownClientId },
    ],
  ])('%s, and is sent once', async (_, send, body) => {
    const bodies: unknown[] = []
    provider()
      .post(tradePath)
      .twice()
      .reply(504, async (request: Request) => {
        bodies.push(await request.json())
        return ''
      })
    await send()
    expect(bodies).toEqual([body])
  })
})

describe('any answer at all', () => {
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
  const accepting: readonly unknown[] = successes.flatMap(([code]) => [
    code,
    returnCodeOf(code, undefined)?.name,
  ])

  it('is a yes only by a success code, a no only by a code or status, in words on one line', () => {
    const statuses = fc.oneof(
      fc.integer({ min: 100, max: 599 }),
      fc.constantFrom(200, 400, 401, 403, 404, 429, 500, 503, 504),
    )
    const dates = fc.oneof(fc.constant(null), fc.string(), fc.constant(new Date(now).toUTCString()))
    const bodies = fc.oneof(fields, fc.jsonValue(), fc.constant(undefined))
    fc.assert(
      fc.property(statuses, dates, dates, bodies, (status, retryAfter, date, body) => {
        const answered = answerOrFailure({ status, retryAfter, date, body })
        const { numericCode, stringCode, error, description } = (body ?? {}) as Readonly<
          Record<string, unknown>
        >
        const given = [numericCode, stringCode, error, description].filter(
          (value) => value !== undefined && value !== null,
        )
        if ('tickets' in answered)
          expect(given.some((value) => accepting.includes(value))).toBe(true)
        else if (!('kind' in answered) || answered.kind !== 'unknown') expect(given).not.toEqual([])
        if ('fault' in answered) expect(answered.fault.retryAt ?? now).toBeGreaterThanOrEqual(now)
        if ('reason' in answered)
          expect(answered.reason.message).toMatch(
            /^[^\s\p{Cc}](?:[^\n\r\t\p{Cc}]{0,198}[^\s\p{Cc}])?$/u,
          )
      }),
      { numRuns: 3_000 },
    )
  })
})
