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
const minuteMs = 60_000
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

  it.each<[string, readonly number[]]>([
    ['startDate=2026-01-07T01:00:00%2B01:00&endDate=2026-01-07T00:00:00', [1, 2]],
    ['profitFilter=loss&symbol=XAUUSD&startDate=2026-01-07', [2]],
  ])('are filtered by %s', async (query, places) => {
    const reply = await dollars.get(`/trades?${query}`)
    expect(ids(reply)).toEqual(places.map((place) => newestFirst[place]))
    expect(reply.body.meta).toMatchObject({
      pagination: { total: places.length },
      provenance: { skipped },
    })
  })

  it('are counted as the list shows them, with a warning where currencies are mixed', async () => {
    const one = (
      await dollars.get(`/trades/stats?accountId=${dollars.accountId}&startDate=2026-01-06`)
    ).body
    // Net, as they closed: 9.5, 0, −4, 2.5.
    const drawn = { profitFactor: 3, maxDrawdown: 4, totalProfit: 12, totalLoss: 4 }
    expect(one.data).toMatchObject({
      totalTrades: 4,
      winningTrades: 2,
      losingTrades: 2,
      winRate: 50,
      netProfit: 8,
      ...drawn,
    })
    expect(one.meta).not.toHaveProperty('warnings')
    const all = (await dollars.get('/trades/stats')).body
    expect(all.data).toMatchObject({ totalTrades: 6, netProfit: 14 })
    expect(all.meta.warnings).toMatchObject([
      { code: 'mixed_currencies', currencies: ['USD', 'EUR'] },
    ])
  })

  it('are exported as CSV and JSON, named after the UTC day', async () => {
    const { headers, body } = await dollars.get('/trades/export')
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="trades_2026-03-05.csv"')
    expect([headers.get('Content-Type'), headers.get('X-Skipped-Positions')]).toEqual([
      'text/csv; charset=utf-8',
      '2',
    ])
    const rows: string[] = body.trim().split('\r\n')
    expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual(newestFirst)
    // A symbol that a spreadsheet would run stands behind an apostrophe; a number below zero does
    // not.
    expect(rows.at(-1)).toContain(",'=EURUSD,")
    expect(rows[3]).toContain(',XAUUSD,buy,0.1,1.1,1.2,-4,0,0,-4,259199,')
    const listed = (await dollars.get('/trades?profitFilter=loss')).body
    const json = (await dollars.get('/trades/export?format=json&profitFilter=loss')).body
    expect(json).toEqual({ trades: listed.data, provenance: listed.meta.provenance })
  })
})

describe('the journal', () => {
  let first = 10_000
  /** An account of its own with trades that closed twelve hours after one another. */
  const linkTrades = async (count: number) => {
    first += 10_000
    const from = first
    const deals = Array.from({ length: count }, (_, n) => {
      const closedAt = Date.UTC(2024, 0, 2) + n * 12 * 60 * minuteMs
      const openedAt = new Date(closedAt - 30 * minuteMs).toISOString()
      return tradeDeals({
        positionId: String(from + n),
        profit: 1.5,
        openedAt,
        closedAt: new Date(closedAt).toISOString(),
      })
    }).flat()
    const desk = await link('u-journal', [deposit, ...deals])
    return {
      ...desk,
      ticket: (n: number) => String(from + n),
      pages: () => desk.requests('deals'),
      total: async (): Promise<number> =>
        (await desk.get(`/trades?accountId=${desk.accountId}&limit=1`)).body.meta.pagination.total,
    }
  }

  it('is read after a restart with one page of the broker, and shows the same trades', async () => {
    const desk = await linkTrades(1_250)
    const exported = async () => (await desk.get(`/trades/export?accountId=${desk.accountId}`)).body
    const before = await exported()
    expect([await desk.total(), desk.pages()]).toEqual([1_250, 3])
    await service.restart()
    clock.advance(freshMs)
    expect([await exported(), desk.pages()]).toEqual([before, 4])
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

it('shows curve, breakdown, intervals and further statistics of the same trades', async () => {
  const desk = await linkDesk(service, { user: 'u-insights', broker: { history } })
  const read = async (path: string) => {
    const reply = await desk.call('GET', path)
    expect(reply.status, path).toBe(200)
    return reply.body.data
  }
  const stats = await read('/trades/stats?extended=true')
  expect(stats).toMatchObject({
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
  expect(await read('/trades/stats')).not.toHaveProperty('expectancy')
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
  const robust = await read('/trades/robust?resamples=1000')
  expect(robust).toMatchObject({
    method: 'bca',
    trades: 12,
    intervals: { winRate: { estimate: stats.winRate }, maxDrawdown: { estimate: 20 } },
  })
  expect(await read('/trades/robust?resamples=1000')).toEqual(robust)
  const { deals, sums } = await read(`/trades/${desk.idOf('10')}/deals`)
  expect(deals).toMatchObject([{ entry: 'in' }, { entry: 'out', profit: -20 }])
  expect(sums).toMatchObject({ netProfit: -20 })
  const second = await desk.call('GET', `/trades/${desk.idOf('10')}/deals?page=2&limit=1`)
  expect(second.body).toMatchObject({
    data: { deals: [{ entry: 'out' }], sums },
    meta: { pagination: { page: 2, total: 2, has_next: false } },
  })
  const sum = { sum: 940, balance: 940, difference: 0, complete: true }
  expect(await read(`/accounts/${desk.accountId}/reconciliation`)).toMatchObject(sum)
})
