// Orders under way as operators see them, and how they end one by hand.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it, vi } from 'vitest'
import { refuse } from '../../src/errors.ts'
import { outcomeEvents } from '../../src/events/events.ts'
import type { OperatorOrder, OperatorOrders } from '../../src/ports/index.ts'
import { type Ticket, minuteMs } from '../../src/primitives/index.ts'
import {
  createFakeOperatorOrders,
  createFakeOrderStore,
  createFakeRecords,
  createFakeTenantRecords,
  newAccount,
  newOrderId,
  newOrderUnderWay,
  newTenant,
  newUser,
  putOrders,
  rightOf,
} from '@tradeport/testkit'
import {
  createOrdersUnderWay,
  type FinishOrder,
  type OnFinished,
} from '../../src/use-cases/operator-orders.ts'
import { tagOf } from './desk.ts'

const now = Date.parse('2026-11-21T12:00:00.000Z')
const tenant = newTenant()
const account = newAccount({ tenantId: tenant.id, userId: newUser(tenant.id).id })
const other = newAccount({ tenantId: newTenant().id, userId: newUser(tenant.id).id })
const aged = (ageMs: number, of = account, parts: Partial<OperatorOrder> = {}): OperatorOrder =>
  newOrderUnderWay(of, now - ageMs, parts)

const opened = (...stored: readonly OperatorOrder[]) => {
  const records = createFakeRecords()
  putOrders(records, ...stored)
  const clock = { now: () => now }
  const operatorOrders = createFakeOperatorOrders(records)
  const ports = {
    operatorOrders,
    orders: createFakeOrderStore(clock, records),
    records: createFakeTenantRecords(records),
    clock,
    onFinished: vi.fn<OnFinished>(),
  }
  const use = createOrdersUnderWay(ports)
  const list = (query: Partial<Parameters<typeof use.listOrdersUnderWay>[1]['query']> = {}) =>
    use.listOrdersUnderWay(undefined, { query: { stuck: 'false', limit: 2, ...query } })
  const idsOf = async (query = {}) => (await rightOf(list(query))).data.map(({ order }) => order.id)
  return { records, ports, use, list, idsOf }
}

describe('the list of orders under way', () => {
  it('holds those of all tenants or of one, oldest first, piece by piece, and none that has ended', async () => {
    const [young, old, twin] = [aged(1), aged(3 * minuteMs), aged(3 * minuteMs, other)]
    const { list, idsOf } = opened(
      young,
      old,
      twin,
      aged(0, account, { placement: { step: 'ended' }, dueAt: null }),
    )
    expect(await idsOf()).toStrictEqual([old.order.id, twin.order.id])
    const { cursor } = (await rightOf(list())).pagination
    expect(await rightOf(list({ cursor }))).toStrictEqual({
      data: [young],
      pagination: { limit: 2, hasNext: false, cursor: undefined },
    })
    expect(await tagOf(list({ stuck: 'true', cursor }))).toBe('InvalidCursor')
    expect(await idsOf({ tenantId: tenant.id })).toStrictEqual([old.order.id, young.order.id])
  })

  it('is of no tenant that does not exist, but may be of a removed one that has orders under way', async () => {
    const { records, list, idsOf } = opened(aged(1))
    for (const query of [{}, { stuck: 'true' as const }])
      expect(await list({ tenantId: other.owner.tenantId, ...query })()).toStrictEqual(
        E.left({ _tag: 'NotFound', what: 'tenant' }),
      )
    expect(await idsOf({ tenantId: tenant.id })).toHaveLength(1)
    records.tables.tenants.put({ ...newTenant(), id: other.owner.tenantId, providerToken: null })
    expect(await idsOf({ tenantId: other.owner.tenantId })).toStrictEqual([])
  })

  it('holds as stuck the orders that have been pending for ten minutes, not those that were rejected and are only rechecked', async () => {
    const [stuck, fresh, rejected] = [
      aged(10 * minuteMs),
      aged(10 * minuteMs - 1),
      aged(60 * minuteMs),
    ]
    const { idsOf } = opened(stuck, fresh, {
      ...rejected,
      order: {
        ...rejected.order,
        status: 'rejected',
        reason: { code: 'NOT_FOUND_AT_BROKER', message: 'It is not there.' },
      },
      placement: {
        step: 'rechecking',
        sentAt: rejected.order.createdAt,
        brokerOrderId: null,
        rechecks: 1,
      },
    })
    expect(await idsOf({ stuck: 'true' })).toStrictEqual([stuck.order.id])
  })
})

const finish = (changes: Partial<FinishOrder> = {}): FinishOrder => ({
  as: 'filled',
  reason: 'seen at the broker',
  by: 'kim',
  ...changes,
})

describe('an order that an operator ends by hand', () => {
  it.each<[Partial<FinishOrder>, object, object | null]>([
    [
      { price: 1.0842, volume: 0.1, position: '90001' as Ticket },
      { status: 'filled', fill: { price: 1.0842, volume: 0.1, positionId: '90001' } },
      { type: 'order.filled', data: { fill_price: 1.0842 } },
    ],
    [
      { volume: 0.05 },
      { status: 'partially_filled', fill: { volume: 0.05 } },
      { type: 'order.filled' },
    ],
    [
      { as: 'rejected' },
      {
        status: 'rejected',
        reason: { code: 'FINISHED_BY_OPERATOR', message: 'seen at the broker' },
      },
      { type: 'order.rejected' },
    ],
  ])(
    'with %o has that outcome, with who ended it and why, and its event',
    async (how, after, event) => {
      const { order } = aged(20 * minuteMs)
      const { use, ports } = opened({ ...aged(0), order })
      const finished = await rightOf(
        use.finishOrder(undefined, { orderId: order.id, body: finish(how) }),
      )
      expect(finished).toMatchObject({
        order: { ...after, updatedAt: now },
        placement: { step: 'ended' },
        dueAt: null,
        finish: { by: 'kim', reason: 'seen at the broker' },
      })
      expect(await rightOf(use.getOrder(undefined, { orderId: order.id }))).toStrictEqual(finished)
      expect(outcomeEvents(finished.order)).toMatchObject([event])
      expect(
        await use.finishOrder(undefined, { orderId: order.id, body: finish() })(),
      ).toStrictEqual(E.left(refuse('OrderNotPending', { status: finished.order.status })))
      expect(ports.onFinished.mock.calls).toStrictEqual([[order.id, finish(how)]])
    },
  )

  it.each(['user', 'halt', null] as const)('as cancelled was cancelled by %s', async (by) => {
    const { order } = aged(20 * minuteMs)
    const placement = {
      step: 'open',
      sentAt: now,
      unexecutedAt: now,
      brokerOrderId: '7',
      cancellation: by && { by, isConfirmed: false },
      missing: null,
    } as const
    const { use } = opened({ ...aged(0), order: { ...order, status: 'open' }, placement })
    const body = finish({ as: 'cancelled' })
    expect(await rightOf(use.finishOrder(undefined, { orderId: order.id, body }))).toMatchObject({
      order: { status: 'cancelled', cancelReason: by ?? 'broker' },
    })
  })

  it('is refused when it is unknown, or ended in an impossible way', async () => {
    const one = aged(0)
    const { use } = opened(one)
    const absent = ['price', 'position'].map((path) => ({
      path,
      message: `${path} must be absent where the order was rejected`,
    }))
    const tooMuch = [
      { path: 'volume', message: "volume must be at most the order's 0.1 lots; got 0.11" },
    ]
    for (const [id, how, refusal] of [
      [newOrderId(), {}, refuse('NotFound', { what: 'order' })],
      [
        one.order.id,
        { as: 'rejected', price: 1, position: '1' as Ticket },
        refuse('ValidationError', { issues: absent }),
      ],
      [one.order.id, { volume: 0.11 }, refuse('ValidationError', { issues: tooMuch })],
    ] as const)
      expect(await use.finishOrder(undefined, { orderId: id, body: finish(how) })()).toStrictEqual(
        E.left(refusal),
      )
  })

  it.each([
    [now - 2 * minuteMs + 1, refuse('OrderInFlight')],
    [now - 2 * minuteMs, undefined],
  ])('is refused while the order is being sent, here since %d', async (sentAt, refusal) => {
    const one = aged(0, account, { placement: { step: 'sending', sentAt } })
    const { use } = opened(one)
    const ended = await use.finishOrder(undefined, { orderId: one.order.id, body: finish() })()
    expect(E.isLeft(ended) ? ended.left : undefined).toStrictEqual(refusal)
  })

  it('is unchanged when another process wrote it meanwhile', async () => {
    const one = aged(0)
    const { records, ports } = opened(one)
    const { operatorOrders } = ports
    const written = { ...one, version: one.version + 1 }
    // A lookup is written after the order was read here.
    const find: OperatorOrders['find'] = (id) => async () => {
      const found = await operatorOrders.find(id)()
      putOrders(records, written)
      return found
    }
    const { finishOrder } = createOrdersUnderWay({
      ...ports,
      operatorOrders: { ...operatorOrders, find },
    })
    expect(await finishOrder(undefined, { orderId: one.order.id, body: finish() })()).toStrictEqual(
      E.left(refuse('OrderChanged')),
    )
    expect(await rightOf(operatorOrders.find(one.order.id))).toStrictEqual(
      expect.objectContaining({ value: written }),
    )
  })
})
