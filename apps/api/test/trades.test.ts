// Closed trades, statistics, exports and the capability `insights` over histories that are known
// deal by deal, and the journal in which they are kept.
import { beforeAll, describe, expect, it } from 'vitest'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { linkDesk } from './support/desk.ts'
import type { LinkedDesk } from './support/desk.ts'
import { createTestClock, useTestService } from './support/service.ts'
import type { Json, Reply } from './support/service.ts'

// Late in a UTC day, whatever the day is where the test runs.
const clock = createTestClock('2026-03-05T23:59:00.000Z')
/** How long a read of the broker stands for later reads. */
const freshMs = 5_000

const service = useTestService([], {
  now: clock.now,
  environment: { CAPABILITIES: 'insights' },
})

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
const ids = ({ body }: Reply): string[] => body.data.map(({ id }: Json) => id)
const deposit = depositDeal('1', '2024-01-01T00:00:00.000Z', 1_000)

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
    const unreported = tradeOf('17', 1, '2026-01-05T11:00:00.000Z', {
      volume: 0.3,
      symbol: '=EURUSD',
    })
    dollars = await link('u-1', [
      deposit,
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
      expect((await dollars.get(`/trades/${encodeURIComponent(one.id)}`)).body.data).toEqual(one)
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

  it('are exported as CSV and JSON, and alike after a restart, which reads one page of the broker', async () => {
    const { headers, body } = await dollars.get('/trades/export')
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="trades_2026-03-05.csv"')
    expect(headers.get('X-Skipped-Positions')).toBe('2')
    const rows: string[] = body.trim().split('\r\n')
    expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual(newestFirst)
    expect(rows.at(-1)).toContain(",'=EURUSD,")
    const listed = (await dollars.get('/trades?profitFilter=loss')).body
    const json = (await dollars.get('/trades/export?format=json&profitFilter=loss')).body
    expect(json).toEqual({ trades: listed.data, provenance: listed.meta.provenance })
    const pages = dollars.requests('deals')
    await service.restart()
    clock.advance(freshMs)
    expect((await dollars.get('/trades/export')).body).toBe(body)
    expect(dollars.requests('deals')).toBe(pages + 1)
  })
})

const twelve = Array.from({ length: 12 }, (_, at) =>
  tradeDeals({
    positionId: String(at + 10),
    profit: at % 3 === 0 ? -20 : 15,
    openedAt: `2026-01-${at + 10}T10:00:00.000Z`,
    closedAt: `2026-01-${at + 10}T12:30:00.000Z`,
  }),
).flat()
const history = historyOf(
  [
    depositDeal('1', '2026-01-01T00:00:00.000Z', 1_000),
    ...twelve.slice(0, 8),
    depositDeal('2', '2026-01-14T00:00:00.000Z', -100),
    ...twelve.slice(8),
  ],
  'USD',
)

it('shows curve, breakdown and further statistics of the same trades', async () => {
  const desk = await linkDesk(service, { user: 'u-insights', broker: { history } })
  const read = async (path: string) => {
    const reply = await desk.call('GET', path)
    expect(reply.status, path).toBe(200)
    return reply.body.data
  }
  expect(await read('/trades/stats?extended=true')).toMatchObject({
    totalTrades: 12,
    netProfit: 40,
    maxDrawdown: 20,
    expectancy: 40 / 12,
    longestWinStreak: 2,
    longestLossStreak: 1,
    averageHoldingTime: 9_000,
    recoveryFactor: 2,
    maxDrawdownPercent: 2,
  })
  const curve = await read('/trades/curve?points=5')
  expect(curve.points).toHaveLength(5)
  expect(curve.points[0]).toEqual({
    time: '2026-01-10T12:30:00.000Z',
    netProfit: -20,
    balance: 980,
    drawdown: 20,
    drawdownPercent: 2,
  })
  expect(curve.points.at(-1)).toMatchObject({ netProfit: 40, balance: 940 })
  expect(curve.maxDrawdown).toMatchObject({
    amount: 20,
    percent: 2,
    peakAt: null,
    troughAt: '2026-01-10T12:30:00.000Z',
    recoveredAt: '2026-01-12T12:30:00.000Z',
  })
  expect(curve.cashFlows).toEqual({
    count: 2,
    inflows: 1_000,
    outflows: 100,
    points: [
      { time: '2026-01-01T00:00:00.000Z', amount: 1_000, reason: 'deposit', balance: 1_000 },
      { time: '2026-01-14T00:00:00.000Z', amount: -100, reason: 'withdrawal', balance: 890 },
    ],
  })
  const hours = await read('/trades/breakdown?by=hour&timeZone=Asia/Kathmandu')
  expect(hours.groups).toMatchObject([{ key: '18', totalTrades: 12, enough: false }])
  const sum = { sum: 940, balance: 940, difference: 0, complete: true }
  expect(await read(`/accounts/${desk.accountId}/reconciliation`)).toMatchObject(sum)
})
