import { describe, expect, it } from 'vitest'
import { brokerUnavailable, historyTooLarge } from '../../src/errors.ts'
import type { Deal } from '../../src/trades/deal.ts'
import { exportTrades } from '../../src/use-cases/export-trades.ts'
import { getTrade } from '../../src/use-cases/get-trade.ts'
import { getTradeStatistics } from '../../src/use-cases/get-trade-statistics.ts'
import { listTrades } from '../../src/use-cases/list-trades.ts'
import { owner, rightOf, stranger, tagOf } from './desk.ts'
import { createJournalDesk } from './journal-desk.ts'

const all = { profit: 'all' } as const

const closed = (positionId: string, closedAt: number, profit: number): readonly Deal[] => {
  const deal = { positionId, symbol: 'EURUSD', volume: 1, price: 1, commission: 0, swap: 0 }
  return [
    { ...deal, id: `${positionId}1`, side: 'buy', entry: 'in', profit: 0, time: 0 },
    { ...deal, id: `${positionId}2`, side: 'sell', entry: 'out', profit, time: closedAt },
  ]
}
const reversal = (positionId: string): Deal => ({
  id: `${positionId}3`,
  positionId,
  side: 'sell',
  entry: 'inout',
  profit: 0,
  commission: 0,
  swap: 0,
})

describe('GET /trades', () => {
  it('merges the accounts, most recently closed first, and follows its own cursor to the end', async () => {
    const desk = createJournalDesk()
    const [one, two] = [desk.link(), desk.link()]
    desk.put(one, [...closed('1', 10, 1), ...closed('2', 30, 1)])
    desk.put(two, [...closed('3', 20, 1), reversal('4')])
    const first = await rightOf(listTrades(desk)({ owner }, { filter: all, limit: 2 }))
    expect(first.trades.map(({ trade }) => trade.positionId)).toEqual(['2', '3'])
    expect(first).toMatchObject({ total: 3, before: 0, provenance: { accounts: [one.id, two.id] } })
    expect(first.provenance.skipped).toEqual([{ accountId: two.id, positionId: '4', reason: 'unsupported_deal_entry_type' }])
    const second = await rightOf(listTrades(desk)({ owner }, { filter: all, limit: 2, cursor: first.cursor }))
    expect(second.trades.map(({ trade }) => trade.positionId)).toEqual(['1'])
    expect(second).toMatchObject({ before: 2, cursor: undefined })
  })

  it('has no cursor on a last page that is full', async () => {
    const desk = createJournalDesk()
    desk.put(desk.link(), closed('1', 10, 1))
    expect((await rightOf(listTrades(desk)({ owner }, { filter: all, limit: 1 }))).cursor).toBeUndefined()
  })

  it('refuses a cursor before it reads any broker', async () => {
    const desk = createJournalDesk()
    desk.link()
    expect(await tagOf(listTrades(desk)({ owner }, { filter: all, limit: 1, cursor: 'x' }))).toBe('InvalidCursor')
    expect(desk.broker.calls()).toBe(0)
  })

  it('fails whole where one account cannot be read', async () => {
    const desk = createJournalDesk()
    const [good, bad] = [desk.link(), desk.link()]
    desk.put(good, closed('1', 10, 1))
    const left = brokerUnavailable(bad.id, 'down')
    desk.broker.fail(bad.id, left)
    expect(await listTrades(desk)({ owner }, { filter: all, limit: 1 })()).toEqual({ _tag: 'Left', left })
  })

  it('fails whole where one account has too many deals', async () => {
    const desk = createJournalDesk({ stopsAboveDeals: 3 })
    const [good, long] = [desk.link(), desk.link()]
    desk.put(good, closed('1', 10, 1))
    desk.put(long, [...closed('2', 10, 1), ...closed('3', 20, 1)])
    const left = historyTooLarge(long.id, 3)
    expect(await listTrades(desk)({ owner }, { filter: all, limit: 1 })()).toEqual({ _tag: 'Left', left })
  })
})

describe('GET /trades/stats and /trades/export', () => {
  it('warns that several currencies are summed and names them', async () => {
    const desk = createJournalDesk()
    desk.link()
    desk.link({ currency: 'EUR' })
    const { warnings } = await rightOf(getTradeStatistics(desk)({ owner }, all))
    expect(warnings).toEqual([{ code: 'mixed_currencies', currencies: ['USD', 'EUR'] }])
    const [account] = await rightOf(desk.accounts.list(owner))
    expect((await rightOf(getTradeStatistics(desk)({ owner }, { ...all, accountId: account!.id }))).warnings).toEqual([])
  })

  it('counts what the filter lets through', async () => {
    const desk = createJournalDesk()
    desk.put(desk.link(), [...closed('1', 10, 5), ...closed('2', 20, -3), ...closed('3', 30, 0)])
    const { statistics } = await rightOf(getTradeStatistics(desk)({ owner }, { ...all, to: 20 }))
    expect(statistics).toMatchObject({ totalTrades: 2, winningTrades: 1, losingTrades: 1, netProfit: 2 })
  })

  it('exports every trade, most recently closed first', async () => {
    const desk = createJournalDesk()
    desk.put(desk.link(), Array.from({ length: 1_500 }, (_, n) => closed(String(n + 1), n + 1, 1)).flat())
    const { pages, exportedAt } = await rightOf(exportTrades(desk)({ owner }, all))
    const ids: string[] = []
    for await (const page of pages) ids.push(...page.map(({ trade }) => trade.positionId))
    expect(ids).toEqual(Array.from({ length: 1_500 }, (_, n) => String(1_500 - n)))
    expect(exportedAt).toBe(1_000_000)
  })

  it('breaks an export off when a trade of it changes meanwhile', async () => {
    const desk = createJournalDesk()
    const account = desk.link()
    const deals = Array.from({ length: 1_500 }, (_, n) => closed(String(n + 1), n + 1, 1)).flat()
    desk.put(account, deals)
    const { pages } = await rightOf(exportTrades(desk)({ owner }, all))
    desk.put(account, [...deals, { ...closed('7', 0, 0)[1]!, id: '99999', time: 999_999, volume: 0 }])
    desk.pass(6_000)
    await rightOf(listTrades(desk)({ owner }, { filter: all, limit: 1 }))
    const read = async (): Promise<void> => {
      for await (const page of pages) expect(page.length).toBeGreaterThan(0)
    }
    await expect(read()).rejects.toThrow('a trade changed while the export was under way')
  })
})

describe('GET /trades/:id', () => {
  it('finds a closed trade, and no open, skipped or foreign one', async () => {
    const desk = createJournalDesk()
    const account = desk.link()
    const [opening] = closed('5', 0, 0)
    desk.put(account, [...closed('1', 10, 5), opening!, reversal('4')])
    expect(await rightOf(getTrade(desk)({ owner }, `${account.id}:1`))).toMatchObject({ closed: { trade: { profit: 5 } } })
    for (const id of [`${account.id}:5`, `${account.id}:4`, `${account.id}:9`, 'nonsense'])
      expect(await tagOf(getTrade(desk)({ owner }, id))).toBe('TradeNotFound')
    expect(await tagOf(getTrade(desk)({ owner: stranger }, `${account.id}:1`))).toBe('TradeNotFound')
  })
})
