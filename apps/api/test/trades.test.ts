// Closed trades, statistics and exports as their user sees them, over histories that are known deal by deal.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseCsv } from './support/csv.ts'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import type { TradeRow } from './support/deals.ts'
import { providerToken, startTestService } from './support/running-service.ts'
import type { Json, Reply, RunningService } from './support/running-service.ts'
import { createTestClock } from './support/test-clock.ts'
import { linkDocument, newAccountUuid } from './support/trading-user.ts'

const key = 'tp_live_only_for_automated_tests_trades'
const manyKey = 'tp_live_only_for_automated_tests_trades_many'
const dollarKey = 'tp_live_only_for_automated_tests_trades_dollars'
// Late in a UTC day, whatever the day is where the test runs.
const clock = createTestClock('2026-03-05T23:59:59.500Z')

const dollars = newAccountUuid(1)
const euros = newAccountUuid(2)
const paper = newAccountUuid(3)
const many = newAccountUuid(4)
const moreDollars = newAccountUuid(5)
const stranger = newAccountUuid(6)

const dollarTrades: readonly TradeRow[] = [
  {
    positionId: '10',
    profit: 10,
    commission: -0.4,
    swap: -0.1,
    openedAt: '2026-01-05T10:00:00.000Z',
    closedAt: '2026-01-06T00:00:00.000Z',
  },
  {
    positionId: '11',
    profit: 0.1,
    commission: -0.1,
    side: 'sell',
    openedAt: '2026-01-05T11:00:00.000Z',
    closedAt: '2026-01-06T23:59:59.999Z',
  },
  { positionId: '12', profit: -4, symbol: 'XAUUSD', openedAt: '2026-01-04T00:00:00.500Z', closedAt: '2026-01-07T00:00:00.000Z' },
  {
    positionId: '13',
    profit: 2.2,
    swap: 0.3,
    symbol: 'EURUSD.std',
    openedAt: '2026-01-07T09:00:00.000Z',
    closedAt: '2026-01-07T09:00:59.999Z',
  },
]
const euroTrades: readonly TradeRow[] = [
  { positionId: '20', profit: 5, symbol: 'GBPUSD', openedAt: '2026-01-06T10:00:00.000Z', closedAt: '2026-01-07T00:00:00.000Z' },
]
const stillOpen = tradeDeals({ positionId: '14', openedAt: '2026-01-08T10:00:00.000Z', closedAt: '' }).slice(0, 1)
const reversed = tradeDeals({ positionId: '15', openedAt: '2026-01-08T10:00:00.000Z', closedAt: '2026-01-08T11:00:00.000Z' }).map(
  (deal, at) => (at === 0 ? deal : { ...deal, entryType: 'DEAL_ENTRY_INOUT' }),
)
const unopened = tradeDeals({ positionId: '16', openedAt: '', closedAt: '2026-01-08T11:00:00.000Z' }).slice(1)
const unreported = tradeDeals({
  positionId: '17',
  profit: 1,
  volume: 0.3,
  symbol: '=EURUSD',
  openedAt: '2026-01-02T10:00:00.000Z',
  closedAt: '2026-01-02T11:00:00.000Z',
}).map((deal, at) => (at === 0 ? deal : { ...deal, volume: 0 }))

/** As the list has them. */
// Of two that closed in one moment the later has the greater closing deal id.
const newestFirst = [`${dollars}:13`, `${euros}:20`, `${dollars}:12`, `${dollars}:11`, `${dollars}:10`, `${dollars}:17`]
const skipped = [
  { accountId: dollars, positionId: '15', reason: 'unsupported_deal_entry_type' },
  { accountId: dollars, positionId: '16', reason: 'no_open_deal' },
]

const manyTrades = Array.from({ length: 57 }, (_, n): TradeRow => {
  const closedAt = new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 5) * 1_000).toISOString()
  return { positionId: String(1_000 + n), profit: (n % 3) - 1, openedAt: '2025-12-31T00:00:00.000Z', closedAt }
})

let service: RunningService
const ids = (reply: Reply): string[] => reply.body.data.map(({ id }: Json) => id)
const list = (query = '', as = key) => service.get(`/trades${query}`, as)

/** Every page from the first to the last. */
const readAll = async (limitOf: (page: number) => number, query = ''): Promise<Reply[]> => {
  const pages: Reply[] = []
  let cursor: string | undefined
  do {
    const from = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = await list(`?limit=${limitOf(pages.length)}${query}${from}`, manyKey)
    expect(page.status).toBe(200)
    pages.push(page)
    cursor = page.body.meta.pagination.cursor
  } while (cursor !== undefined)
  return pages
}

beforeAll(async () => {
  service = await startTestService(
    [
      {
        id: 'dollars',
        history: historyOf([
          depositDeal('1', '2026-01-01T00:00:00.000Z', 1_000),
          ...dollarTrades.flatMap(tradeDeals),
          ...stillOpen,
          ...reversed,
          ...unopened,
          ...unreported,
        ]),
      },
      { id: 'euros', history: historyOf(euroTrades.flatMap(tradeDeals), 'EUR') },
      { id: 'many', history: historyOf(manyTrades.flatMap(tradeDeals)) },
      { id: 'more-dollars', history: historyOf([]) },
      { id: 'stranger' },
    ],
    { now: clock.now },
  )
  await service.setUp(
    linkDocument({ tenant: 'acme', user: 'u-1', key, providerToken }, [
      { id: dollars, providerAccountId: 'dollars' },
      { id: euros, providerAccountId: 'euros', fields: { currency: 'EUR', status: 'disconnected' } },
      { id: paper, providerAccountId: '', fields: { brokerType: 'paper', providerAccountId: null } },
    ]),
    linkDocument({ tenant: 'acme', user: 'u-2', key: manyKey, providerToken }, [{ id: many, providerAccountId: 'many' }]),
    linkDocument({ tenant: 'acme', user: 'u-3', key: dollarKey, providerToken }, [
      { id: moreDollars, providerAccountId: 'more-dollars' },
      { id: newAccountUuid(7), providerAccountId: 'more-dollars' },
    ]),
    linkDocument({ tenant: 'acme', user: 'u-4', key: 'tp_live_only_for_automated_tests_trades_stranger', providerToken }, [
      { id: stranger, providerAccountId: 'stranger' },
    ]),
  )
})
afterAll(() => service?.close())

describe('GET /trades', () => {
  it('lists the trades of every linked account but the paper book, most recently closed first', async () => {
    const reply = await list()
    expect(reply.status).toBe(200)
    expect(ids(reply)).toEqual(newestFirst)
    expect(reply.body.meta.pagination).toEqual({ page: 1, limit: 20, total: 6, total_pages: 1, has_next: false, has_prev: false })
  })

  it('says where they come from, and which positions could not be folded and why', async () => {
    const { provenance } = (await list()).body.meta
    expect(provenance).toEqual({ source: 'metaapi', accounts: [dollars, euros], readAt: new Date(clock.now()).toISOString(), skipped })
  })

  it('shows a trade with its sums in exact decimals', async () => {
    const { body } = await list()
    expect(body.data[4]).toEqual({
      id: `${dollars}:10`,
      userId: 'u-1',
      accountId: dollars,
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
      holdingTime: 14 * 3_600,
      openedAt: '2026-01-05T10:00:00.000Z',
      closedAt: '2026-01-06T00:00:00.000Z',
    })
    // 59.999 seconds are 59 whole ones; 0.1 − 0.1 is 0 and no residue.
    expect(body.data[0]).toMatchObject({ holdingTime: 59, netProfit: 2.5 })
    expect(body.data[3]).toMatchObject({ netProfit: 0 })
    expect(body.data[5]).toMatchObject({ volume: 0.3, volumeEstimated: true })
  })

  it.each<[string, readonly number[]]>([
    [`?accountId=${dollars}`, [0, 2, 3, 4, 5]],
    [`?accountId=${euros}`, [1]],
    ['?symbol=EURUSD', [3, 4]],
    ['?symbol=EURUSD.STD', [0]],
    ['?symbol=USDCHF', []],
    // By closing time, both ends included, whenever it was opened.
    ['?startDate=2026-01-07T00:00:00.000Z', [0, 1, 2]],
    ['?startDate=2026-01-07T00:00:00.001Z', [0]],
    ['?endDate=2026-01-06T23:59:59.999Z', [3, 4, 5]],
    ['?endDate=2026-01-06T23:59:59.998Z', [4, 5]],
    ['?startDate=2026-01-06&endDate=2026-01-06', [3, 4]],
    ['?startDate=2026-01-07T00:00:00Z&endDate=2026-01-07T00:00:00Z', [1, 2]],
    ['?startDate=2026-01-07T01:00:00%2B01:00&endDate=2026-01-07T00:00:00', [1, 2]],
    ['?profitFilter=profit', [0, 1, 4, 5]],
    ['?profitFilter=loss', [2, 3]],
    ['?profitFilter=all', [0, 1, 2, 3, 4, 5]],
    [`?profitFilter=loss&symbol=XAUUSD&accountId=${dollars}&startDate=2026-01-07`, [2]],
    [`?profitFilter=loss&accountId=${euros}`, []],
  ])('filters %s', async (query, places) => {
    const reply = await list(query)
    expect(ids(reply)).toEqual(places.map((place) => newestFirst[place]))
    expect(reply.body.meta.pagination.total).toBe(places.length)
  })

  it('tells of skipped positions whatever the filter, but of no other account’s', async () => {
    expect((await list('?symbol=USDCHF')).body.meta.provenance.skipped).toEqual(skipped)
    expect((await list(`?accountId=${euros}`)).body.meta.provenance).toMatchObject({ accounts: [euros], skipped: [] })
  })
})

describe('paging through trades', () => {
  const all = manyTrades.map(({ positionId }) => `${many}:${positionId}`).toReversed()

  it.each([1, 7, 20, 57, 100])('reads every trade once by %i at a time', async (limit) => {
    const pages = await readAll(() => limit)
    expect(pages.flatMap(ids)).toEqual(all)
    expect(pages.map(({ body }) => body.meta.pagination)).toEqual(
      pages.map((_, at) => ({
        page: at + 1,
        limit,
        total: 57,
        total_pages: Math.ceil(57 / limit),
        has_next: at < pages.length - 1,
        has_prev: at > 0,
        ...(at < pages.length - 1 ? { cursor: expect.any(String) } : {}),
      })),
    )
  })

  it('takes a cursor with another page size', async () => {
    expect((await readAll((page) => page + 1)).flatMap(ids)).toEqual(all)
  })

  it('keeps to the filters that the cursor was given for', async () => {
    const losses = manyTrades.filter(({ profit = 0 }) => profit <= 0).map(({ positionId }) => `${many}:${positionId}`)
    expect((await readAll(() => 9, '&profitFilter=loss')).flatMap(ids)).toEqual(losses.toReversed())
  })

  it('neither repeats nor loses a trade when others close between two pages', async () => {
    const first = await list('?limit=30', manyKey)
    const late = tradeDeals({ positionId: '2000', openedAt: '2026-01-02T00:00:00.000Z', closedAt: '2026-01-03T00:00:00.000Z' })
    service.sandbox.account('many').addDeals(late)
    clock.advance(5_000)
    const second = await list(`?limit=100&cursor=${first.body.meta.pagination.cursor}`, manyKey)
    expect([...ids(first), ...ids(second)]).toEqual(all)
    expect(ids(await list('?limit=1', manyKey))).toEqual([`${many}:2000`])
  })

  it.each([
    ['profitFilter=profit', 'with a filter more'],
    ['symbol=EURUSD', 'with a symbol'],
    ['startDate=2026-01-01', 'with a date'],
    [`accountId=${many}`, 'with an account'],
  ])('refuses a cursor sent %s (%s)', async (filter) => {
    const { cursor } = (await list('?limit=5', manyKey)).body.meta.pagination
    expect(await list(`?${filter}&limit=5&cursor=${cursor}`, manyKey)).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_CURSOR' } },
    })
  })

  it.each(['', '0', 'null', 'W10', 'bm90IGpzb24', '%00', '%F0%9F%92%A9', '-1', 'eyJhIjoxfQ'])(
    'refuses the cursor "%s", which it never gave',
    async (cursor) => {
      expect(await list(`?cursor=${cursor}`, manyKey)).toMatchObject({ status: 400, body: { error: { code: 'INVALID_CURSOR' } } })
    },
  )
})

describe('GET /trades/:id', () => {
  it('answers the trade of the list', async () => {
    for (const trade of (await list()).body.data) {
      const one = await service.get(`/trades/${encodeURIComponent(trade.id)}`, key)
      expect(one.body.data).toEqual(trade)
      expect(one.body.meta.provenance.accounts).toEqual([trade.accountId])
    }
  })

  it.each([
    ['a position that is still open', `${dollars}:14`],
    ['a position that was skipped', `${dollars}:15`],
    ['a position that never was', `${dollars}:999`],
    ['another account of the caller', `${euros}:10`],
    ['an account of another user', `${stranger}:10`],
    ['an account that never was', `${newAccountUuid(99)}:10`],
    ['no id at all', 'latest'],
  ])('answers 404 for %s', async (_, id) => {
    expect(await service.get(`/trades/${id}`, key)).toMatchObject({ status: 404, body: { error: { code: 'TRADE_NOT_FOUND' } } })
  })
})

describe('GET /trades/stats', () => {
  it('counts what the list shows', async () => {
    const { body } = await service.get(`/trades/stats?accountId=${dollars}&startDate=2026-01-06`, key)
    // Net, as they closed: 9.5, 0, −4, 2.5.
    expect(body.data).toMatchObject({
      totalTrades: 4,
      winningTrades: 2,
      losingTrades: 2,
      winRate: 50,
      profitFactor: 3,
      averageWin: 6,
      averageLoss: 2,
      largestWin: 9.5,
      largestLoss: 4,
      totalProfit: 12,
      totalLoss: 4,
      netProfit: 8,
      maxDrawdown: 4,
    })
    const deviation = Math.sqrt((7.5 ** 2 + 2 ** 2 + 6 ** 2 + 0.5 ** 2) / 3)
    // Student's t at 0.975 with three degrees of freedom, from the published table.
    const halfWidth = (3.182446305 * deviation) / Math.sqrt(4)
    expect(body.data.sharpeRatio).toBeCloseTo(2 / deviation, 12)
    expect(body.data.confidenceIntervals).toEqual({
      level: 0.95,
      winRate: { lower: expect.closeTo(15.0036, 3), upper: expect.closeTo(84.9964, 3) },
      averageTrade: { lower: expect.closeTo(2 - halfWidth, 7), upper: expect.closeTo(2 + halfWidth, 7) },
    })
    expect(body.meta.provenance.skipped).toEqual(skipped)
    expect(body.meta).not.toHaveProperty('pagination')
    expect(body.meta).not.toHaveProperty('warnings')
  })

  it('has no interval and only zeros when there is no trade', async () => {
    const { body } = await service.get('/trades/stats?symbol=USDCHF', key)
    const { confidenceIntervals, ...numbers } = body.data
    expect(Object.values(numbers)).toEqual(Array.from({ length: 14 }, () => 0))
    expect(confidenceIntervals).toEqual({ level: 0.95, winRate: null, averageTrade: null })
  })

  it('has no interval of one trade’s mean, and no profit factor without a loss', async () => {
    const { body } = await service.get(`/trades/stats?accountId=${euros}`, key)
    expect(body.data).toMatchObject({ totalTrades: 1, profitFactor: null, sharpeRatio: 0, confidenceIntervals: { averageTrade: null } })
  })

  it('warns of several currencies and names them', async () => {
    const { body } = await service.get('/trades/stats', key)
    expect(body.meta.warnings).toEqual([
      { code: 'mixed_currencies', currencies: ['USD', 'EUR'], message: expect.stringContaining('accountId') },
    ])
    expect(body.data).toMatchObject({ totalTrades: 6, netProfit: 14 })
    expect((await service.get('/trades/stats', dollarKey)).body.meta).not.toHaveProperty('warnings')
  })

  it('refuses a profitFilter, which would make every trade a win', async () => {
    const { status, body } = await service.get('/trades/stats?profitFilter=profit', key)
    expect([status, body.error?.details.issues.map(({ path }: Json) => path)]).toEqual([400, ['profitFilter']])
  })
})

describe('GET /trades/export', () => {
  it('is a CSV file of all trades, named after the UTC day', async () => {
    clock.advance(-clock.now() + Date.parse('2026-03-05T23:59:59.500Z'))
    const { status, headers, body } = await service.get('/trades/export', key)
    expect(status).toBe(200)
    expect(headers.get('Content-Type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="trades_2026-03-05.csv"')
    expect(headers.get('X-Skipped-Positions')).toBe('2')
    expect(headers.get('Cache-Control')).toBe('no-store')
    const [header, ...records] = parseCsv(body)
    expect(header?.join()).toBe(
      'id,accountId,positionId,symbol,type,volume,entryPrice,exitPrice,profit,commission,swap,netProfit,holdingTime,openedAt,closedAt,volumeEstimated',
    )
    expect(records.map(([id]) => id)).toEqual(newestFirst)
    expect(records[2]?.join()).toBe(
      `${dollars}:12,${dollars},12,XAUUSD,buy,0.1,1.1,1.2,-4,0,0,-4,259199,2026-01-04T00:00:00.500Z,2026-01-07T00:00:00.000Z,false`,
    )
    // A symbol that a spreadsheet would run stands behind an apostrophe; a number below zero does not.
    expect(records[5]?.[3]).toBe("'=EURUSD")
    expect(records[5]?.[15]).toBe('true')
  })

  it('is a JSON file with the provenance', async () => {
    const { headers, body } = await service.get('/trades/export?format=json', key)
    const listed = await list()
    expect(headers.get('Content-Disposition')).toBe('attachment; filename="trades_2026-03-05.json"')
    expect(body).toEqual({ trades: listed.body.data, provenance: listed.body.meta.provenance })
  })

  it('accepts the filters of the list, but neither its limit nor its cursor', async () => {
    const filtered = await service.get('/trades/export?profitFilter=loss&format=json', key)
    expect(filtered.body.trades.map(({ id }: Json) => id)).toEqual([newestFirst[2], newestFirst[3]])
    const { status, body } = await service.get('/trades/export?limit=1&cursor=anything', key)
    expect([status, body.error?.details.issues.map(({ path }: Json) => path)]).toEqual([400, ['limit', 'cursor']])
    expect((await service.get(`/trades/export?format=json`, manyKey)).body.trades).toHaveLength(58)
  })

  it('is a file with a header alone when there is no trade', async () => {
    expect(parseCsv((await service.get('/trades/export?symbol=USDCHF', key)).body)).toHaveLength(1)
    expect((await service.get('/trades/export?symbol=USDCHF&format=json', key)).body.trades).toEqual([])
  })
})

describe.each(['/trades', '/trades/stats', '/trades/export'])('%s', (path) => {
  it.each([stranger, newAccountUuid(99)])('answers 404 for account %s, which is not the caller’s', async (accountId) => {
    expect(await service.get(`${path}?accountId=${accountId}`, key)).toMatchObject({
      status: 404,
      body: { error: { code: 'ACCOUNT_NOT_FOUND' } },
    })
  })

  it('answers 400 for the paper book', async () => {
    expect(await service.get(`${path}?accountId=${paper}`, key)).toMatchObject({
      status: 400,
      body: { error: { code: 'UNSUPPORTED_BROKER' } },
    })
  })

  it('answers 400 when startDate is after endDate', async () => {
    expect(await service.get(`${path}?startDate=2026-01-02&endDate=2026-01-01`, key)).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', details: { issues: [{ path: 'startDate' }] } } },
    })
  })
})
