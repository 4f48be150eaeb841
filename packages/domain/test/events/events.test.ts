// The documented fields of the events of orders and trades, no more and no less.
import { someOwner as owner, newOrder } from '@tradeport/testkit'
import { expect, it } from 'vitest'
import {
  orderCreated,
  outcomeEvents,
  tradeClosed,
  type ServiceEvent,
} from '../../src/events/events.ts'
import { withOutcome, type OrderId, type OrderOutcome } from '../../src/orders/order.ts'
import type { AccountId, Ticket } from '../../src/primitives/ids.ts'

const noon = Date.parse('2026-11-02T12:00:00.120Z')
const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
const ticket = '46870472' as Ticket
const id = 'ord_00000000000000000001' as OrderId
const bare = { ...newOrder(owner, noon, { accountId }), id }
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
  order_id: id,
  account_id: accountId,
  symbol: 'EURUSD',
  type: 'buy',
  order_type: 'market',
  volume: 0.1,
}
const created_at = '2026-11-02T12:00:00.120Z'

const ended = (order: typeof bare, outcome: OrderOutcome) =>
  outcomeEvents(withOutcome(order, outcome, noon + 900))

it.each<[string, readonly ServiceEvent[], object?]>([
  ['order.created leaves out what was not sent', [orderCreated(bare)], { ...common, created_at }],
  [
    'order.created has levels and reference, and never the comment',
    [orderCreated(full)],
    {
      ...common,
      created_at,
      price: 1.1,
      stop_loss: 1.05,
      take_profit: 1.2,
      client_id: 'c-1',
    },
  ],
  [
    'order.filled has what the broker reported, and the position by its id in the API',
    ended(full, {
      kind: 'filled',
      fill: { price: 1.2345, volume: 0.1, at: noon + 5, positionId: ticket },
    }),
    {
      ...common,
      fill_price: 1.2345,
      filled_volume: 0.1,
      filled_at: '2026-11-02T12:00:00.125Z',
      requested_price: 1.1,
      position_id: `${accountId}:46870472`,
    },
  ],
  ...(
    [
      ['filled', 0.1],
      ['partially_filled', null],
    ] as const
  ).map(([kind, filled_volume]): [string, readonly ServiceEvent[], object] => [
    `order.filled of an order that is ${kind} without details has the volume ${filled_volume}`,
    ended(bare, { kind, fill: {} }),
    { ...common, fill_price: null, filled_volume, filled_at: '2026-11-02T12:00:01.020Z' },
  ]),
  [
    'order.rejected has the code and the message of the rejection',
    ended(bare, { kind: 'rejected', reason: { code: 'NO_MONEY', message: 'No money' } }),
    {
      ...common,
      rejected_at: '2026-11-02T12:00:01.020Z',
      reject_code: 'NO_MONEY',
      reject_message: 'No money',
    },
  ],
  ['a pending order is no event', outcomeEvents(bare)],
])('%s', (_, events, data) => {
  const isCreation = data !== undefined && 'created_at' in data
  const isRejection = data !== undefined && 'rejected_at' in data
  const type = isCreation ? 'order.created' : isRejection ? 'order.rejected' : 'order.filled'
  const asSent: unknown = JSON.parse(JSON.stringify(events))
  expect(asSent).toStrictEqual(data === undefined ? [] : [{ type, key: `${type} ${id}`, data }])
})

it.each([
  ['sell', 1.25, 1.2, 4],
  ['buy', 1.25, 1.2, -4],
  ['buy', 0.8, 1, 25],
  ['sell', 0.8, 1, -25],
  ['sell', 1, 1, 0],
] as const)('trade.closed of a %s from %d to %d has %d percent', (type, entry, exit, percent) => {
  const trade = {
    positionId: ticket,
    symbol: 'EURUSD',
    side: type,
    volume: 0.3,
    entryPrice: entry,
    exitPrice: exit,
    profit: 150,
    commission: -2.1,
    swap: -0.4,
    netProfit: 147.5,
    openedAt: noon - 61_500,
    closedAt: noon,
    holdingTime: 61,
  }
  const trade_id = `${accountId}:46870472`
  expect(tradeClosed({ accountId, trade, closingDealId: '9' })).toStrictEqual({
    type: 'trade.closed',
    key: `trade.closed ${trade_id} 9`,
    data: {
      trade_id,
      position_id: trade_id,
      account_id: accountId,
      symbol: 'EURUSD',
      type,
      volume: 0.3,
      entry_price: entry,
      exit_price: exit,
      profit: 150,
      profit_percentage: percent,
      swap: -0.4,
      commission: -2.1,
      holding_time_seconds: 61,
      opened_at: '2026-11-02T11:58:58.620Z',
      closed_at: created_at,
    },
  })
})
