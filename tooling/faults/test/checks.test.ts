// Each check of a fault run is silent when all is well, and reports what it is for.
import { describe, expect, it } from 'vitest'
import { checkBook, checkTimes } from '../src/book-check.ts'
import { checkDeliveries, checkEvents, nameOf } from '../src/event-check.ts'
import { checkInstances, checkTables } from '../src/growth-check.ts'
import { faultsOfReply } from '../src/hostile/judge.ts'
import { repliesIn } from '../src/hostile/wire.ts'
import { checkIntents, checkPassed, checkReplies } from '../src/load-check.ts'
import type { Intent } from '../src/load-check.ts'

const deal = {
  clientId: 'TP_aaaaaaaaaa_bbbbbbbbbb',
  orderId: '1',
  volume: 0.1,
  time: '2026-01-01T00:00:30.000Z',
}
const order = {
  id: 'ord_aaaaaaaaaabbbbbbbbbb',
  status: 'filled',
  volume: 0.1,
  createdAt: '2026-01-01T00:00:00.000Z',
}

const refused = { status: 503, code: 'SERVICE_UNAVAILABLE', orderId: null, isUnsure: false }
const intent: Intent = {
  id: 'a',
  isKeyed: true,
  answers: [{ ...refused, status: 201, code: null, orderId: 'o' }],
}
const placed = { id: 'o', clientId: 'a' }
const reply = { what: 'order', slot: 0, beganAt: 100, endedAt: 150, status: 201, code: null }

const event = { sequence: 1, userId: 'u', type: 'order.created', data: { order_id: 'o' } }
const filled = { sequence: 2, userId: 'u', type: 'order.filled', data: { order_id: 'o' } }
const happened = [
  { userId: 'u', names: [event, filled].map(({ type, data }) => nameOf(type, data)) },
]
const fine = { id: 'w', userId: 'u', isFailing: false }
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
  checkDeliveries([fine], [event, filled], log, came)
const change = <A>(all: readonly A[], fields: object): A[] =>
  all.map((one, index) => (index === 0 ? { ...one, ...fields } : one))

const held = {
  pid: 1,
  heap: 120,
  code: 20,
  external: 10,
  resident: 200,
  resources: { Timeout: 3 },
  listeners: 9,
  heldMs: 1,
}
const grown = (fields: object) => checkInstances([held], [{ ...held, ...fields }])
const rows = (name: string) => checkTables(new Map([[name, 1]]), new Map([[name, 9]]))

const head =
  'X-Content-Type-Options: a\r\nContent-Security-Policy: b\r\nReferrer-Policy: c\r\nX-Request-Id: r\r\nContent-Type: application/json\r\n'
const onWire = (status: string, body: string, length = body.length) => {
  const { replies, rest } = repliesIn(
    Buffer.from(`HTTP/1.1 ${status}\r\n${head}Content-Length: ${length}\r\n\r\n${body}`),
    false,
  )
  return [
    ...replies.flatMap((one) => faultsOfReply(one, false)),
    ...(rest === undefined ? [] : [rest.kind]),
  ]
}
const refusal = (code: string, id = 'r') =>
  `{"success":false,"data":null,"error":{"code":"${code}","message":"m","request_id":"${id}"}}`

describe('checks', () => {
  it.each<[string, readonly string[]]>([
    ['a filled order', checkBook([order], [deal]).broken],
    ['a rejected order', checkBook([{ ...order, status: 'rejected' }], []).broken],
    [
      'an order in two deals',
      checkBook([{ ...order, volume: 0.3 }], [deal, { ...deal, volume: 0.2 }]).broken,
    ],
    ['an execution in time', checkTimes([order], [deal])],
    ['an order that was placed', checkIntents([intent], [placed])],
    [
      'an order that may stand, and does',
      checkIntents(
        [{ ...intent, isKeyed: false, answers: [{ ...refused, isUnsure: true }] }],
        [placed],
      ),
    ],
    ['replies that are allowed', checkReplies([reply], { order: ['201'] })],
    ['what a bucket gets back', checkPassed('here', { count: 310, elapsedMs: 6_000 }, 300, 300)],
    ['events that happened', checkEvents(happened, [event, filled])],
    ['a delivery that came twice', deliveries(logged, [...received, ...received.slice(1)])],
    ['a little growth', grown({ heap: 135, code: 30 })],
    ['rows that are kept', rows('public.orders')],
    ['a good reply', onWire('200 OK', '{"meta":{"request_id":"r"}}')],
    ['a refusal', onWire('404 Not Found', refusal('NOT_FOUND'))],
  ])('accept %s', (_, broken) => {
    expect(broken).toEqual([])
  })

  it.each<[string, readonly string[]]>([
    ['an order executed twice', checkBook([order], [deal, { ...deal, orderId: '2' }]).broken],
    ['a filled order that the broker has not', checkBook([order], []).broken],
    [
      'a rejected order that the broker executed',
      checkBook([{ ...order, status: 'rejected' }], [deal]).broken,
    ],
    ['a pending order', checkBook([{ ...order, status: 'pending' }], []).broken],
    ['an execution without an order', checkBook([], [deal]).broken],
    ['a late execution', checkTimes([order], [{ ...deal, time: '2026-01-01T00:01:00.000Z' }])],
    ['an order that is gone', checkIntents([intent], [])],
    ['two orders of one intent', checkIntents([intent], [placed, { ...placed, id: 'p' }])],
    [
      'an order that was refused for certain, and stands',
      checkIntents([{ ...intent, isKeyed: false, answers: [refused] }], [placed]),
    ],
    ['a key that was never answered', checkIntents([{ ...intent, answers: [refused] }], [])],
    ['a status that is not allowed', checkReplies([{ ...reply, status: 500 }], { order: ['201'] })],
    ['no answer', checkReplies([{ ...reply, status: null }], { order: ['201'] })],
    [
      'a request that was refused too early',
      checkPassed('here', { count: 299, elapsedMs: 0 }, 300, 300),
    ],
    [
      'requests that no limit stopped',
      checkPassed('here', { count: 600, elapsedMs: 6_000 }, 300, 300),
    ],
    ['an event that is lost', checkEvents(happened, [event])],
    [
      'an event that is recorded twice',
      checkEvents(happened, [event, filled, { ...filled, sequence: 3 }]),
    ],
    ['an event that made no delivery', deliveries(logged.slice(1), received.slice(1))],
    ['a delivery that never came', deliveries(logged, received.slice(1))],
    ['a wrong signature', deliveries(logged, change(received, { isGenuine: false }))],
    ['other content', deliveries(logged, change(received, { data: { order_id: 'p' } }))],
    ['deliveries in another order', deliveries(logged, received.toReversed())],
    [
      'too many attempts',
      checkDeliveries(
        [{ ...fine, isFailing: true }],
        [],
        change(logged, { status: 'failed', attempts: 6 }).slice(0, 1),
        [],
      ),
    ],
    ['a heap that grew', grown({ heap: 126 })],
    ['another process', grown({ pid: 2 })],
    ['handles', grown({ resources: { Timeout: 14 } })],
    ['rows that nothing clears', rows('public.unheard_of')],
    ['an internal error', onWire('400 Bad Request', refusal('INTERNAL_ERROR'))],
    ['another request id', onWire('404 Not Found', refusal('NOT_FOUND', 's'))],
    ['a reply that is cut', onWire('200 OK', '{"meta"', 100)],
    ['a body that is no JSON', onWire('200 OK', '{"meta"')],
  ])('report %s', (_, broken) => {
    expect(broken).toHaveLength(1)
  })
})
