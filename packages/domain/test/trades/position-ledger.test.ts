// What the ledger of a fold keeps at hand: positions that are open and no more, whatever order they come and go in (decision 34).
import { describe, expect, it } from 'vitest'
import type { Deal } from '../../src/trades/deal.ts'
import { enterDeals, judgeSlot, openLedger } from '../../src/trades/position-ledger.ts'
import type { Ledger } from '../../src/trades/position-ledger.ts'

const start = Date.parse('2026-01-05T09:00:00Z')

const deal = (positionId: string, fields: Partial<Deal>): Deal => ({
  id: `${positionId}1`,
  positionId,
  side: 'buy',
  entry: 'in',
  symbol: 'EURUSD',
  volume: 0.3,
  price: 1.1,
  profit: 0,
  commission: 0,
  swap: 0,
  time: start,
  ...fields,
})
const opened = (position: number): Deal => deal(String(position), {})
const closed = (position: number, fields: Partial<Deal> = {}): Deal =>
  deal(String(position), { entry: 'out', side: 'sell', profit: 2, time: start + position * 1_000, ...fields })

const enter = (deals: readonly Deal[], ledger: Ledger = openLedger()): Ledger => {
  enterDeals(ledger, deals, 0, deals.length)
  return ledger
}
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1_000)
const idsOf = ({ trades }: Ledger): readonly string[] => trades.map(({ positionId }) => positionId)

describe('a ledger', () => {
  it('has no place taken by positions that were closed, however many there were', () => {
    const ledger = enter(numbers(500).flatMap((n) => [opened(n), closed(n)]))
    expect(ledger.trades).toHaveLength(500)
    expect(ledger.slots.size).toBe(0)
    expect(ledger.positionIds).toHaveLength(1)
    expect(ledger.rows).toHaveLength(openLedger().rows.length)
    expect(ledger.rows.every((cell) => cell === 0)).toBe(true)
  })

  it('makes room for as many as are open at once, and loses nothing of any', () => {
    const ledger = enter(numbers(300).map(opened))
    expect([ledger.slots.size, ledger.trades.length]).toEqual([300, 0])
    for (const slot of ledger.slots.values()) expect(judgeSlot(ledger, slot)).toBe('open')
    enter(
      numbers(300).map((n) => closed(n)),
      ledger,
    )
    expect(ledger.slots.size).toBe(0)
    expect(ledger.trades.every(({ volume, profit, entryPrice }) => volume === 0.3 && profit === 2 && entryPrice === 1.1)).toBe(true)
    expect(idsOf(ledger)).toEqual(numbers(300).map(String))
  })

  it('gives a place that was left to the next, without anything of the one before', () => {
    const first = [deal('1', { commission: -3, swap: -1, symbol: 'XAUUSD' }), closed(1, { symbol: 'XAUUSD' })]
    const ledger = enter([...first, opened(2), closed(2, { profit: 5 })])
    expect(ledger.trades[1]).toMatchObject({ positionId: '2', symbol: 'EURUSD', profit: 5, commission: 0, swap: 0, netProfit: 5 })
  })

  it('knows whether its trades stand in closing order', () => {
    expect(enter([opened(1), opened(2), closed(1), closed(2)]).isInClosingOrder).toBe(true)
    expect(enter([opened(1), opened(2), closed(2), closed(1)]).isInClosingOrder).toBe(false)
    const atOnce = (n: number) => closed(n, { time: start + 9, id: '7' })
    expect(enter([opened(1), opened(2), atOnce(1), atOnce(2)]).isInClosingOrder).toBe(true)
    expect(enter([opened(1), opened(2), atOnce(2), atOnce(1)]).isInClosingOrder).toBe(false)
  })

  it('remembers settled positions from the first time that an id is not greater than all before', () => {
    const ascending = enter([opened(1), closed(1), opened(2), closed(2)])
    expect([ascending.settledIds, ascending.greatestSettled]).toEqual([undefined, '2'])
    const ledger = enter([opened(5), closed(5), opened(7), closed(7), opened(3), closed(3)])
    expect(ledger.greatestSettled).toBe('7')
    expect(['5', '7', '3'].map((id) => ledger.settledIds?.mayHave(id))).toEqual([true, true, true])
    expect(ledger.reopened.size).toBe(0)
    enter([opened(3), closed(5)], ledger)
    expect([...ledger.reopened]).toEqual(['3', '5'])
    expect([ledger.slots.size, ledger.trades.length]).toEqual([0, 3])
  })

  it('for some positions alone looks at no other, and settles none before the end', () => {
    const ledger = enter([opened(1), closed(1), opened(2), closed(2), closed(1, { volume: 0, profit: 1 })], openLedger(new Set(['1'])))
    expect([[...ledger.slots.keys()], ledger.trades.length]).toEqual([['1'], 0])
    expect(judgeSlot(ledger, ledger.slots.get('1') as number)).toBe('trade')
    expect(ledger.trades).toMatchObject([{ positionId: '1', profit: 3, volumeEstimated: true }])
  })

  it('enters just the deals that it is given', () => {
    const deals = [opened(1), opened(2), closed(2), closed(1)]
    const ledger = openLedger()
    enterDeals(ledger, deals, 1, 3)
    expect([idsOf(ledger), ledger.slots.size]).toEqual([['2'], 0])
  })
})
