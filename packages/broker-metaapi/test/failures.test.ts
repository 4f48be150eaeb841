// The table of failures: what a read says of each way in which the provider cannot be read.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { brokerUnavailable, notProvisioned, serviceUnavailable } from '@tradeport/domain'
import type { ProviderCall } from '../src/index.ts'
import { closeNetwork } from './no-network.ts'
import { account, accountPath, brokerWith, everWindow, now, positionRow, provider, reasonOf, token } from './support.ts'

closeNetwork()

const positionsPath = `${accountPath}/positions`
const json = { 'content-type': 'application/json' }

const readPositions = () => brokerWith().positions(account)()

const limited = (retryAfterSeconds: number) => E.left({ _tag: 'BrokerRateLimited', accountId: account.accountId, retryAfterSeconds })
const limitBody = (recommendedRetryTime?: unknown) => ({
  id: 3,
  error: 'TooManyRequestsError',
  message: token,
  metadata: { recommendedRetryTime },
})
const httpDate = (at: number) => new Date(at).toUTCString()

describe('a broker that cannot be read', () => {
  it.each([
    [400, { error: 'ValidationError', message: 'limit' }, 'positions: answered 400 ValidationError'],
    [401, '<html>Unauthorized</html>', 'positions: answered 401'],
    [403, { error: 'ForbiddenError', message: token }, 'positions: answered 403 ForbiddenError'],
    [409, { error: 'ConflictError' }, 'positions: answered 409 ConflictError'],
    [504, { error: 'TimeoutError', message: 'not connected', metadata: {} }, 'positions: answered 504 TimeoutError'],
    [202, {}, 'positions: answered 202'],
    [500, { error: `<b>${token}</b>` }, 'positions: answered 500'],
    [500, { error: 10_009 }, 'positions: answered 500'],
  ])('answers %i', async (status, body, reason) => {
    provider().get(positionsPath).times(2).reply(status, body)
    expect(await readPositions()).toEqual(E.left(brokerUnavailable(account.accountId, reason)))
  })

  it('answers 503 with a page of HTML', async () => {
    provider().get(positionsPath).twice().reply(503, '<html><h1>503</h1></html>', { 'content-type': 'text/html' })
    expect(reasonOf(await readPositions())).toBe('positions: answered 503')
  })

  it('answers 200 with a page of HTML, with half a JSON, or with nothing', async () => {
    for (const body of ['<html></html>', JSON.stringify([positionRow]).slice(0, 100), '']) {
      provider().get(positionsPath).reply(200, body, json)
      expect(reasonOf(await readPositions())).toBe('positions: answered with something that is not JSON')
    }
  })

  it('answers with an object where a list belongs, even an empty one', async () => {
    provider().get(positionsPath).reply(200, {})
    expect(reasonOf(await readPositions())).toBe('positions: the answer is not a list of positions')
  })

  it('resets the connection', async () => {
    const reset = Object.assign(new Error(`socket hang up ${token}`), { code: 'ECONNRESET' })
    provider().get(positionsPath).twice().replyWithError(reset)
    expect(reasonOf(await readPositions())).toBe('positions: no connection (ECONNRESET)')
  })

  it('points elsewhere, where the token must not go', async () => {
    const elsewhere = provider('https://elsewhere.example').get('/').reply(200, [])
    provider().get(positionsPath).reply(302, '', { location: 'https://elsewhere.example/' })
    expect(reasonOf(await readPositions())).toBe('positions: answered 302')
    expect(elsewhere.isDone()).toBe(false)
  })
})

describe('a token that the provider refuses (401)', () => {
  it('is said to be refused', async () => {
    provider().get(positionsPath).reply(401, { error: 'UnauthorizedError', message: token })
    const refused = brokerUnavailable(account.accountId, 'positions: answered 401 UnauthorizedError', 'token_refused')
    expect(await readPositions()).toEqual(E.left(refused))
  })
})

describe('an account that the provider does not know (404)', () => {
  it('is not provisioned', async () => {
    provider().get(positionsPath).reply(404, { error: 'NotFoundError', message: 'trading account not found' })
    expect(await readPositions()).toEqual(E.left(notProvisioned(account.accountId)))
  })

  it('is not meant by a 404 of something in between', async () => {
    provider().get(positionsPath).reply(404, '<html>no such site</html>')
    expect(reasonOf(await readPositions())).toBe('positions: answered 404')
  })
})

describe('a rate limit (429)', () => {
  it.each<readonly [string, Record<string, string>, string | object, number]>([
    ['the header in seconds', { 'retry-after': '7' }, limitBody('2026-05-01T12:00:30.000Z'), 7],
    ['the header as a date', { 'retry-after': httpDate(now + 9_000) }, limitBody(), 9],
    ['the body in ISO 8601, rounded up', {}, limitBody('2026-05-01T12:00:01.250Z'), 2],
    ['the body in the format of HTTP', {}, limitBody(httpDate(now + 12_000)), 12],
    ['the body, where the header says nothing', { 'retry-after': 'soon' }, limitBody('2026-05-01T12:00:05.000Z'), 5],
    ['nothing', {}, limitBody(), 1],
    ['no body', {}, '', 1],
    ['a time that cannot be read', {}, limitBody('later'), 1],
    ['a time that has passed', {}, limitBody('2026-05-01T11:00:00.000Z'), 1],
    ['no wait at all', { 'retry-after': '0' }, limitBody(), 1],
  ])('is told with the wait by %s', async (_, headers, body, seconds) => {
    provider().get(positionsPath).reply(429, body, headers)
    expect(await readPositions()).toEqual(limited(seconds))
  })
})

const callsOf = async (first: (scope: ReturnType<typeof provider>) => void) => {
  const calls: ProviderCall[] = []
  const scope = provider()
  first(scope)
  scope.get(positionsPath).reply(200, [])
  const result = await brokerWith({ onCall: (call) => calls.push(call) }).positions(account)()
  return { result, calls }
}

describe('a second try', () => {
  it('is made once after a 500 or 503', async () => {
    for (const status of [500, 502, 503]) {
      const { result, calls } = await callsOf((scope) => scope.get(positionsPath).reply(status, ''))
      expect(E.isRight(result)).toBe(true)
      expect(calls.map(({ outcome }) => outcome)).toEqual(['unavailable', 'ok'])
    }
  })

  it('is made once after a connection that failed', async () => {
    const { result, calls } = await callsOf((scope) =>
      scope.get(positionsPath).replyWithError(Object.assign(new Error(), { code: 'ECONNREFUSED' })),
    )
    expect(E.isRight(result)).toBe(true)
    expect(calls.length).toBe(2)
  })

  it('is never made a third time', async () => {
    const { result, calls } = await callsOf((scope) => scope.get(positionsPath).twice().reply(500, ''))
    expect(reasonOf(result)).toBe('positions: answered 500')
    expect(calls.length).toBe(2)
  })

  it.each([401, 403, 404, 429, 504])('is not made after a %i', async (status) => {
    const { result, calls } = await callsOf((scope) => scope.get(positionsPath).reply(status, { error: 'Some' }))
    expect(E.isLeft(result)).toBe(true)
    expect(calls.length).toBe(1)
  })
})

describe('nothing is sent', () => {
  // Whatever left would meet a network that is closed, and another reason.
  it.each([
    ['the tenant has no token', TE.right(O.none), 'nothing was sent: the tenant has no provider token'],
    [
      'the store of tokens cannot be read',
      TE.left(serviceUnavailable(token)),
      "nothing was sent: the tenant's provider token cannot be read",
    ],
    ['the token is none', TE.right(O.some('line\nbreak')), "nothing was sent: the tenant's provider token is not one"],
  ])('where %s', async (_, found, reason) => {
    const broker = brokerWith({ providerToken: () => found })
    const reads = [broker.accountInformation(account), broker.positions(account), broker.dealsPage(account, everWindow)]
    for (const read of reads) expect(reasonOf(await read())).toBe(reason)
  })

  it.each(['', '.', '..'])('where the provider account id is "%s"', async (providerAccountId) => {
    const result = await brokerWith().positions({ ...account, providerAccountId })()
    expect(reasonOf(result)).toBe('nothing was sent: the provider account id is not one')
  })

  it.each(['evil.example/', 'a.b', 'x@y', '-', '', 'a:1'])('where the region is "%s", which would make another host', async (region) => {
    expect(reasonOf(await brokerWith().positions({ ...account, region })())).toBe("nothing was sent: the account's region is not one")
  })

  it('to a base URL that is none: it is refused when the broker is made', () => {
    expect(() => brokerWith({ clientUrl: 'ftp://client.example' })).toThrow('not a base URL')
    expect(() => brokerWith({ provisioningUrl: 'provisioning.example' })).toThrow('not a base URL')
  })
})

describe('what is unforeseen', () => {
  it('is a broker that cannot be read, told by its kind alone', async () => {
    const broker = brokerWith({ providerToken: () => () => Promise.reject(new RangeError(token)) })
    expect(reasonOf(await broker.positions(account)())).toBe('unforeseen RangeError')
  })
})

describe('paths', () => {
  it('are encoded, whatever an account is called', async () => {
    const read = provider().get('/users/current/accounts/a%2Fb%3Fc%23%20%C3%A4/positions').reply(200, [])
    expect(E.isRight(await brokerWith().positions({ ...account, providerAccountId: 'a/b?c# ä' })())).toBe(true)
    expect(read.isDone()).toBe(true)
  })

  it('keep the path and drop the last slash of a base URL', async () => {
    const read = provider('http://127.0.0.1:4821').get(`/london${accountPath}/positions`).reply(200, [])
    await brokerWith({ clientUrl: 'http://127.0.0.1:4821/{region}/' }).positions(account)()
    expect(read.isDone()).toBe(true)
  })
})

describe('what is told of calls', () => {
  it('is the route, the outcome and how long it took, and nothing else', async () => {
    const calls: ProviderCall[] = []
    const broker = brokerWith({ pauses: { firstMs: 0, longestMs: 0 }, onCall: (call) => calls.push(call) })
    provider().get(positionsPath).reply(200, []).get(positionsPath).reply(404, {}).get(positionsPath).reply(429, {})
    for (let read = 0; read < 3; read += 1) await broker.positions(account)()
    expect(calls).toEqual(
      ['ok', 'unknown_account', 'rate_limited'].map((outcome) => ({ route: 'positions', outcome, durationMs: expect.any(Number) })),
    )
  })
})

describe('the token', () => {
  it('is in no failure, whatever the provider answers', async () => {
    const answers = [200, 302, 400, 401, 403, 404, 429, 500, 503, 504].flatMap((status) =>
      [`"${token}"`, token, JSON.stringify({ error: token, message: token, metadata: { recommendedRetryTime: token } })].map((body) => ({
        status,
        body,
      })),
    )
    for (const { status, body } of answers) {
      provider()
        .get(positionsPath)
        .twice()
        .reply(status, body, { 'retry-after': token, location: `https://x.example/${token}` })
      const result = await readPositions()
      expect(E.isLeft(result)).toBe(true)
      expect(JSON.stringify(result)).not.toContain('secret-part')
    }
  })
})
