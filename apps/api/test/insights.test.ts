// The capability `insights` over a real port: what is computed of the trades of a history that is
// known deal by deal.
import { expect, it } from 'vitest'
import { depositDeal, historyOf, tradeDeals } from './support/deals.ts'
import { linkDesk } from './support/desk.ts'
import { useTestService } from './support/service.ts'

const service = useTestService([], { environment: { CAPABILITIES: 'insights' } })

const trades = Array.from({ length: 12 }, (_, at) =>
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
    ...trades.slice(0, 8),
    depositDeal('2', '2026-01-14T00:00:00.000Z', -100),
    ...trades.slice(8),
  ],
  'USD',
)

it('shows curve, breakdown, intervals and further statistics of the same trades', async () => {
  const desk = await linkDesk(service, { broker: { history } })
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
