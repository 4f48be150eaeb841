// How a caller proves who it is, and where a credential must not stand (section 5; decisions 2 and 10).
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAllowedFrom, isAllowlistEntry } from '../src/access/allowlist.ts'
import { hasBodyCredential } from '../src/access/presented-credentials.ts'
import { mount } from '../src/routing/mount.ts'
import { scopedRoute } from '../src/routing/route.ts'
import { createCallerDoor } from '../src/access/doors.ts'
import { closedObject } from '../src/requests/json-codecs.ts'
import { fakeEdge, fakeUseCases, goodKey, goodToken, run, runApi, send, untold } from './fakes.ts'
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
  ])('answers %i to %j (rules 2, 3 and 6)', async (status, headers) => {
    expect(await statusOf(headers as Record<string, string>)).toBe(status)
  })

  it.each(
    ['api_key', 'apikey', 'api-key', 'x-api-key', 'access_token', 'token', 'authorization', 'API_KEY', 'Token', 'a%70i_key'].flatMap(
      (name) => [[`${name}=1`], [`page=1&${name}`]],
    ),
  )('in the query as %s is 401 whatever the headers hold (rule 5, decision 2)', async (query) => {
    expect(await statusOf({ 'x-api-key': goodKey }, `/api/v1/positions?${query}`)).toBe(401)
  })

  it('in the query is known by its look under any name', async () => {
    expect(await statusOf({ 'x-api-key': goodKey }, '/api/v1/positions?symbol=tp_live_x')).toBe(401)
    expect(await statusOf({ 'x-api-key': goodKey }, '/api/v1/positions?symbol=X&symbol=%74p_live_')).toBe(401)
    expect(await statusOf({ 'x-api-key': goodKey }, '/api/v1/positions?tp_live_x')).toBe(401)
    expect(await statusOf({ 'x-api-key': goodKey }, '/api/v1/positions?key=1&tokens=2&note=my%20tp_live_x')).toBe(200)
  })

  it('is not looked at on a public route, wherever it stands (decision 9)', async () => {
    expect(await statusOf({ 'x-api-key': 'tp_live_bad', authorization: 'Bearer bad' }, '/api/v1/symbols?token=1&api_key=tp_live_x')).toBe(
      200,
    )
  })

  it('in the JSON body is 401, by name or look, at the top level (decision 2)', async () => {
    const route = scopedRoute({
      ...untold,
      method: 'POST',
      path: '/things',
      refusals: [],
      anyOf: ['orders:write'],
      body: closedObject<object>('Thing', {}),
      useCase: () => TE.right({}),
      present: (data: object) => ({ kind: 'data', data }),
    })
    const edge = fakeEdge()
    const door = createCallerDoor({ ...edge, ...fakeUseCases() })
    await using app = await run(mount({ prefix: '', routes: [route], useCases: {}, door, edge }))
    const post = async (body: object, key = goodKey): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'x-api-key': key }
      return (await fetch(`${app.origin}/things`, { method: 'POST', headers, body: JSON.stringify(body) })).status
    }
    expect([await post({}), await post({ Api_Key: 1 }), await post({ comment: 'tp_live_x' })]).toEqual([200, 401, 401])
    // A nested field is a field like another; and without the scope the body is not looked at.
    expect([await post({ list: { token: 1 } }), await post({ token: 1 }, 'tp_live_scopeless')]).toEqual([400, 403])
  })

  it.each<readonly [body: object, isFound: boolean]>([
    [{}, false],
    [{ comment: 'mine', volume: 0.1, price: null, list: [1, [true]] }, false],
    ...['api_key', 'apikey', 'api-key', 'x-api-key', 'access_token', 'token', 'authorization', 'Token', 'X-API-KEY'].map(
      (name) => [{ [name]: null }, true] as const,
    ),
    [{ tokens: 1, accessToken: 1, key: 1, secret: 1, 'token ': 1 }, false],
    [{ list: { token: 1 } }, false],
    [{ comment: 'tp_live_' }, true],
    [{ comment: 'my tp_live_x' }, false],
    [{ comment: 'TP_LIVE_X' }, false],
    // A value stands anywhere.
    [{ list: ['a', 'tp_live_x'] }, true],
    [{ deep: { er: [{ still: 'tp_live_x' }] } }, true],
    [{ tp_live_x: 1 }, true],
    [{ deep: { tp_live_x: 1 } }, false],
  ])('in the body is found among other things: %j %s (decision 2)', (body, isFound) => {
    expect(hasBodyCredential(JSON.parse(JSON.stringify(body)))).toBe(isFound)
  })

  it('in a body is found however deep it stands', () => {
    const depth = 5_000
    expect(hasBodyCredential(JSON.parse(`{"a":${'['.repeat(depth)}"tp_live_x"${']'.repeat(depth)}}`))).toBe(true)
  })
})

describe('an allowlist', () => {
  it.each<readonly [allowlist: readonly string[], address: string | undefined, isAllowed: boolean]>([
    [[], '203.0.113.9', true],
    [[], undefined, true],
    [['203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.9'], '::ffff:203.0.113.9', true],
    [['::ffff:203.0.113.9'], '203.0.113.9', true],
    [['203.0.113.9'], '203.0.113.10', false],
    [['203.0.113.0/24'], '203.0.113.255', true],
    [['203.0.113.0/24'], '203.0.114.0', false],
    [['203.0.113.77/24'], '203.0.113.1', true],
    [['0.0.0.0/0'], '203.0.113.9', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '203.0.113.9', false],
    [['::/0'], '2001:db8::1', true],
    [['::ffff:10.0.0.0/104'], '10.9.9.9', true],
    [['::ffff:10.0.0.0/104'], '11.0.0.1', false],
    [['2001:db8::/32'], '2001:DB8:1::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['2001:db8::1'], '2001:0db8:0:0:0:0:0:1', true],
    [['198.51.100.1', '203.0.113.0/24'], '203.0.113.9', true],
    [['not an address'], '203.0.113.9', false],
    [['203.0.113.9/33'], '203.0.113.9', false],
    [['203.0.113.9/'], '203.0.113.9', false],
    [['203.0.113.9/24/8'], '203.0.113.9', false],
    [['0xcb.0.113.9'], '203.0.113.9', false],
    [['203.0.113.011'], '203.0.113.9', false],
    [['203.0.113.0/255.255.255.0'], '203.0.113.9', false],
    [['203.0.113.9'], undefined, false],
    [['203.0.113.9'], 'unknown', false],
    [['bad', '203.0.113.9'], '203.0.113.9', true],
  ])('%j and a caller at %s: %s (decision 10)', (allowlist, address, isAllowed) => {
    expect(isAllowedFrom(allowlist, address)).toBe(isAllowed)
  })

  it('entry that could never match is told apart', () => {
    expect(['127.0.0.1/32', '::1', '10.0.0.0/8'].map(isAllowlistEntry)).toEqual([true, true, true])
    expect(['127.1', '10/8', '', '1.2.3.4/33', 'localhost', ' ::1'].map(isAllowlistEntry)).toEqual(Array(6).fill(false))
  })
})
