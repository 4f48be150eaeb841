// Open orders: placed as pending ones, changed, cancelled, and followed by the watch.
import { times, type FakeOrderChange, type FakePlacement } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it, vi } from 'vitest'
import type { Account } from '../../src/accounts/account.ts'
import { type AccountId, dayMs, hourMs, secondMs } from '../../src/primitives/index.ts'
import { refuse, type Refusal } from '../../src/errors.ts'
import { withoutKey, type OrderJob } from '../../src/ports/index.ts'
import {
  brokerClientId,
  type Order,
  type OrderOutcome,
  type OrderRequest,
} from '../../src/orders/order.ts'
import type { TermsChange } from '../../src/orders/order-terms.ts'
import { createHalts } from '../../src/use-cases/halts.ts'
import {
  brokerAccountOf,
  createOrderDesk,
  down,
  noon,
  owner,
  realPause,
  rightOf,
  sendingAfter,
  stranger,
  tagOf,
  unavailable,
} from './desk.ts'

const limit: Partial<OrderRequest> = { orderType: 'limit', price: 1.1, stopLoss: 1.05 }
const caller = { owner }
const sentTo = { providerAccountId: 'provider-1', region: 'london' }
const moved = { providerAccountId: 'provider-1', region: 'singapore' }
const another = { providerAccountId: 'provider-2', region: 'london' }

const never = new Promise<never>(() => {})
const refused = () => TE.left(refuse('TradeRejected', { code: 'X', message: 'Not there' }))
const done = () => TE.right({ progress: 'done', brokerOrderId: null } as const)
const cannotRead = () => async () => ({ kind: 'unreadable' as const })
const hangs = () => () => never
/** Hangs from the given call on. */
const from =
  <A extends readonly unknown[], B>(first: number, real: (...of: A) => () => Promise<B>) =>
  (...of: A) =>
  () =>
    --first < 0 ? never : real(...of)()

const openDesk = () => {
  const desk = createOrderDesk()
  const account = desk.link({ tradeMode: 'demo', provider: sentTo })
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
    /** Open orders at a broker of which these methods do something else. */
    openThrough: (
      methods: Partial<typeof desk.trading>,
      other: Parameters<typeof desk.openWith>[0] = {},
    ) => desk.openWith({ trading: { ...desk.trading, ...methods }, ...other }),
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

/** With one order, of which the methods are. */
const opened = async (...of: Parameters<Desk['place']>) => {
  const desk = openDesk()
  const order = await desk.place(...of)
  const clientId = brokerClientId(order.id)
  return {
    ...desk,
    order,
    read: () => desk.read(order),
    placement: () => desk.placement(order),
    job: () => desk.jobOf(order),
    modify: (body: TermsChange, by = desk.open) => by.modifyOrder(caller, { id: order.id, body }),
    cancel: (by = desk.open) => by.cancelOrder(caller, { id: order.id }),
    changeHeld: (fields: Parameters<Desk['trading']['change']>[1]) =>
      desk.trading.change(clientId, fields),
    end: (outcome: OrderOutcome) => desk.trading.end(clientId, outcome),
    lose: () => desk.trading.lose(clientId),
    halt: (cancelOrders = true) =>
      rightOf(desk.halts.halt(owner, desk.account.id, { since: noon, reason: null, cancelOrders })),
  }
}

/** Each with the refusal of an order that has ended. */
type Opened = Awaited<ReturnType<typeof opened>>
const changes: readonly (readonly [
  change: (desk: Opened, by?: Desk['open']) => TE.TaskEither<Refusal, unknown>,
  tag: string,
])[] = [
  [({ modify }, by) => modify({ price: 1.12 }, by), 'OrderNotModifiable'],
  [({ cancel }, by) => cancel(by), 'OrderNotCancellable'],
]

describe('a pending order', () => {
  it.each<[FakePlacement, string, string | undefined]>([
    ['accept', 'open', '1'],
    ['accept_without_number', 'open', undefined],
    ['accept_and_lose_the_answer', 'pending', undefined],
    ['lose_the_request', 'pending', undefined],
    ['fill', 'filled', undefined],
    ['refuse', 'rejected', undefined],
  ])('that meets %s at the broker is %s', async (placement, status, brokerOrderId) => {
    const { read, trading, runFor } = await opened(
      { timeInForce: 'gtd', expiresAt: noon + dayMs },
      placement,
    )
    expect(await read()).toMatchObject({ status })
    expect((await read()).brokerOrderId).toBe(brokerOrderId)
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
    expect((await read()).status).toBe(Object(shown)[placement] ?? status)
  })

  it('that was accepted without a number is open, although another process looked it up before', async () => {
    const { record, process, read, trading } = openDesk()
    const order = await rightOf(record())
    trading.next('accept_without_number')
    await process(
      order,
      'no',
      sendingAfter(trading, () => process(order)),
    )
    expect(await read(order)).toMatchObject({ status: 'open' })
  })

  it.each<[Partial<OrderRequest>, string, object?]>([
    [{ stopLoss: 1.1 }, 'InvalidPrice', { price: 1.1, level: 'stopLoss' }],
    [
      { timeInForce: 'gtd', expiresAt: noon },
      'ValidationError',
      { issues: [{ path: 'expiresAt' }] },
    ],
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
    const { follow, trading, read, runFor, changeHeld } = await opened()
    expect(await follow()).toBe(false)
    changeHeld({ price: 1.2, stopLoss: undefined, brokerOrderId: '99' })
    await follow()
    expect(await read()).toMatchObject({
      status: 'open',
      brokerOrderId: '99',
      request: { price: 1.2 },
    })
    expect((await read()).request.stopLoss).toBeUndefined()
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
  ])('finds that an order ended as %o', async (outcome, ended) => {
    const { follow, read, runFor, end } = await opened()
    end(outcome)
    expect(await follow()).toBe(true)
    expect(await follow()).toBe(false)
    await runFor(1)
    expect(await read()).toMatchObject(ended)
    expect(await follow()).toBe(false)
  })

  it.each([
    { isUnexecuted: false },
    // The rest of an order that was executed in part, under another number.
    { volume: 0.01 },
  ])(
    'remembers twice a day that the broker held an order, whose end is searched from then, until it shows %o',
    async (shown) => {
      const { follow, wait, trading, runFor, end, changeHeld, job } = await opened()
      const { version } = await job()
      for (let hours = 0; hours < 60 * 24; hours += 1) {
        await follow()
        wait(hourMs)
      }
      expect((await job()).version).toBe(version + 2 * 59 + 1)
      // What was executed from here on is searched for however long the rest waits.
      changeHeld(shown)
      wait(30 * dayMs)
      await follow()
      end({ kind: 'expired' })
      await follow()
      await runFor(1)
      const [{ sentAt, unexecutedAt, missing } = expect.fail('it is looked up')] =
        trading.lookedUp()
      const days = [sentAt, unexecutedAt, missing?.since].map((at = 0) => (at - noon) / dayMs)
      expect(days).toEqual([0, 59.5, 90])
    },
  )

  it.each<[string, (desk: Opened, by: Desk['open']) => TE.TaskEither<unknown, unknown>]>([
    ['round of the watch', (desk, by) => by.followOpenOrders(brokerAccountOf(desk.account))],
    ['change', ({ modify }, by) => modify({ price: 1.12 }, by)],
  ])('was last held when the read of a %s began', async (_, read) => {
    const desk = await opened()
    const { wait, trading, placement } = desk
    const slow = desk.openThrough({
      heldOrders: (account) => TE.tapIO(trading.heldOrders(account), () => () => wait(secondMs)),
    })
    wait(dayMs)
    await read(desk, slow)()
    expect(await placement()).toMatchObject({ unexecutedAt: noon + dayMs })
  })

  it('has an order as missing where its own account at the provider does not hold it, until it is held again', async () => {
    const { openThrough, account, placement, follow } = await opened()
    const { followOpenOrders } = openThrough({ heldOrders: () => TE.right([]) })
    const brokerAccount = brokerAccountOf(account)
    await rightOf(followOpenOrders({ ...brokerAccount, ...another }))
    expect(await placement()).toMatchObject({ missing: null })
    await rightOf(followOpenOrders(brokerAccount))
    expect(await placement()).toMatchObject({ missing: { lookups: 0 } })
    await follow()
    expect(await placement()).toMatchObject({ missing: null })
  })

  it('never concludes anything from an order that no record shows any more', async () => {
    const { order, follow, trading, read, placement, runFor, open, end, lose } = await opened()
    lose()
    await follow()
    await runFor(30 * 60)
    expect(await read()).toMatchObject({ status: 'open' })
    expect(await placement()).toMatchObject({ missing: { since: expect.any(Number) } })
    expect(trading.lookedUp().length).toBeGreaterThan(20)
    expect(await open.cancelOrder({ owner }, { id: order.id })()).toMatchObject({
      left: { _tag: 'BrokerUnavailable', isOrderMissing: true },
    })
    end({ kind: 'filled', fill: {} })
    await runFor(16 * 60)
    expect((await read()).status).toBe('filled')
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
    const kept = { takeProfit: 1.2, timeInForce: 'gtd' } as const
    const expiresAt = noon + dayMs
    const { modify, trading, atBroker, read } = await opened({ ...kept, expiresAt })
    trading.nextChange(trouble)
    const changed = { price: 1.12, expiresAt: expiresAt + dayMs }
    expect(await tagOf(modify({ ...changed, stopLoss: null }))).toBe(tag)
    const isMade = tag === 'none'
    const terms = isMade ? changed : { price: 1.1, expiresAt }
    const stopLoss = isMade ? undefined : 1.05
    // What was not to change is sent as the broker holds it.
    expect(await atBroker()).toMatchObject([{ ...terms, ...kept, stopLoss }])
    const { request } = await read()
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
    [{ stopLimitPrice: 1.05 }, 'InvalidPrice', stopLimit],
    [{ expiresAt: noon }, 'ValidationError', { timeInForce: 'gtd', expiresAt: noon + dayMs }],
  ])('to %o is answered %s', async (change, tag, fields = {}) => {
    const { modify } = await opened(fields)
    expect(await tagOf(modify(change))).toBe(tag)
  })

  it('of a stop-limit order that was triggered moves its limit, and its record stays as ordered', async () => {
    const ordered = { ...stopLimit, price: 1.1 }
    const { follow, read, atBroker, modify, changeHeld } = await opened(ordered)
    changeHeld({ price: 1.09, stopLimitPrice: undefined })
    await follow()
    expect(await read()).toMatchObject({ status: 'open', request: ordered })
    expect(await tagOf(modify({ price: 1.11 }))).toBe('ValidationError')
    expect(await tagOf(modify({ takeProfit: 1.09 }))).toBe('InvalidPrice')
    const moved = await rightOf(modify({ price: 1.1, stopLimitPrice: 1.08 }))
    expect(moved.request).toMatchObject({ ...ordered, stopLimitPrice: 1.08 })
    expect(await atBroker()).toMatchObject([{ price: 1.08, stopLimitPrice: undefined }])
  })

  it.each([{ price: 1.11 }, { stopLoss: 1.02 }])(
    'of a stop-limit order that is triggered just before moves its limit instead, so that %o is unknown',
    async (body) => {
      const { trading, openWith, follow, read, modify, changeHeld } = await opened(stopLimit)
      const triggered = openWith({
        trading: {
          ...trading,
          modifyOrder: (at, number, terms, maySend) => {
            changeHeld({ price: 1.09, stopLimitPrice: undefined })
            const limit = { ...terms, stopLimitPrice: undefined }
            return trading.modifyOrder(at, number, limit, maySend)
          },
        },
      })
      expect(await tagOf(modify(body, triggered))).toBe('BrokerOutcomeUnknown')
      await follow()
      expect((await read()).request).toMatchObject({
        price: 1.1,
        stopLimitPrice: body.price ?? 1.1,
      })
    },
  )

  it.each<[OrderOutcome, string, FakePlacement?]>([
    [{ kind: 'filled', fill: {} }, 'filled'],
    [{ kind: 'expired' }, 'expired'],
    [{ kind: 'cancelled', reason: 'broker' }, 'cancelled'],
    [{ kind: 'cancelled', reason: 'broker' }, 'cancelled', 'accept_without_number'],
  ])(
    'and a cancellation that %o came before are refused with the status %s',
    async (outcome, status, placement) => {
      for (const [change, tag] of changes) {
        const desk = await opened({}, placement)
        desk.end(outcome)
        expect(await change(desk)()).toEqual(E.left({ _tag: tag, status }))
        const cancelReason = status === 'cancelled' ? 'broker' : undefined
        expect(await desk.read()).toMatchObject({ status, ...(cancelReason && { cancelReason }) })
      }
    },
  )

  it('that the broker calls none, since it rounds prices, is answered with what it holds', async () => {
    const { trading, read, modify } = await opened()
    trading.nextChange('unchanged')
    const answer = await rightOf(modify({ price: 1.100001 }))
    expect([answer.request.price, (await read()).request.price]).toEqual([1.1, 1.1])
  })

  // The provider does not document that it changes this price.
  it.each<[FakeOrderChange, string, number]>([
    ['done', 'none', 1.08],
    ['claim', 'BrokerOutcomeUnknown', 1.09],
    ['unchanged', 'none', 1.09],
  ])(
    'of the stopLimitPrice that meets %s counts only where a read shows it: %s, %d',
    async (trouble, tag, stopLimitPrice) => {
      const { trading, read, modify } = await opened(stopLimit)
      trading.nextChange(trouble)
      expect(await tagOf(modify({ stopLimitPrice: 1.08 }))).toBe(tag)
      expect((await read()).request).toMatchObject({ stopLimitPrice })
    },
  )

  it.each(['filled', undefined] as const)(
    'and a cancellation that the broker refuses are refused with how the order ended meanwhile: %s',
    async (status) => {
      const invalid = { code: 'TRADE_RETCODE_INVALID_ORDER', message: 'Invalid or prohibited' }
      for (const [change, tag] of changes) {
        const desk = await opened()
        const refused = () => async () => {
          if (status) desk.end({ kind: status, fill: {} })
          return E.left(refuse('TradeRejected', invalid))
        }
        const trading = { ...desk.trading, modifyOrder: refused, cancelOrder: refused }
        expect(await change(desk, desk.openWith({ trading }))()).toEqual(
          E.left(status ? { _tag: tag, status } : { _tag: 'TradeRejected', ...invalid }),
        )
      }
    },
  )

  it('and a cancellation use the number that the broker gave the order meanwhile', async () => {
    const { modify, cancel, changeHeld, trading } = await opened()
    changeHeld({ brokerOrderId: '99' })
    const changed = { brokerOrderId: '99', request: { price: 1.12 } }
    expect(await rightOf(modify({ price: 1.12 }))).toMatchObject(changed)
    changeHeld({ brokerOrderId: '100' })
    const cancelled = { status: 'cancelled', cancelReason: 'user' }
    expect(await rightOf(cancel())).toMatchObject(cancelled)
    expect(trading.lookedUp()).toMatchObject([{ brokerOrderId: '100' }])
  })

  it('that is confirmed shows the terms that the broker gave it', async () => {
    const { modify, openThrough, trading } = await opened()
    const modifyOrder: Desk['trading']['modifyOrder'] = (account, id, terms, maySend) =>
      trading.modifyOrder(account, id, { ...terms, price: 1.1201 }, maySend)
    const rounding = openThrough({ modifyOrder })
    expect((await rightOf(modify({ price: 1.12 }, rounding))).request.price).toBe(1.1201)
  })

  it('after which the order is executed at once is answered with its execution', async () => {
    const { modify, openThrough, trading, end, account, changeHeld } = await opened()
    await openThrough({ heldOrders: () => TE.right([]) }).followOpenOrders(
      brokerAccountOf(account),
    )()
    changeHeld({ brokerOrderId: '99' })
    const modifyOrder: Desk['trading']['modifyOrder'] = (...of) =>
      TE.tapIO(trading.modifyOrder(...of), () => () => end({ kind: 'filled', fill: {} }))
    const answer = await rightOf(modify({ price: 1.12 }, openThrough({ modifyOrder })))
    expect(answer).toMatchObject({ status: 'filled', request: { price: 1.12 } })
    expect(trading.lookedUp().at(-1)).toMatchObject({ brokerOrderId: '99', missing: null })
  })

  it('is not sent once its time has passed', async () => {
    const { cancel, openThrough, wait, trading, atBroker } = await opened()
    const cancelOrder: Desk['trading']['cancelOrder'] = (...of) => {
      wait(16 * secondMs)
      return trading.cancelOrder(...of)
    }
    const late = openThrough({ cancelOrder })
    expect(await tagOf(cancel(late))).toBe('BrokerUnavailable')
    expect(await atBroker()).toHaveLength(1)
  })
})

describe('a change and a cancellation of an open order are answered in time where', () => {
  const notSent = ['BrokerUnavailable', 'BrokerUnavailable']
  const unknown = ['BrokerOutcomeUnknown', 'BrokerOutcomeUnknown']

  it.each<[string, (desk: Desk) => object, string[]]>([
    [
      'the account is read',
      ({ tables, account }) => {
        tables.accounts.set(account.id, { ...account, tradeMode: null, lastReadAt: null })
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
        return {
          orders: { ...orders, ticketsOfOtherOrders: hangs, advance: from(1, orders.advance) },
        }
      },
      ['none', 'BrokerOutcomeUnknown'],
    ],
  ])('%s', async (_, other, tags) => {
    const answers = changes.map(async ([change]) => {
      const desk = await opened()
      return tagOf(change(desk, desk.openWith(other(desk))))
    })
    expect(await Promise.all(answers)).toEqual(tags)
  })

  it('the database fails once it was sent, which does not say that nothing was', async () => {
    const { orders, openWith, modify, cancel, trading } = await opened()
    const failing = openWith({ orders: { ...orders, advance: () => unavailable() } })
    expect(await tagOf(cancel(failing))).toBe('ServiceUnavailable')
    expect(trading.held()).toMatchObject([{ price: 1.1 }])
    expect(await tagOf(modify({ price: 1.12 }, failing))).toBe('BrokerOutcomeUnknown')
    expect(trading.held()).toMatchObject([{ price: 1.12 }])
  })
})

describe('a cancellation of an open order', () => {
  const byUser = { status: 'cancelled', cancelReason: 'user' }
  it.each<[FakeOrderChange, string, object?]>([
    ['done', 'none'],
    ['accept', 'none'],
    ['make_and_lose_the_answer', 'none'],
    ['lose_the_request', 'BrokerOutcomeUnknown', { status: 'open' }],
    ['refuse', 'TradeRejected', { status: 'open' }],
  ])('that meets %s is answered %s', async (trouble, tag, ended = byUser) => {
    const { trading, read, cancel } = await opened()
    trading.nextChange(trouble)
    expect(await tagOf(cancel())).toBe(tag)
    expect(await read()).toMatchObject(ended)
  })

  it.each([true, false])(
    'whose outcome was unknown is the user’s when the order turns out cancelled, and the broker’s where the broker refused it: %s',
    async (isUnknown) => {
      const { trading, follow, runFor, read, cancel, end } = await opened()
      trading.nextChange(isUnknown ? 'lose_the_request' : 'refuse')
      await cancel()()
      end({ kind: 'cancelled', reason: 'broker' })
      await follow()
      await runFor(1)
      expect(await read()).toMatchObject({ cancelReason: isUnknown ? 'user' : 'broker' })
    },
  )

  it('of an order that is gone since an earlier one, whose outcome is unknown, is unknown too', async () => {
    const { trading, modify, cancel, lose, openThrough, account } = await opened()
    trading.nextChange('lose_the_request')
    await cancel()()
    lose()
    expect(await tagOf(cancel())).toBe('BrokerOutcomeUnknown')
    expect(await tagOf(modify({ price: 1.12 }))).toBe('BrokerUnavailable')
    const unread = () => TE.left(down(account.id))
    for (const methods of [{}, { heldOrders: unread }]) {
      const refusing = openThrough({ cancelOrder: refused, ...methods })
      expect(await tagOf(cancel(refusing))).toBe('BrokerOutcomeUnknown')
    }
  })

  it('of an order that was missing before, and whose answer is lost, is not confirmed by its record', async () => {
    const { trading, cancel, follow, lose, openThrough, account } = await opened()
    lose()
    await follow()
    const lost = () => TE.left(refuse('BrokerOutcomeUnknown', { accountId: account.id }))
    expect(await tagOf(cancel(openThrough({ cancelOrder: lost })))).toBe('BrokerOutcomeUnknown')
    expect(trading.lookedUp().at(-1)).toMatchObject({ cancellation: { isConfirmed: false } })
  })

  it.each<[FakeOrderChange, string]>([
    ['lose_the_request', 'BrokerOutcomeUnknown'],
    ['refuse', 'TradeRejected'],
  ])('stays confirmed where a second one meets %s', async (trouble, tag) => {
    const { cancel, placement, openWith, openThrough, ...desk } = await opened()
    const trading = { ...desk.trading, findOrder: cannotRead }
    await cancel(openThrough({ cancelOrder: done }))()
    trading.nextChange(trouble)
    expect(await tagOf(cancel(openWith({ trading })))).toBe(tag)
    expect(await placement()).toMatchObject({ cancellation: { isConfirmed: true } })
  })

  it('that could not be sent leaves a missing order to be looked up', async () => {
    const { lose, follow, cancel, openThrough, account, end, runFor, read } = await opened()
    lose()
    await follow()
    const cancelOrder = () => TE.left(down(account.id))
    const tag = await tagOf(cancel(openThrough({ cancelOrder })))
    expect(tag).toBe('BrokerUnavailable')
    end({ kind: 'filled', fill: {} })
    await runFor(60 * 60)
    expect((await read()).status).toBe('filled')
  })

  it.each([
    ['gone', '1', { _tag: 'OrderGone' } as const],
    ['perhaps cancelled', '77', refuse('BrokerOutcomeUnknown', { accountId: '' as AccountId })],
  ])('of an order that is %s, and held as %s, is sent once', async (_, brokerOrderId, answer) => {
    const { openThrough, cancel, changeHeld } = await opened()
    const cancelOrder = vi.fn(() => {
      changeHeld({ brokerOrderId })
      return TE.left(answer)
    })
    await cancel(openThrough({ cancelOrder }))()
    expect(cancelOrder).toHaveBeenCalledOnce()
  })

  it('that was confirmed is answered once a later lookup shows it', async () => {
    const { trading, openThrough, cancel } = await opened()
    const findOrder = vi.fn(trading.findOrder).mockImplementationOnce(cannotRead)
    const late = openThrough({ findOrder })
    expect(await rightOf(cancel(late))).toMatchObject(byUser)
  })

  it('that was confirmed waits for a lookup that takes longer than others', async () => {
    const { trading, openThrough, cancel } = await opened()
    const findOrder: typeof trading.findOrder =
      (...of) =>
      async () => {
        await realPause(3 * secondMs)()
        return trading.findOrder(...of)()
      }
    const slow = openThrough({ findOrder })
    expect(await rightOf(cancel(slow))).toMatchObject(byUser)
  })

  it('of which a part was executed first answers the order with that part', async () => {
    const { trading, openThrough, cancel, end } = await opened()
    const fill = { volume: 0.1 }
    const cancelOrder: typeof trading.cancelOrder = () => async () => {
      end({ kind: 'partially_filled', fill })
      return E.right({ progress: 'done', brokerOrderId: null })
    }
    const open = openThrough({ cancelOrder })
    expect(await rightOf(cancel(open))).toMatchObject({ status: 'partially_filled', fill })
  })

  it.each([
    ['change', ['none', 'none'], 1.12],
    ['cancellation', ['none', 'OrderNotModifiable'], 1.1],
  ] as const)(
    'that comes with a change of the order, of which the %s is first, is made by itself',
    async (first, tags, price) => {
      const desk = await opened()
      const inOrder = first === 'change' ? changes : changes.toReversed()
      const both = inOrder.map(([change]) => tagOf(change(desk)))
      expect(await Promise.all(both)).toEqual(tags)
      expect(desk.trading.held()).toEqual([])
      expect(await desk.read()).toMatchObject({ ...byUser, request: { price } })
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
      const desk = await opened()
      const { account, trading, tables, broker } = desk
      tables.accounts.put({ ...account, ...fields })
      broker.fail(account.id, down(account.id))
      const asked: unknown[] = []
      const spied = Object.fromEntries(
        Object.entries<(...of: readonly unknown[]) => unknown>(trading as never).map(
          ([name, method]) => [
            name,
            (...of: readonly unknown[]) => (asked.push(of[0]), method(...of)),
          ],
        ),
      ) as unknown as typeof trading
      const open = desk.openWith({ trading: spied })
      for (const [change] of changes) await rightOf(change(desk, open))
      expect(asked).toMatchObject(asked.map(() => reached))
    },
  )

  it('is refused where its account is not for trading any more', async () => {
    const { tables, account, cancel } = await opened()
    tables.accounts.put({ ...account, provider: another, purpose: 'trade_copier' })
    expect(await tagOf(cancel())).toBe('AccountPurposeRestricted')
  })

  it('whose process dies before it is sent leaves the order open, and can be made again', async () => {
    const { openWith, openThrough, cancel, placement, read } = await opened()
    void cancel(openThrough({ cancelOrder: hangs }, { pause: hangs }))()
    await expect.poll(placement).toMatchObject({ cancellation: { by: 'user', isConfirmed: false } })
    expect(await read()).toMatchObject({ status: 'open' })
    const { changeLocks } = createOrderDesk()
    expect(await rightOf(cancel(openWith({ changeLocks })))).toMatchObject(byUser)
  })

  it.each<[FakeOrderChange, boolean]>([
    ['done', true],
    ['accept', false],
    ['make_and_lose_the_answer', false],
  ])('that the broker answers with %s is confirmed for later lookups: %s', async (change, is) => {
    const { trading, cancel, follow, runFor, read } = await opened()
    trading.hide(true)
    trading.nextChange(change)
    expect(await tagOf(cancel())).toBe('BrokerOutcomeUnknown')
    expect(trading.lookedUp().at(-1)).toMatchObject({ cancellation: { isConfirmed: true } })
    trading.hide(false)
    const before = trading.lookedUp().length
    await follow()
    await runFor(1)
    expect(trading.lookedUp().slice(before)).toMatchObject([{ cancellation: { isConfirmed: is } }])
    expect(await read()).toMatchObject(byUser)
  })

  it('whose answer comes late is of the user, also where it is read by the watch', async () => {
    const { trading, openThrough, cancel, read, follow, runFor } = await opened()
    const arrived = Promise.withResolvers<void>()
    const cancelOrder: typeof trading.cancelOrder =
      (...of) =>
      async () => {
        const isSent = of[2]()
        await arrived.promise
        return isSent ? trading.cancelOrder(of[0], of[1], () => true)() : expect.fail('not sent')
      }
    const late = openThrough({ cancelOrder })
    expect(await tagOf(cancel(late))).toBe('BrokerOutcomeUnknown')
    expect(await read()).toMatchObject({ status: 'open' })
    arrived.resolve()
    await expect.poll(trading.held).toEqual([])
    await follow()
    await runFor(1)
    expect(await read()).toMatchObject(byUser)
  })

  it('of all orders of an account says of each how it ended', async () => {
    const { place, cancelOrders, account, order, end } = await opened()
    const placed = [order, await place(), await place()]
    end({ kind: 'filled', fill: {} })
    const cancelAll = (by = caller) => cancelOrders(by, { query: { accountId: account.id } })
    const attempts = await rightOf(cancelAll())
    expect(attempts.map(({ orderId }) => orderId)).toEqual(placed.map(({ id }) => id))
    const tags = attempts.map(({ result }) => (E.isLeft(result) ? result.left._tag : 'none'))
    expect(tags).toEqual(['OrderNotCancellable', 'none', 'none'])
    expect(await rightOf(cancelAll())).toEqual([])
    expect(await tagOf(cancelAll({ owner: stranger }))).toBe('AccountNotFound')
  })

  it('by a halt has that as its reason, and a halt stops neither changes nor cancellations', async () => {
    const desk = await opened()
    const { cancellations } = await desk.haltAndCancel()
    expect(cancellations).toMatchObject({ right: [{ orderId: desk.order.id }] })
    expect(await desk.read()).toMatchObject({ status: 'cancelled', cancelReason: 'halt' })
    for (const [change, tag] of changes) expect(await tagOf(change(desk))).toBe(tag)
  })

  it.each<[FakePlacement, boolean, string]>([
    ['accept', true, 'cancelled'],
    ['accept_without_number', true, 'cancelled'],
    ['accept_and_lose_the_answer', true, 'cancelled'],
    ['accept', false, 'open'],
  ])(
    'by a halt includes an order that was being sent, met %s, where the halt stands (%s): %s',
    async (placement, stands, status) => {
      const { record, process, trading, haltAndCancel, liftHalt, account, runFor, read } =
        openDesk()
      const order = await rightOf(record())
      trading.next(placement)
      const halting = async () => {
        expect((await haltAndCancel()).cancellations).toEqual(E.right([]))
        if (!stands) await rightOf(liftHalt(caller, { id: account.id }))
      }
      await process(order, 'no', sendingAfter(trading, halting))
      await runFor(2)
      expect(await read(order)).toMatchObject({
        status,
        ...(stands && { cancelReason: 'halt' }),
      })
      expect(trading.held()).toHaveLength(stands ? 0 : 1)
    },
  )

  it('by a halt that the broker refuses is made again as long as the halt stands, and reported once of each halt', async () => {
    const desk = await opened()
    const { order, account, trading, liftHalt, process, reportedHaltFailures } = desk
    let attempts = 0
    const cancelOrder: typeof trading.cancelOrder = (...of) => {
      attempts += 1
      trading.nextChange('refuse')
      return trading.cancelOrder(...of)
    }
    const refusing = desk.openThrough({ cancelOrder })
    for (const halts of [1, 2]) {
      await desk.halt()
      for (let upkeep = 0; upkeep < 3; upkeep += 1) await process(order, 'no', refusing)
      await rightOf(liftHalt(caller, { id: account.id }))
      await process(order, 'no', refusing)
      expect(attempts).toBe(3 * halts)
      expect(reportedHaltFailures).toEqual(times(halts, () => [order.id, 'TradeRejected']))
    }
    expect(await desk.read()).toMatchObject({ status: 'open' })
    await desk.haltAndCancel()
    expect(await desk.read()).toMatchObject({ cancelReason: 'halt' })
  })

  it('by a halt of one that has ended meanwhile is not reported', async () => {
    const { halt, reportedHaltFailures, open, cancel, job } = await opened()
    const before = await job()
    await halt()
    await rightOf(cancel())
    await rightOf(open.cancelWhereHalted(before))
    expect(reportedHaltFailures).toEqual([])
  })

  it('by a halt of one that cannot be read fails, and the order is not reported as missing', async () => {
    const { order, account, trading, process, runFor, reportedHaltFailures, ...desk } =
      await opened()
    await desk.halt()
    trading.hide(true)
    const cancelOrder = () => TE.left(down(account.id))
    const failing = desk.openThrough({ cancelOrder })
    await process(order, 'no', failing)
    await runFor(10 * 60, 'no', failing)
    expect(reportedHaltFailures).toEqual([[order.id, 'BrokerUnavailable']])
    expect(await desk.placement()).toMatchObject({ step: 'open', missing: null })
    trading.hide(false)
    await process(order)
    expect(await desk.read()).toMatchObject({ cancelReason: 'halt' })
  })

  it.each([true, false])(
    'by a halt that cancels orders (%s) of one that is missing at the broker is reported once',
    async (cancelOrders) => {
      const { order, halt, runFor, follow, reportedHaltFailures, lose } = await opened()
      await halt(cancelOrders)
      lose()
      await follow()
      await runFor(9)
      expect(reportedHaltFailures).toEqual([])
      await runFor(60 * 60)
      expect(reportedHaltFailures).toEqual(cancelOrders ? [[order.id, 'missing']] : [])
    },
  )
})
