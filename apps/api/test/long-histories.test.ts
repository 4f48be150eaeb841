// A history of 20,000 deals is read, one more is 422 and no partial result.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DealRow } from '@tradeport/sandbox-broker'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { providerToken, startTestService } from './support/running-service.ts'
import type { RunningService } from './support/running-service.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const limit = 20_000
const day = (n: number): string => new Date(Date.UTC(2025, 0, 1) + n * 60_000).toISOString()

const deals: readonly DealRow[] = Array.from({ length: limit / 2 }, (_, n) =>
  tradeDeals({ positionId: String(100_000 + n), profit: 1.1, openedAt: day(n), closedAt: day(n + 1) }),
).flat()
const deposit = depositDeal('1', '2025-01-01T00:00:00.000Z', 500)
const accounts = {
  full: deals,
  'full with a deposit': [deposit, ...deals.slice(2)],
  'one trade too many': [...deals, ...tradeDeals({ positionId: '200000', openedAt: day(0), closedAt: day(1) })],
  'one deposit too many': [deposit, ...deals],
}
const names = Object.keys(accounts)
const keyOf = (name: string): string => `tp_live_only_for_automated_tests_long_${names.indexOf(name)}`
const accountOf = (name: string): string => newAccountUuid(names.indexOf(name) + 1)

let service: RunningService

beforeAll(async () => {
  service = await startTestService(Object.entries(accounts).map(([id, history]) => ({ id, history: historyOf(history) })))
  await service.setUp(
    ...names.map((name) =>
      linkDocument({ tenant: 'acme', user: `u-${names.indexOf(name)}`, key: keyOf(name), providerToken }, [
        { id: accountOf(name), providerAccountId: name },
      ]),
    ),
  )
})
afterAll(() => service?.close())

describe('the longest history that is read', () => {
  it('is counted, listed and exported whole', async () => {
    const key = keyOf('full')
    const [stats, list, file] = await Promise.all(
      ['/trades/stats', '/trades', '/trades/export?format=json'].map((path) => service.get(path, key)),
    )
    // 10,000 times 1.1, with no binary residue.
    expect(stats?.body.data).toMatchObject({ totalTrades: 10_000, netProfit: 11_000 })
    expect(list?.body.meta.pagination.total).toBe(10_000)
    expect(file?.body.trades).toHaveLength(10_000)
    // The three shared one read: twenty full pages, and one that says there are no more.
    expect(service.sandbox.requests.count({ account: 'full', route: 'deals' })).toBe(21)
  })

  it('may hold other deals than trades, which count as well', async () => {
    expect((await service.get('/trades/stats', keyOf('full with a deposit'))).body.data.totalTrades).toBe(9_999)
  })

  it('may come with rows repeated, which count once', async () => {
    service.sandbox.faults.set('full with a deposit', 'deals', { kind: 'duplicates', rows: 30 })
    const trade = `${accountOf('full with a deposit')}:109999`
    expect((await service.get(`/trades/${trade}`, keyOf('full with a deposit'))).body.data.positionId).toBe('109999')
  })
})

describe.each(['one trade too many', 'one deposit too many'])('a history with %s', (name) => {
  it.each(['/trades?symbol=GBPUSD&limit=1', '/trades/stats', '/trades/export', `/trades/${accountOf(name)}:100000`])(
    'is 422 on %s and names the account',
    async (path) => {
      expect(await service.get(path, keyOf(name))).toMatchObject({
        status: 422,
        body: { data: null, error: { code: 'HISTORY_TOO_LARGE', details: { accountId: accountOf(name), limit } } },
      })
    },
  )

  it('leaves the positions readable', async () => {
    expect(await service.get('/positions', keyOf(name))).toMatchObject({ status: 200, body: { data: [] } })
  })
})
