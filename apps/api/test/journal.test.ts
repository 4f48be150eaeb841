// The journal over the whole service: what a read costs after a restart, histories that are cut off or not all there, accounts that are linked anew, and
// that nobody sees what is kept of others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { eventually } from './support/order-desk.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { operatorToken } from './support/start-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_journal'
const otherKey = 'tp_live_only_for_automated_tests_journal_other'
const clock = createTestClock('2026-03-05T12:00:00.000Z')
const minuteMs = 60_000
/** How long what was read stands for later reads, at most. */
const freshMs = 5_000

const deposit = depositDeal('1', '2024-01-01T00:00:00.000Z', 1_000)
/** Trades that closed twelve hours after one another, with their deals. */
const tradesOf = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => {
    const closedAt = Date.UTC(2024, 0, 2) + n * 12 * 60 * minuteMs
    const [from, to] = [new Date(closedAt - 30 * minuteMs).toISOString(), new Date(closedAt).toISOString()]
    return tradeDeals({ positionId: String(first + n), profit: 1.5, openedAt: from, closedAt: to })
  }).flat()

let service: RunningService
let linked = 0
/** Links an account of its own with a history. */
const link = async (trades: number, as = key) => {
  linked += 1
  const [accountId, provider, first] = [newAccountUuid(linked), `journal-${linked}`, linked * 10_000]
  service.sandbox.addAccount({ id: provider, history: historyOf([deposit, ...tradesOf(first, trades)]) })
  const user = as === key ? 'u-1' : 'u-2'
  await service.setUp(linkDocument({ tenant: 'acme', user, key: as, providerToken }, [{ id: accountId, providerAccountId: provider }]))
  return {
    accountId,
    provider,
    first,
    broker: service.sandbox.account(provider),
    read: (path = '/trades'): Promise<Reply> => service.get(`${path}?accountId=${accountId}`, as),
    /** How many of its trades are shown. */
    total: async (): Promise<number> => (await service.get(`/trades?accountId=${accountId}&limit=1`, as)).body.meta.pagination.total,
    pages: () => service.sandbox.requests.count({ account: provider, route: 'deals' }),
  }
}

beforeAll(async () => {
  service = await startTestService([], { now: clock.now })
})
afterAll(() => service?.close())

describe('a service that was started again', () => {
  it('reads one page of a history of several, and shows the same trades', async () => {
    const { total, read, pages } = await link(1_250)
    const before = await read('/trades/export')
    expect([await total(), pages()]).toEqual([1_250, 3])
    await service.restart()
    clock.advance(freshMs)
    expect((await read('/trades/export')).body).toBe(before.body)
    expect(pages()).toBe(4)
  })
})

const journalsCheck = async (): Promise<Json> => {
  const { body } = await request(`${service.operatorUrl}/operator/v1/doctor`, { headers: { Authorization: `Bearer ${operatorToken}` } })
  return body.data.find(({ name }: Json) => name === 'journals')
}
/** Counted a few seconds after the last time at most. */
const expectCounted = async (count: number): Promise<void> => {
  const counted = await eventually(
    async () => /^tradeport_journals_disagreeing (\d+)$/m.exec((await request(`${service.operatorUrl}/metrics`)).body)?.[1],
    (value) => value === String(count),
  )
  expect(counted).toBe(String(count))
}

describe('a history that does not add up to the balance', () => {
  it('is shown as far as it goes, reported and counted, and read again after a minute, by then whole', async () => {
    const { accountId, provider, total } = await link(20)
    service.sandbox.faults.set(provider, 'deals', { kind: 'last-rows', rows: 10 })
    expect(await total()).toBe(5)
    expect(await journalsCheck()).toMatchObject({
      status: 'warn',
      message: expect.stringContaining(`1 account do not add up to the balance: ${accountId} by 1022.5.`),
    })
    await expectCounted(1)
    service.sandbox.faults.clear()
    clock.advance(minuteMs - 1)
    expect(await total()).toBe(5)
    clock.advance(1)
    expect(await total()).toBe(20)
    expect(await journalsCheck()).toMatchObject({ status: 'ok' })
    await expectCounted(0)
  })

  it('is read again after pauses that double, for as long as it stays cut off', async () => {
    const { provider, pages, total } = await link(20)
    service.sandbox.faults.set(provider, 'deals', { kind: 'last-rows', rows: 10 })
    await total()
    for (const minutes of [1, 2, 4]) {
      clock.advance(minutes * minuteMs - freshMs)
      const before = pages()
      expect(await total()).toBe(5)
      expect(pages() - before).toBe(1)
      clock.advance(freshMs)
      expect(await total()).toBe(5)
      expect(pages() - before).toBeGreaterThan(2)
      expect(await journalsCheck()).toMatchObject({ status: 'warn' })
    }
    service.sandbox.faults.clear()
    clock.advance(8 * minuteMs)
    expect(await total()).toBe(20)
    expect(await journalsCheck()).toMatchObject({ status: 'ok' })
  })

  it('is whole with the first read that shows what was missing from its end', async () => {
    const { accountId, first, broker, total } = await link(20)
    // From the first read, and from the one that follows because the sum differs.
    broker.hideDeals({ positionId: String(first + 19) }, { reads: 2 })
    expect(await total()).toBe(19)
    expect((await journalsCheck()).message).toContain(`${accountId} by 1.5.`)
    clock.advance(freshMs)
    expect(await total()).toBe(20)
    expect(await journalsCheck()).toMatchObject({ status: 'ok' })
  })

  it('is corrected where the broker changed or removed deals, after a minute at most', async () => {
    const { accountId, first, broker, total, read } = await link(20)
    await total()
    broker.changeDeals({ id: `${first + 19}2` }, { profit: 7 })
    broker.removeDeals({ positionId: String(first) })
    clock.advance(freshMs)
    expect((await read()).body.data[0]).toMatchObject({ id: `${accountId}:${first + 19}`, profit: 7 })
    clock.advance(minuteMs)
    expect(await total()).toBe(19)
    expect(await journalsCheck()).toMatchObject({ status: 'ok' })
  })
})

describe('an account that is linked to another one at the provider', () => {
  it('shows that one’s trades alone, and its first ones again after it was linked back', async () => {
    const [one, other] = [await link(3), await link(2)]
    const relink = async (provider: string): Promise<void> =>
      service.setUp({ accounts: [{ id: one.accountId, providerAccountId: provider }] })
    const shown = async (): Promise<string[]> => (await one.read()).body.data.map(({ id }: Json) => id)
    const newestFirst = (first: number, count: number) =>
      Array.from({ length: count }, (_, n) => `${one.accountId}:${first + count - 1 - n}`)
    expect(await shown()).toEqual(newestFirst(one.first, 3))
    await relink(other.provider)
    expect(await shown()).toEqual(newestFirst(other.first, 2))
    expect((await one.read(`/trades/stats`)).body.data).toMatchObject({ totalTrades: 2, netProfit: 3 })
    expect((await service.get(`/trades/${one.accountId}:${one.first}`, key)).status).toBe(404)
    await relink(one.provider)
    expect(await shown()).toEqual(newestFirst(one.first, 3))
  })
})

describe('what is kept of another user’s account', () => {
  it('is in no list, no statistics, no export and no trade', async () => {
    const [own, theirs] = [await link(2), await link(3, otherKey)]
    expect([await own.total(), await theirs.total()]).toEqual([2, 3])
    for (const path of ['/trades', '/trades/stats', '/trades/export', '/trades/export?format=json']) {
      const query = path.includes('?') ? '&' : '?'
      expect(await service.get(`${path}${query}accountId=${theirs.accountId}`, key), path).toMatchObject({
        status: 404,
        body: { data: null, error: { code: 'ACCOUNT_NOT_FOUND' } },
      })
      const all = await service.get(path, key)
      expect(all.status).toBe(200)
      expect(JSON.stringify(all.body)).not.toContain(theirs.accountId)
    }
    expect(await service.get(`/trades/${theirs.accountId}:${theirs.first}`, key)).toMatchObject({
      status: 404,
      body: { error: { code: 'TRADE_NOT_FOUND' } },
    })
    expect((await service.get('/trades/stats', otherKey)).body.data.totalTrades).toBe(3)
  })
})
