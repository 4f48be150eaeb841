// Accounts as their user sees them, read live from a provider that is told what to answer.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_accounts'
const lonelyKey = 'tp_live_only_for_automated_tests_accounts_of_nobody'
const slowKey = 'tp_live_only_for_automated_tests_accounts_slow'
const startsAt = '2026-03-02T10:00:00.000Z'
const cacheMs = 5_000
const clock = createTestClock(startsAt)

const demo = newAccountUuid(1)
const real = newAccountUuid(2)
const contest = newAccountUuid(3)
const disconnected = newAccountUuid(4)
const syncing = newAccountUuid(5)
const paper = newAccountUuid(6)
const slow = newAccountUuid(8)
const quick = newAccountUuid(9)
const others = newAccountUuid(10)

let service: RunningService
let slowList: Promise<{ readonly reply: Reply; readonly ms: number }>

const row = (reply: Reply, id: string): Json => reply.body.data.find((account: Json) => account.id === id)
const readAnew = () => clock.advance(cacheMs)
const timed = async (request: Promise<Reply>) => {
  const from = performance.now()
  const reply = await request
  return { reply, ms: performance.now() - from }
}

beforeAll(async () => {
  service = await startTestService(
    [
      { id: 'demo', startBalance: 5_000, leverage: 50, currency: 'EUR', positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.1 }] },
      { id: 'real', type: 'real' },
      { id: 'contest', type: 'contest' },
      { id: 'disconnected' },
      { id: 'syncing' },
      { id: 'slow' },
      { id: 'quick' },
      { id: 'others' },
    ],
    { now: clock.now },
  )
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [
      // Named out of the order in which they were linked.
      { id: contest, providerAccountId: 'contest', fields: { createdAt: '2026-01-03T00:00:00Z' } },
      { id: real, providerAccountId: 'real', fields: { createdAt: '2026-01-02T00:00:00Z' } },
      { id: demo, providerAccountId: 'demo', fields: { createdAt: '2026-01-01T00:00:00Z', broker: null, currency: 'USD' } },
      { id: disconnected, providerAccountId: 'disconnected', fields: { createdAt: '2026-01-04T00:00:00Z', status: 'disconnected' } },
      {
        id: syncing,
        providerAccountId: 'syncing',
        fields: { createdAt: '2026-01-05T00:00:00Z', status: 'syncing', isDemo: null, purpose: 'introducing_broker' },
      },
      {
        id: paper,
        providerAccountId: 'none',
        fields: { createdAt: '2026-01-06T00:00:00Z', brokerType: 'paper', providerAccountId: null, balance: 100_000, equity: 100_001.5 },
      },
    ]),
    linkDocument({ tenant: 'acme', user: 'u-2', key: lonelyKey, providerToken }, []),
    linkDocument({ tenant: 'acme', user: 'u-3', key: slowKey, providerToken }, [
      { id: slow, providerAccountId: 'slow' },
      { id: quick, providerAccountId: 'quick' },
    ]),
    linkDocument({ tenant: 'other', user: 'u-4', key: 'tp_live_only_for_automated_tests_accounts_other', providerToken }, [
      { id: others, providerAccountId: 'others' },
    ]),
  )
  // Asked for now and looked at in the end: it takes as long as the deadline does.
  service.sandbox.faults.set('slow', 'account-information', { kind: 'lost' })
  slowList = timed(service.get('/accounts', slowKey))
})
afterAll(() => service?.close())
beforeEach(() => service.sandbox.faults.clear({ account: 'demo' }))

describe('GET /accounts', () => {
  it('lists every linked account, oldest first', async () => {
    const { status, body } = await service.get('/accounts', key)
    expect(status).toBe(200)
    expect(body.data.map(({ id }: Json) => id)).toEqual([demo, real, contest, disconnected, syncing, paper])
    expect(body.meta).toEqual({ timestamp: startsAt, request_id: expect.stringMatching(/^req_/), version: '1.0.0' })
  })

  it('shows the broker’s own figures, name and currency, and when they were read', async () => {
    const truth = service.sandbox.account('demo').information()
    expect(row(await service.get('/accounts', key), demo)).toEqual({
      id: demo,
      name: 'Account 3',
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
  })

  it('takes real and contest accounts for no demo accounts, whatever the link says', async () => {
    const list = await service.get('/accounts', key)
    expect([demo, real, contest].map((id) => row(list, id).isDemo)).toEqual([true, false, false])
  })

  it('shows stored figures of accounts that are not read: disconnected, syncing and the paper book', async () => {
    const list = await service.get('/accounts', key)
    expect([disconnected, syncing, paper].map((id) => row(list, id))).toMatchObject([
      { status: 'disconnected', isDemo: true, balance: 1_000, broker: null, freeMargin: null, marginLevel: null, leverage: null },
      { status: 'syncing', isDemo: false, purpose: 'introducing_broker', liveDataUpdatedAt: null },
      { status: 'connected', brokerType: 'paper', balance: 100_000, equity: 100_001.5, liveDataUpdatedAt: null },
    ])
    expect(row(list, disconnected)).toMatchObject({ liveDataUpdatedAt: null, lastSyncAt: '2026-01-04T00:00:00.000Z' })
    for (const account of ['disconnected', 'syncing']) expect(service.sandbox.requests.count({ account })).toBe(0)
  })

  it('is an empty list when none is linked', async () => {
    expect(await service.get('/accounts', lonelyKey)).toMatchObject({ status: 200, body: { success: true, data: [], error: null } })
  })

  it('turns an account that cannot be read to error and keeps its figures, and recovers it', async () => {
    const before = row(await service.get('/accounts', key), demo)
    service.sandbox.account('demo').deposit(1_000)
    service.sandbox.faults.set('demo', 'account-information', { kind: 'unavailable' })
    readAnew()
    const list = await service.get('/accounts', key)
    expect(list.status).toBe(200)
    expect(row(list, demo)).toEqual({
      ...before,
      status: 'error',
      liveDataUpdatedAt: null,
      updatedAt: list.body.meta.timestamp,
    })
    expect(row(list, real)).toMatchObject({ status: 'connected', liveDataUpdatedAt: list.body.meta.timestamp })
    service.sandbox.faults.clear({ account: 'demo' })
    expect(row(await service.get('/accounts', key), demo)).toMatchObject({
      status: 'connected',
      balance: before.balance + 1_000,
      liveDataUpdatedAt: list.body.meta.timestamp,
    })
  })

  it('keeps what a broker once said of real money, whatever it or the link says later', async () => {
    service.sandbox.faults.set('real', 'account-information', { kind: 'patch', set: { type: 'ACCOUNT_TRADE_MODE_DEMO' } })
    readAnew()
    expect(row(await service.get('/accounts', key), real)).toMatchObject({
      isDemo: false,
      liveDataUpdatedAt: new Date(clock.now()).toISOString(),
    })
    await service.apply({ accounts: [{ id: real, isDemo: true }] })
    readAnew()
    expect(row(await service.get('/accounts', key), real).isDemo).toBe(false)
  })
})

describe('GET /accounts/:id', () => {
  it('answers the account of the list', async () => {
    const list = await service.get('/accounts', key)
    for (const id of [demo, real, contest, syncing, paper])
      expect(await service.get(`/accounts/${id}`, key)).toMatchObject({ status: 200, body: { data: row(list, id) } })
  })

  it('takes the id in either case', async () => {
    expect((await service.get(`/accounts/${demo.toUpperCase()}`, key)).body.data.id).toBe(demo)
  })

  it('answers 503 for a disconnected account, which is not read', async () => {
    const { status, body } = await service.get(`/accounts/${disconnected}`, key)
    expect(status).toBe(503)
    expect(body).toMatchObject({
      success: false,
      data: null,
      error: { code: 'ACCOUNT_DISCONNECTED', details: { accountId: disconnected, status: 'disconnected' } },
    })
    expect(body).not.toHaveProperty('meta')
    expect(service.sandbox.requests.count({ account: 'disconnected' })).toBe(0)
  })

  it('answers 503 at once for one that cannot be read, which the list then shows, and recovers it', async () => {
    service.sandbox.faults.set('demo', 'account-information', { kind: 'timeout' })
    readAnew()
    expect(await service.get(`/accounts/${demo}`, key)).toMatchObject({
      status: 503,
      body: { error: { code: 'ACCOUNT_DISCONNECTED', details: { accountId: demo, status: 'error' } } },
    })
    expect(row(await service.get('/accounts', key), demo).status).toBe('error')
    service.sandbox.faults.clear({ account: 'demo' })
    expect(await service.get(`/accounts/${demo}`, key)).toMatchObject({ status: 200, body: { data: { status: 'connected' } } })
    expect(row(await service.get('/accounts', key), demo).status).toBe('connected')
  })

  it.each([
    ['an id that nobody has', newAccountUuid(99)],
    ['another user’s', slow],
    ['another tenant’s', others],
    ['no id at all', 'main'],
  ])('answers 404 for %s', async (_, id) => {
    expect(await service.get(`/accounts/${id}`, key)).toMatchObject({ status: 404, body: { error: { code: 'ACCOUNT_NOT_FOUND' } } })
  })
})

const snapshots = (reply: Reply): Json[] => reply.body.data
const times = (reply: Reply): string[] => snapshots(reply).map(({ timestamp }) => timestamp)
const hour = (n: number): string => new Date(Date.UTC(2025, 10, 1) + n * 3_600_000).toISOString()

const read = (query = '') => service.get(`/accounts/${disconnected}/history${query}`, key)

describe('GET /accounts/:id/history', () => {
  // On an account that is not read, so that nothing else is stored.
  beforeAll(() =>
    service.setUp({
      balanceSnapshots: Array.from({ length: 400 }, (_, n) => ({
        accountId: disconnected,
        timestamp: hour(n),
        balance: 1_000 + n,
        equity: 1_000.5 + n,
        margin: n,
        ...(n % 2 === 0 ? { freeMargin: 1_000.5 } : {}),
      })),
    }),
  )

  it.each([
    ['', 365],
    ['?interval=1h', 168],
    ['?interval=1d', 365],
    ['?interval=1w', 104],
  ])('answers the newest first, as many as the interval allows: "%s" %i', async (query, cap) => {
    expect(times(await read(query))).toEqual(Array.from({ length: cap }, (_, n) => hour(399 - n)))
  })

  it('shows every figure of a snapshot, null where there is none', async () => {
    expect(snapshots(await read()).slice(0, 2)).toEqual([
      { timestamp: hour(399), balance: 1_399, equity: 1_399.5, margin: 399, freeMargin: null },
      { timestamp: hour(398), balance: 1_398, equity: 1_398.5, margin: 398, freeMargin: 1_000.5 },
    ])
  })

  it('includes both dates, and all of a bare day', async () => {
    expect(times(await read(`?startDate=${hour(10)}&endDate=${hour(12)}`))).toEqual([hour(12), hour(11), hour(10)])
    expect(times(await read('?startDate=2025-11-02&endDate=2025-11-02'))).toEqual(Array.from({ length: 24 }, (_, n) => hour(47 - n)))
    expect(times(await read(`?endDate=${hour(1)}`))).toEqual([hour(1), hour(0)])
    expect(times(await read(`?startDate=${encodeURIComponent('2025-11-17T16:00:00+01:00')}`))).toEqual([hour(399)])
  })

  it('is an empty list when there is none', async () => {
    expect((await service.get(`/accounts/${syncing}/history`, key)).body).toMatchObject({ success: true, data: [] })
    expect((await read(`?startDate=${hour(400)}`)).body.data).toEqual([])
  })

  it('holds what live reads leave: one in five minutes, and one for every change of the balance', async () => {
    const readLive = async () => {
      readAnew()
      await service.get(`/accounts/${contest}`, key)
      return times(await service.get(`/accounts/${contest}/history?startDate=${startsAt}`, key))
    }
    const before = await readLive()
    expect(before).toHaveLength(1)
    expect(await readLive()).toEqual(before)
    service.sandbox.account('contest').deposit(250)
    const after = await readLive()
    expect(after).toEqual([new Date(clock.now()).toISOString(), ...before])
    clock.advance(5 * 60_000 - 2 * cacheMs)
    expect(await readLive()).toEqual(after)
    expect(await readLive()).toEqual([new Date(clock.now()).toISOString(), ...after])
    const truth = service.sandbox.account('contest').information()
    expect(snapshots(await service.get(`/accounts/${contest}/history`, key))[0]).toEqual({
      timestamp: new Date(clock.now()).toISOString(),
      balance: truth.balance,
      equity: truth.equity,
      margin: truth.margin,
      freeMargin: truth.freeMargin,
    })
  })

  it.each([newAccountUuid(99), slow, others, 'main'])('answers 404 for %s, which is not the caller’s', async (id) => {
    expect(await service.get(`/accounts/${id}/history`, key)).toMatchObject({ status: 404, body: { error: { code: 'ACCOUNT_NOT_FOUND' } } })
  })
})

describe('an account that takes too long', () => {
  it('delays the list by its deadline and no more, and the others are shown', async () => {
    const { reply, ms } = await slowList
    expect(ms).toBeLessThan(20_000)
    expect(row(reply, slow)).toMatchObject({ status: 'error', liveDataUpdatedAt: null, balance: 1_000 })
    expect(row(reply, quick)).toMatchObject({ status: 'connected', liveDataUpdatedAt: startsAt, balance: 10_000 })
  })
})
