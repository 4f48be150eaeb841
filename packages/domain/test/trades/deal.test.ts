// The order of deals as rows: which is folded before which.
import { describe, expect, it } from 'vitest'
import { compareDealOrder, isReadableTime, positionIdOf } from '../../src/trades/deal.ts'
import type { Deal } from '../../src/trades/deal.ts'

const deal = (fields: Partial<Deal>): Deal => ({ id: '5', profit: 0, commission: 0, swap: 0, time: 100, ...fields })
const without = (name: keyof Deal, fields: Partial<Deal> = {}): Deal => {
  const { [name]: _, ...rest } = deal(fields)
  return rest as Deal
}

describe('a deal is folded before another', () => {
  const full = { entry: 'in', side: 'buy', symbol: 'EURUSD' } as const

  it.each<[what: string, first: Deal, second: Deal]>([
    ['by its time, whatever its id', deal({ time: 99, id: '900' }), deal({ time: 100, id: '1' })],
    ['by its id, the shorter first', deal({ id: '9', entry: 'out' }), deal({ id: '10', entry: 'in' })],
    ['by the text of its id', deal({ id: '30', entry: 'out' }), deal({ id: '31', entry: 'in' })],
    ['where it opens', deal({ entry: 'in', side: 'sell' }), deal({ entry: 'out', side: 'buy' })],
    ['where it buys', deal({ ...full, symbol: 'XAUUSD' }), deal({ ...full, side: 'sell', symbol: 'EURUSD' })],
    ['by its symbol, the shorter first', deal({ ...full, symbol: 'US30' }), deal({ ...full, symbol: 'EURUSD' })],
    ['by the text of its symbol', deal({ ...full, symbol: 'AUDUSD' }), deal({ ...full, symbol: 'EURUSD' })],
    ['where it names no symbol', without('symbol', { entry: 'in', side: 'buy' }), deal(full)],
    ['where the other has no time', deal({ id: '900' }), without('time')],
    ['where the time of the other cannot be read', deal({ id: '900' }), deal({ time: Number.NaN, id: '1' })],
    ['by its id, where neither has a readable time', without('time', { id: '1' }), deal({ time: Number.POSITIVE_INFINITY })],
  ])('%s', (_, first, second) => {
    expect(compareDealOrder(first, second)).toBeLessThan(0)
    expect(compareDealOrder(second, first)).toBeGreaterThan(0)
  })

  it('never where both are the same in everything', () => {
    expect(compareDealOrder(deal(full), deal(full))).toBe(0)
  })
})

it.each<[Partial<Deal>, string | undefined]>([
  [{ side: 'buy', positionId: '7' }, '7'],
  [{ positionId: '7' }, undefined],
  [{ side: 'buy', positionId: '0' }, undefined],
  [{ side: 'buy', positionId: '' }, undefined],
  [{ side: 'buy' }, undefined],
])('a deal with %j belongs to position %s', (fields, positionId) => {
  expect(positionIdOf(deal(fields))).toBe(positionId)
})

it.each([
  [0, true],
  [8.64e15, true],
  [-8.64e15, true],
  [8.64e15 + 1, false],
  [-8.64e15 - 1, false],
  [Number.NaN, false],
  [Number.POSITIVE_INFINITY, false],
])('a date can stand for %d: %s', (time, isReadable) => {
  expect(isReadableTime(time)).toBe(isReadable)
  expect(Number.isNaN(new Date(time).getTime())).toBe(!isReadable)
})
