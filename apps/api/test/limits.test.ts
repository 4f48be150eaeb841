// Rate limits as callers meet them: how much is let through, what every reply tells of it, and what too much of it
// leads to.
import { Agent, get as httpGet } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument } from './support/trading-user.ts'

const clock = createTestClock('2026-03-07T12:00:00.000Z')
const minuteMs = 60_000
const scopes = ['accounts:read', 'trading:read', 'trading:write']
const logged: Json[] = []

let service: RunningService
beforeAll(async () => {
  service = await startTestService([], {
    now: clock.now,
    environment: { LOG_LEVEL: 'warn' },
    onLogLine: (line) => logged.push(JSON.parse(line)),
  })
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key: 'tp_live_only_for_automated_tests_limits_1', providerToken }, [], scopes),
  )
  await service.setUp({ users: [{ id: 'u-1', plan: 'free' }] })
})
afterAll(() => service?.close())

let names = 0
/** A key of the user that no other test asks with. */
const newKey = async (userId = 'u-1', granted = scopes): Promise<string> => {
  const id = `limits-key-${(names += 1)}`
  const { body } = await service.apply({ apiKeys: [{ id, userId, name: id, scopes: granted }] })
  return body.data.apiKeys[0].key
}
const newToken = async (applicationId: string, userId = 'u-1'): Promise<string> => {
  const id = `limits-token-${(names += 1)}`
  const { body } = await service.apply({ accessTokens: [{ id, userId, applicationId, scopes }] })
  return body.data.accessTokens[0].token
}
const newUser = async (plan: string): Promise<string> => {
  const id = `limits-user-${(names += 1)}`
  await service.setUp({ users: [{ id, tenantId: 'acme', email: 'owner@example.com', plan }] })
  return id
}

const call = (headers: Record<string, string>, path = '/accounts', init: RequestInit = {}): Promise<Reply> =>
  request(`${service.apiUrl}/api/v1${path}`, { ...init, headers: { ...headers, 'Content-Type': 'application/json' } })
const withKey = (key: string, path?: string): Promise<Reply> => call({ 'X-API-Key': key }, path)
const withToken = (token: string): Promise<Reply> => call({ Authorization: `Bearer ${token}` })
const postOrder = (key: string, body = '{}'): Promise<Reply> => call({ 'X-API-Key': key }, '/orders', { method: 'POST', body })
const atOnce = (count: number, send: () => Promise<Reply>): Promise<readonly Reply[]> => Promise.all(Array.from({ length: count }, send))
const statusesOf = (replies: readonly Reply[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
const told = ({ headers }: Reply): readonly (string | null)[] =>
  ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`))
const untold = [null, null, null]
/** As mails write it. */
const inUtc = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
/** The reset of a limit that is full again so many seconds from now. */
const resetIn = (seconds: number): string => String(Math.ceil(clock.now() / 1_000 + seconds))

const agent = new Agent({ keepAlive: true, maxSockets: 20 })
/** Sends many of one cheap request, and counts those let through. */
const spend = async (key: string, count: number): Promise<number> => {
  const statuses = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<number | undefined>((resolve, reject) => {
          const sent = httpGet(`${service.apiUrl}/api/v1/ticks/EURUSD`, { agent, headers: { 'X-API-Key': key } }, (response) => {
            response.resume().on('end', () => resolve(response.statusCode))
          })
          sent.on('error', reject)
        }),
    ),
  )
  return statuses.filter((status) => status === 501).length
}

describe('the limits of the tier', () => {
  it('let an idle key make a minute’s requests and the burst at once, however they come, and tell how many are left', async () => {
    const key = await newKey()
    expect(told(await withKey(key))).toEqual(['300', '299', resetIn(1)])
    const replies = await atOnce(305, () => withKey(key))
    expect(statusesOf(replies)).toEqual({ 200: 299, 429: 6 })
    const refused = await withKey(key)
    expect(refused).toMatchObject({
      status: 429,
      body: { success: false, data: null, error: { code: 'RATE_LIMIT_EXCEEDED', details: { scope: 'tier', window: 'minute' } } },
    })
    expect([refused.headers.get('Retry-After'), told(refused)]).toEqual(['1', ['300', '0', resetIn(180)]])
    clock.advance(1_200)
    expect(statusesOf(await atOnce(3, () => withKey(key)))).toEqual({ 200: 2, 429: 1 })
  })

  it('are those of the plan, from the moment at which it changes', async () => {
    const userId = await newUser('pro')
    const key = await newKey(userId)
    expect(told(await withKey(key))[0]).toBe('3000')
    await service.setUp({ users: [{ id: userId, plan: 'enterprise' }] })
    expect(told(await withKey(key))[0]).toBe('30000')
  })

  it('end with the UTC day’s requests, until the next midnight', async () => {
    const key = await newKey()
    let passed = 0
    for (let round = 0; round < 34; round += 1) {
      passed += await spend(key, round === 33 ? 101 : 300)
      if (round < 33) clock.advance(3 * minuteMs)
    }
    expect(passed).toBe(10_000)
    const refused = await withKey(key)
    const midnight = Date.parse('2026-03-08T00:00:00.000Z')
    expect(refused.body.error.details).toEqual({ scope: 'tier', window: 'day' })
    expect([told(refused), Number(refused.headers.get('Retry-After'))]).toEqual([
      ['10000', '0', String(midnight / 1_000)],
      Math.ceil((midnight - clock.now()) / 1_000),
    ])
    clock.advance(midnight - clock.now())
    expect(told(await withKey(key))).toEqual(['300', '299', resetIn(1)])
  })
})

describe('the limits of an endpoint', () => {
  it('let a hundred POST /orders through in a minute, whatever becomes of them', async () => {
    const key = await newKey(await newUser('enterprise'))
    const replies = await atOnce(105, () => postOrder(key))
    expect(statusesOf(replies)).toEqual({ 400: 100, 429: 5 })
    const refused = await postOrder(key)
    expect([refused.body.error.details, told(refused), refused.headers.get('Retry-After')]).toEqual([
      { scope: 'endpoint' },
      ['100', '0', resetIn(60)],
      '1',
    ])
    expect((await withKey(key, '/orders')).status).toBe(200)
    clock.advance(600)
    expect((await postOrder(key)).status).toBe(400)
  })

  it('let ten exports through in an hour, and one more every six minutes', async () => {
    const key = await newKey(await newUser('enterprise'))
    expect(statusesOf(await atOnce(12, () => withKey(key, '/trades/export')))).toEqual({ 200: 10, 429: 2 })
    const refused = await withKey(key, '/trades/export?format=json')
    expect([refused.headers.get('Retry-After'), told(refused)]).toEqual(['360', ['10', '0', resetIn(3_600)]])
    clock.advance(6 * minuteMs)
    const passed = await withKey(key, '/trades/export')
    expect([passed.status, told(passed)]).toEqual([200, ['10', '0', resetIn(3_600)]])
    expect((await withKey(key, '/trades/stats')).status).toBe(200)
  })
})

describe('a suspension', () => {
  it('begins with the tenth refusal in five minutes, refuses everything for fifteen, and is told once', async () => {
    const key = await newKey()
    await atOnce(19, () => withKey(key, '/trades/export'))
    clock.advance(5 * minuteMs - 1)
    const tenth = await withKey(key, '/trades/export')
    expect([tenth.status, tenth.body.error.details, tenth.headers.get('Retry-After')]).toEqual([429, { scope: 'suspension' }, '900'])
    for (const path of ['/accounts', '/symbols', '/trades?limit=0', '/accounts/nothing'])
      expect((await withKey(key, path)).body.error.details, path).toEqual({ scope: 'suspension' })
    clock.advance(15 * minuteMs - 1)
    expect((await withKey(key)).headers.get('Retry-After')).toBe('1')
    clock.advance(1)
    expect((await withKey(key)).status).toBe(200)
    const id = `limits-key-${names}`
    const until = clock.now()
    const mails = await eventually(
      () => logged.filter(({ event, subject }) => event === 'owner_mail' && subject.includes(`${id} `)),
      (sent) => sent.length > 0,
    )
    expect(mails).toMatchObject([
      { to: 'u-1@example.com', subject: `Your API key ${id} is suspended until ${inUtc(Math.ceil(until / 1_000) * 1_000)}` },
    ])
    expect(mails[0].text).toContain(inUtc(until - 15 * minuteMs))
  })

  it('does not begin where the refusals are five minutes apart', async () => {
    const key = await newKey()
    await atOnce(19, () => withKey(key, '/trades/export'))
    clock.advance(5 * minuteMs)
    expect((await withKey(key, '/trades/export')).body.error.details).toEqual({ scope: 'endpoint' })
    expect((await withKey(key)).status).toBe(200)
  })
})

describe('whose the limits are', () => {
  it('each key’s its own, also of one user', async () => {
    const [one, other] = [await newKey(), await newKey()]
    await atOnce(20, () => withKey(one))
    expect([told(await withKey(one))[1], told(await withKey(other))[1]]).toEqual(['279', '299'])
  })

  it('shared by all tokens that an application holds of a user, and by no others', async () => {
    const [one, same, otherApp, otherUser] = [
      await newToken('app-1'),
      await newToken('app-1'),
      await newToken('app-2'),
      await newToken('app-1', await newUser('free')),
    ]
    await atOnce(20, () => withToken(one))
    const left = await Promise.all([same, otherApp, otherUser].map(async (token) => told(await withToken(token))[1]))
    expect(left).toEqual(['279', '299', '299'])
  })
})

describe('what counts', () => {
  it('is every request with a good credential, also one that is then refused; no other', async () => {
    const key = await newKey('u-1', ['accounts:read', 'orders:write'])
    const replies: Reply[] = []
    for (const path of ['/accounts', '/positions', '/accounts/nothing', '/quotes/NOTHING', '/accounts/', '/accounts?token=x'])
      replies.push(await withKey(key, path))
    replies.push(await postOrder(key, '{"token": "x"}'))
    expect(replies.map((reply) => [reply.status, told(reply)[1]])).toEqual([
      [200, '299'],
      [403, '298'],
      [404, '297'],
      [404, '296'],
      [404, null],
      [401, null],
      [401, '295'],
    ])
  })

  it('is a request for market data with a good credential in the headers, and none without', async () => {
    const key = await newKey()
    expect([told(await withKey(key, '/symbols')), told(await withKey(key, '/symbols?token=x'))].map(([, left]) => left)).toEqual([
      '299',
      '298',
    ])
    expect((await atOnce(305, () => call({}, '/symbols'))).map(told)).toEqual(Array.from({ length: 305 }, () => untold))
    expect(told(await withKey('tp_live_unknown', '/symbols'))).toEqual(untold)
    expect(told(await call({}, `/symbols?api_key=${key}`))).toEqual(untold)
    expect(told(await withKey(key))[1]).toBe('297')
  })

  it('is held, for a market data route, to the limit of that endpoint', async () => {
    const key = await newKey()
    const replies = await atOnce(201, () => withKey(key, '/candles/EURUSD?timeframe=1h'))
    expect(statusesOf(replies)).toEqual({ 429: 1, 501: 200 })
    expect(replies.filter(({ status }) => status === 429).map(({ body }) => body.error.details)).toEqual([{ scope: 'endpoint' }])
    expect((await withKey(key, '/quotes/EURUSD')).status).toBe(501)
    expect((await call({}, '/candles/EURUSD?timeframe=1h')).status).toBe(501)
  })
})
