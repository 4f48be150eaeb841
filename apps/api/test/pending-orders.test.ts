// The capability `pending-orders` over a real port: orders that the broker holds, changed,
// cancelled and followed until they end, also while no events are recorded and where the provider
// fails. What the adapter answers to each fault on each platform is tested in
// packages/broker-metaapi.
import { beforeEach, expect, it } from 'vitest'
import type { Fault, FaultRoute } from '@tradeport/sandbox-broker'
import {
  eventually,
  keyOf,
  linkDesk,
  linkOwnDesk,
  listRoutes,
  pinPrice,
  refusalOf,
  type LinkedDesk,
} from './support/desk.ts'
import { useTestService, type Json } from './support/service.ts'

const service = useTestService([], {
  environment: { CAPABILITIES: 'pending-orders, trading-tools', WATCH_SECONDS: '2' },
})
beforeEach(() => pinPrice(service.sandbox, 1.1))

const link = () => linkOwnDesk(service)
const limit = { orderType: 'limit', price: 1.09, stopLoss: 1.05 }
const is = (status: string) => (order: Json) => order.status === status
const openOrder = async (desk: LinkedDesk, terms: object = limit) => {
  const { id } = await desk.place(terms)
  return eventually(() => desk.find(id), is('open'))
}
/** What the broker holds, as an order of ours would show it. */
const bookOf = ({ broker }: LinkedDesk) =>
  broker.orders().map(({ id: brokerOrderId, openPrice: price, stopLoss, takeProfit }) => ({
    brokerOrderId,
    price,
    ...(stopLoss !== undefined && { stopLoss }),
    takeProfit,
  }))
const change = (desk: LinkedDesk, id: string, terms: object) =>
  desk.call('PUT', `/orders/${id}`, terms)
const cancel = (desk: LinkedDesk, id: string) => desk.call('DELETE', `/orders/${id}`)

it('is open at the broker with its number, and filled within the time of the watch once its price is reached', async () => {
  const desk = await link()
  const placed = await desk.place({ ...limit, timeInForce: 'gtc', clientId: 'mine' })
  expect(placed).toMatchObject({ status: 'pending', ...limit, timeInForce: 'gtc' })
  const open = await eventually(() => desk.find(placed.id), is('open'))
  expect(open).toMatchObject({ ...limit, brokerOrderId: expect.stringMatching(/^\d+$/) })
  expect(await desk.read('/orders?status=open')).toMatchObject([{ id: placed.id }])
  pinPrice(service.sandbox, 1.088)
  const since = performance.now()
  const filled = await eventually(() => desk.find(placed.id), is('filled'))
  expect(performance.now() - since).toBeLessThan(9_000)
  expect(filled).toMatchObject({
    filledVolume: 0.1,
    brokerOrderId: open.brokerOrderId,
    positionId: expect.stringContaining(desk.accountId),
  })
  expect(desk.broker.held()).toMatchObject([{ volume: 0.1, stopLoss: 1.05 }])
})

it('waits with orderType stop_limit for its price, and then at its limit price', async () => {
  const desk = await link()
  const stopLimit = { orderType: 'stop_limit', price: 1.11, stopLimitPrice: 1.105, stopLoss: 1.05 }
  const { id, ...shown } = await openOrder(desk, stopLimit)
  expect(shown).toMatchObject(stopLimit)
  const moved = { price: 1.112, stopLimitPrice: 1.106, stopLoss: 1.05 }
  expect((await change(desk, id, moved)).body.data).toMatchObject(moved)
  pinPrice(service.sandbox, 1.113)
  const held = () => desk.broker.orders().map(({ openPrice }) => openPrice)
  expect(held()).toEqual([1.106])
  expect(refusalOf(await change(desk, id, { price: 1.12 }))).toMatchObject({
    status: 400,
    details: { issues: [{ path: 'price' }] },
  })
  const waiting = { ...moved, stopLimitPrice: 1.107 }
  expect((await change(desk, id, { stopLimitPrice: 1.107 })).body.data).toMatchObject(waiting)
  expect(held()).toEqual([1.107])
  pinPrice(service.sandbox, 1.106)
  expect(await eventually(() => desk.find(id), is('filled'))).toMatchObject({
    ...waiting,
    filledVolume: 0.1,
  })
})

// From here on together, because most of their time passes between lookups; none moves the price.
it.concurrent('is changed, cancelled by its user, alone or with all others of its account, and by a halt, and expires at the broker’s time', async ({
  expect,
}) => {
  const desk = await link()
  const expiresAt = new Date(Date.now() + 4_000).toISOString()
  const dated = await desk.place({ ...limit, timeInForce: 'gtd', expiresAt })
  const [first, second] = [await openOrder(desk), await openOrder(desk, { ...limit, price: 1.08 })]
  const changed = await change(desk, first.id, { price: 1.07, stopLoss: null })
  expect([changed.status, changed.body.data]).toMatchObject([200, { status: 'open', price: 1.07 }])
  expect(changed.body.data).not.toHaveProperty('stopLoss')
  expect(refusalOf(await change(desk, second.id, { takeProfit: 1.0 }))).toMatchObject({
    status: 400,
    code: 'INVALID_PRICE',
    details: { price: 1.08 },
  })
  const cancelled = await cancel(desk, first.id)
  expect([cancelled.status, cancelled.body.data]).toMatchObject([
    200,
    { status: 'cancelled', cancelReason: 'user', price: 1.07 },
  ])
  expect(await eventually(() => desk.find(dated.id), is('expired'))).toMatchObject({
    timeInForce: 'gtd',
    expiresAt,
    expiredAt: expiresAt,
  })
  const all = await desk.call('DELETE', `/orders?accountId=${desk.accountId}`)
  expect([all.status, all.body.data]).toEqual([200, [{ orderId: second.id, outcome: 'cancelled' }]])
  expect(await desk.read('/orders?status=open')).toEqual([])
  const other = await openOrder(desk)
  const halt = await desk.call('POST', `/accounts/${desk.accountId}/halt`, { cancelOrders: true })
  expect(halt.body.data).toMatchObject({
    halted: true,
    cancellations: [{ orderId: other.id, outcome: 'cancelled' }],
  })
  expect(await desk.find(other.id)).toMatchObject({ cancelReason: 'halt' })
})

it.concurrent('is cancelled at the terminal, which the watch shows, and the log says why it saw nothing while the history could not be read', async ({
  expect,
}) => {
  const desk = await link()
  const { id, brokerOrderId } = await openOrder(desk)
  desk.fail('deals', { kind: 'server-error' })
  await expect
    .poll(() => service.logged)
    .toContainEqual(
      expect.objectContaining({
        event: 'journal_synchronisation',
        reason: expect.stringContaining('answered 500'),
      }),
    )
  desk.heal()
  desk.broker.trade({ actionType: 'ORDER_CANCEL', orderId: brokerOrderId })
  expect(await eventually(() => desk.find(id), is('cancelled'))).toMatchObject({
    cancelReason: 'broker',
  })
})

it.concurrent('is open again where the broker had cancelled it only to place it again, later, under another number', async ({
  expect,
}) => {
  const desk = await link()
  const { id, brokerOrderId } = await openOrder(desk)
  const clientId = desk.broker.orders()[0]?.['clientId']
  desk.broker.trade({ actionType: 'ORDER_CANCEL', orderId: brokerOrderId })
  const isCancelled = is('cancelled')
  expect(await eventually(() => desk.find(id), isCancelled)).toSatisfy(isCancelled)
  const { orderId } = desk.broker.trade({
    actionType: 'ORDER_TYPE_BUY_LIMIT',
    symbol: 'EURUSD',
    volume: 0.1,
    openPrice: limit.price,
    stopLoss: limit.stopLoss,
    clientId,
  })
  expect(await eventually(() => desk.find(id), is('open'))).toMatchObject({
    brokerOrderId: orderId,
    ...limit,
  })
  expect(await desk.read('/orders?status=open')).toMatchObject([{ id }])
  expect((await cancel(desk, id)).body.data).toMatchObject({ cancelReason: 'user' })
  expect([desk.broker.orders(), desk.broker.sends()]).toEqual([[], 2])
})

const ordered = { ...limit, takeProfit: 1.2 }

it.concurrent.for<[string, Fault, readonly FaultRoute[], number, object[]]>([
  ['placed', { kind: 'timeout', when: 'after' }, listRoutes, 200, [{ price: 1.09 }]],
  ['changed', { kind: 'orders-lag', ms: 600_000 }, [], 200, [{ price: 1.08 }]],
  ['cancelled', { kind: 'timeout', when: 'after' }, listRoutes, 504, []],
])(
  'is %s once where that meets %j and %j cannot be read, and is shown as the broker holds it',
  async ([write, trade, unreadable, status, held], test) => {
    const desk = await linkOwnDesk(service)
    const before = write === 'placed' ? undefined : await openOrder(desk, ordered)
    desk.fail('trade', trade)
    for (const route of unreadable) desk.fail(route, { kind: 'timeout' })
    const { id } = before ?? (await desk.place(ordered))
    const reply = await (write === 'changed'
      ? change(desk, id, { price: 1.08, stopLoss: null })
      : write === 'cancelled'
        ? cancel(desk, id)
        : desk.get(`/orders/${id}`))
    expect(reply.status).toBe(status)
    await test.expect.poll(() => bookOf(desk)).toMatchObject(held)
    desk.heal()
    await test.expect
      .poll(() => desk.find(id))
      .toMatchObject(bookOf(desk)[0] ?? { status: 'cancelled', cancelReason: 'user' })
    expect(desk.broker.sends()).toBe(write === 'placed' ? 1 : 2)
  },
)

it('is followed without the capability, while orders of halted accounts are sent, which the log warns of, and nothing else is there', async () => {
  const haltWarnings = () => service.logged.filter(({ event }) => event === 'halts_ignored')
  const desk = await link()
  const { id } = await openOrder(desk)
  const halted = await link()
  await halted.call('POST', `/accounts/${halted.accountId}/halt`, {})
  expect(haltWarnings()).toEqual([])
  await service.restart({ CAPABILITIES: '' })
  // One more was halted before.
  expect(haltWarnings()).toMatchObject([{ level: 40, accounts: 2 }])
  expect(await halted.placeAndWait()).toMatchObject({ status: 'filled' })
  const hooked = await linkDesk(service)
  await hooked.createWebhook({ url: 'https://example.com', eventTypes: ['position.closed'] })
  for (const path of ['/console', '/api/v1/events']) {
    // Not checked against the document, which has the routes.
    const url = `${service.apiUrl}${path}`
    expect((await fetch(url, { headers: { 'X-API-Key': keyOf('u-1') } })).status).toBe(404)
  }
  // Two rounds of the watch find it again at the broker, and the next that it is filled.
  const rounds = desk.requests('orders')
  await expect.poll(() => desk.requests('orders')).toBeGreaterThan(rounds + 1)
  pinPrice(service.sandbox, 1.088)
  expect(await eventually(() => desk.find(id), is('filled'))).toMatchObject({ status: 'filled' })
  expect(hooked.requests('deals')).toBe(0)
})
