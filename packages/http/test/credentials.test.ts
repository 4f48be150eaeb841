// The credentials of a request, and the places where none is accepted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { goodKey, goodToken, jsonRequest, orderBody, runApi, scopelessKey, send } from './fakes.ts'
import type { Running } from './fakes.ts'

describe('a credential', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())
  const statusOf = async (headers: Record<string, string>, target = '/api/v1/accounts'): Promise<number> =>
    (await send(api, target, { headers })).status

  it.each([
    [200, { 'x-api-key': goodKey }],
    [200, { 'X-API-KEY': goodKey }],
    [200, { authorization: `Bearer ${goodToken}` }],
    [200, { authorization: `bearer ${goodToken}` }],
    [200, { authorization: `BEARER   ${goodToken}` }],
    [200, { authorization: `Bearer ${goodToken}`, 'x-api-key': 'tp_live_bad' }],
    [200, { authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': goodKey }],
    [401, {}],
    [401, { 'x-api-key': '' }],
    [401, { 'x-api-key': 'tp_live_bad' }],
    [401, { authorization: 'Bearer bad', 'x-api-key': goodKey }],
    [401, { authorization: 'Bearer', 'x-api-key': goodKey }],
    [401, { authorization: goodToken }],
    [401, { authorization: `Bearer${goodToken}` }],
    [401, { authorization: `Basic ${goodToken}` }],
    [401, { authorization: `Bearer ${goodKey}` }],
  ])('answers %i to %j', async (status, headers) => {
    expect(await statusOf(headers as Record<string, string>)).toBe(status)
  })

  it.each(
    ['api_key', 'apikey', 'api-key', 'x-api-key', 'access_token', 'token', 'authorization', 'API_KEY', 'Token', 'a%70i_key'].flatMap(
      (name) => [[`${name}=1`], [`page=1&${name}`]],
    ),
  )('in the query as %s is 401 whatever the headers are', async (query) => {
    expect(await statusOf({ 'x-api-key': goodKey }, `/api/v1/positions?${query}`)).toBe(401)
  })

  it.each<readonly [query: string, status: number]>([
    ['symbol=tp_live_x', 401],
    ['symbol=X&symbol=%74p_live_', 401],
    ['tp_live_x', 401],
    // Not a credential, and not a known parameter either.
    ['note=my%20tp_live_x', 400],
    ['tokens=2', 400],
  ])('in the query is recognised by its prefix under any name: %s is %i', async (query, status) => {
    expect(await statusOf({ 'x-api-key': goodKey }, `/api/v1/positions?${query}`)).toBe(status)
  })

  it('is ignored on a public route, wherever it is', async () => {
    const headers = { 'x-api-key': 'tp_live_bad', authorization: 'Bearer bad' }
    expect(await statusOf(headers, '/api/v1/symbols?token=1&api_key=tp_live_x')).toBe(200)
  })

  it.each<readonly [body: object, isFound: boolean]>([
    [{}, false],
    [{ comment: 'mine', price: 1.1, clientId: '1' }, false],
    ...['api_key', 'apikey', 'api-key', 'x-api-key', 'access_token', 'token', 'authorization', 'Token', 'X-API-KEY'].map(
      (name) => [{ [name]: null }, true] as const,
    ),
    [{ tokens: 1, accessToken: 1, key: 1, secret: 1, 'token ': 1 }, false],
    [{ list: { token: 1 } }, false],
    [{ comment: 'tp_live_' }, true],
    [{ comment: 'my tp_live_x' }, false],
    [{ comment: 'TP_LIVE_X' }, false],
    // A value is found at any depth, a name at the top level only.
    [{ list: ['a', 'tp_live_x'] }, true],
    [{ deep: { er: [{ still: 'tp_live_x' }] } }, true],
    [{ a: JSON.parse(`${'['.repeat(63)}"tp_live_x"${']'.repeat(63)}`) as unknown }, true],
    [{ tp_live_x: 1 }, true],
    [{ deep: { tp_live_x: 1 } }, false],
  ])('in the body is 401, by name or prefix: %j %s', async (parts, isFound) => {
    const { status } = await send(api, '/api/v1/orders', jsonRequest('POST', { ...orderBody, ...parts }))
    expect(status === 401).toBe(isFound)
  })

  it('in the body is searched for after the scope is checked', async () => {
    expect((await send(api, '/api/v1/orders', jsonRequest('POST', { token: 1 }, { 'x-api-key': scopelessKey }))).status).toBe(403)
  })
})
