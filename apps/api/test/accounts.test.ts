// Accounts as their user sees them, read live from the provider, and what of that is kept for how
// long.
import { beforeAll, describe, expect, it } from 'vitest'
import { keyOf, linkDesk, linkDocument, newAccountUuid } from './support/desk.ts'
import { createTestClock, useTestService, type Json, type Reply } from './support/service.ts'

const startsAt = '2026-03-02T10:00:00.000Z'
const clock = createTestClock(startsAt)
const [demo, real, disconnected, paper] = [
  newAccountUuid(901),
  newAccountUuid(902),
  newAccountUuid(903),
  newAccountUuid(904),
] as const
const user = 'u-accounts'

const service = useTestService(
  [
    {
      id: 'demo',
      startBalance: 5_000,
      leverage: 50,
      currency: 'EUR',
      positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.1 }],
    },
    { id: 'real', type: 'real' },
    { id: 'off' },
  ],
  { now: clock.now },
)
const get = (path: string) => service.get(path, keyOf(user))
const row = ({ body }: Reply, id: string) => body.data.find((account: Json) => account.id === id)

beforeAll(async () => {
  const accounts = [
    // Named in another order than they were linked in.
    {
      id: paper,
      providerAccountId: null,
      brokerType: 'paper',
      createdAt: '2026-01-04T00:00:00Z',
      balance: 100_000,
    },
    { id: real, providerAccountId: 'real', createdAt: '2026-01-02T00:00:00Z' },
    {
      id: demo,
      providerAccountId: 'demo',
      createdAt: '2026-01-01T00:00:00Z',
      name: 'Mine',
      currency: 'USD',
    },
    {
      id: disconnected,
      providerAccountId: 'off',
      createdAt: '2026-01-03T00:00:00Z',
      status: 'disconnected',
    },
  ]
  await service.setUp(linkDocument({ user, accounts }))
})

describe('GET /accounts', () => {
  it('lists every linked account, oldest first, with live figures where it is read and stored ones where it is not', async () => {
    const reply = await get('/accounts')
    expect(reply.body.data.map(({ id }: Json) => id)).toEqual([demo, real, disconnected, paper])
    const truth = service.sandbox.account('demo').information()
    expect(row(reply, demo)).toEqual({
      id: demo,
      name: 'Mine',
      broker: truth.broker,
      brokerType: 'mt5',
      accountNumber: '5000002',
      server: 'Example-Demo',
      purpose: 'trading',
      isDemo: true,
      currency: 'EUR',
      balance: truth.balance,
      equity: truth.equity,
      margin: truth.margin,
      freeMargin: truth.freeMargin,
      marginLevel: truth.marginLevel,
      leverage: 50,
      status: 'connected',
      liveDataUpdatedAt: startsAt,
      lastSyncAt: startsAt,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: startsAt,
    })
    expect(row(reply, disconnected)).toMatchObject({
      status: 'disconnected',
      balance: 1_000,
      leverage: null,
      liveDataUpdatedAt: null,
    })
    expect(row(reply, paper)).toMatchObject({
      status: 'connected',
      balance: 100_000,
      liveDataUpdatedAt: null,
    })
    for (const id of [demo, real, paper])
      expect((await get(`/accounts/${id.toUpperCase()}`)).body.data).toEqual(row(reply, id))
    expect((await get(`/accounts/${disconnected}`)).body.error).toMatchObject({
      code: 'ACCOUNT_DISCONNECTED',
      details: { status: 'disconnected' },
    })
    expect(service.sandbox.requests.count({ account: 'off' })).toBe(0)
  })
})

describe('a cache', () => {
  it('hides nothing that the operator changes: another broker account, an account that is switched off, one that is removed', async () => {
    const [desk, other] = [
      await linkDesk(service, { broker: { generate: { trades: 4 } } }),
      await linkDesk(service, { user: 'u-2' }),
    ]
    const { accountId } = desk
    const change = (fields: object) => service.setUp({ accounts: [{ id: accountId, ...fields }] })
    const paths = [
      `/accounts/${accountId}`,
      `/positions?accountId=${accountId}`,
      `/trades?accountId=${accountId}`,
    ]
    const statuses = async () =>
      (await Promise.all(paths.map(desk.get))).map(({ status }) => status)
    expect([await statuses(), (await desk.trades()).length]).toEqual([[200, 200, 200], 4])
    const ticket = other.broker.open()
    await change({ providerAccountId: other.provider })
    expect([(await desk.positions())[0].brokerPositionId, await desk.trades()]).toEqual([
      ticket,
      [],
    ])
    await change({ providerAccountId: desk.provider })
    expect(await desk.trades()).toHaveLength(4)
    await change({ status: 'disconnected' })
    expect((await statuses())[0]).toBe(503)
    await change({ status: 'connected', providerAccountId: null })
    expect((await desk.list()).body.error.code).toBe('NOT_PROVISIONED')
    await change({ removed: true })
    expect(await statuses()).toEqual([404, 404, 404])
  })
})
