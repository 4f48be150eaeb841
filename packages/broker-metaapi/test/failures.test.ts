// What a read says of each way in which the provider cannot be read, which of them are tried once
// more, and where an account is asked.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import nock from 'nock'
import { describe, expect, it } from 'vitest'
import { notProvisioned, serviceUnavailable } from '@tradeport/domain/errors'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import {
  account,
  accountPath,
  apiWith,
  closeNetwork,
  now,
  provider,
  provisioningHost,
  reasonOf,
  token,
} from './support.ts'

closeNetwork()

const positionsPath = `${accountPath}/positions`
const read = (of = account, api = apiWith()) => api.broker.positions(of)()

/** What is said, and how often it was asked. */
const readOnce = async (
  status: number,
  body?: object | string,
  headers: Record<string, string> = { location: 'https://elsewhere.example/' },
) => {
  let asked = 0
  provider()
    .get(positionsPath)
    .times(3)
    .reply(
      status,
      () => {
        asked += 1
        return body
      },
      headers,
    )
  const said = await read()
  return { said, asked }
}
const limitBody = (recommendedRetryTime?: unknown) => ({
  error: 'TooManyRequestsError',
  message: token,
  metadata: { recommendedRetryTime },
})

describe('a read that is answered', () => {
  it.each<readonly [number, object | string | undefined, string, number]>([
    [400, { error: 'ValidationError', message: 'limit' }, 'answered 400 ValidationError', 1],
    [401, '<html>Unauthorized</html>', 'answered 401', 1],
    [403, { error: 'ForbiddenError', message: token }, 'answered 403 ForbiddenError', 1],
    // Of something in between, which says nothing of the account.
    [404, '<html>no such site</html>', 'answered 404', 1],
    [504, { error: 'TimeoutError', metadata: {} }, 'answered 504 TimeoutError', 1],
    [202, {}, 'answered 202', 1],
    // Not followed, since the token would be: the network there is closed.
    [302, '', 'answered 302', 1],
    [200, {}, 'the answer is not a list of positions', 1],
    [200, '[{"id":', 'answered with something that is not JSON', 1],
    [500, { error: `<b>${token}</b>` }, 'answered 500', 2],
    [502, { error: 10_009 }, 'answered 502', 2],
    [503, '<html><h1>503</h1></html>', 'answered 503', 2],
  ])('%i %j says "%s", asked %i times', async (status, body, reason, times) => {
    const { said, asked } = await readOnce(status, body)
    expect([reasonOf(said), asked]).toEqual([`positions: ${reason}`, times])
  })

  it.each([
    [
      401,
      { error: 'UnauthorizedError', message: token },
      { _tag: 'BrokerUnavailable', cause: 'token_refused' },
    ],
    [
      404,
      { error: 'NotFoundError', message: 'trading account not found' },
      { _tag: 'NotProvisioned' },
    ],
  ])('%i by the provider itself says what is wrong, at once', async (status, body, error) => {
    const { said, asked } = await readOnce(status, body)
    expect([said, asked]).toMatchObject([E.left(error), 1])
  })

  it.each<readonly [Record<string, string>, string | object, number]>([
    [{ 'retry-after': '7' }, limitBody('2026-05-01T12:00:30.000Z'), 7],
    [{ 'retry-after': new Date(now + 9_000).toUTCString() }, limitBody(), 9],
    [{}, limitBody('2026-05-01T12:00:01.250Z'), 2],
    [{}, limitBody(new Date(now + 12_000).toUTCString()), 12],
    [{ 'retry-after': 'soon' }, limitBody('2026-05-01T12:00:05.000Z'), 5],
    [{}, limitBody(), 1],
    [{}, '', 1],
    [{}, limitBody('later'), 1],
    [{}, limitBody('2026-05-01T11:00:00.000Z'), 1],
    [{ 'retry-after': '0' }, limitBody(), 1],
    // A date is compared with the date of the answer, not with our clock.
    [{ date: new Date(now - 60_000).toUTCString() }, limitBody('2026-05-01T11:59:04.000Z'), 4],
  ])('429 with %j %j says to wait %i seconds', async (headers, body, retryAfterSeconds) => {
    const { said, asked } = await readOnce(429, body, headers)
    expect([said, asked]).toEqual([
      E.left({ _tag: 'BrokerRateLimited', accountId: account.accountId, retryAfterSeconds }),
      1,
    ])
  })

  it('by a connection that breaks is tried once more, and its failure is told by its code alone', async () => {
    const reset = Object.assign(new Error(`socket hang up ${token}`), { code: 'ECONNRESET' })
    provider().get(positionsPath).replyWithError(reset).get(positionsPath).reply(200, [])
    expect(E.isRight(await read())).toBe(true)
    provider().get(positionsPath).twice().replyWithError(reset)
    expect(reasonOf(await read())).toBe('positions: no connection (ECONNRESET)')
  })

  it('in any way has no token in what it says', async () => {
    const headers = { 'retry-after': token, location: `https://x.example/${token}` }
    for (const status of [200, 302, 400, 401, 403, 404, 429, 500, 503, 504])
      for (const body of [
        `"${token}"`,
        token,
        { error: token, message: token, metadata: { recommendedRetryTime: token } },
      ]) {
        const { said } = await readOnce(status, body, headers)
        nock.cleanAll()
        expect(E.isLeft(said)).toBe(true)
        expect(JSON.stringify(said)).not.toContain('secret-part')
      }
  })
})

describe('nothing is sent', () => {
  // Whatever left would meet a network that is closed, and another reason.
  it.each([
    [TE.right(O.none), 'nothing was sent: the tenant has no provider token'],
    [
      TE.left(serviceUnavailable(token)),
      "nothing was sent: the tenant's provider token cannot be read",
    ],
    [TE.right(O.some('line\nbreak')), "nothing was sent: the tenant's provider token is not one"],
    [() => Promise.reject(new RangeError(token)), 'unforeseen RangeError'],
  ])('with the token %j: %s', async (found, reason) => {
    expect(reasonOf(await read(account, apiWith({ providerToken: () => found })))).toBe(reason)
  })

  it.each([
    ...['', '.', '..'].map((providerAccountId) => ({ providerAccountId })),
    ...['evil.example/', 'a.b', 'x@y', '-', '', 'a:1'].map((region) => ({ region })),
  ])('to an account of %j', async (fields) => {
    expect(reasonOf(await read({ ...account, ...fields }))).toMatch(
      /^nothing was sent: the .* is not one$/,
    )
  })

  it('to a base URL that is none', () => {
    expect(() => apiWith({ clientUrl: 'ftp://client.example' })).toThrow('not a base URL')
    expect(() => apiWith({ provisioningUrl: 'provisioning.example' })).toThrow('not a base URL')
  })
})

describe('the path', () => {
  it('is encoded, whatever an account is called, behind the path of the base URL', async () => {
    provider('http://127.0.0.1:4821')
      .get('/london/users/current/accounts/a%2Fb%3Fc%23%20%C3%A4/positions')
      .reply(200, [])
    const api = apiWith({ clientUrl: 'http://127.0.0.1:4821/{region}/' })
    expect(await read({ ...account, providerAccountId: 'a/b?c# ä' }, api)).toEqual(
      E.right({ positions: [], readAt: now }),
    )
  })

  it('of fresh positions asks past the copy', async () => {
    provider().get(`${positionsPath}?refreshTerminalState=true`).reply(200, [])
    expect(await apiWith().positionDesk.freshPositions(account)()).toEqual(
      E.right({ positions: [], readAt: now }),
    )
  })
})

const unplaced: BrokerAccount = { ...account, region: null }
const tenKeptMs = 10 * 60_000

const servePositions = (region: string) =>
  provider(`https://client.${region}.example`).get(positionsPath).reply(200, []).persist()

const serveRegion = (answer: unknown, status = 200) => {
  let asked = 0
  provider(provisioningHost)
    .get(accountPath)
    .reply(status, () => {
      asked += 1
      return JSON.stringify(answer)
    })
    .persist()
  return () => asked
}

describe('the region of an account', () => {
  it('is the one that its link names, and is not asked for where the host needs none', async () => {
    servePositions('singapore')
    expect(E.isRight(await read({ ...account, region: 'singapore' }))).toBe(true)
    provider('https://client.example').get(positionsPath).reply(200, [])
    expect(E.isRight(await read(unplaced, apiWith({ clientUrl: 'https://client.example' })))).toBe(
      true,
    )
  })

  it('is looked up once for many reads at the same time, and kept for ten minutes', async () => {
    const asked = serveRegion({ _id: 'provider-1', region: 'vint-hill' })
    servePositions('vint-hill')
    let time = now
    const api = apiWith({ clock: { now: () => time } })
    expect(
      (await Promise.all(Array.from({ length: 20 }, () => read(unplaced, api)))).every(E.isRight),
    ).toBe(true)
    for (const [passedMs, times] of [
      [0, 1],
      [tenKeptMs - 1, 1],
      [1, 2],
      [-tenKeptMs, 3],
    ] as const) {
      time += passedMs
      await read(unplaced, api)
      expect(asked()).toBe(times)
    }
  })

  it('is looked up again after a failure', async () => {
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
    expect(E.isRight(await read(unplaced, api))).toBe(true)
  })

  it('is looked up for each tenant by its own token', async () => {
    const tokens: Readonly<Record<string, string>> = { acme: 'token-a', other: 'token-b' }
    const questions = Object.values(tokens).map((own) =>
      nock(provisioningHost, { reqheaders: { 'auth-token': own } })
        .get(accountPath)
        .reply(200, { region: 'london' }),
    )
    nock('https://client.london.example').get(positionsPath).twice().reply(200, [])
    const api = apiWith({ providerToken: (tenantId) => TE.right(O.fromNullable(tokens[tenantId])) })
    for (const tenantId of Object.keys(tokens))
      await read({ ...unplaced, owner: { ...unplaced.owner, tenantId: tenantId as never } }, api)
    expect(questions.every((question) => question.isDone())).toBe(true)
  })

  it('is of no account that the provider does not know', async () => {
    serveRegion({ error: 'NotFoundError' }, 404)
    expect(await read(unplaced)).toEqual(E.left(notProvisioned(account.accountId)))
  })

  it.each([{}, { region: '' }, { region: 7 }, null, { region: `evil.test/${token}` }])(
    'is unknown where the provider says %j',
    async (answer) => {
      serveRegion(answer)
      expect(reasonOf(await read(unplaced))).toMatch(
        /^account-region: |the account's region is not one$/,
      )
    },
  )
})
