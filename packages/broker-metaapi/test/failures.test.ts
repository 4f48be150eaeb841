// What a read reports of each way in which the provider cannot be read, which of them are retried,
// and where a request for an account goes.
import { times } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import nock from 'nock'
import { describe, expect, it } from 'vitest'
import { refuse } from '@tradeport/domain/errors'
import {
  account,
  accountPath,
  apiWith,
  closeNetwork,
  now,
  positionRow,
  provider,
  provisioningHost,
  reasonOf,
  token,
} from './support.ts'

closeNetwork()

const positionsPath = `${accountPath}/positions`
const read = (of = account, api = apiWith()) => api.broker.positions(of)()
const reads = async (...of: Parameters<typeof read>) =>
  expect(await read(...of)).toMatchObject({ _tag: 'Right' })

type Headers = Record<string, string>
/** The result, and how many requests it took. */
const readOnce = async (
  status: number,
  body?: object | string,
  headers: Headers = { location: 'https://elsewhere.example/' },
) => {
  let requests = 0
  const count = () => {
    requests += 1
    return body
  }
  provider().get(positionsPath).times(3).reply(status, count, headers)
  return { result: await read(), requests }
}
const limitBody = (recommendedRetryTime?: unknown) => ({
  error: 'TooManyRequestsError',
  metadata: { recommendedRetryTime },
})

describe('a read', () => {
  it.each([
    [400, { error: 'ValidationError', message: 'limit' }, 'answered 400 ValidationError', 1],
    [401, '<html>Unauthorized</html>', 'answered 401', 1],
    [403, { error: 'ForbiddenError', message: token }, 'answered 403 ForbiddenError', 1],
    // From a proxy, so it says nothing of the account.
    [404, '<html>no such site</html>', 'answered 404', 1],
    [404, { message: 'no route' }, 'answered 404', 1],
    [504, { error: 'TimeoutError', metadata: {} }, 'answered 504 TimeoutError', 1],
    [202, {}, 'answered 202', 1],
    // Not followed, since the token would be.
    [302, '', 'answered 302', 1],
    [200, {}, 'the response is not a list of positions', 1],
    [200, '[{"id":', 'the response is not JSON', 1],
    [500, { error: `<b>${token}</b>` }, 'answered 500', 2],
    [502, { error: 10_009 }, 'answered 502', 2],
  ])('answered %i %j is unavailable: "%s", in %i requests', async (status, body, reason, times) => {
    const { result, requests } = await readOnce(status, body)
    expect([reasonOf(result), requests]).toEqual([`positions: ${reason}`, times])
    expect(result).not.toHaveProperty('left.cause', 'token_refused')
  })

  it.each([
    [401, { _tag: 'BrokerUnavailable', cause: 'token_refused' }],
    [404, { _tag: 'NotProvisioned' }],
  ])('answered %i by the provider itself is %j', async (status, error) => {
    const { result, requests } = await readOnce(status, { error: 'SomeError', message: token })
    expect([result, requests]).toMatchObject([E.left(error), 1])
  })

  it.each([
    [{ 'retry-after': '7' }, limitBody('2026-05-01T12:00:30.000Z'), 7],
    [{ 'retry-after': new Date(now + 9_000).toUTCString() }, limitBody(), 9],
    [{}, limitBody('2026-05-01T12:00:01.250Z'), 2],
    [{}, limitBody(new Date(now + 12_000).toUTCString()), 12],
    [{ 'retry-after': 'soon' }, limitBody('2026-05-01T12:00:05.000Z'), 5],
    [{}, '', 1],
    [{}, limitBody('later'), 1],
    [{}, limitBody('2026-05-01T11:00:00.000Z'), 1],
    [{ 'retry-after': '0' }, limitBody(), 1],
    [{ 'retry-after': '21600' }, limitBody(), 21_600],
    [{ 'retry-after': '21601' }, limitBody(), 1],
    // From a proxy.
    [{ 'retry-after': '600' }, '', 60],
    // A date is compared with the date of the answer, not with our clock.
    [{ date: new Date(now - 60_000).toUTCString() }, limitBody('2026-05-01T11:59:04.000Z'), 4],
  ])('answered 429 with %j %j waits %i seconds', async (headers, body, retryAfterSeconds) => {
    const { result, requests } = await readOnce(429, body, headers)
    const { accountId } = account
    expect([result, requests]).toEqual([
      E.left(refuse('BrokerRateLimited', { accountId, retryAfterSeconds })),
      1,
    ])
  })

  it('is retried once after a broken connection, whose error is reported by its code alone', async () => {
    const reset = Object.assign(new Error(`socket hang up ${token}`), { code: 'ECONNRESET' })
    provider().get(positionsPath).replyWithError(reset).get(positionsPath).reply(200, [positionRow])
    await reads()
    provider().get(positionsPath).twice().replyWithError(reset)
    expect(reasonOf(await read())).toBe('positions: no connection (ECONNRESET)')
  })

  it('of a symbol that takes too long pauses no other symbol', async () => {
    const { marketData } = apiWith()
    const price = { symbol: 'EURUSD', bid: 1.1, ask: 1.2, time: '2026-05-01T12:00:00.000Z' }
    provider()
      .get(/./)
      .times(9)
      .reply(({ url }: Request) =>
        url.includes('USOIL') ? [504, { error: 'TimeoutError', message: 'late' }] : [200, price],
      )
    const quote = async (symbol: string) => (await marketData.quote(account, symbol)())._tag
    for (const symbol of ['USOIL', 'USOIL', 'EURUSD'])
      expect(await quote(symbol)).toBe(symbol === 'USOIL' ? 'Left' : 'Right')
  })

  it('of past prices that the provider refuses is never offered; of a price it may pass', async () => {
    const { candles, ticks, quote } = apiWith().marketData
    const refusal = { error: 'ValidationError', message: 'not supported for MT5 G2 accounts' }
    const pastPrices = provider('https://market-data.london.example').get(/./)
    pastPrices
      .twice()
      .reply(400, refusal)
      .get(/./)
      .reply(400, { ...refusal, message: 'startTime' })
    provider().get(/./).reply(400, refusal)
    const never = E.left(expect.objectContaining({ isUnsupported: true }))
    const window = { timeframe: '1h', from: now, to: now, offset: 0, limit: 9 } as const
    expect(await candles(account, 'EURUSD', window)()).toEqual(never)
    expect(await ticks(account, 'EURUSD', window)()).toEqual(never)
    expect(await ticks(account, 'EURUSD', window)()).not.toEqual(never)
    expect(await quote(account, 'EURUSD')()).not.toEqual(never)
  })

  it('that a terminal answers with no symbols, or a price of 0 on a side, is unavailable', async () => {
    const { symbols, quote } = apiWith().marketData
    const price = { bid: -0.1, ask: 0.1, time: '2026-05-01T12:00:00.000Z' }
    provider()
      .get(/symbols$/)
      .reply(200, [])
    expect(reasonOf(await symbols(account)())).toBe(
      'symbols: the response is not a list of symbols',
    )
    for (const none of [{ bid: 0, ask: 0 }, { bid: 0 }, { ask: 0 }]) {
      provider()
        .get(/price/)
        .reply(200, { ...price, ...none })
      expect(reasonOf(await quote(account, 'EURUSD')())).toBe('price: the response is not a price')
    }
    provider().get(/price/).reply(200, price)
    expect(E.isRight(await quote(account, 'EURUSD')())).toBe(true)
  })

  it('of another symbol or timeframe is not taken for the one that was asked for', async () => {
    const { quote, candles } = apiWith().marketData
    const time = '2026-05-01T12:00:00.000Z'
    const [bar, price] = [
      { time, open: 1, high: 1, low: 1, close: 1, tickVolume: 1 },
      { time, bid: 1, ask: 1 },
    ]
    provider()
      .get(/price/)
      .reply(200, { ...price, symbol: 'USDJPY' })
    provider('https://market-data.london.example')
      .get(/./)
      .reply(200, [
        { ...bar, symbol: 'EURUSD' },
        { ...bar, symbol: 'USDJPY' },
      ])
      .get(/./)
      .reply(200, [{ ...bar, timeframe: '1m' }])
      .get(/./)
      .reply(200, [{ ...bar, timeframe: '1mn' }])
    const window = { timeframe: '1M', to: now, limit: 9 } as const
    const readCandles = candles(account, 'EURUSD', window)
    expect([
      reasonOf(await quote(account, 'EURUSD')()),
      reasonOf(await readCandles()),
      reasonOf(await readCandles()),
    ]).toEqual([
      'price: the response is of another symbol or timeframe',
      ...times(2, () => 'candles: the response is of another symbol or timeframe'),
    ])
    expect(E.isRight(await readCandles())).toBe(true)
  })

  it('never reports the token', async () => {
    const headers = { 'retry-after': token, location: `https://x.example/${token}` }
    const body = { error: token, message: token, metadata: { recommendedRetryTime: token } }
    for (const status of [200, 302, 400, 401, 403, 404, 429, 500, 504])
      for (const answer of [`"${token}"`, token, body]) {
        const { result } = await readOnce(status, answer, headers)
        nock.cleanAll()
        expect(E.isLeft(result)).toBe(true)
        expect(JSON.stringify(result)).not.toContain('secret-part')
      }
  })

  it('that fails in a way that none expects is unavailable, without the words of the fault', async () => {
    const api = apiWith({ providerToken: () => () => Promise.reject(new Error(token)) })
    expect(reasonOf(await read(account, api))).toBe('unexpected Error')
  })

  it('has an encoded path after the path of the base URL', async () => {
    provider('http://127.0.0.1:4821')
      .get('/london/users/current/accounts/a%2Fb%3Fc%23%20%C3%A4/positions')
      .reply(200, [positionRow])
    const api = apiWith({ clientUrl: 'http://127.0.0.1:4821/{region}' })
    await reads({ ...account, providerAccountId: 'a/b?c# ä' }, api)
  })
})

const unplaced = { ...account, region: null }
const tenMinutesMs = 10 * 60_000

const servePositions = (region: string) =>
  provider(`https://client.${region}.example`)
    .get(positionsPath)
    .reply(200, [positionRow])
    .persist()

describe('the region of an account', () => {
  it('is the one of its link, and is not read if the host needs none', async () => {
    servePositions('singapore')
    await reads({ ...account, region: 'singapore' })
    provider('https://client.example').get(positionsPath).reply(200, [positionRow])
    const api = apiWith({ clientUrl: 'https://client.example' })
    await reads(unplaced, api)
  })

  it('is read once for many reads at the same time, and kept for ten minutes', async () => {
    let requests = 0
    const count = () => {
      requests += 1
      return { region: 'vint-hill' }
    }
    provider(provisioningHost).get(accountPath).reply(200, count).persist()
    servePositions('vint-hill')
    let time = now
    const api = apiWith({ clock: { now: () => time } })
    const reads = await Promise.all(times(20, () => read(unplaced, api)))
    expect(reads.every(E.isRight)).toBe(true)
    for (const [passedMs, times] of [
      [0, 1],
      [tenMinutesMs - 1, 1],
      [1, 2],
      [-tenMinutesMs, 3],
    ] as const) {
      time += passedMs
      await read(unplaced, api)
      expect(requests).toBe(times)
    }
  })

  it('is read again after a failure', async () => {
    provider(provisioningHost)
      .get(accountPath)
      .reply(504, { error: 'TimeoutError' })
      .get(accountPath)
      .reply(200, { region: 'london' })
    servePositions('london')
    let elapsedMs = 0
    const api = apiWith({ stopwatch: { elapsedMs: () => elapsedMs } })
    expect(reasonOf(await read(unplaced, api))).toBe('account-region: answered 504 TimeoutError')
    elapsedMs += 2_000
    await reads(unplaced, api)
  })

  it('is read again once the account is not found there', async () => {
    for (const region of ['london', 'new-york'])
      provider(provisioningHost).get(accountPath).reply(200, { region })
    provider().get(positionsPath).reply(404, { error: 'NotFoundError' })
    servePositions('new-york')
    let elapsedMs = 0
    const api = apiWith({ stopwatch: { elapsedMs: () => elapsedMs } })
    for (const _ of ['not found', 'paused'])
      expect(await read(unplaced, api)).toMatchObject(E.left({ _tag: 'NotProvisioned' }))
    elapsedMs += 2_000
    await reads(unplaced, api)
  })

  it('is read for each tenant with its own token', async () => {
    const tokens: Readonly<Record<string, string>> = { acme: 'token-a', other: 'token-b' }
    const expected = Object.values(tokens).map((own) =>
      nock(provisioningHost, { reqheaders: { 'auth-token': own } })
        .get(accountPath)
        .reply(200, { region: 'london' }),
    )
    nock('https://client.london.example').get(positionsPath).twice().reply(200, [positionRow])
    const api = apiWith({ providerToken: (tenantId) => TE.right(O.fromNullable(tokens[tenantId])) })
    for (const tenantId of Object.keys(tokens))
      await read({ ...unplaced, owner: { ...unplaced.owner, tenantId: tenantId as never } }, api)
    expect(expected.every((request) => request.isDone())).toBe(true)
  })

  it.each([{}, { region: '' }, { region: 7 }, null, { region: `evil.test/${token}` }])(
    'is unknown if provisioning answers %j',
    async (answer) => {
      provider(provisioningHost).get(accountPath).reply(200, JSON.stringify(answer))
      expect(reasonOf(await read(unplaced))).toMatch(
        /^account-region: |the account's region is not a valid region name$/,
      )
    },
  )
})
