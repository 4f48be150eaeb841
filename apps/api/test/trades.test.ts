// Closed trades, their statistics and their export over histories that are known deal by deal, and
// the journal in which they are kept.
import { beforeAll, describe, expect, it } from 'vitest'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { linkDesk, type LinkedDesk } from './support/desk.ts'
import { createTestClock, useTestService, type Json, type Reply } from './support/service.ts'

// Late in a UTC day, whatever the day is where the test runs.
const clock = createTestClock('2026-03-05T23:59:00.000Z')
/** How long a read of the broker stands for later reads. */
const freshMs = 5_000

const service = useTestService([], { now: clock.now })

const link = (
  user: string,
  deals: Parameters<typeof historyOf>[0],
  currency = 'USD',
  fields: object = { currency },
) =>
  linkDesk(service, {
    user,
    broker: { history: historyOf(deals, currency) } satisfies Partial<AccountOptions>,
    fields,
  })
const ids = ({ body }: Reply) => body.data.map(({ id }: Json) => id)

const tradeOf = (positionId: string, profit: number, closedAt: string, rest: object = {}) =>
  tradeDeals({ positionId, profit, openedAt: '2026-01-04T00:00:00.500Z', closedAt, ...rest })

describe('trades of two accounts', () => {
  let dollars: LinkedDesk
  let euros: LinkedDesk
  let paper: LinkedDesk
  let newestFirst: string[]
  let skipped: object[]
  beforeAll(async () => {
    const reversed = tradeOf('15', 0, '2026-01-08T11:00:00.000Z').map((deal, at) =>
      at === 0 ? deal : { ...deal, entryType: 'DEAL_ENTRY_INOUT' },
    )
    const unreported = tradeOf('17', 1, '2026-01-05T11:00:00.000Z', { volume: 0.3 })
    dollars = await link('u-1', [
      depositDeal('1', '2024-01-01T00:00:00.000Z', 1_000),
      ...tradeOf('10', 10, '2026-01-06T00:00:00.000Z', { commission: -0.4, swap: -0.1 }),
      ...tradeOf('11', 0.1, '2026-01-06T23:59:59.999Z', { commission: -0.1, side: 'sell' }),
      ...tradeOf('12', -4, '2026-01-07T00:00:00.000Z', { symbol: 'XAUUSD' }),
      ...tradeOf('13', 2.2, '2026-01-07T09:00:59.999Z', {
        swap: 0.3,
        openedAt: '2026-01-07T09:00:00.000Z',
        symbol: 'EURUSD.std',
      }),
      ...tradeOf('14', 0, '').slice(0, 1),
      ...reversed,
      ...tradeOf('16', 0, '2026-01-08T11:00:00.000Z').slice(1),
      ...unreported.map((deal, at) => (at === 0 ? deal : { ...deal, volume: 0 })),
    ])
    euros = await link(
      'u-1',
      tradeOf('20', 5, '2026-01-07T00:00:00.000Z', { symbol: 'GBPUSD' }),
      'EUR',
      {
        currency: 'EUR',
        status: 'disconnected',
      },
    )
    paper = await linkDesk(service, {
      user: 'u-1',
      fields: { brokerType: 'paper', providerAccountId: null },
    })
    // Of two that closed in one moment, the one with the greater closing deal id comes first.
    newestFirst = [
      dollars.idOf('13'),
      euros.idOf('20'),
      dollars.idOf('12'),
      dollars.idOf('11'),
      dollars.idOf('10'),
      dollars.idOf('17'),
    ]
    skipped = [
      { accountId: dollars.accountId, positionId: '15', reason: 'unsupported_deal_entry_type' },
      { accountId: dollars.accountId, positionId: '16', reason: 'no_open_deal' },
    ]
  })

  it('are listed most recently closed first, in exact decimals, with what could not be folded', async () => {
    const reply = await dollars.get('/trades')
    const accounts = [dollars.accountId, euros.accountId]
    expect(ids(reply)).toEqual(newestFirst)
    expect(reply.body.meta.pagination).toEqual({
      page: 1,
      limit: 20,
      total: 6,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    })
    expect(reply.body.meta.provenance).toEqual({
      source: 'metaapi',
      accounts,
      readAt: clock.iso(),
      skipped,
    })
    expect(reply.body.data[4]).toEqual({
      id: dollars.idOf('10'),
      userId: 'u-1',
      accountId: dollars.accountId,
      positionId: '10',
      symbol: 'EURUSD',
      type: 'buy',
      volume: 0.1,
      entryPrice: 1.1,
      exitPrice: 1.2,
      swap: -0.1,
      commission: -0.4,
      profit: 10,
      netProfit: 9.5,
      holdingTime: 172_799,
      openedAt: '2026-01-04T00:00:00.500Z',
      closedAt: '2026-01-06T00:00:00.000Z',
    })
    expect([reply.body.data[3].netProfit, reply.body.data[5]]).toMatchObject([
      0,
      { volume: 0.3, volumeEstimated: true },
    ])
    for (const one of reply.body.data)
      expect(await dollars.read(`/trades/${encodeURIComponent(one.id)}`)).toEqual(one)
    for (const id of [dollars.idOf('14'), dollars.idOf('15'), euros.idOf('10')])
      expect(await dollars.get(`/trades/${id}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'TRADE_NOT_FOUND' } },
      })
    expect(await dollars.get(`/trades?accountId=${paper.accountId}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'UNSUPPORTED_BROKER' } },
    })
  })

  it('are filtered and counted as the list shows them, with a warning where currencies are mixed', async () => {
    const filtered = await dollars.get(
      '/trades?profitFilter=loss&symbol=XAUUSD&startDate=2026-01-07',
    )
    expect(ids(filtered)).toEqual([newestFirst[2]])
    expect(filtered.body.meta).toMatchObject({ pagination: { total: 1 }, provenance: { skipped } })
    const one = `accountId=${dollars.accountId}&startDate=2026-01-06`
    const { data } = (await dollars.get(`/trades/stats?${one}`)).body
    // Net, as they closed: 9.5, 0, −4, 2.5.
    expect(data).toMatchObject({ totalTrades: 4, netProfit: 8, profitFactor: 3, maxDrawdown: 4 })
    const all = (await dollars.get('/trades/stats')).body
    expect(all.data).toMatchObject({ totalTrades: 6, netProfit: 14 })
    expect(all.meta.warnings).toMatchObject([
      { code: 'mixed_currencies', currencies: ['USD', 'EUR'] },
    ])
  })

  it('are exported in this order, and alike after a restart, which reads one page of the broker', async () => {
    const { body } = await dollars.get('/trades/export')
    const rows: string[] = body.trim().split('\r\n')
    expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual(newestFirst)
    const pages = dollars.requests('deals')
    await service.restart()
    clock.advance(freshMs)
    expect((await dollars.get('/trades/export')).body).toBe(body)
    expect(dollars.requests('deals')).toBe(pages + 1)
  })
})
