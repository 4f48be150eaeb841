import { describe, expect, it } from 'vitest'
import { checkBook, checkTimes } from '../src/book-check.ts'

const id = 'ord_aaaaaaaaaabbbbbbbbbb'
const clientId = 'TP_aaaaaaaaaa_bbbbbbbbbb'
const deal = { clientId, orderId: '1', volume: 0.1, time: '2026-01-01T00:00:30.000Z' }
const order = { id, status: 'filled', volume: 0.1, createdAt: '2026-01-01T00:00:00.000Z' }

describe('checkBook', () => {
  it('keeps quiet when orders and book agree', () => {
    expect(checkBook([order], [deal]).broken).toEqual([])
    expect(checkBook([{ ...order, status: 'rejected' }], []).broken).toEqual([])
    expect(checkBook([{ ...order, status: 'partially_filled', filledVolume: 0.05 }], [{ ...deal, volume: 0.05 }]).broken).toEqual([])
    expect(checkBook([{ ...order, volume: 0.3 }], [deal, { ...deal, volume: 0.2 }]).broken).toEqual([])
  })

  it.each([
    ['an order executed twice', [order], [deal, { ...deal, orderId: '2' }]],
    ['a filled order that the broker has not', [order], []],
    ['a rejected order that the broker executed', [{ ...order, status: 'rejected' }], [deal]],
    ['an order that is still pending', [{ ...order, status: 'pending' }], []],
    ['an execution without an order', [], [deal]],
    ['an execution without a client id', [order], [deal, { ...deal, clientId: undefined }]],
    [
      'a partial fill told with another volume',
      [{ ...order, status: 'partially_filled', filledVolume: 0.02 }],
      [{ ...deal, volume: 0.05 }],
    ],
    ['a fill of another volume', [order], [{ ...deal, volume: 0.05 }]],
  ] as const)('tells %s', (_, orders, deals) => {
    expect(checkBook(orders, deals).broken).toHaveLength(1)
  })
})

describe('checkTimes', () => {
  it('accepts an execution within 30 seconds, and reports a later one', () => {
    expect(checkTimes([order], [deal])).toEqual([])
    expect(checkTimes([order], [{ ...deal, time: '2026-01-01T00:01:00.000Z' }])).toEqual([
      `the broker executed ${clientId} 60 s after it was ordered`,
    ])
  })
})
