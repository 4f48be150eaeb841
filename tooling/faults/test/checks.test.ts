// Each check of a fault run accepts what keeps its promise and reports what breaks it.
import type { DealRow } from '@tradeport/sandbox-broker'
import { expect, it } from 'vitest'
import * as check from '../src/checks.ts'
import { faultsOfReply } from '../src/hostile/hostile.ts'
import { repliesIn } from '../src/hostile/wire.ts'

const deal = {
  id: '1',
  entryType: 'DEAL_ENTRY_IN',
  clientId: 'TP_aaaaaaaaaa_bbbbbbbbbb',
  orderId: '1',
  volume: 0.1,
  time: '2026-01-01T00:00:30.000Z',
} as unknown as DealRow
const order = {
  id: 'ord_aaaaaaaaaabbbbbbbbbb',
  orderType: 'market',
  status: 'filled',
  volume: 0.1,
  createdAt: '2026-01-01T00:00:00.000Z',
}
const rejected = { ...order, status: 'rejected' }
const late = { ...deal, time: '2026-01-01T00:01:00.000Z' }
const book = (orders: readonly check.CheckedOrder[], ...deals: readonly DealRow[]) =>
  check.checkBook(orders, deals)

const placed = { id: 'o', clientId: 'a' }
const intents = (outcome: string, isKeyed: boolean, ...orders: readonly (typeof placed)[]) => {
  const orderId = outcome === '201' ? 'o' : null
  const answers = [{ outcome, orderId, isUnsure: outcome === 'no answer' }]
  return check.checkIntents([{ id: 'a', isKeyed, answers }], orders)
}
const reply = { what: 'POST /orders', slot: 0, beganAt: 0, endedAt: 1, outcome: '201' }

const event = { sequence: 1, userId: 'u', type: 'order.created', data: { order_id: 'o' } }
const filled = { sequence: 2, userId: 'u', type: 'order.filled', data: { order_id: 'o' } }
const names = [event, filled].map(({ type, data }) => check.eventName(type, data))
const events = (...recorded: readonly check.RecordedEvent[]) =>
  check.checkEvents([{ userId: 'u', names }], recorded)
const logged = [event, filled].map(({ sequence }) => ({
  id: `d${sequence}`,
  webhookId: 'w',
  sequence,
  status: 'success',
  attempts: 1,
}))
const received = [event, filled].map(({ sequence, type, data }) => ({
  deliveryId: `d${sequence}`,
  webhookId: 'w',
  isGenuine: true,
  event: type,
  data: { ...data },
}))
const deliveries = (log: typeof logged, came: typeof received) =>
  check.checkDeliveries([{ id: 'w', userId: 'u', isFailing: false }], [event, filled], log, came)
const withFirst = <A>([first, ...rest]: readonly A[], fields: object): A[] => [
  { ...first, ...fields } as A,
  ...rest,
]

const held = { pid: 1, heap: 120, code: 20, external: 10, resources: { T: 3 }, listeners: 9 }
const grown = (fields: object) =>
  check.checkGrowth(
    { ...held, resident: 1, heldMs: 1 },
    { ...held, resident: 1, heldMs: 1, ...fields },
  )
const table = (name: string) => check.checkTables(new Map([[name, 1]]), new Map([[name, 9]]))

const head = [
  'X-Content-Type-Options: a',
  'Content-Security-Policy: b',
  'Referrer-Policy: c',
  'X-Request-Id: r',
  'Content-Type: application/json',
].join('\r\n')
const onWire = (status: string, body: string, length = body.length) => {
  const text = `HTTP/1.1 ${status}\r\n${head}\r\nContent-Length: ${length}\r\n\r\n${body}`
  const { replies, rest } = repliesIn(Buffer.from(text), false)
  return [...replies.flatMap((one) => faultsOfReply(one, false)), ...(rest ? [rest.kind] : [])]
}
const refusal = (code: string, id = 'r') =>
  `{"success":false,"data":null,"error":{"code":"${code}","message":"m","request_id":"${id}"}}`

const open = { ...order, orderType: 'limit', status: 'open', brokerOrderId: '1', price: 1.1 }
const row = { id: '1', clientId: deal['clientId'], openPrice: 1.1 }
const end = (state: string) => ({ ...row, state: `ORDER_STATE_${state}` })
const ended = (status: string, ...finished: readonly (typeof row)[]) =>
  check.checkPendingOrders([{ ...open, status }], [], finished)

it.each<[string, number, readonly string[]]>([
  ['an open order', 0, check.checkPendingOrders([open], [row], [])],
  [
    'an order open at another price',
    1,
    check.checkPendingOrders([open], [{ ...row, openPrice: 1 }], []),
  ],
  [
    'an order open under another number',
    1,
    check.checkPendingOrders([open], [{ ...row, id: '2' }], []),
  ],
  ['an open order that the broker does not hold', 1, check.checkPendingOrders([open], [], [])],
  ['an order that only the broker holds', 1, check.checkPendingOrders([], [row], [])],
  ['a cancelled order', 0, ended('cancelled', end('CANCELED'))],
  ['a cancelled order that expired', 1, ended('cancelled', end('EXPIRED'))],
  ['an expired order', 0, ended('expired', end('EXPIRED'))],
  ['an expired order of which nothing is known', 1, ended('expired')],
  ['an open order in part executed', 0, book([{ ...open, volume: 0.2 }], late)],
  ['an open order that is executed', 1, book([open], deal)],
  ['a cancelled order that is executed', 1, book([{ ...open, status: 'cancelled' }], deal)],
  ['a filled order', 0, book([order], deal)],
  ['an order in two deals', 0, book([{ ...order, volume: 0.3 }], deal, { ...deal, volume: 0.2 })],
  ['a rejected order', 0, book([rejected])],
  ['an order executed twice', 2, book([order], deal, { ...deal, orderId: '2' })],
  ['a filled order that the broker does not have', 1, book([order])],
  ['a rejected order that the broker executed', 1, book([rejected], deal)],
  ['a pending order', 1, book([{ ...order, status: 'pending' }])],
  ['an execution without an order', 1, book([], deal)],
  ['a late execution', 1, book([order], late)],
  ['a placed order', 0, intents('201', true, placed)],
  ['an order without an answer that exists', 0, intents('no answer', false, placed)],
  ['an order that is gone', 1, intents('201', true)],
  ['two orders of one intent', 1, intents('201', true, placed, { ...placed, id: 'p' })],
  ['a refused order that exists', 1, intents('503', false, placed)],
  ['a key that was never answered', 1, intents('503', true)],
  ['an allowed reply', 0, check.checkReplies([reply], { 'POST /orders': ['201'] })],
  ['a reply that is not allowed', 1, check.checkReplies([reply], { '*': ['200'] })],
  ['what a bucket was refilled with', 0, check.checkPassed('here', 310, 6_000, 300)],
  ['a request refused too early', 1, check.checkPassed('here', 299, 0, 300)],
  ['requests that no limit stopped', 1, check.checkPassed('here', 600, 6_000, 300)],
  ['events that happened', 0, events(event, filled)],
  ['a lost event', 1, events(event)],
  ['an event recorded twice', 1, events(event, filled, { ...filled, sequence: 3 })],
  ['a delivery that came twice', 0, deliveries(logged, [...received, ...received.slice(1)])],
  ['an event without a delivery', 1, deliveries(logged.slice(1), received.slice(1))],
  ['a delivery that never came', 1, deliveries(logged, received.slice(1))],
  ['a wrong signature', 1, deliveries(logged, withFirst(received, { isGenuine: false }))],
  ['other content', 1, deliveries(logged, withFirst(received, { data: {} }))],
  ['deliveries in another order', 1, deliveries(logged, received.toReversed())],
  ['a little growth', 0, grown({ heap: 135, code: 30 })],
  ['a heap that grew', 1, grown({ heap: 126 })],
  ['another process', 1, grown({ pid: 2 })],
  ['handles', 1, grown({ resources: { T: 14 } })],
  ['rows that are kept', 0, table('orders')],
  ['rows that nothing clears', 1, table('unknown')],
  ['a good reply', 0, onWire('200 OK', '{"meta":{"request_id":"r"}}')],
  ['a refusal', 0, onWire('404 Not Found', refusal('NOT_FOUND'))],
  ['an internal error', 1, onWire('400 Bad Request', refusal('INTERNAL_ERROR'))],
  ['another request id', 1, onWire('404 Not Found', refusal('NOT_FOUND', 's'))],
  ['a reply that is cut', 1, onWire('200 OK', '{"meta"', 100)],
  ['a body that is not JSON', 1, onWire('200 OK', '{"meta"')],
])('of %s, the checks report %i faults', (_, count, broken) => {
  expect(broken).toHaveLength(count)
})
