// What one user and another keep apart although they ask for the same at once, or share a broker account. That no id reaches another's record is
// tenancy.laws.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { providerToken, startTestService } from '../support/running-service.ts'
import type { Json, RunningService } from '../support/running-service.ts'
import { createTestClock } from '../support/test-clock.ts'
import { linkDocument, newAccountUuid } from '../support/trading-user.ts'

const clock = createTestClock('2026-03-08T12:00:00.000Z')
const users = [
  { tenant: 'acme', user: 'u-1', key: 'tp_live_only_for_automated_tests_tenancy_1', account: newAccountUuid(1), provider: 'first' },
  { tenant: 'acme', user: 'u-2', key: 'tp_live_only_for_automated_tests_tenancy_2', account: newAccountUuid(2), provider: 'second' },
  { tenant: 'other', user: 'u-3', key: 'tp_live_only_for_automated_tests_tenancy_3', account: newAccountUuid(3), provider: 'third' },
] as const
const [asker] = users

let service: RunningService

beforeAll(async () => {
  service = await startTestService(
    users.map(({ provider }) => ({ id: provider, generate: { trades: 5, openPositions: 2 } })),
    { now: clock.now },
  )
  await service.setUp(
    ...users.map(({ account, provider, ...user }) =>
      linkDocument({ ...user, providerToken }, [{ id: account, providerAccountId: provider }]),
    ),
  )
})
afterAll(() => service?.close())

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
    await service.setUp(
      linkDocument({ tenant: 'other', user: 'u-twin', key: 'tp_live_only_for_automated_tests_tenancy_twin', providerToken }, link),
    )
    for (const path of ['/positions', '/trades']) {
      const [own, theirs] = await Promise.all([
        service.get(path, asker.key),
        service.get(path, 'tp_live_only_for_automated_tests_tenancy_twin'),
      ])
      expect(theirs.body.data.length, path).toBe(own.body.data.length)
      expect(new Set(own.body.data.map((row: Json) => `${row.userId} ${row.accountId}`)), path).toEqual(new Set([`u-1 ${asker.account}`]))
      expect(new Set(theirs.body.data.map((row: Json) => `${row.userId} ${row.accountId}`)), path).toEqual(new Set([`u-twin ${twin}`]))
    }
  })

  it('reads nothing that is kept for a tenant whose own token does not open the broker account', async () => {
    const intruder = {
      tenant: 'intruder',
      user: 'u-intruder',
      key: 'tp_live_only_for_automated_tests_tenancy_intruder',
      providerToken: 'not-the-token',
    }
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
