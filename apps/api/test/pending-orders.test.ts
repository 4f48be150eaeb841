// The capability `pending-orders` over a real port: orders that the broker holds, changed,
// cancelled and followed until they end, also while no events are recorded and where the provider
// fails. What the adapter answers to each fault on each platform is tested in
// packages/broker-metaapi.
import { isDeepStrictEqual } from 'node:util'
import { beforeEach, describe, expect, it, type TestContext } from 'vitest'
import type { Fault } from '@tradeport/sandbox-broker'
import { eventually, linkOwnDesk, listRoutes, refusalOf } from './support/desk.ts'
import type { LinkedDesk } from './support/desk.ts'
import { useTestService } from './support/service.ts'
import type { Json } from './support/service.ts'

const logged: Json[] = []
const service = useTestService([], {
  onLogLine: (line) => logged.push(JSON.parse(line)),
  environment: { CAPABILITIES: 'pending-orders, trading-tools', WATCH_SECONDS: '2' },
})
const priceAt = (bid: number): void =>
  service.sandbox.prices.pin('EURUSD', { bid, ask: bid + 0.0002 })
beforeEach(() => priceAt(1.1))

const link = () => linkOwnDesk(service)
const limit = { orderType: 'limit', price: 1.09, stopLoss: 1.05 }
const is =
  (status: string) =>
  (order: Json): boolean =>
    order.status === status
const openOrder = async (desk: LinkedDesk, terms: object = limit): Promise<Json> => {
  const { id } = await desk.place(terms)
  return eventually(() => desk.find(id), is('open'))
}
/** What the broker holds, as an order of ours would show it. */
const bookOf = ({ broker }: LinkedDesk) =>
  broker.orders().map(({ id: brokerOrderId, openPrice: price, stopLoss, takeProfit }) => ({
    brokerOrderId,
    price,
    stopLoss,
    takeProfit,
  }))
const shownOf = ({ brokerOrderId, price, stopLoss, takeProfit }: Json) => ({
  brokerOrderId,
  price,
  stopLoss,
  takeProfit,
})
const change = (desk: LinkedDesk, id: string, terms: object) =>
  desk.call('PUT', `/orders/${id}`, terms)
const cancel = (desk: LinkedDesk, id: string) => desk.call('DELETE', `/orders/${id}`)

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
})

it('waits with orderType stop_limit for its price, and then at its limit price', async () => {
  const desk = await link()
  const stopLimit = { orderType: 'stop_limit', price: 1.11, stopLimitPrice: 1.105, stopLoss: 1.05 }
  const { id, ...shown } = await openOrder(desk, stopLimit)
  expect(shown).toMatchObject(stopLimit)
  const moved = { price: 1.112, stopLimitPrice: 1.106, stopLoss: 1.05 }
  expect((await change(desk, id, moved)).body.data).toMatchObject(moved)
  priceAt(1.113)
  const held = () => desk.broker.orders().map(({ openPrice }) => openPrice)
  expect(held()).toEqual([1.106])
  expect(refusalOf(await change(desk, id, { price: 1.12 }))).toMatchObject({
    status: 400,
    details: { issues: [{ path: 'price' }] },
  })
  const waiting = { ...moved, stopLimitPrice: 1.107 }
  expect((await change(desk, id, { stopLimitPrice: 1.107 })).body.data).toMatchObject(waiting)
  expect(held()).toEqual([1.107])
  priceAt(1.106)
  expect(await eventually(() => desk.find(id), is('filled'))).toMatchObject({
    ...waiting,
    filledVolume: 0.1,
  })
})

it('is changed, cancelled by its user, alone or with all others of its account, and by a halt, and expires at the broker’s time', async () => {
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
  expect((await desk.get('/orders?status=open')).body.data).toEqual([])
  const other = await openOrder(desk)
  const halt = await desk.call('POST', `/accounts/${desk.accountId}/halt`, { cancelOrders: true })
  expect(halt.body.data).toMatchObject({
    halted: true,
    cancellations: [{ orderId: other.id, outcome: 'cancelled' }],
  })
  expect(await desk.find(other.id)).toMatchObject({ cancelReason: 'halt' })
})

it('is cancelled at the terminal, which the watch shows, and the log says why it saw nothing while the history could not be read', async () => {
  const desk = await link()
  const { id, brokerOrderId } = await openOrder(desk)
  desk.fail('deals', { kind: 'server-error' })
  await expect
    .poll(() => logged)
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

const terms = { price: 1.09, stopLoss: 1.05, takeProfit: 1.2 }
const newTerms = { price: 1.08, stopLoss: undefined, takeProfit: 1.2 }

type Answer = readonly [status: number, code?: string]
interface Row {
  readonly name: string
  readonly trade: Fault
  /** On the lists in which an order may be found. */
  readonly lists?: Fault
  /** As the placement shows while the faults last. */
  readonly placement: 'open' | 'pending' | 'rejected'
  /** The replies to a change and to a cancellation. */
  readonly changed: Answer
  readonly cancelled: Answer
  /** Whether the broker carries the write out. */
  readonly isMade: boolean
}
const both = (answer: Answer): Pick<Row, 'changed' | 'cancelled'> => ({
  changed: answer,
  cancelled: answer,
})
const made = { placement: 'open', ...both([200]), isMade: true } as const
const [before, after] = (['before', 'after'] as const).map((when): Fault => ({
  kind: 'timeout',
  when,
})) as [Fault, Fault]

const rows: readonly Row[] = [
  { name: 'a 504 after it is done', trade: after, ...made },
  { name: 'a copy that lags', trade: { kind: 'orders-lag', ms: 600_000 }, ...made },
  { name: 'another number', trade: { kind: 'new-ticket' }, ...made },
  {
    name: 'a 504 before it is done',
    trade: before,
    placement: 'pending',
    ...both([504, 'BROKER_OUTCOME_UNKNOWN']),
    isMade: false,
  },
  {
    name: 'a refusal',
    trade: { kind: 'return-code', numericCode: 10_018 },
    placement: 'rejected',
    ...both([422, 'TRADE_REJECTED']),
    isMade: false,
  },
  {
    name: 'a limit',
    trade: { kind: 'rate-limit', retryAfterSeconds: 3 },
    placement: 'pending',
    ...both([429, 'BROKER_RATE_LIMITED']),
    isMade: false,
  },
  {
    name: 'a 504 after, and lists without client ids',
    trade: after,
    lists: { kind: 'patch', remove: ['clientId', 'comment'] },
    ...made,
    placement: 'pending',
  },
  {
    name: 'a 504 after, and lists that cannot be read',
    trade: after,
    lists: { kind: 'timeout' },
    placement: 'pending',
    // A change is sent once it is known what the broker holds; a cancellation needs only the
    // number.
    changed: [503, 'BROKER_UNAVAILABLE'],
    cancelled: [504, 'BROKER_OUTCOME_UNKNOWN'],
    isMade: true,
  },
]

const fail = (desk: LinkedDesk, { trade, lists }: Row): void => {
  desk.fail('trade', trade)
  if (lists !== undefined) for (const route of listRoutes) desk.fail(route, lists)
}
/** Once the watch has seen what the broker holds. */
const isOpenAsHeld = ({ expect: expectIn }: TestContext, desk: LinkedDesk, id: string) =>
  expectIn
    .poll(async () => {
      const found = await desk.find(id)
      const [shown, held] = [[shownOf(found)], bookOf(desk)]
      return isDeepStrictEqual(shown, held) ? found.status : { shown, held }
    })
    .toBe('open')

// Together, because most of their time passes between lookups.
describe('a write', () => {
  const order = { orderType: 'limit', ...terms }
  it.concurrent.for(rows)(
    'that meets $name places an order once, as the broker then holds it',
    async (row, test) => {
      const { placement, isMade } = row
      const desk = await linkOwnDesk(service, { order })
      fail(desk, row)
      const { id } = await desk.place()
      await test.expect.poll(desk.broker.sends).toBe(1)
      expect(await eventually(() => desk.find(id), is(placement))).toMatchObject({
        status: placement,
      })
      await test.expect.poll(() => bookOf(desk)).toMatchObject(isMade ? [terms] : [])
      expect(desk.broker.sends()).toBe(1)
      desk.heal()
      if (!isMade && row.trade.kind !== 'rate-limit') return
      await isOpenAsHeld(test, desk, id)
      expect(desk.broker.sends()).toBe(isMade ? 1 : 2)
    },
  )

  it.concurrent.for(
    rows.flatMap((row) => (['changed', 'cancelled'] as const).map((write) => ({ ...row, write }))),
  )('that meets $name is answered as the order was $write', async (row, test) => {
    const { write } = row
    const desk = await linkOwnDesk(service, { order })
    const { id } = await openOrder(desk, {})
    fail(desk, row)
    const { status, body } = await (write === 'changed'
      ? change(desk, id, { price: newTerms.price, stopLoss: null })
      : cancel(desk, id))
    expect([status, body.error?.code]).toEqual([row[write][0], row[write][1]])
    const isSent = status !== 503
    const held = write === 'changed' ? [newTerms] : []
    expect(desk.broker.sends()).toBe(isSent ? 2 : 1)
    expect(bookOf(desk)).toMatchObject(row.isMade && isSent ? held : [terms])
    if (status === 200)
      expect(body.data).toMatchObject(
        write === 'changed'
          ? { price: 1.08, takeProfit: 1.2 }
          : { status: 'cancelled', cancelReason: 'user' },
      )
    desk.heal()
    if (bookOf(desk).length > 0) await isOpenAsHeld(test, desk, id)
    else
      expect(await eventually(() => desk.find(id), is('cancelled'))).toMatchObject({
        cancelReason: 'user',
      })
    expect(desk.broker.sends()).toBe(isSent ? 2 : 1)
  })
})
