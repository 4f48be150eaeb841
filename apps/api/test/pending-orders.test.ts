// The capability `pending-orders` over a real port: orders that the broker holds, changed, cancelled
// and followed until they end, also while no events are recorded.
import { beforeEach, expect, it } from 'vitest'
import { eventually, linkDesk, refusalOf } from './support/desk.ts'
import { useTestService } from './support/service.ts'
import type { Json } from './support/service.ts'

const service = useTestService([], {
  environment: { CAPABILITIES: 'pending-orders, trading-tools', WATCH_SECONDS: '2' },
})
const priceAt = (bid: number): void =>
  service.sandbox.prices.pin('EURUSD', { bid, ask: bid + 0.0002 })
beforeEach(() => priceAt(1.1))

let users = 0
const link = () => linkDesk(service, { user: `u-${(users += 1)}` })
const limit = { orderType: 'limit', price: 1.09, stopLoss: 1.05 }
const is =
  (status: string) =>
  (order: Json): boolean =>
    order.status === status

it('is open at the broker with its number, and filled within the time of the watch once its price is reached', async () => {
  const desk = await link()
  const placed = await desk.place({ ...limit, timeInForce: 'gtc', clientId: 'mine' })
  expect(placed).toMatchObject({ status: 'pending', ...limit, timeInForce: 'gtc' })
  const open = await eventually(() => desk.find(placed.id), is('open'))
  expect(open).toMatchObject({ ...limit, brokerOrderId: expect.stringMatching(/^\d+$/) })
  expect((await desk.get('/orders?status=open')).body.data).toMatchObject([{ id: placed.id }])
  priceAt(1.088)
  const since = performance.now()
  const filled = await eventually(() => desk.find(placed.id), is('filled'))
  expect(performance.now() - since).toBeLessThan(4_500)
  expect(filled).toMatchObject({
    filledVolume: 0.1,
    brokerOrderId: open.brokerOrderId,
    positionId: expect.stringContaining(desk.accountId),
  })
  expect(refusalOf(await desk.call('DELETE', `/orders/${placed.id}`))).toMatchObject({
    status: 400,
    code: 'ORDER_NOT_CANCELLABLE',
    details: { status: 'filled' },
  })
})

it('waits with orderType stop_limit for its price, and then at its limit price', async () => {
  const desk = await link()
  const stopLimit = { orderType: 'stop_limit', price: 1.11, stopLimitPrice: 1.105, stopLoss: 1.05 }
  const { id } = await desk.place(stopLimit)
  expect(await eventually(() => desk.find(id), is('open'))).toMatchObject(stopLimit)
  const change = (terms: object) => desk.call('PUT', `/orders/${id}`, terms)
  const moved = { price: 1.112, stopLimitPrice: 1.106, stopLoss: 1.05 }
  expect((await change(moved)).body.data).toMatchObject(moved)
  priceAt(1.113)
  const held = () => desk.broker.orders().map(({ openPrice }) => openPrice)
  expect(held()).toEqual([1.106])
  expect(refusalOf(await change({ price: 1.12 }))).toMatchObject({
    status: 400,
    details: { issues: [{ path: 'price' }] },
  })
  const waiting = { ...moved, stopLimitPrice: 1.107 }
  expect((await change({ stopLimitPrice: 1.107 })).body.data).toMatchObject(waiting)
  expect(held()).toEqual([1.107])
  priceAt(1.106)
  expect(await eventually(() => desk.find(id), is('filled'))).toMatchObject({
    ...waiting,
    filledVolume: 0.1,
  })
})

it('is changed and cancelled once at the broker, alone or with all others of its account', async () => {
  const desk = await link()
  const [first, second] = [await desk.place(limit), await desk.place({ ...limit, price: 1.08 })]
  for (const { id } of [first, second]) await eventually(() => desk.find(id), is('open'))
  const change = await desk.call('PUT', `/orders/${first.id}`, { price: 1.07, stopLoss: null })
  expect([change.status, change.body.data]).toMatchObject([200, { status: 'open', price: 1.07 }])
  expect(change.body.data).not.toHaveProperty('stopLoss')
  expect(
    refusalOf(await desk.call('PUT', `/orders/${second.id}`, { takeProfit: 1.0 })),
  ).toMatchObject({ status: 400, code: 'INVALID_PRICE', details: { price: 1.08 } })
  const cancelled = await desk.call('DELETE', `/orders/${first.id}`)
  expect([cancelled.status, cancelled.body.data]).toMatchObject([
    200,
    { status: 'cancelled', cancelReason: 'user', price: 1.07 },
  ])
  const all = await desk.call('DELETE', `/orders?accountId=${desk.accountId}`)
  expect([all.status, all.body.data]).toEqual([200, [{ orderId: second.id, outcome: 'cancelled' }]])
  expect((await desk.get('/orders?status=open')).body.data).toEqual([])
})

it.each([
  ['is answered late', { kind: 'delay', ms: 1_000 }],
  ['is not answered', { kind: 'timeout', when: 'after' }],
] as const)(
  'is cancelled where its send %s and a halt that is to cancel orders was put on meanwhile',
  async (_, fault) => {
    const desk = await link()
    desk.fail('trade', fault)
    const { id } = await desk.place(limit)
    await expect.poll(() => desk.requests('trade')).toBe(1)
    const halt = await desk.call('POST', `/accounts/${desk.accountId}/halt`, { cancelOrders: true })
    expect(halt.body.data).toMatchObject({ halted: true, cancellations: [] })
    desk.heal()
    expect(await eventually(() => desk.find(id), is('cancelled'))).toMatchObject({
      cancelReason: 'halt',
    })
    expect(desk.broker.orders()).toEqual([])
  },
)

it('expires at the broker’s time, and is cancelled by a halt that is to cancel orders', async () => {
  const desk = await link()
  const expiresAt = new Date(Date.now() + 3_000).toISOString()
  const dated = await desk.place({ ...limit, timeInForce: 'gtd', expiresAt })
  expect(await eventually(() => desk.find(dated.id), is('expired'))).toMatchObject({
    timeInForce: 'gtd',
    expiredAt: expect.any(String),
  })
  const other = await desk.place(limit)
  await eventually(() => desk.find(other.id), is('open'))
  const halt = await desk.call('POST', `/accounts/${desk.accountId}/halt`, { cancelOrders: true })
  expect(halt.body.data).toMatchObject({
    halted: true,
    cancellations: [{ orderId: other.id, outcome: 'cancelled' }],
  })
  expect(await desk.find(other.id)).toMatchObject({ cancelReason: 'halt' })
})
