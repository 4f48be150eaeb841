// Orders as tables: what a settlement makes of them, how many there may be, what a head trader allows, and how their ids are read (3.1, section 8;
// decisions 19, 20 and 24).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBookNeeded, requireDeskLimits, requireNoApproval, requireTraderLimits, requireUnlocked } from '../../src/orders/guards.ts'
import type { OrderLimits } from '../../src/orders/guards.ts'
import { requireCountsInLimit, requireVolumeInLimit, startOfUtcDay } from '../../src/orders/limits.ts'
import { brokerClientId, clientIdFamily, parseOrderId } from '../../src/orders/order.ts'
import type { Order, OrderId, PendingOrder } from '../../src/orders/order.ts'
import { requireCancellable, requireModifiable, settle, transitions } from '../../src/orders/transitions.ts'
import type { Settlement } from '../../src/orders/transitions.ts'
import type { AccountId, TenantId, UserId } from '../../src/primitives/ids.ts'

const pending: PendingOrder = {
  id: 'ord_1' as OrderId,
  owner: { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId },
  request: { accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId, symbol: 'EURUSD', side: 'buy', volume: 1 },
  createdAt: 1,
  updatedAt: 1,
  status: 'pending',
}
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
const orderOf = (status: Order['status']): Order => orders.find((order) => order.status === status) ?? pending

const tag = (result: E.Either<{ readonly _tag: string }, unknown>): string => (E.isLeft(result) ? result.left._tag : 'none')

describe('order status (3.1)', () => {
  it.each(settlements)('pending becomes what the broker says, and carries what it told: %o', (settlement) => {
    const { id, owner, request, createdAt } = pending
    const { kind, ...told } = settlement
    expect(settle(pending, settlement, 9)).toStrictEqual({ id, owner, request, createdAt, updatedAt: 9, status: kind, ...told })
  })

  it.each(orders.slice(1).flatMap((order) => settlements.map((settlement) => [order, settlement] as const)))(
    'stays as it is once it is settled: $0.status on $1.kind',
    (order, settlement) => expect(settle(order, settlement, 9)).toBe(order),
  )

  it('moves as the rows say, and in no other way', () => {
    const moves = orders.flatMap((order) =>
      settlements.flatMap(({ kind, ...told }) => {
        const after = settle(order, { kind, ...told } as Settlement, 9)
        return after === order ? [] : [{ from: order.status, on: kind, to: after.status }]
      }),
    )
    expect(moves).toEqual(transitions)
  })

  it('is settled once: a second settlement changes nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...settlements), fc.constantFrom(...settlements), (first, second) => {
        const once = settle(pending, first, 2)
        expect(settle(once, second, 3)).toBe(once)
      }),
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

describe('an order’s id (2.3)', () => {
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

  it('gives the broker three alphanumeric parts that are the order’s alone (decision 23)', () => {
    expect(brokerClientId('ord_0123456789abcdefghij' as OrderId)).toBe('TP_0123456789_abcdefghij')
  })
})

describe('order limits (section 8, decision 20)', () => {
  it('take 10 lots and not a hundredth more', () => {
    expect(requireVolumeInLimit(10)).toEqual(E.right(undefined))
    expect(requireVolumeInLimit(10.01)).toMatchObject({ left: { limit: 'volume_per_order', allowed: 10, current: 10.01 } })
  })

  it('take the hundredth order of a day and not the next, until midnight UTC', () => {
    const now = Date.UTC(2026, 10, 21, 13)
    expect(requireCountsInLimit({ today: 99, open: 0 }, now)).toEqual(E.right(undefined))
    expect(requireCountsInLimit({ today: 100, open: 0 }, now)).toMatchObject({
      left: { limit: 'orders_per_day', allowed: 100, current: 100, resetsAt: Date.UTC(2026, 10, 22) },
    })
  })

  it('take the fiftieth open order and not the next', () => {
    expect(requireCountsInLimit({ today: 60, open: 49 }, 0)).toEqual(E.right(undefined))
    expect(requireCountsInLimit({ today: 60, open: 50 }, 0)).toMatchObject({ left: { limit: 'open_orders', allowed: 50, current: 50 } })
  })

  it('begin the day at midnight UTC', () => {
    expect(startOfUtcDay(Date.UTC(2026, 10, 21, 23, 59, 59, 999))).toBe(Date.UTC(2026, 10, 21))
  })
})

describe('guards (decision 19)', () => {
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
    expect(requireUnlocked([failed, { status: 'active', startedAt: 2 }])).toEqual(E.right(undefined))
    expect(requireUnlocked([{ status: 'passed', startedAt: 0 }, failed])).toMatchObject({ left: { _tag: 'ChallengeLocked' } })
    expect(requireUnlocked([])).toEqual(E.right(undefined))
  })

  it('add lots exactly: 0.1 + 0.2 + 0.3 is within 0.6 and 0.60000001 is not', () => {
    const limits = { ...none, maxOpenLots: 0.6 }
    expect(requireTraderLimits(order, limits, [0.1, 0.2])).toEqual(E.right(undefined))
    expect(requireTraderLimits(order, limits, [0.1, 0.2, 0.000_000_01])).toMatchObject({
      left: { _tag: 'TraderLimitBreached', limit: 'maxOpenLots', allowed: 0.6, current: 0.300_000_01 },
    })
  })

  it.each<[Partial<OrderLimits>, string]>([
    [{ maxLotsPerOrder: 0.2 }, 'maxLotsPerOrder'],
    [{ allowedSymbols: ['GBPUSD'] }, 'allowedSymbols'],
    [{ maxOpenPositions: 2 }, 'maxOpenPositions'],
    [{ maxOpenLots: 0.5 }, 'maxOpenLots'],
  ])('refuse an order beyond %o of its trader', (limits, limit) => {
    expect(requireTraderLimits(order, { ...none, ...limits }, [0.1, 0.2])).toMatchObject({ left: { _tag: 'TraderLimitBreached', limit } })
  })

  it('refuse an order beyond a limit of its desk with the desk’s refusal', () => {
    expect(requireDeskLimits(order, { ...none, maxOpenPositions: 2 }, [0.1, 0.2])).toMatchObject({ left: { _tag: 'DeskLimitBreached' } })
    expect(requireDeskLimits(order, { ...none, maxOpenPositions: 3 }, [0.1, 0.2])).toEqual(E.right(undefined))
  })

  it('take an order of just as many lots as its trader may order', () => {
    expect(requireTraderLimits(order, { ...none, maxLotsPerOrder: 0.3 }, [])).toEqual(E.right(undefined))
    expect(requireTraderLimits(order, { ...none, maxLotsPerOrder: 0.29 }, [])).toMatchObject({
      left: { limit: 'maxLotsPerOrder', allowed: 0.29, current: 0.3 },
    })
  })

  it.each([
    [none, false],
    [{ ...none, maxLotsPerOrder: 1, approvalAboveLots: 1, allowedSymbols: [] }, false],
    [{ ...none, maxOpenLots: 1 }, true],
    [{ ...none, maxOpenPositions: 0 }, true],
    [{ ...none, maxOpenLots: 0, maxOpenPositions: 1 }, true],
  ])('of %o need the book to be read: %s', (limits, isNeeded) => {
    expect(isBookNeeded(limits)).toBe(isNeeded)
  })

  it('ask for an approval above the threshold and not at it', () => {
    expect(requireNoApproval(order, { ...none, approvalAboveLots: 0.3 })).toEqual(E.right(undefined))
    expect(requireNoApproval(order, { ...none, approvalAboveLots: 0.29 })).toMatchObject({ left: { _tag: 'ApprovalRequired' } })
  })

  it('ask for none where no threshold is set', () => {
    expect(requireNoApproval(order, none)).toEqual(E.right(undefined))
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
