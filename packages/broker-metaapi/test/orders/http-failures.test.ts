// What a status without a code says of an order: only the provider's own no, given before anything was done, is one.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { serviceUnavailable } from '@tradeport/domain'
import type { PlacementAnswer } from '@tradeport/domain'
import { closeNetwork } from '../no-network.ts'
import { account, accountPath, informationRow, now, provider, provisioningHost, token } from '../support.ts'
import { always, notSent, order, place, tradePath, tradingWith, unknown } from './order-support.ts'

closeNetwork()

const answerTo = (status: number, body: object | string, headers: Record<string, string> = {}): Promise<PlacementAnswer> => {
  provider().post(tradePath).reply(status, body, headers)
  return place()
}

describe('an order whose outcome is unknown', () => {
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
    [408, { error: 'RequestTimeout' }],
    [409, { error: 'ConflictError', message: 'state' }],
    [413, { error: 'PayloadTooLarge' }],
    [500, { error: 'InternalError', message: 'Something went wrong' }],
    [502, ''],
    [503, '<html><h1>503</h1></html>'],
    [504, { error: 'TimeoutError', message: 'not connected', metadata: {} }],
    [504, ''],
  ])('is answered %i %j', async (status, body) => {
    expect(await answerTo(status, body)).toEqual(unknown)
  })
})

describe('an order that was not sent on', () => {
  it.each([
    [401, notSent(null, 'token_refused')],
    [403, notSent()],
  ])('is answered %i by the provider', async (status, said) => {
    expect(await answerTo(status, { error: 'SomeError', message: token })).toEqual(said)
  })

  it.each<readonly [string, Record<string, string>, object | string, number]>([
    ['a header in seconds', { 'retry-after': '7' }, { error: 'TooManyRequestsError' }, 7_000],
    ['a header with a date', { 'retry-after': new Date(now + 9_000).toUTCString() }, '', 9_000],
    ['its body', {}, { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: new Date(now + 1_250).toISOString() } }, 1_250],
    ['nothing, so a second', {}, { error: 'TooManyRequestsError' }, 1_000],
    ['nothing that can be read, so a second', { 'retry-after': 'soon' }, '<html></html>', 1_000],
  ])('is answered 429 with the wait by %s', async (_, headers, body, ms) => {
    expect(await answerTo(429, body, headers)).toEqual(notSent(ms))
  })

  it.each([
    ['there is no token', TE.right(O.none)],
    ['the store of tokens cannot be read', TE.left(serviceUnavailable(token))],
    ['the token is none', TE.right(O.some('line\nbreak'))],
    ['the store of tokens throws', () => Promise.reject(new Error(token))],
  ])('is one where %s', async (_, found) => {
    expect(await place(tradingWith({ providerToken: () => found }))).toEqual(notSent())
  })

  it.each(['evil.example/', '', 'a:1'])('is one where the region is "%s"', async (region) => {
    expect(await tradingWith().placeOrder({ ...account, region }, order, always)()).toEqual(notSent())
  })

  it.each(['', '.', '..'])('is one where the provider account id is "%s"', async (providerAccountId) => {
    expect(await tradingWith().placeOrder({ ...account, providerAccountId }, order, always)()).toEqual(notSent())
  })

  it.each<readonly [number, object, PlacementAnswer]>([
    [401, { error: 'UnauthorizedError' }, notSent(null, 'token_refused')],
    [404, { error: 'NotFoundError' }, notSent()],
    [504, { error: 'TimeoutError' }, notSent()],
    [429, { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: new Date(now + 2_000).toISOString() } }, notSent(2_000)],
  ])('is one where provisioning answers %i to where the account is', async (status, body, said) => {
    provider(provisioningHost).get(accountPath).reply(status, body)
    expect(await tradingWith().placeOrder({ ...account, region: null }, order, always)()).toEqual(said)
  })
})

describe('a 404 of the provider', () => {
  const missing = { error: 'NotFoundError', message: 'specified symbol not found (b5d1c2e3f4)' }
  const rereading = async (status: number, body: object | string) => {
    provider().post(tradePath).reply(404, missing)
    const reread = provider().get(`${accountPath}/account-information`).reply(status, body)
    const answer = await place()
    return { answer, isReread: reread.isDone() }
  }

  it('means the symbol where the account can be read', async () => {
    const { answer } = await rereading(200, informationRow)
    expect(answer).toEqual({ kind: 'refused', reason: { code: 'SYMBOL_NOT_FOUND', message: 'specified symbol not found' } })
  })

  it.each<readonly [number, object | string, number | null]>([
    [404, { error: 'NotFoundError', message: 'specified symbol not found' }, null],
    [504, { error: 'TimeoutError' }, null],
    [200, '<html></html>', null],
    [429, { error: 'TooManyRequestsError', metadata: { recommendedRetryTime: new Date(now + 3_000).toISOString() } }, 3_000],
  ])('leaves it to the next try where that read is answered %i %j, whatever its words', async (status, body, ms) => {
    expect(await rereading(status, body)).toEqual({ answer: notSent(ms), isReread: true })
  })
})

describe('a 400 of the provider', () => {
  it.each<readonly [object, string]>([
    [{ message: 'Validation failed' }, 'Validation failed'],
    [
      {
        message: 'Validation failed (aa11bb22cc33)',
        details: [{ parameter: 'volume', message: 'Value must be above 0' }, { parameter: 'symbol' }],
      },
      'Validation failed; volume: Value must be above 0; symbol',
    ],
    [{ details: 'E_SOMETHING' }, 'The trade is not valid.'],
    [{ details: [null, 4, { message: 'too long' }] }, 'too long'],
    [{ message: { a: 1 } }, 'The trade is not valid.'],
  ])('%j is a refusal in its words: %s', async (body, message) => {
    expect(await answerTo(400, { error: 'ValidationError', ...body })).toEqual({ kind: 'refused', reason: { code: 'VALIDATION', message } })
  })
})

describe('the token', () => {
  it('is in no answer, whatever the provider repeats', async () => {
    for (const status of [200, 400, 401, 404, 429, 500]) {
      const body = { error: token, numericCode: undefined, message: `Bearer ${token}`, details: [{ parameter: token, message: token }] }
      expect(JSON.stringify(await answerTo(status, body))).not.toContain('secret-part')
      const coded = { numericCode: 10019, stringCode: token, message: `token ${token} has no money` }
      expect(JSON.stringify(await answerTo(status, coded))).not.toContain('secret-part')
    }
  })
})
