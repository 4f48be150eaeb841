// What a status without a code says of a change, what is said where nothing could be sent, and what is sent at all.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { brokerOutcomeUnknown, brokerRateLimited, brokerUnavailable, notProvisioned, positionNotFound } from '@tradeport/domain'
import { serviceUnavailable, tradeRejected } from '@tradeport/domain'
import type { Levels, UnavailableCause } from '@tradeport/domain'
import { closeNetwork } from '../no-network.ts'
import { always } from '../orders/order-support.ts'
import { account, accountPath, informationRow, now, provider, provisioningHost, token } from '../support.ts'
import { answered, deskAnswered, deskWith, move, ticket, tradePath, writes } from './desk-support.ts'

closeNetwork()

const { accountId } = account
const done = answered(200, { numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE' })
const unavailable = (reason: unknown, cause?: UnavailableCause) => E.left(brokerUnavailable(accountId, reason as string, cause))

describe.each(writes)('$what', ({ make }) => {
  it.each<readonly [number, unknown]>([
    [200, undefined],
    [200, null],
    [200, 10009],
    [200, {}],
    [201, {}],
    [204, undefined],
    [302, undefined],
    [400, undefined],
    [400, {}],
    [401, undefined],
    [403, undefined],
    [404, undefined],
    [405, { error: 'MethodNotAllowedError' }],
    [408, { error: 'RequestTimeout' }],
    [409, { error: 'ConflictError', message: 'state' }],
    [413, { error: 'PayloadTooLarge' }],
    [500, { error: 'InternalError', message: 'Something went wrong' }],
    [502, undefined],
    [503, undefined],
    [504, { error: 'TimeoutError', message: 'not connected', metadata: {} }],
  ])('may have been made where it is answered %i %j', async (status, body) => {
    const { desk, sent } = deskAnswered(answered(status, body))
    expect(await make(desk)).toEqual(E.left(brokerOutcomeUnknown(accountId)))
    expect(sent.length).toBe(1)
  })

  it('may have been made where no answer came, and where the sender fails in a way of its own', async () => {
    for (const answer of [{ kind: 'unanswered', isLate: false } as const, () => Promise.reject(new Error(token))])
      expect(await make(deskAnswered(answer).desk)).toEqual(E.left(brokerOutcomeUnknown(accountId)))
  })

  it('was not made where there was no connection', async () => {
    expect(await make(deskAnswered({ kind: 'undelivered', why: 'no connection' }).desk)).toEqual(unavailable('trade: no connection'))
  })

  it.each<readonly [number, UnavailableCause | undefined]>([
    [401, 'token_refused'],
    [403, undefined],
  ])('was not made where the provider answers %i', async (status, cause) => {
    const { desk } = deskAnswered(answered(status, { error: 'SomeError', message: token }))
    expect(await make(desk)).toEqual(unavailable(`trade: answered ${status}`, cause))
  })

  it.each<readonly [string | null, unknown, number]>([
    ['7', { error: 'TooManyRequestsError' }, 7],
    [new Date(now + 9_000).toUTCString(), undefined, 9],
    [null, { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: new Date(now + 1_250).toISOString() } }, 2],
    [null, { error: 'TooManyRequestsError' }, 1],
    ['soon', undefined, 1],
  ])('was not made where it is answered 429 with %j %j; to be asked for again in %i s', async (retryAfter, body, seconds) => {
    const { desk } = deskAnswered(answered(429, body, retryAfter))
    expect(await make(desk)).toEqual(E.left(brokerRateLimited(accountId, now + seconds * 1_000, now)))
  })

  it.each<readonly [object, string]>([
    [{ message: 'Validation failed' }, 'Validation failed'],
    [
      { message: 'Validation failed (aa11bb22cc33)', details: [{ parameter: 'volume', message: 'too fine' }] },
      'Validation failed; volume: too fine',
    ],
    [{}, 'The trade is not valid.'],
  ])('is refused in the words of the provider where it answers 400 %j', async (body, message) => {
    const { desk } = deskAnswered(answered(400, { error: 'ValidationError', ...body }))
    expect(await make(desk)).toEqual(E.left(tradeRejected('VALIDATION', message)))
  })

  it.each<readonly [number, object | string, unknown]>([
    [200, informationRow, E.left(positionNotFound)],
    [404, { error: 'NotFoundError' }, E.left(notProvisioned(accountId))],
    [504, { error: 'TimeoutError' }, unavailable('account-information: answered 504 TimeoutError')],
    [200, '<html></html>', unavailable(expect.any(String))],
    [401, { error: 'UnauthorizedError' }, unavailable('account-information: answered 401 UnauthorizedError', 'token_refused')],
    [
      429,
      { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: new Date(now + 3_000).toISOString() } },
      E.left(brokerRateLimited(accountId, now + 3_000, now)),
    ],
  ])('that is answered 404 lacks its position only where the account can be read: %i %j', async (status, body, said) => {
    const asked = provider().get(`${accountPath}/account-information`).reply(status, body)
    const { desk, sent } = deskAnswered(answered(404, { error: 'NotFoundError', message: 'position not found' }))
    expect(await make(desk)).toEqual(said)
    expect([asked.isDone(), sent.length]).toEqual([true, 1])
  })

  it.each([
    ['there is no token', TE.right(O.none)],
    ['the store of tokens cannot be read', TE.left(serviceUnavailable(token))],
    ['the token is none', TE.right(O.some('line\nbreak'))],
    ['the store of tokens throws', () => Promise.reject(new Error(token))],
  ])('is not sent where %s', async (_, found) => {
    const { desk, sent } = deskAnswered(done, { providerToken: () => found })
    const answer = await make(desk)
    expect(answer).toEqual(unavailable(expect.any(String)))
    expect(JSON.stringify(answer)).not.toContain('secret-part')
    expect(sent).toEqual([])
  })

  it.each([{ region: 'evil.example/' }, { region: '' }, { region: 'a:1' }, { providerAccountId: '' }, { providerAccountId: '..' }])(
    'is not sent to an account of %j',
    async (fields) => {
      const { desk, sent } = deskAnswered(done)
      expect(await make(desk, { ...account, ...fields })).toEqual(unavailable(expect.any(String)))
      expect(sent).toEqual([])
    },
  )

  it.each<readonly [number, object, unknown]>([
    [404, { error: 'NotFoundError' }, E.left(notProvisioned(accountId))],
    [504, { error: 'TimeoutError' }, unavailable('account-region: answered 504 TimeoutError')],
    [
      429,
      { metadata: { recommendedRetryTime: new Date(now + 2_000).toISOString() } },
      E.left(brokerRateLimited(accountId, now + 2_000, now)),
    ],
  ])('is not sent where provisioning answers %i %j to where the account is', async (status, body, said) => {
    provider(provisioningHost).get(accountPath).reply(status, body)
    const { desk, sent } = deskAnswered(done)
    expect(await make(desk, { ...account, region: null })).toEqual(said)
    expect(sent).toEqual([])
  })
})

const sentBy = async (levels: Levels) => {
  const { desk, sent } = deskAnswered(done)
  await desk.setLevels(account, ticket, levels, always)()
  return sent.map(({ body }) => body)
}

const sentToClose = async (volume: number | null) => {
  const { desk, sent } = deskAnswered(done)
  await desk.closePosition(account, ticket, volume, always)()
  return sent.map(({ body }) => body)
}

describe('what is sent', () => {
  it('of levels is both, and neither of them where it is to be taken off', async () => {
    const change = { actionType: 'POSITION_MODIFY', positionId: ticket }
    expect(await sentBy({ stopLoss: 1.055, takeProfit: 1.2 })).toEqual([{ ...change, stopLoss: 1.055, takeProfit: 1.2 }])
    expect(await sentBy({ stopLoss: 1.055 })).toEqual([{ ...change, stopLoss: 1.055 }])
    expect(await sentBy({ stopLoss: undefined, takeProfit: 1.2 })).toEqual([{ ...change, takeProfit: 1.2 }])
    expect((await sentBy({ stopLoss: undefined })).map(Object.keys)).toEqual([['actionType', 'positionId']])
  })

  it('to close all names no volume, and to close a part its lots without what binary fractions leave', async () => {
    expect(await sentToClose(null)).toEqual([{ actionType: 'POSITION_CLOSE_ID', positionId: ticket }])
    for (const [asked, lots] of [
      [0.04, 0.04],
      [0.1 + 0.2, 0.3],
    ] as const)
      expect(await sentToClose(asked)).toEqual([{ actionType: 'POSITION_PARTIAL', positionId: ticket, volume: lots }])
  })

  it('is nothing to close a part that no platform could count', async () => {
    const { desk, sent } = deskAnswered(done)
    expect(await desk.closePosition(account, ticket, 1e-12, always)()).toMatchObject({
      left: { _tag: 'TradeRejected', code: 'INVALID_VOLUME' },
    })
    expect(sent).toEqual([])
  })

  it('goes to the account in its region, with the token', async () => {
    const { desk, sent } = deskAnswered(done)
    await move(desk)
    expect(sent.map(({ url, token: given }) => [url.href, given])).toEqual([[`https://client.london.example${tradePath}`, token]])
  })

  it('is one request, also through a real sender', async () => {
    provider().post(tradePath, { actionType: 'POSITION_MODIFY', positionId: ticket, stopLoss: 1.055, takeProfit: 1.2 }).reply(504, '')
    const second = provider().post(tradePath).reply(200, { numericCode: 10009, stringCode: 'TRADE_RETCODE_DONE' })
    expect(await move(deskWith())).toEqual(E.left(brokerOutcomeUnknown(accountId)))
    expect(second.isDone()).toBe(false)
  })
})

describe('the token', () => {
  it.each(writes)('is in nothing that is said of $what, whatever the provider repeats', async ({ make }) => {
    for (const status of [200, 400, 401, 404, 429, 500]) {
      for (const coded of [{}, { numericCode: 10019, stringCode: token }]) {
        provider().get(`${accountPath}/account-information`).reply(500, token).persist()
        const body = { error: token, message: `Bearer ${token}`, details: [{ parameter: token, message: token }], ...coded }
        provider().post(tradePath).reply(status, body)
        expect(JSON.stringify(await make(deskWith()))).not.toContain('secret-part')
      }
    }
  })
})
