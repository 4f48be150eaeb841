// Trades that meet the faults of the simulated provider: each is sent once, its reported outcome
// agrees with the broker's own records, and a lookup afterwards finds what was executed.
import { times } from '@tradeport/testkit'
import { setTimeout as delay } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import {
  startSandbox,
  type AccountOptions,
  type Fault,
  type FaultRoute,
  type Sandbox,
} from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OrderTerms } from '@tradeport/domain/orders'
import type { OrderToSend, SentOrder } from '@tradeport/domain/ports'
import { dayMs, minuteMs, type Ticket } from '@tradeport/domain/primitives'
import type { MetaApiConfig } from '../src/index.ts'
import {
  account,
  always,
  apiWith,
  executedLots,
  order as plainOrder,
  rightOf,
  sentOrder,
  token,
  unknown,
} from './support.ts'

const [bid, ask] = [1.1, 1.1002]
/** Where nothing hangs, a slow machine must not end it. */
const patient = { tradeMs: 20_000, readMs: 20_000, fillMs: 20_000 }

let sandbox: Sandbox
let accounts = 0
beforeAll(async () => {
  sandbox = await startSandbox({ tokens: [token] })
})
afterAll(() => sandbox.close())

/** A new account with an order for it. */
const open = (options: Partial<AccountOptions> = {}, config: Partial<MetaApiConfig> = {}) => {
  accounts += 1
  const id = `p-${accounts}`
  sandbox.prices.pin('EURUSD', { bid, ask })
  const control = sandbox.addAccount({ id, region: 'london', ...options })
  const own = { ...account, providerAccountId: id }
  const clientId = `TP_${String(accounts).padStart(10, '0')}_abcdefghij`
  const order = { ...plainOrder, clientId }
  let aheadMs = 0
  const api = apiWith({
    clientUrl: `${sandbox.url}/{region}`,
    provisioningUrl: sandbox.url,
    clock: { now: Date.now },
    stopwatch: { elapsedMs: () => performance.now() + aheadMs },
    deadlines: patient,
    ...config,
  })
  const sentAt = (config.clock?.now ?? Date.now)()
  return {
    ...api,
    own,
    order,
    control,
    set: (route: FaultRoute, fault: Fault) => sandbox.faults.set(id, route, fault),
    clearFaults: () => sandbox.faults.clear({ account: id }),
    send: () => api.trading.placeOrder(own, order, always)(),
    passTime: (ms: number) => void (aheadMs += ms),
    look: (sought: Partial<SentOrder> = {}) =>
      api.trading.findOrder(own, sentOrder({ order, sentAt, ...sought }))(),
    requests: (route: string) => sandbox.requests.count({ account: id, route }),
    executed: () => executedLots(control, clientId),
  }
}

const anyTicket = expect.any(String)
const daysAgo = (days: number) => Date.now() - days * dayMs
const fillOf = (volume: number) => ({
  price: ask,
  volume,
  at: expect.any(Number),
  positionId: anyTicket,
})
const filled = { kind: 'filled', fill: fillOf(0.1) }
const half = { kind: 'partially_filled', fill: fillOf(0.05) }
const found = { kind: 'found', outcome: filled }
const nothing = { kind: 'nothing' }
const unreadable = { kind: 'unreadable' }
const accepted = { kind: 'open', brokerOrderId: expect.stringMatching(/^\d+$/) }
const outcomeUnknown = 'BrokerOutcomeUnknown'

/** A trade that hangs is given up after so long. */
const hangsForMs = 4_000
const configFor = ({ kind }: Fault): Partial<MetaApiConfig> =>
  kind === 'lost' ? { deadlines: { ...patient, tradeMs: hangsForMs } } : {}

const accountKinds: readonly Partial<AccountOptions>[] = [
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
]

// Together, because some wait for seconds.
describe.concurrent.each(accountKinds)('a trade of an account of %j', (options) => {
  it.each<readonly [Fault, unknown, string | undefined, number]>([
    [{ kind: 'slow-body', ms: 60 }, filled, undefined, 0.1],
    [{ kind: 'numeric-ids' }, filled, undefined, 0.1],
    [{ kind: 'legacy-trade-body' }, filled, undefined, 0.1],
    [{ kind: 'patch', remove: ['orderId', 'positionId'] }, filled, undefined, 0.1],
    [{ kind: 'positions-lag', reads: 3 }, filled, undefined, 0.1],
    [{ kind: 'partial-fill' }, half, undefined, 0.05],
    [{ kind: 'return-code', numericCode: 10_010, when: 'after' }, filled, undefined, 0.1],
    ...(['timeout', 'cut', 'lost', 'server-error'] as const).flatMap((kind) => [
      [{ kind, when: 'before' }, unknown, outcomeUnknown, 0] as const,
      [{ kind, when: 'after' }, unknown, outcomeUnknown, 0.1] as const,
    ]),
    [{ kind: 'return-code', numericCode: 10_012, when: 'after' }, unknown, outcomeUnknown, 0.1],
    [{ kind: 'return-code', numericCode: 136, when: 'after' }, unknown, 'TradeRejected', 0.1],
    [{ kind: 'return-code', numericCode: 136 }, { kind: 'refused' }, 'TradeRejected', 0],
  ])(
    'that meets %j is sent once; the order is %j, the change %s, and %d lots are executed',
    async (fault, answer, error, lots) => {
      const one = open(options, configFor(fault))
      one.set('trade', fault)
      const held = open(
        { ...options, positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.4 }] },
        configFor(fault),
      )
      held.set('trade', fault)
      const ticket = held.control.positions()[0]?.id as Ticket
      const close = held.positionTrading.closePosition(held.own, ticket, 0.1, always)
      // Together, because each may hang until its deadline.
      const [sent, closing] = await Promise.all([one.send(), close()])
      expect(sent).toMatchObject(answer as object)
      expect([one.requests('trade'), one.executed()]).toEqual([1, lots])
      one.clearFaults()
      one.passTime(60_000)
      const outcome = lots === 0.05 ? half : filled
      expect(await one.look()).toEqual(lots === 0 ? nothing : { ...found, outcome })
      expect(one.requests('trade')).toBe(1)

      expect(E.isLeft(closing) ? closing.left._tag : undefined).toBe(error)
      expect([held.requests('trade'), held.control.positions()[0]?.volume]).toEqual([
        1,
        expect.closeTo(0.4 - lots, 8),
      ])
    },
  )
})

const terms: OrderTerms = { price: 1.08, takeProfit: 1.3, timeInForce: 'gtc' }
const [asPlaced, asModified] = [
  { openPrice: 1.09, stopLoss: 1.05, takeProfit: 1.2 },
  { openPrice: 1.08, takeProfit: 1.3 },
]
const openPending = (options: Partial<AccountOptions>, config: Partial<MetaApiConfig> = {}) => {
  const one = open(options, config)
  const pending: OrderToSend = {
    ...one.order,
    limitOrStop: { type: 'limit', price: 1.09, timeInForce: 'gtc' },
  }
  const { placeOrder, modifyOrder, cancelOrder, heldOrders } = one.trading
  const number = () => one.control.orders()[0]?.id ?? ''
  return {
    ...one,
    number,
    place: placeOrder(one.own, pending, always),
    modify: () => modifyOrder(one.own, number(), terms, always)(),
    cancel: () => cancelOrder(one.own, number(), always)(),
    open: heldOrders(one.own),
    look: (sought: Partial<SentOrder> = {}) => one.look({ order: pending, ...sought }),
    /** The terms of what the broker holds. */
    book: () =>
      one.control
        .orders()
        .map(({ openPrice, stopLoss, takeProfit }) => ({ openPrice, stopLoss, takeProfit })),
  }
}
type Pending = ReturnType<typeof openPending>
const placed = async (
  options: Partial<AccountOptions>,
  config: Partial<MetaApiConfig> = {},
): Promise<Pending> => {
  const one = openPending(options, config)
  expect(await one.place()).toMatchObject({ kind: 'open' })
  return one
}
const expectBook = async ({ book, look, open }: Pending, shown: object | undefined) => {
  const found =
    shown === undefined ? { kind: expect.stringMatching(/^(found|nothing)$/) } : { kind: 'open' }
  expect([book(), await look()]).toMatchObject([shown === undefined ? [] : [shown], found])
  expect(rightOf(await open())).toHaveLength(book().length)
}

describe.concurrent.each(accountKinds)('a pending order of an account of %j', (options) => {
  it.each<readonly [Fault, object, string | undefined, boolean]>([
    [
      { kind: 'patch', remove: ['orderId'] },
      { kind: 'open', brokerOrderId: null },
      undefined,
      true,
    ],
    [{ kind: 'orders-lag', ms: 600_000 }, accepted, undefined, true],
    [{ kind: 'new-ticket' }, accepted, undefined, true],
    [{ kind: 'partial-fill' }, accepted, undefined, true],
    ...(['timeout', 'cut', 'lost'] as const).flatMap((kind) => [
      [{ kind, when: 'before' }, unknown, outcomeUnknown, false] as const,
      [{ kind, when: 'after' }, unknown, outcomeUnknown, true] as const,
    ]),
    [{ kind: 'return-code', numericCode: 10_012, when: 'after' }, unknown, outcomeUnknown, true],
  ])(
    'that meets %j is placed, modified and cancelled once: %j, %s',
    async (fault, answer, error, isMade) => {
      const place = async () => {
        const one = openPending(options, configFor(fault))
        one.set('trade', fault)
        expect(await one.place()).toMatchObject(answer)
        expect(one.requests('trade')).toBe(1)
        one.passTime(60_000)
        await expectBook(one, isMade ? asPlaced : undefined)
      }
      const change = async (write: 'modify' | 'cancel', after: object | undefined) => {
        const held = await placed(options, configFor(fault))
        held.set('trade', fault)
        const changed = await held[write]()
        expect(E.isLeft(changed) ? changed.left._tag : undefined).toBe(error)
        expect(held.requests('trade')).toBe(2)
        held.passTime(60_000)
        await expectBook(held, isMade ? after : asPlaced)
      }
      // Together, because each may hang until its deadline.
      await Promise.all([place(), change('modify', asModified), change('cancel', undefined)])
    },
  )
})

describe.each(accountKinds)('a pending order of an account of %j', (options) => {
  it('that is placed before it waits is not lost', async () => {
    const one = openPending(options)
    one.set('trade', { kind: 'placed', reads: 8, times: 1 })
    expect(await one.place()).toMatchObject(accepted)
    expect(await one.look()).toEqual(nothing)
    await one.look()
    expect(await one.look()).toMatchObject({ kind: 'open', order: { price: 1.09 } })
  })

  it('that was refused in doubt is unknown where the terminal alone has it, and late', async () => {
    const one = openPending(options)
    one.set('trade', { kind: 'return-code', numericCode: 136 })
    const placing = one.place()
    await expect.poll(() => one.requests('trade')).toBe(1)
    one.set('trade', { kind: 'orders-lag', ms: 600_000 })
    const { symbol, volume, clientId } = one.order
    await delay(500)
    one.control.trade({
      actionType: 'ORDER_TYPE_BUY_LIMIT',
      symbol,
      volume,
      openPrice: 1.09,
      clientId,
    })
    expect(await placing).toEqual(unknown)
  })

  it('that another client changes or cancels is shown so', async () => {
    const one = await placed(options)
    const orderId = one.number()
    one.control.trade({ actionType: 'ORDER_MODIFY', orderId, openPrice: 1.07 }, 'CLIENT')
    expect(await one.look()).toMatchObject({ kind: 'open', order: { price: 1.07 } })
    one.control.trade({ actionType: 'ORDER_CANCEL', orderId }, 'CLIENT')
    const cancelled = { outcome: { kind: 'cancelled', reason: 'broker', at: expect.any(Number) } }
    expect(await one.look()).toMatchObject(cancelled)
    // Unless it is known to be ours, another order may yet take its place.
    const cancellation = { isConfirmed: false }
    expect(await one.look({ cancellation })).toEqual({ kind: 'open' })
    const missing = { since: Date.now() - minuteMs, lookups: 1 }
    expect(await one.look({ cancellation, missing })).toMatchObject(cancelled)
    expect(await one.trading.cancelOrder(one.own, orderId, always)()).toEqual(
      E.left({ _tag: 'OrderGone' }),
    )
  })

  it('that has waited for months is found cancelled in the records since it was last held', async () => {
    const one = await placed(options)
    one.control.addDeals(
      times(1_500, (index) => ({
        id: `d-${index}`,
        type: 'DEAL_TYPE_BALANCE',
        time: new Date(daysAgo(80 - index / 20)).toISOString(),
        profit: 1,
      })) as never,
    )
    await one.cancel()
    const pages = async (unexecutedAt: number) => {
      const before = one.requests('deals')
      const answer = await one.look({ sentAt: daysAgo(80), unexecutedAt })
      return [answer.kind, one.requests('deals') - before]
    }
    expect(await pages(daysAgo(80))).toEqual(['found', 2])
    expect(await pages(daysAgo(0.5))).toEqual(['found', 1])
  })

  it('that is filled in parts is open until all of it is filled', async () => {
    const one = openPending(options)
    one.set('trade', { kind: 'partial-fill', times: 1 })
    await one.place()
    sandbox.prices.pin('EURUSD', { bid: 1.085, ask: 1.0852 })
    const first = { kind: options.platform === 'mt4' ? 'found' : 'open' }
    expect(await one.look()).toMatchObject(first)
    sandbox.prices.pin('EURUSD', { bid: 1.084, ask: 1.0842 })
    expect(await one.look()).toMatchObject({
      kind: 'found',
      outcome: { kind: 'filled', fill: { volume: 0.1 } },
    })
    expect(one.executed()).toBe(0.1)
  })
})

const lists = ['positions', 'orders', 'history-orders', 'deals'] as const
const unreadableList: Fault = { kind: 'cut', when: 'before' }
const forget: Fault = { kind: 'patch', remove: ['clientId', 'comment'] }

describe('an order', () => {
  it('that is accepted before it is filled is placed, then unfinished, then filled; also found by its number alone', async () => {
    const one = open()
    one.set('trade', { kind: 'placed', reads: 8 })
    const answer = await one.send()
    expect(answer).toEqual({
      kind: 'accepted',
      brokerOrderId: expect.stringMatching(/^\d+$/),
    })
    expect([one.executed(), await one.look()]).toEqual([0, { kind: 'unfinished' }])
    for (const route of lists) one.set(route, forget)
    expect(await one.look()).toEqual(unreadable)
    expect(
      await one.look({ brokerOrderId: answer.kind === 'accepted' ? answer.brokerOrderId : null }),
    ).toMatchObject({ kind: 'found' })
  })

  it.each<[FaultRoute[], object]>([
    [['positions'], filled],
    [['deals'], filled],
    [['positions', 'deals'], { kind: 'filled', fill: { positionId: anyTicket } }],
  ])('that is filled is described as far as it can be read, without %j', async (routes, answer) => {
    const one = open()
    for (const route of routes) one.set(route, unreadableList)
    expect(await one.send()).toEqual(answer)
  })

  it('that is filled in part has all its parts, although the lists showed only the first', async () => {
    const one = open()
    one.set('trade', { kind: 'partial-fill' })
    const { clientId } = one.order
    const first = { symbol: 'EURUSD', volume: 0.02, clientId, time: new Date().toISOString() }
    const lag = (route: FaultRoute, row: object) =>
      one.set(route, { kind: 'reply', status: 200, body: [{ ...first, ...row }], times: 1 })
    lag('positions', { id: '1', type: 'POSITION_TYPE_BUY', openPrice: ask })
    lag('deals', { id: '2', type: 'DEAL_TYPE_BUY', price: ask, profit: 0, positionId: '1' })
    expect(await one.send()).toEqual(half)
  })

  it.each<[string, Fault]>([
    ['deals', { kind: 'cut', when: 'after', skip: 1, times: 50 }],
    ['a position', { kind: 'reply', status: 200, body: [] }],
  ])(
    'of which %s alone show a part is not filled, although the broker called it done',
    async (_, fault) => {
      const one = open({}, { deadlines: { ...patient, fillMs: 600 } })
      one.set('trade', { kind: 'partial-fill' })
      const done = { numericCode: 10_009, stringCode: 'TRADE_RETCODE_DONE' }
      sandbox.faults.add(one.own.providerAccountId, 'trade', { kind: 'patch', set: done })
      one.set('deals', fault)
      expect(await one.send()).toMatchObject({ kind: 'accepted', isPartlyExecuted: true })
      sandbox.faults.clear({ account: one.own.providerAccountId, route: 'deals' })
      one.passTime(60_000)
      expect(await one.look()).toEqual({ kind: 'found', outcome: half })
    },
  )

  it('that lost its client id everywhere is filled by its answer, and never absent', async () => {
    const one = open()
    for (const route of lists) one.set(route, forget)
    expect(await one.send()).toEqual(filled)
    expect(await one.look()).toEqual(unreadable)
  })
})

/** An order that was executed while its answer was lost. */
const sendAndLose = async (
  options: Partial<AccountOptions> = {},
  config: Partial<MetaApiConfig> = {},
) => {
  const one = open(options, config)
  one.set('trade', { kind: 'cut', when: 'after', times: 1 })
  expect(await one.send()).toEqual(unknown)
  return one
}

const held = (side: 'buy' | 'sell', volume: number): Partial<AccountOptions> => ({
  marginMode: 'netting',
  startBalance: 100_000,
  positions: [{ symbol: 'EURUSD', side, volume, clientId: 'TE_HELD_1' }],
})

describe('an executed order whose answer was lost is found', () => {
  it.each<Partial<AccountOptions>>([
    {},
    { platform: 'mt4' },
    { platform: 'mt4', mt4PartialTicket: 'same' },
    // It adds to a position, reduces one, closes one and reverses one.
    held('buy', 0.3),
    held('sell', 0.3),
    held('sell', 0.1),
    held('sell', 0.04),
  ])('on an account of %j, also after similar ones and after its stop loss', async (options) => {
    const one = await sendAndLose(options)
    expect(await one.look()).toEqual(found)
    sandbox.prices.pin('EURUSD', { bid: 1.12, ask: 1.13 })
    one.control.trade({
      actionType: 'ORDER_TYPE_BUY',
      symbol: 'EURUSD',
      volume: 0.1,
      clientId: 'TP_9999999999_abcdefghij',
    })
    sandbox.prices.pin('EURUSD', { bid: 1.04, ask: 1.0402 })
    expect(await one.look()).toEqual(found)
  })

  it.each(lists)('if %s cannot be read', async (route) => {
    const one = await sendAndLose()
    one.set(route, unreadableList)
    expect(await one.look()).toEqual(found)
  })

  it.each([3_600_000, -3_600_000, 30 * 3_600_000])(
    'in the deals alone, with our clock %d ms ahead; and without its client id it is not absent',
    async (aheadMs) => {
      const one = await sendAndLose({}, { clock: { now: () => Date.now() + aheadMs } })
      for (const route of ['positions', 'history-orders'] as const) one.set(route, unreadableList)
      // Any answer shows the broker's time.
      await one.look()
      expect(await one.look()).toEqual(found)
      for (const route of lists) one.set(route, forget)
      expect(await one.look()).toEqual(unreadable)
    },
  )

  it.each([
    ['hedging', ['deals', 'history-orders'], found],
    ['hedging', ['deals'], found],
    // Others may have changed the position while it waited.
    ['netting', ['deals', 'history-orders'], { kind: 'open' }],
  ] as const)(
    'as a pending one by its position on a %s account alone, without %j',
    async (marginMode, routes, answer) => {
      const one = await sendAndLose({ marginMode })
      const limitOrStop = { type: 'limit', price: 1.09, timeInForce: 'gtc' } as const
      for (const route of routes) one.set(route, { kind: 'reply', status: 200, body: [] })
      expect(await one.look({ order: { ...one.order, limitOrStop } })).toEqual(answer)
    },
  )

  it('with its price, which a deal shows while the account’s settings hang', async () => {
    const one = await sendAndLose({}, { deadlines: { ...patient, readMs: 2_000, fillMs: 1_000 } })
    one.set('account', { kind: 'lost' })
    one.set('positions', { kind: 'reply', status: 200, body: [] })
    one.set('deals', { kind: 'reply', status: 200, body: [], times: 1 })
    expect(await one.look()).toEqual(found)
  })

  it('by its position on a hedging account, while histories cannot be read', async () => {
    const one = await sendAndLose()
    for (const route of ['deals', 'history-orders'] as const) one.set(route, unreadableList)
    expect(await one.look()).toEqual(found)
  })

  it.each<[string, (clientId: string) => Fault]>([
    ['fails', () => unreadableList],
    [
      'shows a part',
      (clientId) => {
        const part = { state: 'ORDER_STATE_CANCELED', volume: 0.1, currentVolume: 0.05 }
        const row = { id: '1', type: 'ORDER_TYPE_BUY', clientId, ...part }
        return { kind: 'reply', status: 200, body: [row] }
      },
    ],
  ])('although a later read, for its price, %s', async (_, faultOf) => {
    const one = await sendAndLose({}, { deadlines: { ...patient, fillMs: 600 } })
    for (const route of ['positions', 'deals'] as const)
      one.set(route, { kind: 'reply', status: 200, body: [] })
    one.set('history-orders', { ...faultOf(one.order.clientId), skip: 1 })
    expect(await one.look()).toMatchObject({ kind: 'found', outcome: { kind: 'filled' } })
    expect(one.requests('history-orders')).toBeGreaterThan(1)
  })

  it('at the end of a history of several pages', async () => {
    const one = await sendAndLose()
    const row = { type: 'DEAL_TYPE_SELL', symbol: 'EURUSD', volume: 0.01, price: bid, profit: 0 }
    const time = new Date(Date.now() - 23 * 3_600_000).toISOString()
    one.control.addDeals(times(2_100, (index) => ({ ...row, id: String(50_000 + index), time })))
    for (const route of ['positions', 'history-orders'] as const) one.set(route, unreadableList)
    expect(await one.look()).toEqual(found)
    expect(one.requests('deals')).toBe(3)
  })
})

describe('an order is not absent', () => {
  const endless = times(1_000, (index) => ({
    id: String(index),
    type: 'DEAL_TYPE_BALANCE',
    profit: 0,
  }))
  it.each<readonly [FaultRoute, Fault]>([
    ...lists.map((route) => [route, unreadableList] as const),
    ['orders', { kind: 'rate-limit' }],
    ['positions', { kind: 'malformed-json' }],
    ['history-orders', { kind: 'wrong-shape', shape: 'null' }],
    ['deals', { kind: 'wrong-shape', shape: 'wrapped', synchronizing: true }],
    ['deals', { kind: 'reply', status: 200, body: endless }],
  ])('if %s cannot be read (%#)', async (route, fault) => {
    const one = open()
    one.set(route, fault)
    expect(await one.look()).toEqual(unreadable)
  })

  it('while a trade without a client id could be it, by its magic number', async () => {
    for (const [magic, answer] of [
      [undefined, unreadable],
      [7, nothing],
    ] as const) {
      const one = open()
      one.control.trade({ actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1, magic })
      expect(await one.look()).toEqual(answer)
      const ticketsOfOtherOrders = one.control.positions().map(({ id }) => id)
      expect(await one.look({ ticketsOfOtherOrders })).toEqual(nothing)
      // The account's own magic number is not known then.
      one.set('account', unreadableList)
      expect(await one.look()).toEqual(unreadable)
    }
  })
})
