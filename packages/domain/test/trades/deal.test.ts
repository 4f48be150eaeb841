import { expect, it } from 'vitest'
import { compareDealOrder, isReadableTime, positionIdOf } from '../../src/trades/deal.ts'
import type { Deal } from '../../src/trades/deal.ts'

const deal = (fields: Partial<Deal>): Deal => ({
  id: '5',
  profit: 0,
  commission: 0,
  swap: 0,
  time: 100,
  ...fields,
})
const { time: _, ...timeless } = deal({ id: '1' })
const full = { entry: 'in', side: 'buy', symbol: 'EURUSD' } as const

it.each<[what: string, first: Deal, second: Deal]>([
  ['by its time, whatever its id', deal({ time: 99, id: '900' }), deal({ time: 100, id: '1' })],
  [
    'by its id, the shorter first',
    deal({ id: '9', entry: 'out' }),
    deal({ id: '10', entry: 'in' }),
  ],
  ['by the text of its id', deal({ id: '30', entry: 'out' }), deal({ id: '31', entry: 'in' })],
  ['where it opens', deal({ entry: 'in', side: 'sell' }), deal({ entry: 'out', side: 'buy' })],
  [
    'where it buys',
    deal({ ...full, symbol: 'XAUUSD' }),
    deal({ ...full, side: 'sell', symbol: 'EURUSD' }),
  ],
  [
    'by its symbol, the shorter first',
    deal({ ...full, symbol: 'US30' }),
    deal({ ...full, symbol: 'EURUSD' }),
  ],
  [
    'by the text of its symbol',
    deal({ ...full, symbol: 'AUDUSD' }),
    deal({ ...full, symbol: 'EURUSD' }),
  ],
  ['where it names no symbol', deal({ entry: 'in', side: 'buy' }), deal(full)],
  ['where the other has no time', deal({ id: '900' }), timeless],
  [
    'where the time of the other cannot be read',
    deal({ id: '900' }),
    deal({ time: Number.NaN, id: '1' }),
  ],
  [
    'by its id, where neither has a readable time',
    timeless,
    deal({ time: Number.POSITIVE_INFINITY }),
  ],
])('a deal is folded before another %s', (_what, first, second) => {
  expect(compareDealOrder(first, second)).toBeLessThan(0)
  expect(compareDealOrder(second, first)).toBeGreaterThan(0)
  expect(compareDealOrder(first, { ...first })).toBe(0)
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

it.each([0, 8.64e15, -8.64e15, 8.64e15 + 1, -8.64e15 - 1, Number.NaN, Number.POSITIVE_INFINITY])(
  '%d is readable where a date can be',
  (time) => {
    expect(isReadableTime(time)).toBe(!Number.isNaN(new Date(time).getTime()))
  },
)
