import { expect, it } from 'vitest'
import {
  compareDealOrder,
  isReadableTime,
  positionIdOf,
  symbolOf,
  type Deal,
} from '../../src/trades/deal.ts'

const deal = (fields: { [Name in keyof Deal]?: Deal[Name] | undefined }): Deal =>
  ({ id: '5', profit: 0, commission: 0, swap: 0, time: 100, ...fields }) as Deal
const timeless = { id: '1', time: undefined }
const full = { entry: 'in', side: 'buy', symbol: 'EURUSD' } as const

it.each<[string, Parameters<typeof deal>[0], Parameters<typeof deal>[0]]>([
  ['its time, whatever its id', { time: 99, id: '900' }, { id: '1' }],
  ['its id, the shorter first', { id: '9', entry: 'out' }, { id: '10', entry: 'in' }],
  ['the text of its id', { id: '30', entry: 'out' }, { id: '31', entry: 'in' }],
  ['opening', { entry: 'in', side: 'sell' }, { entry: 'out', side: 'buy' }],
  ['buying', { ...full, symbol: 'XAUUSD' }, { ...full, side: 'sell' }],
  ['its symbol, the shorter first', { ...full, symbol: 'US30' }, full],
  ['the text of its symbol', { ...full, symbol: 'AUDUSD' }, full],
  ['having no symbol', { entry: 'in', side: 'buy' }, full],
  ['having a time', { id: '900' }, timeless],
  ['having a readable time', { id: '900' }, { time: Number.NaN, id: '1' }],
  ['its id, without readable times', timeless, { time: Number.POSITIVE_INFINITY }],
])('a deal is folded before another by %s', (_, one, other) => {
  const [first, second] = [deal(one), deal(other)]
  expect(compareDealOrder(first, second)).toBeLessThan(0)
  expect(compareDealOrder(second, first)).toBeGreaterThan(0)
  expect(compareDealOrder(first, { ...first })).toBe(0)
})

it.each<[Partial<Deal>, string | undefined]>([
  [{ side: 'buy', positionId: '7' }, '7'],
  [{ positionId: '7' }, undefined],
  [{ side: 'buy', positionId: '0' }, undefined],
  // As JSON may have them.
  [{ side: 'buy', positionId: null as never }, undefined],
  [{ side: null as never, positionId: '7' }, undefined],
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

it.each([
  [[undefined, '', 'EURUSD', 'XAUUSD'], 'EURUSD'],
  [['', undefined], undefined],
])('deals that name %j have the symbol %s', (symbols, symbol) => {
  expect(symbolOf(symbols.map((named) => deal({ symbol: named })))).toBe(symbol)
})
