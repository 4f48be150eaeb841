// A provider that fails while pending orders are placed, changed and cancelled: each write is sent
// once, its reply agrees with what the broker then holds, and the record agrees with it in the end.
import { isDeepStrictEqual } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished, type TestContext } from 'vitest'
import type { AccountOptions, Fault } from '@tradeport/sandbox-broker'
import { eventually, linkDesk, listRoutes } from './support/desk.ts'
import type { LinkedDesk } from './support/desk.ts'
import { providerToken, useTestService } from './support/service.ts'
import type { Json } from './support/service.ts'

const [bid, ask] = [1.1, 1.1002]
const tokens = Array.from({ length: 20 }, (_, n) => `token-at-the-provider-${n}`)
const service = useTestService([], {
  environment: { CAPABILITIES: 'pending-orders', WATCH_SECONDS: '2' },
  providerTokens: [providerToken, ...tokens],
})
const moveTo = (price: number): void =>
  service.sandbox.prices.pin('EURUSD', { bid: price, ask: price + 0.0002 })
beforeEach(() => service.sandbox.prices.pin('EURUSD', { bid, ask }))

const platforms: readonly Partial<AccountOptions>[] = [
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
]
const placed = { orderType: 'limit', price: 1.09, stopLoss: 1.05, takeProfit: 1.2 }
const terms = { price: 1.09, stopLoss: 1.05, takeProfit: 1.2 }
const newTerms = { price: 1.08, stopLoss: undefined, takeProfit: 1.2 }

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

let linked = 0
/** A provider that limits refuses a token for a while, so such a desk has a tenant of its own. */
const linkFor = (
  broker: Partial<AccountOptions>,
  isLimited = false,
  whenFinished = onTestFinished,
): Promise<LinkedDesk> => {
  linked += 1
  const user = `u-${linked}`
  // What is no longer looked at is no longer watched.
  whenFinished(() => service.setUp({ users: [{ id: user, removed: true }] }))
  return linkDesk(service, {
    user,
    broker,
    order: placed,
    ...(isLimited && { tenant: `t-${linked}`, providerToken: tokens.pop() ?? '' }),
  })
}
const statusOf = (desk: LinkedDesk, id: string, wanted: string): Promise<Json> =>
  eventually(
    () => desk.find(id),
    ({ status }) => status === wanted,
  )
const openOrder = async (desk: LinkedDesk): Promise<Json> =>
  statusOf(desk, (await desk.place()).id, 'open')

/** Once the watch has seen what the broker holds. */
const isOpenAsHeld = ({ expect: expectIn }: TestContext, desk: LinkedDesk, id: string) =>
  expectIn
    .poll(async () => {
      const order = await desk.find(id)
      const [shown, held] = [[shownOf(order)], bookOf(desk)]
      return isDeepStrictEqual(shown, held) ? order.status : { shown, held }
    })
    .toBe('open')

const change = (desk: LinkedDesk, id: string) =>
  desk.call('PUT', `/orders/${id}`, { price: newTerms.price, stopLoss: null })
const cancel = (desk: LinkedDesk, id: string) => desk.call('DELETE', `/orders/${id}`)

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
const done: Answer = [200]
const unknown: Answer = [504, 'BROKER_OUTCOME_UNKNOWN']
const unavailable: Answer = [503, 'BROKER_UNAVAILABLE']
const when = (moment: 'before' | 'after') => ({ when: moment })
const both = (answer: Answer): Pick<Row, 'changed' | 'cancelled'> => ({
  changed: answer,
  cancelled: answer,
})

const lostAfter = { placement: 'open', ...both(done), isMade: true } as const
const lostBefore = { placement: 'pending', ...both(unknown), isMade: false } as const
const rows: readonly Row[] = [
  { name: 'a 504 after it is done', trade: { kind: 'timeout', ...when('after') }, ...lostAfter },
  { name: 'a 504 before it is done', trade: { kind: 'timeout', ...when('before') }, ...lostBefore },
  { name: 'a connection cut after', trade: { kind: 'cut', ...when('after') }, ...lostAfter },
  { name: 'a connection cut before', trade: { kind: 'cut', ...when('before') }, ...lostBefore },
  { name: 'an answer cut short', trade: { kind: 'malformed-json' }, ...lostAfter },
  {
    name: 'the code 10012 after',
    trade: { kind: 'return-code', numericCode: 10_012, ...when('after') },
    ...lostAfter,
  },
  {
    name: 'an unknown code before',
    trade: { kind: 'return-code', numericCode: 99_999, ...when('before') },
    ...lostBefore,
  },
  { name: 'the code 10008', trade: { kind: 'placed', reads: 1 }, ...lostAfter },
  { name: 'a copy that lags', trade: { kind: 'orders-lag', ms: 600_000 }, ...lostAfter },
  { name: 'another number', trade: { kind: 'new-ticket' }, ...lostAfter },
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
    trade: { kind: 'timeout', ...when('after') },
    lists: { kind: 'patch', remove: ['clientId', 'comment'] },
    placement: 'pending',
    ...both(done),
    isMade: true,
  },
  {
    name: 'a 504 after, and lists that cannot be read',
    trade: { kind: 'timeout', ...when('after') },
    lists: { kind: 'timeout' },
    placement: 'pending',
    // A change is sent once it is known what the broker holds; a cancellation needs only the number.
    changed: unavailable,
    cancelled: unknown,
    isMade: true,
  },
]

describe.each(rows)('a write that meets $name', (row) => {
  const { trade, lists, placement } = row
  const link = ({ onTestFinished: whenFinished }: TestContext, broker: Partial<AccountOptions>) =>
    linkFor(broker, trade.kind === 'rate-limit', whenFinished)
  const fail = (desk: LinkedDesk): void => {
    desk.fail('trade', trade)
    if (lists !== undefined) for (const route of listRoutes) desk.fail(route, lists)
  }

  // Together, because most of their time passes between lookups.
  it.concurrent.for(platforms)(
    'places an order on %j once, as the broker then holds it',
    async (broker, test) => {
      const desk = await link(test, broker)
      fail(desk)
      const { id } = await desk.place()
      await test.expect.poll(desk.broker.sends).toBe(1)
      expect(await statusOf(desk, id, placement)).toMatchObject({ status: placement })
      await test.expect.poll(() => bookOf(desk)).toMatchObject(row.isMade ? [terms] : [])
      expect(desk.broker.sends()).toBe(1)
      desk.heal()
      if (
        placement === 'rejected' ||
        (placement === 'pending' && !row.isMade && trade.kind !== 'rate-limit')
      )
        return
      await isOpenAsHeld(test, desk, id)
      expect(desk.broker.sends()).toBe(row.isMade ? 1 : 2)
    },
  )

  it.concurrent.for(
    platforms.flatMap((broker) =>
      (['changed', 'cancelled'] as const).map((write) => [write, broker] as const),
    ),
  )('is answered as the order was %s on %j', async ([write, broker], test) => {
    const desk = await link(test, broker)
    const { id } = await openOrder(desk)
    fail(desk)
    const { status, body } = await (write === 'changed' ? change : cancel)(desk, id)
    const wanted = row[write]
    expect([status, body.error?.code]).toEqual([wanted[0], wanted[1]])
    const isSent = wanted[0] !== 503
    expect(desk.broker.sends()).toBe(isSent ? 2 : 1)
    const isMade = row.isMade && isSent
    const made = write === 'changed' ? [newTerms] : []
    expect(bookOf(desk)).toMatchObject(isMade ? made : [terms])
    if (status === 200 && write === 'changed') expect(shownOf(body.data)).toMatchObject(newTerms)
    if (status === 200 && write === 'cancelled')
      expect(body.data).toMatchObject({ status: 'cancelled', cancelReason: 'user' })
    desk.heal()
    if (bookOf(desk).length > 0) await isOpenAsHeld(test, desk, id)
    else
      expect(await statusOf(desk, id, 'cancelled')).toMatchObject({
        status: 'cancelled',
        cancelReason: 'user',
      })
    expect(desk.broker.sends()).toBe(isSent ? 2 : 1)
  })
})

describe.each(platforms)('an open order on %j', (broker) => {
  it.each([
    ['is filled', 'filled', () => moveTo(1.08)],
    [
      'is cancelled at the terminal',
      'cancelled',
      (desk: LinkedDesk) =>
        desk.broker.trade({ actionType: 'ORDER_CANCEL', orderId: bookOf(desk)[0]?.brokerOrderId }),
    ],
  ] as const)('that %s shows so by the watch', async (_, status, happen) => {
    const desk = await linkFor(broker)
    const { id } = await openOrder(desk)
    happen(desk)
    expect((await statusOf(desk, id, status)).status).toBe(status)
  })

  it('that expires shows so by the watch, as of its expiry', async () => {
    const desk = await linkFor(broker)
    const expiresAt = new Date(Date.now() + 4_000).toISOString()
    const { id } = await desk.place({ timeInForce: 'gtd', expiresAt })
    expect(await statusOf(desk, id, 'expired')).toMatchObject({
      status: 'expired',
      expiresAt,
      expiredAt: expiresAt,
    })
  })

  it('that is filled in parts is filled once all of it is', async () => {
    const desk = await linkFor(broker)
    desk.fail('trade', { kind: 'partial-fill', times: 1 })
    const { id } = await openOrder(desk)
    const isWhole = broker.platform === 'mt4'
    moveTo(1.08)
    const rest = () => desk.broker.orders().map(({ currentVolume }) => currentVolume)
    await expect.poll(rest).toEqual(isWhole ? [] : [0.05])
    if (!isWhole) expect((await desk.find(id)).status).toBe('open')
    moveTo(1.079)
    expect(await statusOf(desk, id, 'filled')).toMatchObject({
      status: 'filled',
      filledVolume: 0.1,
    })
    expect(desk.broker.opened()).toHaveLength(isWhole ? 1 : 2)
  })

  it('that gets another number at the broker is followed under it', async () => {
    const desk = await linkFor(broker)
    const { id } = await openOrder(desk)
    const [row] = desk.broker.orders()
    desk.broker.trade({ actionType: 'ORDER_CANCEL', orderId: row?.id })
    desk.broker.trade({
      actionType: row?.['type'],
      symbol: 'EURUSD',
      volume: 0.1,
      openPrice: 1.07,
      clientId: row?.['clientId'],
    })
    const order = await eventually(
      () => desk.find(id),
      ({ price }) => price === 1.07,
    )
    expect(order.status).toBe('open')
    expect([shownOf(order)]).toEqual(bookOf(desk))
    expect((await cancel(desk, id)).body.data).toMatchObject({ status: 'cancelled' })
    expect(bookOf(desk)).toEqual([])
  })

  it('that was filled first can be neither changed nor cancelled', async () => {
    for (const [write, code] of [
      [change, 'ORDER_NOT_MODIFIABLE'],
      [cancel, 'ORDER_NOT_CANCELLABLE'],
    ] as const) {
      moveTo(bid)
      const desk = await linkFor(broker)
      const { id } = await openOrder(desk)
      moveTo(1.08)
      const { status, body } = await write(desk, id)
      expect([status, body.error]).toMatchObject([400, { code, details: { status: 'filled' } }])
      expect(await desk.find(id)).toMatchObject({
        status: 'filled',
        fillPrice: 1.0802,
        filledVolume: 0.1,
      })
    }
  })
})
