// What every OrderStore does, numbered: run by the adapter's tests and by the fake's (decisions 20 and 24).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maxOpenOrders, maxOrdersPerDay } from '../orders/limits.ts'
import type { Order, PendingOrder } from '../orders/order.ts'
import type { Account } from '../accounts/account.ts'
import type { OpenBooks } from '../ports/guard-store.ts'
import type { Placement, PlacementStep } from '../orders/placement.ts'
import { notFoundAtBrokerCode, settle } from '../orders/transitions.ts'
import type { Settlement } from '../orders/transitions.ts'
import type { OrdersQuery, OrderStore } from '../ports/order-store.ts'
import type { Owner, Ticket } from '../primitives/ids.ts'
import { dayMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { newOrder, newOrderOn, placementOf, someProgram, toRecord } from './stored-orders.ts'
import type { OpenOrderPorts, OrderPorts } from './stored-orders.ts'
import { newAccount, newAccountId, puts, removes, rightOf, storedAccount, storedOwner, write } from './stored-records.ts'

const noon = Date.parse('2026-11-02T12:00:00.123Z')
const midnight = Date.parse('2026-11-03T00:00:00.000Z')

const filled: Settlement = { kind: 'filled', fill: { price: 1.234_56, volume: 0.1, at: noon + 5, positionId: '46870472' as Ticket } }
const settlements: readonly Settlement[] = [
  filled,
  { kind: 'filled', fill: {} },
  { kind: 'partially_filled', fill: { volume: 1e-7 } },
  { kind: 'rejected', reason: { code: 'TRADE_RETCODE_NO_MONEY', message: 'Not enough "money" \\ ü' } },
]

const settledWith = (outcome: Settlement): PlacementStep => ({ placement: { step: 'settled' }, outcome, continueInMs: null })

const send = (sentAt: Instant): PlacementStep => ({ placement: { step: 'sending', sentAt }, continueInMs: 10_000 })

export const orderStoreContract = (title: string, open: OpenOrderPorts): void => {
  describe(`order store, ${title}`, () => {
    let opened: Awaited<ReturnType<OpenOrderPorts>>
    let ports: OrderPorts
    beforeAll(async () => {
      opened = await open()
      ports = opened.ports
    })
    afterAll(() => opened.close())

    const record = (order: PendingOrder, store: OrderStore = ports.orders) => store.record(order.owner, toRecord(order))()
    const recorded = async (order: PendingOrder): Promise<PendingOrder> => rightOf(ports.orders.record(order.owner, toRecord(order)))
    const find = ({ owner, id }: Order) => rightOf(ports.orders.find(owner, id))
    const list = (owner: Owner, query: Partial<OrdersQuery> = {}) =>
      rightOf(ports.orders.list(owner, someProgram, { page: 1, limit: 100, ...query }, noon))
    const settled = async (order: PendingOrder, settlement: Settlement = filled, at: Instant = noon + 9): Promise<void> => {
      expect(await rightOf(ports.orders.advance(order.owner, placementOf(order), settledWith(settlement), at))).toBe(true)
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
      expect(await rightOf(ports.orders.placement(owner, full.id))).toStrictEqual(O.some(placementOf(full)))
    })

    it('S2 finds nothing where there is nothing', async () => {
      const order = newOrder(await storedOwner(ports.operator), noon)
      const { owner, id } = order
      expect(await rightOf(ports.orders.find(owner, id))).toStrictEqual(O.none)
      expect(await rightOf(ports.orders.placement(owner, id))).toStrictEqual(O.none)
      expect(await rightOf(ports.orders.advance(owner, placementOf(order), settledWith(filled), noon))).toBe(false)
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
        expect(await rightOf(ports.orders.advance(owner, placementOf(order), settledWith(filled), noon))).toBe(false)
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
        O.some({ ...placementOf(order, 2), order: after, placement: { step: 'settled' } }),
      )
    })

    it('S5 keeps every step of a placement with where the order was sent, and the order as it was until it ends', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      const absence = { lookups: 3, coveredMs: 60_000, lastAt: noon + 3 }
      const steps: readonly Placement[] = [
        { step: 'sending', sentAt: noon + 1 },
        { step: 'recorded' },
        { step: 'looking_up', sentAt: noon + 1, orderId: null, lookups: 0, absence: null },
        { step: 'looking_up', sentAt: noon + 1, orderId: '46000801', lookups: 4, absence },
        { step: 'rechecking', sentAt: noon + 1, orderId: '46000801', rechecks: 23 },
      ]
      let from = placementOf(order)
      for (const placement of steps) {
        expect(await rightOf(ports.orders.advance(order.owner, from, { placement, continueInMs: 60_000 }, noon + 7))).toBe(true)
        expect(await rightOf(ports.orders.placement(order.owner, order.id))).toStrictEqual(
          O.some({ ...from, placement, version: from.version + 1 }),
        )
        from = { ...from, placement, version: from.version + 1 }
      }
    })

    it('S6 lets one of many settlers of the same version write, wherever they are', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      const writes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          rightOf((index % 2 ? ports.orders : ports.elsewhere).advance(order.owner, placementOf(order), settledWith(filled), noon + index)),
        ),
      )
      expect(writes.filter((isWritten) => isWritten)).toHaveLength(1)
    })

    it('S7 changes nothing for a version that is not the stored one, nor for a settled placement', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      for (const version of [0, 2]) {
        expect(await rightOf(ports.orders.advance(order.owner, placementOf(order, version), settledWith(filled), noon))).toBe(false)
      }
      expect(await find(order)).toStrictEqual(O.some(order))
      await settled(order)
      const after = await find(order)
      const back: PlacementStep = { placement: { step: 'recorded' }, continueInMs: 1_000 }
      expect(await rightOf(ports.orders.advance(order.owner, placementOf(order, 2), back, noon))).toBe(false)
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
      await Promise.all([1, 2, 3].map(() => rightOf(ports.orders.advance(owner, placementOf(first), settledWith(filled), noon))))
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

    it('S15 lists by account, status, symbol, client id and time of creation, ends included', async () => {
      const owner = await storedOwner(ports.operator)
      const accountId = newAccountId()
      const a = await recorded(newOrder(owner, noon, { accountId }))
      const b = await recorded(newOrder(owner, noon + 1, { symbol: 'XAUUSD' }))
      const clientId = 'Bot "7"\u0000'
      const c = await recorded(newOrder(owner, noon + 2, { accountId, symbol: 'XAUUSD', clientId }))
      await settled(b)
      const idsOf = async (query: Partial<OrdersQuery>): Promise<readonly string[]> => (await list(owner, query)).items.map(({ id }) => id)
      expect(await idsOf({ accountId })).toStrictEqual([c.id, a.id])
      expect(await idsOf({ status: 'filled' })).toStrictEqual([b.id])
      expect(await idsOf({ status: 'cancelled' })).toStrictEqual([])
      expect(await idsOf({ symbol: 'XAUUSD', status: 'pending' })).toStrictEqual([c.id])
      expect(await idsOf({ clientId })).toStrictEqual([c.id])
      for (const other of ['', 'Bot', 'bot "7"\u0000', `${clientId} `]) expect(await idsOf({ clientId: other })).toStrictEqual([])
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

    it('S17 corrects an order that was rejected as not found, and frees its place among the pending ones once', async () => {
      const owner = await storedOwner(ports.operator)
      const [first] = await fill(owner, maxOpenOrders, noon)
      if (first === undefined) return expect.fail('nothing was recorded')
      const reason = { code: notFoundAtBrokerCode, message: 'not found' }
      const rejected: PlacementStep = {
        placement: { step: 'rechecking', sentAt: noon, orderId: null, rechecks: 0 },
        outcome: { kind: 'rejected', reason },
        continueInMs: 60_000,
      }
      expect(await rightOf(ports.orders.advance(owner, placementOf(first), rejected, noon + 1))).toBe(true)
      const stored = await rightOf(ports.orders.placement(owner, first.id))
      if (O.isNone(stored)) return expect.fail('it is not there')
      expect(stored.value.order).toMatchObject({ status: 'rejected', reason })
      expect(await rightOf(ports.orders.advance(owner, stored.value, settledWith(filled), noon + 2))).toBe(true)
      expect(await find(first)).toMatchObject(O.some({ status: 'filled', fill: { price: 1.234_56 }, updatedAt: noon + 2 }))
      expect(E.isRight(await record(newOrder(owner, noon)))).toBe(true)
      expect(E.isLeft(await record(newOrder(owner, noon)))).toBe(true)
    })

    const noLimits = { maxLotsPerOrder: null, maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, approvalAboveLots: null }

    /** Two links to one broker account and a colleague's account, all on one desk. */
    const limitedAccounts = async (limits: { readonly trader?: object; readonly desk?: object }) => {
      const account = await storedAccount(ports.operator)
      const link = { ...newAccount(account.owner), provider: account.provider }
      const colleague = newAccount(account.owner)
      await write(ports.operator, {
        accounts: puts(link, colleague),
        ...(limits.trader && {
          traderLimits: puts(...[account, link].map(({ id }) => ({ accountId: id, limits: { ...noLimits, ...limits.trader } }))),
        }),
        ...(limits.desk && {
          desks: puts({
            id: `desk-${account.id}`,
            tenantId: account.owner.tenantId,
            accounts: [colleague.id, account.id],
            limits: { maxOpenLots: null, maxOpenPositions: null, allowedSymbols: null, ...limits.desk },
          }),
        }),
      })
      return { account, link, colleague }
    }
    const booksOf = async (account: Account, accounts: readonly Account[]): Promise<OpenBooks> => {
      const { readAt } = await rightOf(ports.guards.guards(account.owner, account.id))
      return { asOf: readAt, positions: new Map(accounts.map(({ provider }) => [provider?.providerAccountId ?? '', []])) }
    }

    it.each([
      ['a trader, over two links to the broker account', { trader: { maxOpenPositions: 1, maxOpenLots: 10 } }, 'TraderLimitBreached'],
      ['a desk, over its accounts', { desk: { maxOpenPositions: 1, maxOpenLots: 10 } }, 'DeskLimitBreached'],
    ])('S18 accepts one of forty simultaneous orders where the limit of %s has room for one', async (_, limits, tag) => {
      const { account, link, colleague } = await limitedAccounts(limits)
      const accounts = 'desk' in limits ? [account, colleague] : [account, link]
      const books = await booksOf(account, [account, colleague])
      const results = await Promise.all(
        Array.from({ length: 40 }, async (_unused, index) => {
          const order = newOrderOn(accounts[index % 2] ?? account, noon, { volume: 10 })
          return (index % 3 ? ports.orders : ports.elsewhere).record(order.owner, toRecord(order, { books }))()
        }),
      )
      expect(results.filter(E.isRight)).toHaveLength(1)
      expect(results.filter(E.isLeft).map(({ left }) => left._tag)).toStrictEqual(Array.from({ length: 39 }, () => tag))
      expect((await list(account.owner)).total).toBe(1)
    })

    it('S22 writes no answer of one send over another send of the same version', async () => {
      const order = await recorded(newOrder(await storedOwner(ports.operator), noon))
      expect(await rightOf(ports.orders.advance(order.owner, placementOf(order), send(noon + 1), noon + 1))).toBe(true)
      const late = { ...placementOf(order, 2), placement: send(noon + 2).placement }
      expect(await rightOf(ports.orders.advance(order.owner, late, settledWith(filled), noon + 3))).toBe(false)
      const own = { ...placementOf(order, 2), placement: send(noon + 1).placement }
      expect(await rightOf(ports.orders.advance(order.owner, own, settledWith(filled), noon + 3))).toBe(true)
    })

    it('S23 writes nothing in another run of the database server than the one that is expected', async () => {
      const { account } = await limitedAccounts({ trader: { maxOpenPositions: 1 } })
      const order = await recorded(newOrderOn(account, noon))
      const { serverRun } = await rightOf(ports.guards.guards(account.owner, account.id))
      const advance = (run: string) =>
        rightOf(ports.orders.advance(order.owner, { ...placementOf(order), serverRun: run }, settledWith(filled), noon))
      expect(await advance('another run')).toBe(false)
      expect(await advance(serverRun)).toBe(true)
    })

    it('S19 counts an order that was filled after the books were read, and one that was filled before not', async () => {
      const { account } = await limitedAccounts({ trader: { maxOpenPositions: 1 } })
      const before = await booksOf(account, [account])
      const order = newOrderOn(account, noon)
      await rightOf(ports.orders.record(order.owner, toRecord(order, { books: before })))
      await settled(order)
      await ports.elapse(50)
      const next = () => newOrderOn(account, noon)
      expect(await ports.orders.record(account.owner, toRecord(next(), { books: before }))()).toMatchObject({
        left: { _tag: 'TraderLimitBreached' },
      })
      const after = await booksOf(account, [account])
      expect(E.isRight(await ports.orders.record(account.owner, toRecord(next(), { books: after }))())).toBe(true)
    })

    it('S20 reads the broker numbers of the other orders at the same destination', async () => {
      const owner = await storedOwner(ports.operator)
      const [one, other, elsewhere] = [newOrder(owner, noon), newOrder(owner, noon + 1), newOrder(owner, noon + 2)]
      const { destination } = toRecord(one)
      for (const order of [one, other]) await rightOf(ports.orders.record(owner, toRecord(order, { destination })))
      await recorded(elsewhere)
      for (const order of [one, other, elsewhere]) await settled(order)
      expect(await rightOf(ports.orders.othersTickets(owner, { ...placementOf(one), destination }))).toStrictEqual(['46870472'])
      expect(await rightOf(ports.orders.othersTickets(owner, placementOf(elsewhere)))).toStrictEqual([])
    })

    it('S21 keeps an order under way whose user is removed, and follows it to its end', async () => {
      const owner = await storedOwner(ports.operator)
      const underWay = await recorded(newOrder(owner, noon))
      await write(ports.operator, { users: removes(owner.userId) })
      await settled(underWay)
      expect(await find(underWay)).toMatchObject(O.some({ status: 'filled' }))
    })
  })
}
