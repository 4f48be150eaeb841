// What every OrderStore does, numbered: run by the adapter's tests and by the fake's (decisions 20 and 24).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maxOpenOrders, maxOrdersPerDay } from '../orders/limits.ts'
import type { Order, PendingOrder } from '../orders/order.ts'
import type { PlacementStep } from '../orders/placement.ts'
import { settle } from '../orders/transitions.ts'
import type { Settlement } from '../orders/transitions.ts'
import type { OrdersQuery, OrderStore } from '../ports/order-store.ts'
import type { Owner, Ticket } from '../primitives/ids.ts'
import { dayMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { newOrder, someProgram } from './stored-orders.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { newAccountId, removes, rightOf, storedAccount, storedOwner, write } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const midnight = Date.parse('2026-11-03T00:00:00.000Z')

const filled: Settlement = { kind: 'filled', fill: { price: 1.234_56, volume: 0.1, at: noon + 5, positionId: '46870472' as Ticket } }
const settlements: readonly Settlement[] = [
  filled,
  { kind: 'filled', fill: {} },
  { kind: 'partially_filled', fill: { volume: 1e-7 } },
  { kind: 'rejected', reason: { code: 'TRADE_RETCODE_NO_MONEY', message: 'Not enough "money" \\ ü' } },
]

const settledWith = (settlement: Settlement): PlacementStep => ({ placement: { step: 'settled', settlement }, continueInMs: null })

export const orderStoreContract = (title: string, open: OpenOrderPorts): void => {
  describe(`order store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const record = (order: PendingOrder, store: OrderStore = ports.orders) => store.record(order.owner, order, undefined)()
    const recorded = async (order: PendingOrder): Promise<PendingOrder> => rightOf(ports.orders.record(order.owner, order, undefined))
    const find = ({ owner, id }: Order) => rightOf(ports.orders.find(owner, id))
    const list = (owner: Owner, query: Partial<OrdersQuery> = {}) =>
      rightOf(ports.orders.list(owner, someProgram, { page: 1, limit: 100, ...query }, noon))
    const settled = async (order: PendingOrder, settlement: Settlement = filled, at: Instant = noon + 9): Promise<void> => {
      expect(await rightOf(ports.orders.advance(order.owner, order.id, 1, settledWith(settlement), at))).toBe(true)
    }
    const fill = async (owner: Owner, count: number, createdAt: Instant): Promise<readonly PendingOrder[]> =>
      Promise.all(Array.from({ length: count }, () => recorded(newOrder(owner, createdAt))))

    it('S1 finds an order as it was recorded, every field of it (2.3; decision 21)', async () => {
      const owner = await storedOwner(ports.operator)
      const full = newOrder(owner, noon, {
        symbol: 'US500.cash#-_',
        side: 'sell',
        volume: 0.1 + 0.2,
        price: 1e-7,
        stopLoss: 123_456_789.123_456_79,
        takeProfit: 5e-324,
        comment: 'Ünï "quoted" \\ ; $1 ? \u0000 \ud800 \u2028 𝄞',
        clientId: '',
      })
      const bare = newOrder(owner, noon)
      expect(await recorded(full)).toStrictEqual(full)
      await recorded(bare)
      expect(await find(full)).toStrictEqual(O.some(full))
      expect(await find(bare)).toStrictEqual(O.some(bare))
      expect(await rightOf(ports.orders.placement(owner, full.id))).toStrictEqual(
        O.some({ order: full, placement: { step: 'recorded' }, version: 1 }),
      )
    })

    it('S2 finds nothing where there is nothing', async () => {
      const { owner, id } = newOrder(await storedOwner(ports.operator), noon)
      expect(await rightOf(ports.orders.find(owner, id))).toStrictEqual(O.none)
      expect(await rightOf(ports.orders.placement(owner, id))).toStrictEqual(O.none)
      expect(await rightOf(ports.orders.advance(owner, id, 1, settledWith(filled), noon))).toBe(false)
      expect(await list(owner)).toStrictEqual({ items: [], page: 1, limit: 100, total: 0 })
    })

    it('S3 treats the order of another user or tenant as absent in every method (5 rule 9)', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      const stranger = await storedOwner(ports.operator)
      const strangers: readonly Owner[] = [
        stranger,
        { tenantId: order.owner.tenantId, userId: stranger.userId },
        { tenantId: stranger.tenantId, userId: order.owner.userId },
      ]
      for (const owner of strangers) {
        expect(await rightOf(ports.orders.find(owner, order.id))).toStrictEqual(O.none)
        expect(await rightOf(ports.orders.placement(owner, order.id))).toStrictEqual(O.none)
        expect(await rightOf(ports.orders.advance(owner, order.id, 1, settledWith(filled), noon))).toBe(false)
        expect((await list(owner)).total).toBe(0)
      }
      expect(await find(order)).toStrictEqual(O.some(order))
    })

    it.each(settlements)('S4 settles an order as the table of transitions says: %o (3.1; decision 22)', async (settlement) => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      await settled(order, settlement)
      const after = settle(order, settlement, noon + 9)
      expect(await find(order)).toStrictEqual(O.some(after))
      expect(await rightOf(ports.orders.placement(order.owner, order.id))).toStrictEqual(
        O.some({ order: after, placement: { step: 'settled', settlement }, version: 2 }),
      )
    })

    it('S5 keeps every step of a placement, and the order as it was until it is settled', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      const steps: readonly PlacementStep[] = [
        { placement: { step: 'sending', sentAt: noon + 1 }, continueInMs: 10_000 },
        { placement: { step: 'recorded' }, continueInMs: 60_000 },
        { placement: { step: 'looking_up', sentAt: noon + 1, orderId: null, lookups: 0, nothingSince: null }, continueInMs: 60_000 },
        {
          placement: { step: 'looking_up', sentAt: noon + 1, orderId: '46000801', lookups: 1, nothingSince: noon + 2 },
          continueInMs: 60_000,
        },
      ]
      for (const [index, step] of steps.entries()) {
        const version = index + 1
        expect(await rightOf(ports.orders.advance(order.owner, order.id, version, step, noon + 7))).toBe(true)
        expect(await rightOf(ports.orders.placement(order.owner, order.id))).toStrictEqual(
          O.some({ order, placement: step.placement, version: version + 1 }),
        )
      }
    })

    it('S6 lets one of many settlers of the same version write, wherever they are', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      const writes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          rightOf((index % 2 ? ports.orders : ports.elsewhere).advance(order.owner, order.id, 1, settledWith(filled), noon + index)),
        ),
      )
      expect(writes.filter((isWritten) => isWritten)).toHaveLength(1)
    })

    it('S7 changes nothing for a version that is not the stored one, nor for a settled placement', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      for (const version of [0, 2]) {
        expect(await rightOf(ports.orders.advance(order.owner, order.id, version, settledWith(filled), noon))).toBe(false)
      }
      expect(await find(order)).toStrictEqual(O.some(order))
      await settled(order)
      const after = await find(order)
      const sending: PlacementStep = { placement: { step: 'sending', sentAt: noon }, continueInMs: 1_000 }
      expect(await rightOf(ports.orders.advance(order.owner, order.id, 2, sending, noon))).toBe(false)
      expect(await find(order)).toStrictEqual(after)
    })

    it.each([
      ['one instance', () => [ports.orders]],
      ['two instances', () => [ports.orders, ports.elsewhere]],
    ])('S8 accepts exactly one of a hundred simultaneous orders at 99 of the day, on %s (decision 20)', async (_, instances) => {
      const owner = await storedOwner(ports.operator)
      for (const part of [49, 50]) for (const order of await fill(owner, part, noon)) await settled(order)
      const stores = instances()
      const results = await Promise.all(
        Array.from({ length: 100 }, (_unused, index) => record(newOrder(owner, noon), stores[index % stores.length])),
      )
      expect(results.filter(E.isRight)).toHaveLength(1)
      const refusal = { limit: 'orders_per_day', allowed: maxOrdersPerDay, current: 100, resetsAt: midnight }
      expect(results.filter(E.isLeft).map(({ left }) => left)).toStrictEqual(
        Array.from({ length: 99 }, () => ({ _tag: 'RiskLimitExceeded', ...refusal })),
      )
      expect((await list(owner)).total).toBe(100)
    })

    it.each([
      ['one instance', () => [ports.orders]],
      ['two instances', () => [ports.orders, ports.elsewhere]],
    ])('S9 accepts exactly one of a hundred simultaneous orders at 49 pending, on %s (decision 20)', async (_, instances) => {
      const owner = await storedOwner(ports.operator)
      await fill(owner, 49, noon)
      const stores = instances()
      const results = await Promise.all(
        Array.from({ length: 100 }, (_unused, index) => record(newOrder(owner, noon), stores[index % stores.length])),
      )
      expect(results.filter(E.isRight)).toHaveLength(1)
      const refusal = { _tag: 'RiskLimitExceeded', limit: 'open_orders', allowed: maxOpenOrders, current: 50 }
      expect(results.filter(E.isLeft).map(({ left }) => left)).toStrictEqual(Array.from({ length: 99 }, () => refusal))
      expect((await list(owner, { status: 'pending' })).total).toBe(50)
    })

    it('S10 gives back a pending place once for each order that is settled', async () => {
      const owner = await storedOwner(ports.operator)
      const [first] = await fill(owner, maxOpenOrders, noon)
      if (first === undefined) return expect.fail('nothing was recorded')
      expect(E.isLeft(await record(newOrder(owner, noon)))).toBe(true)
      await Promise.all([1, 2, 3].map(() => rightOf(ports.orders.advance(owner, first.id, 1, settledWith(filled), noon))))
      expect(E.isRight(await record(newOrder(owner, noon)))).toBe(true)
      expect(E.isLeft(await record(newOrder(owner, noon)))).toBe(true)
    })

    it('S11 counts by the UTC day of the order, whichever day is recorded first', async () => {
      const owner = await storedOwner(ports.operator)
      for (const part of [50, 50]) for (const order of await fill(owner, part, midnight - 1)) await settled(order)
      expect(await record(newOrder(owner, midnight - 1))).toMatchObject({ left: { limit: 'orders_per_day', resetsAt: midnight } })
      const [next] = await fill(owner, 1, midnight)
      expect(next?.createdAt).toBe(midnight)
      // An instance whose clock is behind.
      expect(await record(newOrder(owner, midnight - 1))).toMatchObject({ left: { limit: 'orders_per_day', resetsAt: midnight } })
      const both = await Promise.all([record(newOrder(owner, midnight - 1)), record(newOrder(owner, midnight))])
      expect(both.map(E.isRight)).toStrictEqual([false, true])
      const other = await storedOwner(ports.operator)
      await fill(other, 3, midnight)
      for (const order of await fill(other, 40, midnight - dayMs)) await settled(order)
      expect((await list(other)).total).toBe(43)
    })

    it('S12 counts each user’s orders alone, and records many users’ at once', async () => {
      const owners = await Promise.all(Array.from({ length: 20 }, () => storedOwner(ports.operator)))
      const results = await Promise.all(
        owners.flatMap((owner) =>
          Array.from({ length: 5 }, (_, index) => record(newOrder(owner, noon), [ports.orders, ports.elsewhere][index % 2])),
        ),
      )
      expect(results.every(E.isRight)).toBe(true)
      for (const owner of owners) expect((await list(owner)).total).toBe(5)
    })

    it('S13 records the others when one of them cannot be', async () => {
      const owner = await storedOwner(ports.operator)
      const twice = newOrder(owner, noon)
      await recorded(twice)
      const orders = [newOrder(owner, noon), twice, newOrder(owner, noon), newOrder(owner, noon, { volume: Number.NaN })]
      const results = await Promise.all(orders.map((order) => record(order)))
      expect(results.map(E.isRight)).toStrictEqual([true, false, true, false])
      expect((await list(owner)).total).toBe(3)
    })

    it('S14 lists newest first, of one instant the last recorded first, page by page without gap or repeat', async () => {
      const owner = await storedOwner(ports.operator)
      const ids: string[] = []
      for (const createdAt of [noon, noon, noon - 1, noon + 1, noon, noon - 1]) ids.push((await recorded(newOrder(owner, createdAt))).id)
      const expected = [3, 4, 1, 0, 5, 2].map((index) => ids[index])
      const pages = await Promise.all([1, 2, 3, 4].map((page) => list(owner, { page, limit: 2 })))
      expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toStrictEqual(expected)
      expect(pages.map(({ total }) => total)).toStrictEqual([6, 6, 6, 6])
      expect((await list(owner, { page: 90_071_992_547_409, limit: 100 })).total).toBe(6)
    })

    it('S15 lists by account, status, symbol and time of creation, ends included', async () => {
      const owner = await storedOwner(ports.operator)
      const accountId = newAccountId()
      const a = await recorded(newOrder(owner, noon, { accountId }))
      const b = await recorded(newOrder(owner, noon + 1, { symbol: 'XAUUSD' }))
      const c = await recorded(newOrder(owner, noon + 2, { accountId, symbol: 'XAUUSD' }))
      await settled(b)
      const idsOf = async (query: Partial<OrdersQuery>): Promise<readonly string[]> => (await list(owner, query)).items.map(({ id }) => id)
      expect(await idsOf({ accountId })).toStrictEqual([c.id, a.id])
      expect(await idsOf({ status: 'filled' })).toStrictEqual([b.id])
      expect(await idsOf({ status: 'cancelled' })).toStrictEqual([])
      expect(await idsOf({ symbol: 'XAUUSD', status: 'pending' })).toStrictEqual([c.id])
      expect(await idsOf({ from: noon + 1, to: noon + 2 })).toStrictEqual([c.id, b.id])
      expect(await idsOf({ from: noon + 1, to: noon + 1 })).toStrictEqual([b.id])
    })

    it('S16 keeps the orders of an account that is no longer linked', async () => {
      const account = await storedAccount(ports.operator)
      const order = await recorded(newOrder(account.owner, noon, { accountId: account.id }))
      await write(ports.operator, { accounts: removes(account.id) })
      expect(await find(order)).toStrictEqual(O.some(order))
      expect((await list(account.owner, { accountId: account.id })).total).toBe(1)
    })
  })
}
