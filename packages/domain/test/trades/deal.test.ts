// The order of deals as rows: what is taken before what, and which closing deal came last (decisions 34 and 36).
import { describe, expect, it } from 'vitest'
import { compareClosings, isBefore, isReadableTime } from '../../src/trades/deal.ts'
import type { Deal } from '../../src/trades/deal.ts'

const deal = (fields: Partial<Deal>): Deal => ({ id: '5', profit: 0, commission: 0, swap: 0, time: 100, ...fields })
const without = (name: keyof Deal, fields: Partial<Deal> = {}): Deal => {
  const { [name]: _, ...rest } = deal(fields)
  return rest as Deal
}

describe('a deal is taken before another (decision 34)', () => {
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
  ])('%s', (_, first, second) => {
    expect([isBefore(first, second), isBefore(second, first)]).toEqual([true, false])
  })

  it.each<[what: string, one: Deal, other: Deal]>([
    ['the same in everything', deal(full), deal(full)],
    ['one without a time', without('time'), deal({})],
    ['one of a time that could not be read', deal({ time: Number.NaN }), deal({})],
  ])('never where it is %s', (_, one, other) => {
    expect([isBefore(one, other), isBefore(other, one)]).toEqual([false, false])
  })
})

describe('the order of closing deals (decision 36)', () => {
  it.each<[what: string, first: Partial<Deal>, second: Partial<Deal>]>([
    ['time', { time: 99, id: '900', positionId: '9' }, { id: '1', positionId: '1' }],
    ['id, the shorter first', { id: '9', positionId: '9' }, { id: '10', positionId: '1' }],
    ['position', { positionId: '7' }, { positionId: '10' }],
    ['no position first', {}, { positionId: '7' }],
  ])('is by %s', (_, first, second) => {
    expect(compareClosings(deal(first), deal(second))).toBeLessThan(0)
    expect(compareClosings(deal(second), deal(first))).toBeGreaterThan(0)
  })

  it('is none between deals that agree', () => {
    expect(compareClosings(deal({ positionId: '7' }), deal({ positionId: '7' }))).toBe(0)
  })
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
