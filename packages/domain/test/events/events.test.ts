// What receivers are told of orders and trades: the documented fields, no more and no less.
import { describe, expect, it } from 'vitest'
import { orderCreated, orderFilled, settlementEvents } from '../../src/events/order-events.ts'
import { profitPercentage, tradeClosed } from '../../src/events/position-events.ts'
import type { OrderId } from '../../src/orders/order.ts'
import type { Settlement } from '../../src/orders/transitions.ts'
import { settle } from '../../src/orders/transitions.ts'
import type { AccountId, Ticket, TenantId, UserId } from '../../src/primitives/ids.ts'
import { newOrder } from '../../src/testing/stored-orders.ts'

const noon = Date.parse('2026-11-02T12:00:00.120Z')
const owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }
const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
const ticket = '46870472' as Ticket
const bare = { ...newOrder(owner, noon, { accountId }), id: 'ord_00000000000000000001' as OrderId }
const full = {
  ...bare,
  request: {
    ...bare.request,
    price: 1.1,
    stopLoss: 1.05,
    takeProfit: 1.2,
    comment: 'mine alone',
    clientId: 'c-1',
  },
}
const common = {
  order_id: bare.id,
  account_id: accountId,
  symbol: 'EURUSD',
  type: 'buy',
  order_type: 'market',
  volume: 0.1,
}

const settled = (order: typeof bare, settlement: Settlement) => {
  const after = settle(order, settlement, noon + 900)
  return after.status === 'filled' || after.status === 'partially_filled'
    ? after
    : expect.fail('was not filled')
}

describe('order.created (6)', () => {
  it('leaves out what was not sent', () => {
    expect(orderCreated(bare)).toStrictEqual({
      type: 'order.created',
      key: 'order.created ord_00000000000000000001',
      data: { ...common, created_at: '2026-11-02T12:00:00.120Z' },
      at: noon,
    })
  })

  it('tells levels and reference, and never the comment', () => {
    expect(orderCreated(full).data).toStrictEqual({
      ...common,
      created_at: '2026-11-02T12:00:00.120Z',
      price: 1.1,
      stop_loss: 1.05,
      take_profit: 1.2,
      client_id: 'c-1',
    })
  })
})

describe('order.filled (6)', () => {
  it('tells an execution as the broker told it, and the position by the id that other routes take', () => {
    const order = settled(full, {
      kind: 'filled',
      fill: { price: 1.2345, volume: 0.1, at: noon + 5, positionId: ticket },
    })
    expect(orderFilled(order)).toStrictEqual({
      type: 'order.filled',
      key: 'order.filled ord_00000000000000000001',
      data: {
        ...common,
        fill_price: 1.2345,
        filled_volume: 0.1,
        filled_at: '2026-11-02T12:00:00.125Z',
        requested_price: 1.1,
        position_id: `${accountId}:46870472`,
      },
      at: noon + 900,
    })
  })

  it.each<[what: string, kind: 'filled' | 'partially_filled', filledVolume: number | null]>([
    ['takes the volume of a whole one from the order', 'filled', 0.1],
    ['does not make up the volume of a part', 'partially_filled', null],
  ])('of which the broker said nothing %s', (_, kind, filledVolume) => {
    expect(orderFilled(settled(bare, { kind, fill: {} })).data).toStrictEqual({
      ...common,
      fill_price: null,
      filled_volume: filledVolume,
      filled_at: '2026-11-02T12:00:01.020Z',
    })
  })

  it('is what an execution is, also in part, and what a refusal is not', () => {
    const reason = { code: 'X', message: 'x' }
    expect(
      settlementEvents(settle(bare, { kind: 'partially_filled', fill: {} }, noon)).map(
        ({ type }) => type,
      ),
    ).toStrictEqual(['order.filled'])
    expect(settlementEvents(settle(bare, { kind: 'rejected', reason }, noon))).toStrictEqual([])
    expect(settlementEvents(bare)).toStrictEqual([])
  })
})

describe('trade.closed (6)', () => {
  const trade = {
    positionId: '46870472',
    symbol: 'EURUSD',
    side: 'sell' as const,
    volume: 0.3,
    entryPrice: 1.25,
    exitPrice: 1.2,
    profit: 150,
    commission: -2.1,
    swap: -0.4,
    netProfit: 147.5,
    openedAt: noon - 61_500,
    closedAt: noon,
    holdingTime: 61,
  }

  it('tells the trade that GET /trades shows', () => {
    const id = `${accountId}:46870472`
    expect(tradeClosed({ accountId, trade }, noon + 9)).toStrictEqual({
      type: 'trade.closed',
      key: `trade.closed ${id}`,
      data: {
        trade_id: id,
        position_id: id,
        account_id: accountId,
        symbol: 'EURUSD',
        type: 'sell',
        volume: 0.3,
        entry_price: 1.25,
        exit_price: 1.2,
        profit: 150,
        profit_percentage: 4,
        swap: -0.4,
        commission: -2.1,
        holding_time_seconds: 61,
        opened_at: '2026-11-02T11:58:58.620Z',
        closed_at: '2026-11-02T12:00:00.120Z',
      },
      at: noon + 9,
    })
  })

  it.each([
    ['buy', 1.25, 1.2, -4],
    ['buy', 0.8, 1, 25],
    ['sell', 0.8, 1, -25],
    ['buy', 1, 1, 0],
  ] as const)(
    'says of a %s from %d to %d that it is %d percent',
    (side, entryPrice, exitPrice, percent) => {
      expect(profitPercentage({ side, entryPrice, exitPrice })).toBe(percent)
    },
  )
})
