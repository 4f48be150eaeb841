// Open orders: placed as pending ones, changed, cancelled, and followed by the watch.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import type { Account, BrokerAccount } from '../../src/accounts/account.ts'
import { refuse } from '../../src/errors.ts'
import { withoutKey, type OrderJob } from '../../src/ports/index.ts'
import {
  brokerClientId,
  type Order,
  type OrderOutcome,
  type OrderRequest,
} from '../../src/orders/order.ts'
import type { TermsChange } from '../../src/orders/order-terms.ts'
import { dayMs, hourMs, secondMs } from '../../src/primitives/instant.ts'
import { createHalts } from '../../src/use-cases/halts.ts'
import type { FakeOrderChange, FakePlacement } from '@tradeport/testkit'
import {
  brokerAccountOf,
  createOrderDesk,
  down,
  noon,
  owner,
  realPause,
  rightOf,
  stranger,
  tagOf,
  unavailable,
} from './desk.ts'

const limit: Partial<OrderRequest> = { orderType: 'limit', price: 1.1, stopLoss: 1.05 }
const caller = { owner }
const sentTo = { providerAccountId: 'provider-1', region: 'london' }
const moved = { providerAccountId: 'provider-1', region: 'singapore' }
const another = { providerAccountId: 'provider-2', region: 'london' }

const openDesk = (fields: object = {}) => {
  const desk = createOrderDesk()
  const account = desk.link({ tradeMode: 'demo', ...fields })
  const brokerAccount = brokerAccountOf(account)
  const { open } = desk
  const halts = createHalts({
    ...desk,
    ...open,
    closePositions: () => expect.fail('nothing is closed'),
  })
  const read = async (order: Order): Promise<Order> => (await desk.jobOf(order)).order
  return {
    ...desk,
    ...open,
    account,
    read,
    placement: async (order: Order): Promise<OrderJob['placement']> =>
      (await desk.jobOf(order)).placement,
    record: () => desk.place(account, limit),
    place: async (more: Partial<OrderRequest> = {}, placement: FakePlacement = 'accept') => {
      const order = await rightOf(desk.place(account, { ...limit, ...more }))
      desk.trading.next(placement)
      await desk.process(order)
      return order
    },
    follow: () => rightOf(open.followOpenOrders(brokerAccount)),
    clientIdOf: (order: Order) => brokerClientId(order.id),
    atBroker: () => rightOf(desk.trading.heldOrders(brokerAccount)),
    ...halts,
    haltAndCancel: () =>
      rightOf(
        halts.haltAccount(caller, { id: account.id, body: { cancelOrders: true }, ...withoutKey }),
      ),
  }
}

type Desk = ReturnType<typeof openDesk>

describe('a pending order', () => {
  it.each<[FakePlacement, string, string | undefined]>([
    ['accept', 'open', '1'],
    ['accept_without_number', 'open', undefined],
    ['accept_and_lose_the_answer', 'pending', undefined],
    ['lose_the_request', 'pending', undefined],
    ['fill', 'filled', undefined],
    ['refuse', 'rejected', undefined],
  ])('that meets %s at the broker is %s', async (placement, status, brokerOrderId) => {
    const { place, read, trading, runFor } = openDesk()
    const order = await place({ timeInForce: 'gtd', expiresAt: noon + dayMs }, placement)
    expect(await read(order)).toMatchObject({ status })
    expect((await read(order)).brokerOrderId).toBe(brokerOrderId)
    expect(trading.sent()).toMatchObject([
      { limitOrStop: { type: 'limit', price: 1.1, timeInForce: 'gtd', expiresAt: noon + dayMs } },
    ])
    await runFor(10 * 60)
    expect(trading.sent()).toHaveLength(1)
    const shown = {
      accept_without_number: 'open',
      accept_and_lose_the_answer: 'open',
      lose_the_request: 'rejected',
    }
    expect((await read(order)).status).toBe(Object(shown)[placement as string] ?? status)
  })

  it('that was accepted without a number is open, although another process looked it up before', async () => {
    const { record, process, read, trading } = openDesk()
    const order = await rightOf(record())
    trading.next('accept_without_number')
    const placeOrder: typeof trading.placeOrder =
      (...send) =>
      async () => {
        await process(order)
        return trading.placeOrder(...send)()
      }
    await process(order, 'no', { trading: { ...trading, placeOrder } })
    expect(await read(order)).toMatchObject({ status: 'open' })
  })

  it.each<[Partial<OrderRequest>, string, object?]>([
    [{ stopLoss: 1.1 }, 'InvalidPrice', { price: 1.1, level: 'stopLoss' }],
    [
      { timeInForce: 'gtd', expiresAt: noon },
      'ValidationError',
      { issues: [{ path: 'expiresAt' }] },
    ],
    [{ volume: 11 }, 'RiskLimitExceeded'],
    [{ timeInForce: 'day' }, 'OrderTypeNotSupportedByPlatform', { platform: 'mt4' }],
  ])('with %o is refused with %s', async (fields, tag, details = {}) => {
    const desk = createOrderDesk()
    const account = desk.link({ brokerType: 'mt4' })
    expect(await desk.place(account, { ...limit, ...fields })()).toMatchObject({
      left: { _tag: tag, ...details },
    })
  })

  it('counts towards the fifty while it is open', async () => {
    const { place, record, cancelOrder } = openDesk()
    const orders = []
    for (let count = 0; count < 50; count += 1) orders.push(await place())
    expect(await tagOf(record())).toBe('RiskLimitExceeded')
    await rightOf(cancelOrder(caller, { id: orders[0]!.id }))
    expect(await tagOf(record())).toBe('none')
  })
})

describe('a round of the watch', () => {
  it('stores what was changed at the broker, without asking for more while nothing is open', async () => {
    const { place, follow, trading, clientIdOf, read, runFor } = openDesk()
    const order = await place()
    expect(await follow()).toBe(false)
    trading.change(clientIdOf(order), { price: 1.2, stopLoss: undefined, brokerOrderId: '99' })
    await follow()
    expect(await read(order)).toMatchObject({
      status: 'open',
      brokerOrderId: '99',
      request: { price: 1.2 },
    })
    expect((await read(order)).request.stopLoss).toBeUndefined()
    await runFor(60 * 60)
    expect(trading.lookedUp()).toEqual([])
  })

  it.each<[OrderOutcome, object]>([
    [
      { kind: 'filled', fill: { price: 1.1 } },
      { status: 'filled', fill: { price: 1.1 } },
    ],
    [{ kind: 'partially_filled', fill: { volume: 0.1 } }, { status: 'partially_filled' }],
    [
      { kind: 'cancelled', reason: 'broker', at: 5 },
      { status: 'cancelled', cancelReason: 'broker', cancelledAt: 5 },
    ],
    [
      { kind: 'expired', at: 6 },
      { status: 'expired', expiredAt: 6 },
    ],
    [{ kind: 'rejected', reason: { code: 'X', message: 'x' } }, { status: 'rejected' }],
  ])('finds that an order ended as %o', async (outcome, end) => {
    const { place, follow, trading, clientIdOf, read, runFor } = openDesk()
    const order = await place()
    trading.end(clientIdOf(order), outcome)
    expect(await follow()).toBe(true)
    expect(await follow()).toBe(false)
    await runFor(1)
    expect(await read(order)).toMatchObject(end)
    expect(await follow()).toBe(false)
  })

  it('remembers twice a day that the broker held an order, whose end is searched from then', async () => {
    const { place, follow, wait, trading, clientIdOf, jobOf, runFor } = openDesk()
    const order = await place()
    const { version } = await jobOf(order)
    for (let hours = 0; hours < 60 * 24; hours += 1) {
      await follow()
      wait(hourMs)
    }
    expect((await jobOf(order)).version).toBe(version + 2 * 59 + 1)
    // What was executed from here on is searched for however long the rest waits.
    trading.change(clientIdOf(order), { isUnexecuted: false })
    wait(30 * dayMs)
    await follow()
    trading.end(clientIdOf(order), { kind: 'expired' })
    await follow()
    await runFor(1)
    const [{ sentAt, unexecutedAt, missing } = expect.fail('it is looked up')] = trading.lookedUp()
    const days = [sentAt, unexecutedAt, missing?.since].map((at = 0) => (at - noon) / dayMs)
    expect(days).toEqual([0, 59.5, 90])
  })

  it('never concludes anything from an order that no record shows any more', async () => {
    const { place, follow, trading, clientIdOf, read, placement, runFor, open } = openDesk()
    const order = await place()
    trading.lose(clientIdOf(order))
    await follow()
    await runFor(30 * 60)
    expect(await read(order)).toMatchObject({ status: 'open' })
    expect(await placement(order)).toMatchObject({ missing: { since: expect.any(Number) } })
    expect(trading.lookedUp().length).toBeGreaterThan(20)
    expect(await open.cancelOrder({ owner }, { id: order.id })()).toMatchObject({
      left: { _tag: 'BrokerUnavailable', isOrderMissing: true },
    })
    trading.end(clientIdOf(order), { kind: 'filled', fill: {} })
    await runFor(16 * 60)
    expect((await read(order)).status).toBe('filled')
  })
})

describe('a change of an open order', () => {
  it.each<[FakeOrderChange, string]>([
    ['done', 'none'],
    ['accept', 'none'],
    ['make_and_lose_the_answer', 'none'],
    ['lose_the_request', 'BrokerOutcomeUnknown'],
    ['refuse', 'TradeRejected'],
  ])('that meets %s is answered %s, and made as it was sent', async (trouble, tag) => {
    const { place, modifyOrder, trading, atBroker, read } = openDesk()
    const kept = { takeProfit: 1.2, timeInForce: 'gtd' } as const
    const expiresAt = noon + dayMs
    const order = await place({ ...kept, expiresAt })
    trading.nextChange(trouble)
    const changed = { price: 1.12, expiresAt: expiresAt + dayMs }
    expect(
      await tagOf(modifyOrder(caller, { id: order.id, body: { ...changed, stopLoss: null } })),
    ).toBe(tag)
    const isMade = tag === 'none'
    const terms = isMade ? changed : { price: 1.1, expiresAt }
    const stopLoss = isMade ? undefined : 1.05
    // What was not to change is sent as the broker holds it.
    expect(await atBroker()).toMatchObject([{ ...terms, ...kept, stopLoss }])
    const { request } = await read(order)
    expect(request).toMatchObject({ ...terms, ...kept })
    expect(request.stopLoss).toBe(stopLoss)
  })

  const stopLimit = { orderType: 'stop_limit', stopLimitPrice: 1.09 } as const
  it.each<[TermsChange, string, Partial<OrderRequest>?]>([
    [{ price: 1.05 }, 'InvalidPrice'],
    [{ stopLoss: 1.1 }, 'InvalidPrice'],
    [{ price: 1.06, stopLoss: null }, 'none'],
    // Compared with its stopLimitPrice, as it is after the change.
    [{ takeProfit: 1.095 }, 'none', stopLimit],
    [{ stopLoss: 1.095 }, 'InvalidPrice', stopLimit],
    [{ stopLimitPrice: 1.05 }, 'InvalidPrice', stopLimit],
    [{ expiresAt: noon }, 'ValidationError', { timeInForce: 'gtd', expiresAt: noon + dayMs }],
  ])('to %o is answered %s', async (change, tag, fields = {}) => {
    const { place, modifyOrder } = openDesk()
    const order = await place(fields)
    expect(await tagOf(modifyOrder(caller, { id: order.id, body: change }))).toBe(tag)
  })

  it('of a stop-limit order that was triggered moves its limit, and its record stays as ordered', async () => {
    const { place, follow, modifyOrder, trading, clientIdOf, read, atBroker } = openDesk()
    const ordered = { orderType: 'stop_limit', price: 1.1, stopLimitPrice: 1.09 } as const
    const order = await place(ordered)
    trading.change(clientIdOf(order), { price: 1.09, stopLimitPrice: undefined })
    await follow()
    expect(await read(order)).toMatchObject({ status: 'open', request: ordered })
    expect(await tagOf(modifyOrder(caller, { id: order.id, body: { price: 1.11 } }))).toBe(
      'ValidationError',
    )
    expect(await tagOf(modifyOrder(caller, { id: order.id, body: { takeProfit: 1.09 } }))).toBe(
      'InvalidPrice',
    )
    const moved = await rightOf(
      modifyOrder(caller, { id: order.id, body: { price: 1.1, stopLimitPrice: 1.08 } }),
    )
    expect(moved.request).toMatchObject({ ...ordered, stopLimitPrice: 1.08 })
    expect(await atBroker()).toMatchObject([{ price: 1.08, stopLimitPrice: undefined }])
  })

  it.each([{ price: 1.11 }, { stopLoss: 1.02 }])(
    'of a stop-limit order that is triggered just before moves its limit instead, so that %o is unknown',
    async (body) => {
      const { trading, openWith, place, clientIdOf, follow, read } = openDesk()
      const order = await place({ orderType: 'stop_limit', price: 1.1, stopLimitPrice: 1.09 })
      const { modifyOrder } = openWith({
        trading: {
          ...trading,
          modifyOrder: (at, number, terms, maySend) => {
            trading.change(clientIdOf(order), { price: 1.09, stopLimitPrice: undefined })
            const limit = { ...terms, stopLimitPrice: undefined }
            return trading.modifyOrder(at, number, limit, maySend)
          },
        },
      })
      expect(await tagOf(modifyOrder(caller, { id: order.id, body }))).toBe('BrokerOutcomeUnknown')
      await follow()
      expect((await read(order)).request).toMatchObject({
        price: 1.1,
        stopLimitPrice: body.price ?? 1.1,
      })
    },
  )

  it.each<[OrderOutcome, string]>([
    [{ kind: 'filled', fill: {} }, 'filled'],
    [{ kind: 'cancelled', reason: 'broker' }, 'cancelled'],
    [{ kind: 'expired' }, 'expired'],
  ])('that %o came before is refused with the status', async (outcome, status) => {
    const { place, modifyOrder, trading, clientIdOf, read } = openDesk()
    const order = await place()
    trading.end(clientIdOf(order), outcome)
    expect(await modifyOrder(caller, { id: order.id, body: { price: 1.2 } })()).toEqual(
      E.left({ _tag: 'OrderNotModifiable', status }),
    )
    expect(await read(order)).toMatchObject({ status })
  })

  it('that the broker calls none, since it rounds prices, is answered with what it holds', async () => {
    const { place, modifyOrder, trading, read } = openDesk()
    const order = await place()
    trading.nextChange('unchanged')
    const answer = await rightOf(modifyOrder(caller, { id: order.id, body: { price: 1.100001 } }))
    expect([answer.request.price, (await read(order)).request.price]).toEqual([1.1, 1.1])
  })

  // The provider does not document that it changes this price.
  it.each<[FakeOrderChange, string, number]>([
    ['done', 'none', 1.08],
    ['claim', 'BrokerOutcomeUnknown', 1.09],
    ['unchanged', 'none', 1.09],
  ])(
    'of the stopLimitPrice that meets %s counts only where a read shows it: %s, %d',
    async (trouble, tag, stopLimitPrice) => {
      const { place, modifyOrder, trading, read } = openDesk()
      const order = await place({ orderType: 'stop_limit', price: 1.1, stopLimitPrice: 1.09 })
      trading.nextChange(trouble)
      expect(
        await tagOf(modifyOrder(caller, { id: order.id, body: { stopLimitPrice: 1.08 } })),
      ).toBe(tag)
      expect((await read(order)).request).toMatchObject({ stopLimitPrice })
    },
  )

  it.each(['filled', undefined] as const)(
    'and a cancellation that the broker refuses are refused with how the order ended meanwhile: %s',
    async (status) => {
      const invalid = { code: 'TRADE_RETCODE_INVALID_ORDER', message: 'Invalid or prohibited' }
      const refusing = async (
        methodOf: (open: Desk['open']) => Desk['modifyOrder'] | Desk['cancelOrder'],
      ) => {
        const desk = openDesk()
        const order = await desk.place()
        const refused = () => async () => {
          if (status) desk.trading.end(desk.clientIdOf(order), { kind: status, fill: {} })
          return E.left(refuse('TradeRejected', invalid))
        }
        const trading = { ...desk.trading, modifyOrder: refused, cancelOrder: refused }
        return methodOf(desk.openWith({ trading }))(caller, {
          id: order.id,
          body: { price: 1.12 },
        })()
      }
      const because = (tag: string) =>
        E.left(status ? { _tag: tag, status } : { _tag: 'TradeRejected', ...invalid })
      expect(await refusing((open) => open.modifyOrder)).toEqual(because('OrderNotModifiable'))
      expect(await refusing((open) => open.cancelOrder)).toEqual(because('OrderNotCancellable'))
    },
  )

  it('uses the number that the broker gave the order meanwhile', async () => {
    const { place, modifyOrder, trading, clientIdOf } = openDesk()
    const order = await place()
    trading.change(clientIdOf(order), { brokerOrderId: '99' })
    expect(
      await rightOf(modifyOrder(caller, { id: order.id, body: { price: 1.12 } })),
    ).toMatchObject({
      brokerOrderId: '99',
      request: { price: 1.12 },
    })
  })
})

describe('a change and a cancellation of an open order are answered in time where', () => {
  const never = new Promise<never>(() => {})
  const hangs = () => () => never
  /** Hangs from the given call on. */
  const from =
    <A extends readonly unknown[], B>(first: number, real: (...of: A) => () => Promise<B>) =>
    (...of: A) =>
    () =>
      --first < 0 ? never : real(...of)()
  const notSent = ['BrokerUnavailable', 'BrokerUnavailable']
  const unknown = ['BrokerOutcomeUnknown', 'BrokerOutcomeUnknown']

  it.each<[where: string, other: (desk: Desk) => object, tags: readonly string[]]>([
    [
      'the account is read',
      ({ tables, account }) => {
        tables.accounts.set(account.id, { ...account, tradeMode: null })
        return { liveAccounts: { read: hangs } }
      },
      notSent,
    ],
    ['the lock is waited for', () => ({ changeLocks: { holding: () => hangs } }), notSent],
    [
      'the order is read',
      ({ trading }) => ({ trading: { ...trading, heldOrders: hangs } }),
      // What is cancelled need not be read.
      ['BrokerUnavailable', 'none'],
    ],
    [
      'it is sent',
      ({ trading }) => ({
        trading: {
          ...trading,
          modifyOrder: (...[, , , maySend]: Parameters<typeof trading.modifyOrder>) =>
            maySend() ? hangs() : expect.fail(),
          cancelOrder: (...[, , maySend]: Parameters<typeof trading.cancelOrder>) =>
            maySend() ? hangs() : expect.fail(),
        },
      }),
      unknown,
    ],
    [
      'it was sent and is read again',
      ({ trading }) => {
        trading.nextChange('make_and_lose_the_answer')
        const heldOrders = from(1, trading.heldOrders)
        return { trading: { ...trading, heldOrders, findOrder: hangs } }
      },
      unknown,
    ],
    [
      'it was confirmed and is read again',
      ({ trading }) => ({
        trading: { ...trading, heldOrders: from(1, trading.heldOrders), findOrder: hangs },
      }),
      // What was executed before a cancellation, only a read can show.
      ['none', 'BrokerOutcomeUnknown'],
    ],
    [
      'it was sent and is stored',
      ({ trading, orders }) => {
        trading.nextChange('make_and_lose_the_answer')
        return { orders: { ...orders, othersTickets: hangs, advance: from(1, orders.advance) } }
      },
      ['none', 'BrokerOutcomeUnknown'],
    ],
  ])('%s', async (_, other, tags) => {
    const answers = [
      (desk: Desk) => desk.openWith(other(desk)).modifyOrder,
      (desk: Desk) => desk.openWith(other(desk)).cancelOrder,
    ].map(async (methodOf) => {
      const desk = openDesk()
      const order = await desk.place()
      return tagOf(methodOf(desk)(caller, { id: order.id, body: { price: 1.12 } }))
    })
    expect(await Promise.all(answers)).toEqual(tags)
  })

  it('the database fails once it was sent, which does not say that nothing was', async () => {
    const desk = openDesk()
    const order = await desk.place()
    const orders = { ...desk.orders, advance: () => unavailable() }
    expect(await tagOf(desk.openWith({ orders }).cancelOrder(caller, { id: order.id }))).toBe(
      'ServiceUnavailable',
    )
    expect(desk.trading.held()).toMatchObject([{ price: 1.1 }])
    expect(
      await tagOf(
        desk.openWith({ orders }).modifyOrder(caller, { id: order.id, body: { price: 1.12 } }),
      ),
    ).toBe('BrokerOutcomeUnknown')
    expect(desk.trading.held()).toMatchObject([{ price: 1.12 }])
  })
})

describe('a cancellation of an open order', () => {
  it.each<[FakeOrderChange, string, object]>([
    ['done', 'none', { status: 'cancelled', cancelReason: 'user' }],
    ['accept', 'none', { status: 'cancelled', cancelReason: 'user' }],
    ['make_and_lose_the_answer', 'none', { status: 'cancelled', cancelReason: 'user' }],
    ['lose_the_request', 'BrokerOutcomeUnknown', { status: 'open' }],
    ['refuse', 'TradeRejected', { status: 'open' }],
  ])('that meets %s is answered %s', async (trouble, tag, end) => {
    const { place, cancelOrder, trading, read } = openDesk()
    const order = await place()
    trading.nextChange(trouble)
    expect(await tagOf(cancelOrder(caller, { id: order.id }))).toBe(tag)
    expect(await read(order)).toMatchObject(end)
  })

  it.each([true, false])(
    'whose outcome was unknown is the user’s when the order turns out cancelled, and the broker’s where the broker refused it: %s',
    async (isUnknown) => {
      const { place, cancelOrder, trading, follow, runFor, read, clientIdOf } = openDesk()
      const order = await place()
      trading.nextChange(isUnknown ? 'lose_the_request' : 'refuse')
      await cancelOrder(caller, { id: order.id })()
      trading.end(clientIdOf(order), { kind: 'cancelled', reason: 'broker' })
      await follow()
      await runFor(1)
      expect(await read(order)).toMatchObject({ cancelReason: isUnknown ? 'user' : 'broker' })
    },
  )

  it.each<[OrderOutcome, string, FakePlacement?]>([
    [{ kind: 'filled', fill: {} }, 'filled'],
    [{ kind: 'expired' }, 'expired'],
    [{ kind: 'cancelled', reason: 'broker' }, 'cancelled'],
    [{ kind: 'cancelled', reason: 'broker' }, 'cancelled', 'accept_without_number'],
  ])('that lost against %o is refused with the status %s', async (outcome, status, placement) => {
    const { place, cancelOrder, trading, clientIdOf, read } = openDesk()
    const order = await place({}, placement)
    trading.end(clientIdOf(order), outcome)
    expect(await cancelOrder(caller, { id: order.id })()).toEqual(
      E.left({ _tag: 'OrderNotCancellable', status }),
    )
    if (status === 'cancelled') expect(await read(order)).toMatchObject({ cancelReason: 'broker' })
  })

  it('that was made by an earlier request, whose outcome was unknown, stays that of the user', async () => {
    const { place, cancelOrder, trading, read } = openDesk()
    const order = await place()
    trading.nextChange('make_and_lose_the_answer')
    trading.hide(true)
    expect(await tagOf(cancelOrder(caller, { id: order.id }))).toBe('BrokerOutcomeUnknown')
    trading.hide(false)
    expect(await tagOf(cancelOrder(caller, { id: order.id }))).toBe('OrderNotCancellable')
    expect(await read(order)).toMatchObject({ status: 'cancelled', cancelReason: 'user' })
  })

  it('of an order without a number finds it by its client id', async () => {
    const { place, cancelOrder, read } = openDesk()
    const order = await place({}, 'accept_without_number')
    await rightOf(cancelOrder(caller, { id: order.id }))
    expect((await read(order)).status).toBe('cancelled')
  })

  it('uses the number that the broker gave the order meanwhile', async () => {
    const { place, cancelOrder, trading, clientIdOf, read } = openDesk()
    const order = await place()
    trading.change(clientIdOf(order), { brokerOrderId: '99' })
    await rightOf(cancelOrder(caller, { id: order.id }))
    expect(await read(order)).toMatchObject({ status: 'cancelled', cancelReason: 'user' })
  })

  it('that was confirmed waits for a lookup that takes longer than others', async () => {
    const desk = openDesk()
    const order = await desk.place()
    const { trading } = desk
    const findOrder: typeof trading.findOrder =
      (...of) =>
      async () => {
        await realPause(3 * secondMs)()
        return trading.findOrder(...of)()
      }
    const open = desk.openWith({ trading: { ...trading, findOrder } })
    expect(await rightOf(open.cancelOrder(caller, { id: order.id }))).toMatchObject({
      status: 'cancelled',
    })
  })

  it('is sent once by two at the same time', async () => {
    const { place, cancelOrder } = openDesk()
    const order = await place()
    const both = [1, 2].map(() => tagOf(cancelOrder(caller, { id: order.id })))
    expect((await Promise.all(both)).toSorted()).toEqual(['OrderNotCancellable', 'none'])
  })

  it('of which a part was executed first answers the order with that part', async () => {
    const desk = openDesk()
    const order = await desk.place()
    const { trading } = desk
    const cancelOrder: typeof trading.cancelOrder = () => async () => {
      trading.end(desk.clientIdOf(order), { kind: 'partially_filled', fill: { volume: 0.1 } })
      return E.right({ progress: 'done', brokerOrderId: null })
    }
    const open = desk.openWith({ trading: { ...trading, cancelOrder } })
    expect(await rightOf(open.cancelOrder(caller, { id: order.id }))).toMatchObject({
      status: 'partially_filled',
      fill: { volume: 0.1 },
    })
  })

  it.each([
    ['change', ['none', 'none'], 1],
    ['cancellation', ['OrderNotModifiable', 'none'], 0],
  ] as const)(
    'that comes with a change of the order, of which the %s is first, is made by itself',
    async (first, tags, modified) => {
      const { place, modifyOrder, cancelOrder, trading, read } = openDesk()
      const order = await place()
      const modify = () => tagOf(modifyOrder(caller, { id: order.id, body: { price: 1.12 } }))
      const cancel = () => tagOf(cancelOrder(caller, { id: order.id }))
      const both = first === 'change' ? [modify(), cancel()] : [cancel(), modify()].toReversed()
      expect(await Promise.all(both)).toEqual(tags)
      expect(trading.held()).toEqual([])
      expect(await read(order)).toMatchObject({
        status: 'cancelled',
        request: { price: modified === 1 ? 1.12 : 1.1 },
      })
    },
  )

  it.each<[string, Partial<Account>, object]>([
    ['moved to another region', { provider: moved }, moved],
    ['linked to another account', { provider: another }, sentTo],
    // What the present account may do says nothing of the demo account that holds the order.
    ['linked to a live account', { provider: another, tradeMode: 'real' }, sentTo],
    ['linked to an account that cannot be read', { provider: another, tradeMode: null }, sentTo],
    ['not provisioned', { provider: null }, sentTo],
  ])(
    'and a change reach the account that holds the order, which was %s since',
    async (_, fields, reached) => {
      const desk = openDesk({ provider: sentTo })
      const { account, trading, tables, broker } = desk
      const order = await desk.place()
      tables.accounts.put({ ...account, ...fields })
      broker.fail(account.id, down(account.id))
      const calls: (readonly [string, BrokerAccount])[] = []
      const spied = Object.fromEntries(
        Object.entries(trading).map(([name, method]) => [
          name,
          (...of: readonly [BrokerAccount]) => {
            calls.push([name, of[0]])
            return (method as (...given: typeof of) => unknown)(...of)
          },
        ]),
      ) as unknown as typeof trading
      const open = desk.openWith({ trading: spied })
      await rightOf(open.modifyOrder(caller, { id: order.id, body: { price: 1.12 } }))
      await rightOf(open.cancelOrder(caller, { id: order.id }))
      const names = ['heldOrders', 'modifyOrder', 'heldOrders', 'cancelOrder', 'findOrder']
      expect(calls).toMatchObject(names.map((name) => [name, reached]))
    },
  )

  it('is refused where its account is not for trading any more', async () => {
    const { place, cancelOrder, tables, account } = openDesk()
    const order = await place()
    tables.accounts.put({ ...account, provider: another, purpose: 'trade_copier' })
    expect(await tagOf(cancelOrder(caller, { id: order.id }))).toBe('AccountPurposeRestricted')
  })

  it('whose process dies before it is sent leaves the order open, and can be made again', async () => {
    const desk = openDesk()
    const order = await desk.place()
    const dies = { ...desk.trading, cancelOrder: () => () => new Promise<never>(() => {}) }
    const { cancelOrder } = desk.openWith({
      trading: dies,
      pause: () => () => new Promise(() => {}),
    })
    void cancelOrder(caller, { id: order.id })()
    await expect.poll(() => desk.placement(order)).toMatchObject({ cancelledBy: 'user' })
    expect(await desk.read(order)).toMatchObject({ status: 'open' })
    const lockOfAnother = createOrderDesk().changeLocks
    const another = desk.openWith({ changeLocks: lockOfAnother })
    expect(await rightOf(another.cancelOrder(caller, { id: order.id }))).toMatchObject({
      status: 'cancelled',
      cancelReason: 'user',
    })
  })

  it('whose answer comes late is of the user, also where it is read by the watch', async () => {
    const desk = openDesk()
    const order = await desk.place()
    const { trading } = desk
    const arrived = Promise.withResolvers<void>()
    const cancelOrder: typeof trading.cancelOrder =
      (...of) =>
      async () => {
        const isSent = of[2]()
        await arrived.promise
        return isSent ? trading.cancelOrder(of[0], of[1], () => true)() : expect.fail('not sent')
      }
    const late = desk.openWith({ trading: { ...trading, cancelOrder } })
    expect(await tagOf(late.cancelOrder(caller, { id: order.id }))).toBe('BrokerOutcomeUnknown')
    expect(await desk.read(order)).toMatchObject({ status: 'open' })
    arrived.resolve()
    await expect.poll(() => trading.held()).toEqual([])
    await desk.follow()
    await desk.runFor(1)
    expect(await desk.read(order)).toMatchObject({ status: 'cancelled', cancelReason: 'user' })
  })

  it('of all orders of an account says of each how it ended', async () => {
    const { place, cancelOrders, account, trading, clientIdOf } = openDesk()
    const placed = [await place(), await place(), await place()] as const
    trading.end(clientIdOf(placed[1]), { kind: 'filled', fill: {} })
    const attempts = await rightOf(cancelOrders(caller, { query: { accountId: account.id } }))
    expect(attempts.map(({ orderId }) => orderId)).toEqual(placed.map(({ id }) => id))
    expect(attempts.map(({ result }) => (E.isLeft(result) ? result.left._tag : 'none'))).toEqual([
      'none',
      'OrderNotCancellable',
      'none',
    ])
    expect(await rightOf(cancelOrders(caller, { query: { accountId: account.id } }))).toEqual([])
    expect(
      await tagOf(cancelOrders({ owner: stranger }, { query: { accountId: account.id } })),
    ).toBe('AccountNotFound')
  })

  it('by a halt has that as its reason, and a halt stops neither changes nor cancellations', async () => {
    const { place, haltAndCancel, read, modifyOrder, cancelOrder } = openDesk()
    const [first] = [await place()]
    const { cancellations } = await haltAndCancel()
    expect(cancellations).toMatchObject({ right: [{ orderId: first.id }] })
    expect(await read(first)).toMatchObject({ status: 'cancelled', cancelReason: 'halt' })
    expect(await tagOf(modifyOrder(caller, { id: first.id, body: { price: 1.2 } }))).toBe(
      'OrderNotModifiable',
    )
    expect(await tagOf(cancelOrder(caller, { id: first.id }))).toBe('OrderNotCancellable')
  })

  it.each<[FakePlacement, boolean, string]>([
    ['accept', true, 'cancelled'],
    ['accept_without_number', true, 'cancelled'],
    ['accept_and_lose_the_answer', true, 'cancelled'],
    ['accept', false, 'open'],
    ['accept_and_lose_the_answer', false, 'open'],
  ])(
    'by a halt includes an order that was being sent, met %s, where the halt stands (%s): %s',
    async (placement, stands, status) => {
      const { record, process, trading, haltAndCancel, liftHalt, account, runFor, read } =
        openDesk()
      const order = await rightOf(record())
      trading.next(placement)
      const placeOrder: typeof trading.placeOrder =
        (...send) =>
        async () => {
          expect((await haltAndCancel()).cancellations).toEqual(E.right([]))
          if (!stands) await rightOf(liftHalt(caller, { id: account.id }))
          return trading.placeOrder(...send)()
        }
      await process(order, 'no', { trading: { ...trading, placeOrder } })
      await runFor(2)
      expect(await read(order)).toMatchObject({
        status,
        ...(stands && { cancelReason: 'halt' }),
      })
      expect(trading.held()).toHaveLength(stands ? 0 : 1)
    },
  )

  it('by a halt that the broker refuses is made again as long as the halt stands, and reported once of each halt', async () => {
    const desk = openDesk()
    const { place, account, trading, halts, liftHalt, process, leftByHalts } = desk
    const order = await place()
    let attempts = 0
    const cancelOrder: typeof trading.cancelOrder = (...of) => {
      attempts += 1
      trading.nextChange('refuse')
      return trading.cancelOrder(...of)
    }
    const refusing = desk.openWith({ trading: { ...trading, cancelOrder } })
    for (const times of [1, 2]) {
      const halted = { since: noon, reason: null, cancelsOrders: true }
      await rightOf(halts.halt(owner, account.id, halted))
      for (let upkeep = 0; upkeep < 3; upkeep += 1) await process(order, 'no', refusing)
      await rightOf(liftHalt(caller, { id: account.id }))
      await process(order, 'no', refusing)
      expect(attempts).toBe(3 * times)
      expect(leftByHalts).toEqual(Array.from({ length: times }, () => [order.id, 'TradeRejected']))
    }
    expect(await desk.jobOf(order)).toMatchObject({ order: { status: 'open' } })
    await desk.haltAndCancel()
    expect(await desk.read(order)).toMatchObject({ cancelReason: 'halt' })
  })

  it('by a halt of one that has ended meanwhile is not reported', async () => {
    const { place, account, halts, jobOf, cancelOrder, leftByHalts, openWith } = openDesk()
    const order = await place()
    const before = await jobOf(order)
    await rightOf(halts.halt(owner, account.id, { since: noon, reason: null, cancelsOrders: true }))
    await rightOf(cancelOrder(caller, { id: order.id }))
    await rightOf(openWith().cancelWhereHalted(before))
    expect(leftByHalts).toEqual([])
  })

  it('by a halt of one that cannot be read fails, and the order is not reported as missing', async () => {
    const desk = openDesk()
    const { place, account, trading, halts, runFor, leftByHalts, placement } = desk
    const order = await place()
    await rightOf(halts.halt(owner, account.id, { since: noon, reason: null, cancelsOrders: true }))
    trading.hide(true)
    const unavailableAtBroker = TE.left(
      refuse('BrokerUnavailable', { accountId: account.id, reason: 'down' }),
    )
    const down = desk.openWith({ trading: { ...trading, cancelOrder: () => unavailableAtBroker } })
    await desk.process(order, 'no', down)
    await runFor(10 * 60, 'no', down)
    expect(leftByHalts).toEqual([[order.id, 'BrokerUnavailable']])
    expect(await placement(order)).toMatchObject({ step: 'open', missing: null })
    trading.hide(false)
    await desk.process(order)
    expect(await desk.read(order)).toMatchObject({ cancelReason: 'halt' })
  })

  it.each([true, false])(
    'by a halt that cancels orders (%s) of one that is missing at the broker is reported once',
    async (cancelsOrders) => {
      const { place, account, trading, halts, clientIdOf, runFor, follow, leftByHalts } = openDesk()
      const order = await place()
      await rightOf(halts.halt(owner, account.id, { since: noon, reason: null, cancelsOrders }))
      trading.lose(clientIdOf(order))
      await follow()
      await runFor(60 * 60)
      expect(leftByHalts).toEqual(cancelsOrders ? [[order.id, 'missing']] : [])
    },
  )
})
