// The capability `long-histories` over a real port: an account of more deals than are read without
// it, of which so many trades are computed in a thread.
import { times } from '@tradeport/testkit'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { historyOf, tradeDeals } from './support/deals.ts'
import { linkDesk } from './support/desk.ts'
import { useTestService } from './support/service.ts'

const service = useTestService([], { environment: { CAPABILITIES: 'insights,long-histories' } })

const trades = 25_100
const allPages = Math.ceil((2 * trades) / 1_000)
const startMs = Date.UTC(2020, 0, 1)
const minute = (count: number) => new Date(startMs + count * 60_000).toISOString()

it('has the trades of any number of deals, read once although it is restarted meanwhile', async () => {
  const deals = times(trades, (at) =>
    tradeDeals({
      positionId: String(at + 1),
      profit: (at % 7) - 3,
      openedAt: minute(2 * at),
      closedAt: minute(2 * at + 1),
    }),
  ).flat()
  const desk = await linkDesk(service, {
    user: 'u-1',
    broker: { history: historyOf(deals, 'USD') },
  })
  const read = async (path: string) => (await desk.call('GET', path)).body
  const pagesRead = () => service.sandbox.requests.count({ route: 'deals' })
  const interrupted = desk.call('GET', '/trades?limit=1')
  while (pagesRead() < 10) await pause(2)
  desk.fail('deals', { kind: 'unavailable' })
  expect((await interrupted).status).toBe(503)
  expect(pagesRead()).toBeLessThan(allPages - 10)
  await service.restart()
  desk.heal()
  const { meta } = await read('/trades?limit=1')
  // Those that were read and not yet written.
  expect(pagesRead()).toBeLessThan(allPages + 10)
  expect(meta.pagination.total).toBe(trades)
  const { data } = await read('/trades/curve?points=100')
  expect(data.points).toHaveLength(100)
  expect(data.points.at(-1)).toMatchObject({ time: minute(2 * trades - 1) })
  const pages = pagesRead()
  expect((await read('/trades/stats?extended=true')).data).toMatchObject({
    totalTrades: trades,
    longestLossStreak: 4,
  })
  expect((await read('/trades/stats')).data).toMatchObject({ totalTrades: trades, netProfit: -5 })
  expect((await read('/trades/breakdown?by=side')).data).toMatchObject({
    groups: [{ key: 'buy', totalTrades: trades, netProfit: -5 }],
  })
  expect(pagesRead() - pages).toBeLessThanOrEqual(2)
  expect((await read(`/accounts/${desk.accountId}/reconciliation`)).data).toMatchObject({
    deals: 2 * trades,
    complete: true,
  })
})
