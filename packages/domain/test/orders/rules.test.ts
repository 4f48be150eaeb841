// Orders as tables: which status follows which, how many there may be, what a head trader allows,
// and how their ids are read.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requireUnlocked } from '../../src/orders/guards.ts'
import type { PendingSize } from '../../src/orders/guards.ts'
import type { AccountGuards, OpenBooks } from '../../src/ports/guard-store.ts'
import { accountsInBooks, requireOrderLimits } from '../../src/use-cases/steps/order-limits.ts'
import type { Account } from '../../src/accounts/account.ts'
import { openPosition } from '../../src/testing/open-position.ts'
import { newAccount } from '../../src/testing/stored-records.ts'
import type { OrderLimits } from '../../src/orders/guards.ts'
import {
  requireCountsInLimit,
  requireVolumeInLimit,
  startOfUtcDay,
} from '../../src/orders/limits.ts'
import { brokerClientId, clientIdFamily, parseOrderId } from '../../src/orders/order.ts'
import type { Order, OrderId, PendingOrder } from '../../src/orders/order.ts'
import {
  isCorrection,
  requireCancellable,
  requireModifiable,
  settle,
  transitions,
} from '../../src/orders/transitions.ts'
import type { Settlement } from '../../src/orders/transitions.ts'
import type { AccountId, TenantId, UserId } from '../../src/primitives/ids.ts'

const pending: PendingOrder = {
  id: 'ord_1' as OrderId,
  owner: { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId },
  request: {
    accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId,
    symbol: 'EURUSD',
    side: 'buy',
    volume: 1,
  },
  createdAt: 1,
  updatedAt: 1,
  status: 'pending',
}
const { owner } = pending

const settlements: readonly Settlement[] = [
  { kind: 'filled', fill: { price: 1.1 } },
  { kind: 'partially_filled', fill: { volume: 0.5 } },
  { kind: 'rejected', reason: { code: 'TRADE_RETCODE_NO_MONEY', message: 'no money' } },
]
const orders: readonly Order[] = [
  pending,
  { ...pending, status: 'filled', fill: {} },
  { ...pending, status: 'partially_filled', fill: {} },
  { ...pending, status: 'rejected', reason: { code: 'X', message: 'x' } },
]
const notFound: Order = {
  ...pending,
  status: 'rejected',
  reason: { code: 'NOT_FOUND_AT_BROKER', message: 'not found' },
}
const orderOf = (status: Order['status']): Order =>
  orders.find((order) => order.status === status) ?? pending

const tag = (result: E.Either<{ readonly _tag: string }, unknown>): string =>
  E.isLeft(result) ? result.left._tag : 'none'

describe('order status', () => {
  it.each(settlements)(
    'pending ends as the broker reports, with what it reported: %o',
    (settlement) => {
      const { id, owner, request, createdAt } = pending
      const { kind, ...told } = settlement
      expect(settle(pending, settlement, 9)).toStrictEqual({
        id,
        owner,
        request,
        createdAt,
        updatedAt: 9,
        status: kind,
        ...told,
      })
    },
  )

  it.each(
    orders
      .slice(1)
      .flatMap((order) => settlements.map((settlement) => [order, settlement] as const)),
  )('stays as it is once it is settled: $0.status on $1.kind', (order, settlement) =>
    expect(settle(order, settlement, 9)).toBe(order),
  )

  it('moves as the rows say, and in no other way', () => {
    const moves = [...orders, notFound].flatMap((order) =>
      settlements.flatMap((settlement) => {
        const after = settle(order, settlement, 9)
        return after === order
          ? []
          : [{ from: order.status, on: settlement.kind, to: after.status }]
      }),
    )
    expect(moves).toEqual(transitions.map(({ from, on, to }) => ({ from, on, to })))
  })

  it.each(settlements)(
    'an order that was rejected as not found is corrected once the broker shows it: %o',
    (settlement) => {
      const after = settle(notFound, settlement, 9)
      const { kind, ...how } = settlement
      expect(after).toMatchObject({ status: kind, updatedAt: 9, ...how })
      expect(isCorrection(notFound, after)).toBe(true)
      expect(isCorrection(pending, settle(pending, settlement, 9))).toBe(false)
      expect(isCorrection(after, settle(after, settlement, 10))).toBe(false)
    },
  )

  it('is settled once: a second settlement changes nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...settlements),
        fc.constantFrom(...settlements),
        (first, second) => {
          const once = settle(pending, first, 2)
          expect(settle(once, second, 3)).toBe(once)
        },
      ),
    )
  })

  it.each<[Order['status'], string, string]>([
    ['pending', 'OrderInFlight', 'OrderInFlight'],
    ['filled', 'OrderNotModifiable', 'OrderNotCancellable'],
    ['partially_filled', 'OrderNotModifiable', 'OrderNotCancellable'],
    ['rejected', 'OrderNotModifiable', 'OrderNotCancellable'],
  ])('%s: modifying is refused with %s, cancelling with %s', (status, modify, cancel) => {
    expect(tag(requireModifiable(orderOf(status)))).toBe(modify)
    expect(tag(requireCancellable(orderOf(status)))).toBe(cancel)
  })
})

describe('an order’s id', () => {
  it.each(['ord_0123456789abcdefghij', 'ord_zzzzzzzzzz0000000000'])('is read from %s', (text) => {
    expect(parseOrderId(text)).toEqual(O.some(text))
  })

  it.each([
    'ord_',
    'ord_0123456789abcdefghi',
    'ord_0123456789abcdefghijk',
    'ord_0123456789ABCDEFGHIJ',
    'ord_----------0123456789',
    'ord_0123456789----------',
    'ord_0a',
    ' ord_0123456789abcdefghij',
    'x-ord_0123456789abcdefghij',
    'ord_0123456789abcdefghij\n',
    'ORD_0123456789abcdefghij',
    '0123456789abcdefghij',
  ])('is not read from %j', (text) => {
    expect(parseOrderId(text)).toEqual(O.none)
  })

  it('gives the broker three alphanumeric parts that are the order’s alone', () => {
    expect(brokerClientId('ord_0123456789abcdefghij' as OrderId)).toBe('TP_0123456789_abcdefghij')
  })
})

describe('order limits', () => {
  it('take 10 lots and not a hundredth more', () => {
    expect(requireVolumeInLimit(10)).toEqual(E.right(undefined))
    expect(requireVolumeInLimit(10.01)).toMatchObject({
      left: { limit: 'volume_per_order', allowed: 10, current: 10.01 },
    })
  })

  it('take the hundredth order of a day and not the next, until midnight UTC', () => {
    const now = Date.UTC(2026, 10, 21, 13)
    expect(requireCountsInLimit({ today: 99, open: 0 }, now)).toEqual(E.right(undefined))
    expect(requireCountsInLimit({ today: 100, open: 0 }, now)).toMatchObject({
      left: {
        limit: 'orders_per_day',
        allowed: 100,
        current: 100,
        resetsAt: Date.UTC(2026, 10, 22),
      },
    })
  })

  it('take the fiftieth open order and not the next', () => {
    expect(requireCountsInLimit({ today: 60, open: 49 }, 0)).toEqual(E.right(undefined))
    expect(requireCountsInLimit({ today: 60, open: 50 }, 0)).toMatchObject({
      left: { limit: 'open_orders', allowed: 50, current: 50 },
    })
  })

  it('begin the day at midnight UTC', () => {
    expect(startOfUtcDay(Date.UTC(2026, 10, 21, 23, 59, 59, 999))).toBe(Date.UTC(2026, 10, 21))
  })
})

const booksOf = (...books: readonly (readonly [Account, ...(readonly number[])])[]): OpenBooks => ({
  asOf: 0,
  positions: new Map(
    books.map(([{ provider }, ...volumes]) => [
      provider?.providerAccountId ?? '',
      volumes.map((volume) => openPosition({ volume })),
    ]),
  ),
})

describe('limits of traders and desks', () => {
  const none: OrderLimits = {
    maxLotsPerOrder: null,
    maxOpenLots: null,
    maxOpenPositions: null,
    allowedSymbols: null,
    approvalAboveLots: null,
  }
  const order = { symbol: 'EURUSD', volume: 0.3 }

  it('look at the newest challenge alone', () => {
    const failed = { status: 'failed', startedAt: 1 } as const
    expect(requireUnlocked([failed])).toMatchObject({ left: { _tag: 'ChallengeLocked' } })
    expect(requireUnlocked([failed, { status: 'active', startedAt: 2 }])).toEqual(
      E.right(undefined),
    )
    expect(requireUnlocked([{ status: 'passed', startedAt: 0 }, failed])).toMatchObject({
      left: { _tag: 'ChallengeLocked' },
    })
    expect(requireUnlocked([])).toEqual(E.right(undefined))
  })

  const account = newAccount(owner)
  const colleague = newAccount({ ...owner, userId: 'u-2' as UserId })
  const trader = (
    limits: Partial<OrderLimits>,
    pending: readonly PendingSize[] = [],
  ): AccountGuards => ({
    trader: { limits: { ...none, ...limits }, pending },
    desks: [],
    readAt: 0,
    serverRun: 'first',
  })
  const desk = (
    limits: Partial<OrderLimits>,
    accounts: readonly Account[] = [account],
  ): AccountGuards => ({
    trader: null,
    desks: [{ limits: { ...none, ...limits }, accounts, pending: [] }],
    readAt: 0,
    serverRun: 'first',
  })
  const check = (guards: AccountGuards, ...volumes: readonly number[]) =>
    requireOrderLimits(account, order, guards, booksOf([account, ...volumes]))

  it('add lots exactly: 0.1 + 0.2 + 0.3 is within 0.6 and 0.60000001 is not', () => {
    const guards = trader({ maxOpenLots: 0.6 })
    expect(check(guards, 0.1, 0.2)).toEqual(E.right(undefined))
    expect(check(guards, 0.1, 0.2, 0.000_000_01)).toMatchObject({
      left: {
        _tag: 'TraderLimitBreached',
        limit: 'maxOpenLots',
        allowed: 0.6,
        current: 0.300_000_01,
      },
    })
  })

  it.each<[Partial<OrderLimits>, string]>([
    [{ maxLotsPerOrder: 0.2 }, 'maxLotsPerOrder'],
    [{ allowedSymbols: ['GBPUSD'] }, 'allowedSymbols'],
    [{ maxOpenPositions: 2 }, 'maxOpenPositions'],
    [{ maxOpenLots: 0.5 }, 'maxOpenLots'],
  ])('refuse an order beyond %o of its trader', (limits, limit) => {
    expect(check(trader(limits), 0.1, 0.2)).toMatchObject({
      left: { _tag: 'TraderLimitBreached', limit },
    })
  })

  it('refuse an order beyond a limit of its desk with the desk’s refusal, before the trader’s', () => {
    expect(check(desk({ maxOpenPositions: 2 }), 0.1, 0.2)).toMatchObject({
      left: { _tag: 'DeskLimitBreached' },
    })
    expect(
      check(
        { ...trader({ maxOpenPositions: 2 }), desks: desk({ maxOpenPositions: 2 }).desks },
        0.1,
        0.2,
      ),
    ).toMatchObject({
      left: { _tag: 'DeskLimitBreached' },
    })
    expect(check(desk({ maxOpenPositions: 3 }), 0.1, 0.2)).toEqual(E.right(undefined))
  })

  it('accept an order of just as many lots as its trader may order', () => {
    expect(check(trader({ maxLotsPerOrder: 0.3 }))).toEqual(E.right(undefined))
    expect(check(trader({ maxLotsPerOrder: 0.29 }))).toMatchObject({
      left: { limit: 'maxLotsPerOrder', allowed: 0.29, current: 0.3 },
    })
  })

  it.each([
    [none, false],
    [{ ...none, maxLotsPerOrder: 1, approvalAboveLots: 1, allowedSymbols: [] }, false],
    [{ ...none, maxOpenLots: 1 }, true],
    [{ ...none, maxOpenPositions: 0 }, true],
    [{ ...none, maxOpenLots: 0, maxOpenPositions: 1 }, true],
  ])('of %o need the positions of the account: %s', (limits, isNeeded) => {
    expect(accountsInBooks(account, trader(limits))).toEqual(isNeeded ? [account] : [])
    expect(accountsInBooks(account, desk(limits, [colleague]))).toEqual(isNeeded ? [colleague] : [])
  })

  it('leave accounts that no broker holds a book of out of the sum', () => {
    const paper = { ...newAccount(owner), brokerType: 'paper' }
    const unlinked = { ...newAccount(owner), provider: null }
    const guards = desk({ maxOpenLots: 1, maxOpenPositions: 2 }, [paper, account, unlinked])
    expect(accountsInBooks(account, guards)).toEqual([account])
    expect(check(guards, 0.1)).toEqual(E.right(undefined))
    expect(check(guards, 0.1, 0.1)).toMatchObject({
      left: { limit: 'maxOpenPositions', current: 2 },
    })
  })

  it('count the book of an account that is linked twice once', () => {
    const again = { ...newAccount(owner), provider: account.provider }
    const guards = desk({ maxOpenPositions: 3 }, [account, again])
    expect(accountsInBooks(account, guards)).toHaveLength(1)
    expect(check(guards, 0.1, 0.1)).toEqual(E.right(undefined))
  })

  it('refuse an order when an account joined the desk after the books were read', () => {
    expect(check(desk({ maxOpenLots: 9 }, [account, colleague]), 0.1)).toMatchObject({
      left: { _tag: 'LimitCheckUnavailable' },
    })
  })

  it('ask for an approval above the threshold and not at it, and for none where no threshold is set', () => {
    expect(check(trader({ approvalAboveLots: 0.3 }))).toEqual(E.right(undefined))
    expect(check(trader({ approvalAboveLots: 0.29 }))).toMatchObject({
      left: { _tag: 'ApprovalRequired' },
    })
    expect(check(trader({}))).toEqual(E.right(undefined))
  })
})

describe('what the broker keeps under a client id', () => {
  it.each([
    ['TP_one_two', 'TP_one_'],
    ['TP_one_', 'TP_one_'],
    ['TP_one', 'TP_one'],
    ['TP_one_two_three', 'TP_one_two_three'],
    ['robot', 'robot'],
    ['', ''],
  ])('%s has the family %s', (clientId, family) => expect(clientIdFamily(clientId)).toBe(family))

  const id = 'ord_0123456789abcdefghij' as OrderId
  it.each([
    [brokerClientId(id), true],
    ['TP_0123456789_0', true],
    ['TP_0123456789_', true],
    ['TP_0123456780_abcdefghij', false],
    ['XTP_0123456789_abcdefghij', false],
    ['TP_0123456789', false],
    ['', false],
  ])('%s is of the family of the order: %s', (clientId, expected) =>
    expect(clientIdFamily(clientId) === clientIdFamily(brokerClientId(id))).toBe(expected),
  )
})
