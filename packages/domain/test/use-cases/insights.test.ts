// What is computed of trades over journals: balances of one account, the deals of a trade, and
// whether the deals add up.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import type { AccountId } from '../../src/primitives/ids.ts'
import { createTrades } from '../../src/use-cases/trades.ts'
import { utc } from '../../src/statistics/time-zone.ts'
import {
  closedPosition as closed,
  createJournalDesk,
  down,
  owner,
  rightOf,
  stranger,
  tagOf,
} from './desk.ts'

const caller = { owner }
const deposit = { id: '1', profit: 1_000, commission: 0, swap: 0, time: 1 }
const opened = () => {
  const desk = createJournalDesk({ recordsEvents: false })
  const accounts = [desk.link(), desk.link({ currency: 'EUR' })] as const
  const [{ id }] = accounts
  desk.put(accounts[0], [deposit, ...closed('5', 10, 101), ...closed('6', 20, -49)])
  desk.put(accounts[1], [])
  const insights = createTrades(desk)
  const curve = (query: { readonly accountId?: AccountId; readonly startDate?: number }) =>
    rightOf(insights.getTradeCurve(caller, { query: { ...query, points: 500 } }))
  return { desk, insights, curve, accounts, id }
}

it('compute balances of one account alone, and warn of several currencies', async () => {
  const { insights, curve, id } = opened()
  expect(await curve({ accountId: id })).toMatchObject({
    data: {
      points: [
        { time: 10, netProfit: 100, balance: 1_099, drawdown: 0, drawdownPercent: 0 },
        { time: 20, netProfit: 50, balance: 1_050, drawdown: 50, drawdownPercent: 5_000 / 1_099 },
      ],
      cashFlows: {
        count: 1,
        inflows: 1_000,
        outflows: 0,
        points: [{ time: 1, amount: 1_000, reason: 'deposit', balance: 1_000 }],
      },
      maxDrawdown: { amount: 50, peakAt: 10, troughAt: 20, recoveredAt: null },
    },
  })
  const extended = await rightOf(
    insights.getTradeStatistics(caller, { query: { accountId: id, extended: true } }),
  )
  expect(extended.data).toMatchObject({ maxDrawdownPercent: 5_000 / 1_099 })
  expect(await curve({})).toMatchObject({
    data: {
      points: [{ balance: null }, { balance: null }],
      cashFlows: null,
      maxDrawdown: { percent: null },
    },
    warnings: [{ code: 'mixed_currencies' }],
  })
})

it('show no balances while the journal cannot be compared with that of the account', async () => {
  const { desk, curve, accounts, id } = opened()
  const read = () => curve({ accountId: id })
  // The balance counts 499 of which the history lacks the deals.
  const shown = [deposit, ...closed('5', 10, 101)]
  desk.put(accounts[0], shown, 1_599)
  expect((await read()).data.points).toMatchObject([{ balance: 1_599 }])
  desk.put(accounts[0], [...shown, ...closed('6', 20, -49)], 1_549)
  desk.broker.fail(id, down(id), ['accountInformation'])
  desk.pass(6_000)
  const unknown = { balance: null, drawdownPercent: null }
  expect((await read()).data).toMatchObject({ points: [unknown, unknown], cashFlows: null })
  desk.broker.heal(id)
  desk.pass(6_000)
  expect((await read()).data.points).toMatchObject([{ balance: 1_598 }, { balance: 1_549 }])
})

it('begin a curve of later trades with the balance of then', async () => {
  const { curve, id } = opened()
  const { data } = await curve({ accountId: id, startDate: 15 })
  expect(data.cashFlows).toEqual({ count: 0, inflows: 0, outflows: 0, points: [] })
  expect(data.points).toEqual([
    { time: 20, netProfit: -50, balance: 1_050, drawdown: 50, drawdownPercent: 5_000 / 1_099 },
  ])
})

it.each([
  ['symbol', ['S5', 'S6']],
  ['side', ['buy']],
  ['account', [expect.any(String)]],
  ['month', ['1970-01']],
  ['holding', ['under_1m']],
] as const)('group trades by %s', async (by, keys) => {
  const { insights } = opened()
  const { data } = await rightOf(
    insights.getTradeBreakdown(caller, { query: { by, timeZone: utc } }),
  )
  expect(data.map(({ key }) => key)).toEqual(keys)
  expect(data.reduce((sum, { netProfit }) => sum + netProfit, 0)).toBe(50)
})

it('resample the trades of a filter', async () => {
  const { insights } = opened()
  expect(
    (await rightOf(insights.getRobustStatistics(caller, { query: { resamples: 1_000 } }))).data,
  ).toMatchObject({
    trades: 2,
    resamples: 1_000,
    intervals: null,
  })
})

it('show the deals of a trade with the sums that are its figures', async () => {
  const { insights, id } = opened()
  const first = { page: 1, limit: 10 }
  const { data } = await rightOf(insights.getTradeDeals(caller, { id: `${id}:5`, query: first }))
  expect(data.deals.map((deal) => deal.id)).toEqual(['51', '52'])
  expect(data.sums).toEqual({
    openedVolume: 1,
    closedVolume: 1,
    profit: 101,
    commission: -1,
    swap: 0,
    netProfit: 100,
  })
  for (const other of [`${id}:7`, 'nonsense'])
    expect(await tagOf(insights.getTradeDeals(caller, { id: other, query: first }))).toBe(
      'TradeNotFound',
    )
  expect(
    await tagOf(insights.getTradeDeals({ owner: stranger }, { id: `${id}:5`, query: first })),
  ).toBe('TradeNotFound')
})

it('compare the deals with the balance, and know nothing where it cannot be read', async () => {
  const { desk, insights, accounts, id } = opened()
  const sums = { deals: 5, firstDealAt: 1, lastDealAt: 20, sum: 1_050 }
  const { data } = await rightOf(insights.getReconciliation(caller, { id }))
  expect(data).toMatchObject({ ...sums, balance: 1_050, difference: 0, complete: true })
  const deals = [deposit, ...closed('5', 10, 101)]
  desk.put(accounts[1], deals, 1_150)
  const other = await rightOf(insights.getReconciliation(caller, { id: accounts[1].id }))
  expect(other.data).toMatchObject({
    sum: 1_100,
    balance: 1_150,
    difference: 50,
    complete: false,
  })
  const incomplete = { code: 'history_incomplete', accounts: [accounts[1].id] }
  const { warnings } = await rightOf(insights.getTradeStatistics(caller, { query: {} }))
  expect(warnings).toMatchObject([{ code: 'mixed_currencies' }, incomplete])
  const pageOf = (accountId: AccountId) =>
    rightOf(insights.listTrades(caller, { query: { accountId, profitFilter: 'all', limit: 9 } }))
  expect(await pageOf(accounts[1].id)).toMatchObject({ warnings: [incomplete] })
  expect(await pageOf(id)).not.toHaveProperty('warnings')
  const query = { accountId: accounts[1].id, profitFilter: 'all' } as const
  const one = { id: `${accounts[1].id}:5` }
  for (const read of [
    insights.exportTrades(caller, { query }),
    insights.getTrade(caller, one),
    insights.getTradeDeals(caller, { ...one, query: { page: 1, limit: 9 } }),
  ])
    expect(await rightOf<object>(read)).toMatchObject({ warnings: [incomplete] })
  const third = desk.link()
  desk.put(third, deals)
  desk.broker.accountInformation = () => TE.left(down(third.id))
  const unknown = await rightOf(insights.getReconciliation(caller, { id: third.id }))
  expect(unknown.data).toEqual({
    ...sums,
    deals: 3,
    lastDealAt: 10,
    sum: 1_100,
    balance: null,
    difference: null,
    complete: false,
    checkedAt: null,
  })
  expect(await tagOf(insights.getReconciliation({ owner: stranger }, { id }))).toBe(
    'AccountNotFound',
  )
})
