// What operators see of orders under way, and how they end one by hand.
import * as E from 'fp-ts/lib/Either.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { notFound, orderChanged, orderNotPending } from '../../src/errors.ts'
import { settlementEvents } from '../../src/events/order-events.ts'
import type { OperatorOrder } from '../../src/ports/operator-orders.ts'
import type { Ticket } from '../../src/primitives/ids.ts'
import { createFakeOperatorOrders, newOrderUnderWay } from '../../src/testing/fake-operator-orders.ts'
import type { FakeOperatorOrders } from '../../src/testing/fake-operator-orders.ts'
import { newOrderId } from '../../src/testing/stored-orders.ts'
import { newAccount, newTenant, newUser, rightOf } from '../../src/testing/stored-records.ts'
import { finishOrder, getOperatorOrder, listOrdersUnderWay } from '../../src/use-cases/operator-orders.ts'
import type { FinishOrder } from '../../src/use-cases/operator-orders.ts'
import { tagOf } from './desk.ts'

const now = Date.parse('2026-11-21T12:00:00.000Z')
const minute = 60_000
const tenant = newTenant()
const account = newAccount({ tenantId: tenant.id, userId: newUser(tenant.id).id })
const other = newAccount({ tenantId: newTenant().id, userId: newUser(tenant.id).id })

let orders: FakeOperatorOrders
let ports: { operatorOrders: FakeOperatorOrders; orders: FakeOperatorOrders; clock: { now: () => number } }
beforeEach(() => {
  orders = createFakeOperatorOrders()
  ports = { operatorOrders: orders, orders, clock: { now: () => now } }
})

const idsOf = (found: readonly OperatorOrder[]): readonly string[] => found.map(({ order }) => order.id)
const newOnes = (...ages: readonly number[]): readonly OperatorOrder[] => ages.map((age) => newOrderUnderWay(account, now - age))

describe('the list of orders under way', () => {
  it('holds those of all tenants, oldest first, piece by piece, and none that has ended', async () => {
    const [young, old, twin] = [...newOnes(1, 3 * minute), newOrderUnderWay(other, now - 3 * minute)] as [
      OperatorOrder,
      OperatorOrder,
      OperatorOrder,
    ]
    orders.put(young, old, twin, newOrderUnderWay(account, now, { placement: { step: 'settled' }, dueAt: null }))
    const list = listOrdersUnderWay(ports)
    const first = await rightOf(list({ isStuck: false, cursor: undefined, limit: 2 }))
    expect(idsOf(first.items)).toStrictEqual(idsOf([old, twin]))
    const second = await rightOf(list({ isStuck: false, cursor: first.cursor, limit: 2 }))
    expect(idsOf(second.items)).toStrictEqual(idsOf([young]))
    expect(second.cursor).toBeUndefined()
    expect(await tagOf(list({ isStuck: true, cursor: first.cursor, limit: 2 }))).toBe('InvalidCursor')
  })

  it('holds those of one tenant where it is named', async () => {
    const [own] = newOnes(1) as [OperatorOrder]
    orders.put(own, newOrderUnderWay(other, now))
    const { items } = await rightOf(listOrdersUnderWay(ports)({ tenantId: tenant.id, isStuck: false, cursor: undefined, limit: 9 }))
    expect(idsOf(items)).toStrictEqual(idsOf([own]))
  })

  it('holds as stuck what has been pending for ten minutes, but no order that was rejected and is only looked for', async () => {
    const [stuck, fresh, rejected] = newOnes(10 * minute, 10 * minute - 1, 60 * minute) as [OperatorOrder, OperatorOrder, OperatorOrder]
    const { order } = rejected
    orders.put(stuck, fresh, {
      ...rejected,
      order: { ...order, status: 'rejected', reason: { code: 'NOT_FOUND_AT_BROKER', message: 'It is not there.' } },
      placement: { step: 'rechecking', sentAt: order.createdAt, orderId: null, rechecks: 1 },
    })
    const { items } = await rightOf(listOrdersUnderWay(ports)({ isStuck: true, cursor: undefined, limit: 9 }))
    expect(idsOf(items)).toStrictEqual(idsOf([stuck]))
  })
})

const finish = (changes: Partial<FinishOrder> = {}): FinishOrder => ({
  as: 'filled',
  reason: 'seen in the terminal',
  by: 'kim',
  ...changes,
})
const stored = (): OperatorOrder => {
  const one = newOrderUnderWay(account, now - 20 * minute)
  orders.put(one)
  return one
}

describe('an order that an operator ends by hand', () => {
  it('is filled with what is known, keeps who ended it and why, and has its event', async () => {
    const { order } = stored()
    const known = { price: 1.0842, volume: 0.1, position: '90001' as Ticket }
    const finished = await rightOf(finishOrder(ports)(order.id, finish(known)))
    expect(finished).toMatchObject({
      order: { status: 'filled', fill: { price: 1.0842, volume: 0.1, positionId: '90001' }, updatedAt: now },
      placement: { step: 'settled' },
      dueAt: null,
      finish: { by: 'kim', reason: 'seen in the terminal' },
    })
    expect(await rightOf(getOperatorOrder(ports)(order.id))).toStrictEqual(finished)
    expect(settlementEvents(finished.order)).toMatchObject([{ type: 'order.filled', data: { fill_price: 1.0842 } }])
  })

  it('is partially filled where less than its volume was executed', async () => {
    const { order } = stored()
    expect(await rightOf(finishOrder(ports)(order.id, finish({ volume: 0.05 })))).toMatchObject({
      order: { status: 'partially_filled', fill: { volume: 0.05 } },
    })
  })

  it('is rejected with the reason as its message, and no event', async () => {
    const { order } = stored()
    const finished = await rightOf(finishOrder(ports)(order.id, finish({ as: 'rejected', reason: 'the broker never had it' })))
    expect(finished.order).toMatchObject({
      status: 'rejected',
      reason: { code: 'FINISHED_BY_OPERATOR', message: 'the broker never had it' },
    })
    expect(settlementEvents(finished.order)).toStrictEqual([])
  })

  it('is refused when it is unknown, has ended, or is ended in a way that cannot be', async () => {
    const { order } = stored()
    const end = finishOrder(ports)
    expect(await end(newOrderId(), finish())()).toStrictEqual(E.left(notFound('order')))
    expect(await end(order.id, finish({ as: 'rejected', price: 1, position: '1' as Ticket }))()).toStrictEqual(
      E.left({
        _tag: 'ValidationError',
        issues: ['price', 'position'].map((path) => ({ path, message: `${path} must be absent where the order was rejected` })),
      }),
    )
    expect(await end(order.id, finish({ volume: 0.11 }))()).toStrictEqual(
      E.left({ _tag: 'ValidationError', issues: [{ path: 'volume', message: "volume must be at most the order's 0.1 lots; got 0.11" }] }),
    )
    await rightOf(end(order.id, finish({ as: 'rejected' })))
    expect(await end(order.id, finish())()).toStrictEqual(E.left(orderNotPending('rejected')))
  })

  it('is left as it is when it was written meanwhile', async () => {
    const one = stored()
    const written = { ...one, version: one.version + 1 }
    // A lookup is written after the order was read here.
    const find: FakeOperatorOrders['find'] = (id) => async () => {
      const found = await orders.find(id)()
      orders.put(written)
      return found
    }
    expect(await finishOrder({ ...ports, operatorOrders: { find } })(one.order.id, finish())()).toStrictEqual(E.left(orderChanged))
    expect(await rightOf(getOperatorOrder(ports)(one.order.id))).toStrictEqual(written)
  })
})
