// Nobody reaches what is another user's or another tenant's, or learns that it is there (5 rule 9): every answer about it is the one about an
// id that never was. The routes are read off the API's own table, so that a new one is tested without being named here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes } from '@tradeport/http'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { keysInTurn, linkDocument, newAccountUuid } from './support/trading-user.ts'

const clock = createTestClock('2026-03-08T12:00:00.000Z')
const users = [
  { tenant: 'acme', user: 'u-1', key: 'tp_live_tenancy_1', account: newAccountUuid(1), provider: 'first' },
  { tenant: 'acme', user: 'u-2', key: 'tp_live_tenancy_2', account: newAccountUuid(2), provider: 'second' },
  { tenant: 'other', user: 'u-3', key: 'tp_live_tenancy_3', account: newAccountUuid(3), provider: 'third' },
] as const
const [asker, ...others] = users
const never = newAccountUuid(99)
const askerKeys = keysInTurn('tp_live_tenancy_asker', 10)

let service: RunningService

beforeAll(async () => {
  service = await startTestService(
    users.map(({ provider }) => ({ id: provider, generate: { trades: 5, openPositions: 2 } })),
    { now: clock.now },
  )
  const scopes = ['accounts:read', 'trading:read', 'trading:write', 'orders:write', 'webhooks:read', 'webhooks:write']
  await service.setUp(
    ...users.map(({ tenant, user, key, account, provider }) =>
      linkDocument(
        { tenant, user, key: user === asker.user ? [key, ...askerKeys.all] : key, providerToken },
        [{ id: account, providerAccountId: provider }],
        scopes,
      ),
    ),
  )
})
afterAll(() => service?.close())

/** Everything that an answer tells, but the request's own id and the moment. */
const told = async (path: string): Promise<object> => {
  const { status, headers, body } = await service.get(path, askerKeys.next())
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const seen = [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name) && !name.startsWith('x-ratelimit-'))
  return { status, headers: seen, text: text.replaceAll(headers.get('X-Request-ID') ?? '', 'req') }
}

const getRoutes = apiRoutes.filter(({ method, access }) => method === 'GET' && access.kind === 'scoped')
const withId = getRoutes.filter(({ path }) => path.includes('/:id'))
const withAccount = getRoutes.filter(({ query }) => 'accountId' in query)

describe.each(others)('what is $user’s of $tenant', ({ account, provider }) => {
  it.each(withId.map(({ path }) => path))('is on %s as if it never was', async (path) => {
    const sandboxAccount = service.sandbox.account(provider)
    const tickets = [
      ...sandboxAccount.positions().map(({ id }) => id),
      ...sandboxAccount.deals().flatMap((deal) => (typeof deal['positionId'] === 'string' ? [deal['positionId']] : [])),
    ]
    const absent = await told(path.replace(':id', never))
    expect(await told(path.replace(':id', account))).toEqual(absent)
    expect(absent).toMatchObject({ status: 404 })
    for (const ticket of new Set(tickets))
      for (const id of [`${account}:${ticket}`, encodeURIComponent(`${account}:${ticket}`), ticket]) {
        const nowhere = await told(path.replace(':id', id.replace(account, never)))
        expect(await told(path.replace(':id', id))).toEqual(nowhere)
        expect(nowhere).toMatchObject({ status: 404 })
      }
  })

  it.each(withAccount)('is on $path?accountId= as if it never was', async ({ path, query }) => {
    for (const suffix of ['', '&symbol=EURUSD', '&limit=none']) {
      const absent = await told(`${path}?accountId=${never}${suffix}`)
      expect(await told(`${path}?accountId=${account}${suffix}`)).toEqual(absent)
      // A fault of the query is told before anything is looked for.
      expect(absent).toMatchObject({ status: suffix === '&limit=none' && 'limit' in query ? 400 : 404 })
    }
  })

  it('is not asked of the broker for anybody else', () => {
    expect(service.sandbox.requests.count({ account: provider })).toBe(0)
  })
})

describe('a user', () => {
  it.each(users)('$user sees the own account alone, on every list', async ({ user, key, account }) => {
    expect((await service.get('/accounts', key)).body.data.map(({ id }: Json) => id)).toEqual([account])
    for (const path of ['/positions', '/trades']) {
      const { body } = await service.get(path, key)
      expect(body.data.length, path).toBeGreaterThan(0)
      expect(new Set(body.data.map((row: Json) => `${row.userId} ${row.accountId}`)), path).toEqual(new Set([`${user} ${account}`]))
      expect(body.meta.provenance.accounts).toEqual([account])
    }
    const exported = (await service.get('/trades/export?format=json', key)).body
    expect(new Set(exported.trades.map(({ accountId }: Json) => accountId))).toEqual(new Set([account]))
  })

  it('shares nothing that is kept with another who linked the same broker account', async () => {
    const twin = newAccountUuid(20)
    const link = [{ id: twin, providerAccountId: asker.provider }]
    await service.setUp(linkDocument({ tenant: 'other', user: 'u-twin', key: 'tp_live_tenancy_twin', providerToken }, link))
    for (const path of ['/positions', '/trades']) {
      const [own, theirs] = await Promise.all([service.get(path, asker.key), service.get(path, 'tp_live_tenancy_twin')])
      expect(theirs.body.data.length, path).toBe(own.body.data.length)
      expect(new Set(own.body.data.map((row: Json) => `${row.userId} ${row.accountId}`)), path).toEqual(new Set([`u-1 ${asker.account}`]))
      expect(new Set(theirs.body.data.map((row: Json) => `${row.userId} ${row.accountId}`)), path).toEqual(new Set([`u-twin ${twin}`]))
    }
  })

  it('reads nothing that is kept for a tenant whose own token does not open the broker account', async () => {
    const intruder = { tenant: 'intruder', user: 'u-intruder', key: 'tp_live_tenancy_intruder', providerToken: 'not-the-token' }
    await service.setUp(linkDocument(intruder, [{ id: newAccountUuid(21), providerAccountId: asker.provider }]))
    for (const path of ['/positions', '/trades', '/trades/stats', '/trades/export']) {
      expect((await service.get(path, asker.key)).status, path).toBe(200)
      expect(await service.get(path, intruder.key), path).toMatchObject({ status: 503, body: { data: null } })
    }
    const [account] = (await service.get('/accounts', intruder.key)).body.data
    expect(account).toMatchObject({ status: 'error', liveDataUpdatedAt: null, balance: 1_000 })
  })

  it('is not mistaken for another who asks for the same ids in the same moment', async () => {
    const asked = users.flatMap((user) => users.map((owner) => ({ user, owner })))
    const rounds = Array.from({ length: 10 }, () => asked).flat()
    const replies = await Promise.all(rounds.map(({ user, owner }) => service.get(`/accounts/${owner.account}/history`, user.key)))
    expect(replies.map(({ status }) => status)).toEqual(rounds.map(({ user, owner }) => (user === owner ? 200 : 404)))
    const trades = await Promise.all(rounds.map(({ user, owner }) => service.get(`/trades?accountId=${owner.account}`, user.key)))
    expect(trades.map(({ status }) => status)).toEqual(rounds.map(({ user, owner }) => (user === owner ? 200 : 404)))
  })
})
