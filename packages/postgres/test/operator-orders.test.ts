// Orders as the operator sees and ends them: the list in its order, ends with their counters and events, and reads that no finished order slows down.
import type { Account, FinishOrder, NewOrder, OperatorOrders, OrderId, OrderStore, PlacementStep, Ticket } from '@tradeport/domain'
import { finishOrder } from '@tradeport/domain'
import { newOrderOn, removes, rightOf, storedAccount, write } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorOrders, openOrders } from '../src/index.ts'
import { createPulse } from '../src/pulse.ts'
import { recordEvents } from '../src/record-events.ts'
import type { OwnedEvent } from '../src/record-events.ts'
import { openEmbedded, openServer, serverTitle, serverUrl, storesOn, testCipher } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const made = Date.parse('2026-11-21T12:00:00.000Z')
const second = 1_000

const recorder = {
  recordWithin: async (trx: Knex.Transaction, events: readonly OwnedEvent[]): Promise<void> => {
    await recordEvents(trx, events, made)
  },
  handOver: () => undefined,
}

const operatorOrdersOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(`orders for the operator, ${title}`, () => {
    let opened: OpenedDatabase
    let knex: Knex
    let store: OrderStore
    let operatorOrders: OperatorOrders
    beforeAll(async () => {
      opened = await open()
      knex = opened.database.knex
      const jobs = { knex, log: { warn: () => undefined }, pulse: createPulse() }
      store = openOrders({ jobs, cipher: testCipher, stopwatch: { elapsedMs: () => 0 }, events: recorder }).store
      operatorOrders = createOperatorOrders(opened.database)
    })
    afterAll(() => opened.close())

    const linked = (): Promise<Account> => storedAccount(storesOn(opened.database).operator)

    const recorded = async (account: Account, createdAt = made): Promise<OrderId> => {
      const order = newOrderOn(account, createdAt, { volume: 0.2 })
      const { id: accountId, owner } = account
      const destination = { accountId, owner, platform: 'mt5', providerAccountId: `p-${accountId}`, region: 'london' } as const
      const request: NewOrder = {
        order,
        destination,
        sendUntilMs: 0,
        checkedAt: createdAt,
        serverRun: undefined,
        keep: undefined,
        books: undefined,
      }
      await rightOf(store.record(owner, request))
      return order.id
    }

    const advanced = async (account: Account, id: OrderId, step: PlacementStep): Promise<void> => {
      const from = O.toNullable(await rightOf(store.placement(account.owner, id)))
      if (from === null) throw new Error(`there is no order ${id}`)
      expect(await rightOf(store.advance(account.owner, from, step, made))).toBe(true)
    }

    const lookingUp: PlacementStep = {
      placement: { step: 'looking_up', sentAt: made + second, orderId: '4711', lookups: 3, absence: null },
      continueInMs: 60 * second,
    }
    const ended: PlacementStep = { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: {} }, continueInMs: null }

    const finish = (id: OrderId, as: FinishOrder['as'], known: Partial<FinishOrder> = {}) =>
      finishOrder({ operatorOrders, orders: store, clock: { now: () => made + 5 * second } })(id, {
        as,
        reason: 'seen there',
        by: 'kim',
        ...known,
      })

    const pendingOf = async ({ owner }: Account): Promise<number> => {
      const rows: { readonly pending: number }[] = await knex('order_counters')
        .where({ tenant_id: owner.tenantId, user_id: owner.userId })
        .select('pending')
      return rows[0]?.pending ?? 0
    }

    const eventsOf = ({ owner }: Account): Promise<string[]> =>
      knex('events').where({ tenant_id: owner.tenantId, user_id: owner.userId }).orderBy('sequence').pluck('type')

    it('lists those under way, oldest first, of a tenant, a user or an account, after a place and no more than so many', async () => {
      const [account, other] = [await linked(), await linked()]
      const accounts = { tenants: [], users: [], accounts: [account.id] }
      const [young, old, theirs, gone] = [
        await recorded(account, made),
        await recorded(account, made - second),
        await recorded(other, made - 2 * second),
        await recorded(account, made - 3 * second),
      ]
      await advanced(account, gone, ended)
      const read = async (...[filter, after, limit = 9]: [Parameters<OperatorOrders['underWay']>[0], OrderId?, number?]) => {
        const place = after === undefined ? undefined : { id: after, createdAt: made - second }
        return (await rightOf(operatorOrders.underWay(filter, { after: place, limit }))).map(({ order }) => order.id)
      }
      expect(await read({ of: accounts })).toStrictEqual([old, young])
      expect(await read({ of: accounts }, old)).toStrictEqual([young])
      expect(await read({ of: accounts }, undefined, 1)).toStrictEqual([old])
      expect(await read({ of: { ...accounts, accounts: [], users: [other.owner.userId] } })).toStrictEqual([theirs])
      expect(await read({ of: { ...accounts, tenants: [other.owner.tenantId] } })).toStrictEqual([theirs, old, young])
      expect(await read({ of: accounts, pendingSince: made - second })).toStrictEqual([old])
      expect(await read({})).toEqual(expect.arrayContaining([theirs, old, young]))
      expect(await read({})).not.toContain(gone)
    })

    it('shows where an order went and how far it is, also when its user is removed', async () => {
      const account = await linked()
      const id = await recorded(account)
      await advanced(account, id, lookingUp)
      await write(storesOn(opened.database).operator, { users: removes(account.owner.userId) })
      const [shown] = await rightOf(
        operatorOrders.underWay({ of: { tenants: [], users: [account.owner.userId], accounts: [] } }, { after: undefined, limit: 9 }),
      )
      expect(shown).toMatchObject({
        order: { id, owner: account.owner, status: 'pending', request: { accountId: account.id, volume: 0.2 } },
        placement: lookingUp.placement,
        destination: { providerAccountId: `p-${account.id}`, region: 'london', platform: 'mt5' },
        version: 2,
        dueAt: expect.any(Number),
        finish: null,
      })
      expect(await rightOf(finish(id, 'filled'))).toMatchObject({
        order: { status: 'filled' },
        finish: { by: 'kim', reason: 'seen there' },
      })
    })

    it('ends a pending order with its counter and its event, once', async () => {
      const account = await linked()
      const [filled, rejected] = [await recorded(account), await recorded(account)]
      await advanced(account, filled, lookingUp)
      expect(await pendingOf(account)).toBe(2)
      expect(await rightOf(finish(filled, 'filled', { price: 1.0842, volume: 0.2, position: '90001' as Ticket }))).toMatchObject({
        order: { status: 'filled', fill: { price: 1.0842, volume: 0.2, positionId: '90001' }, updatedAt: made + 5 * second },
        placement: { step: 'settled' },
        dueAt: null,
        finish: { by: 'kim', reason: 'seen there' },
      })
      expect(await pendingOf(account)).toBe(1)
      expect(await rightOf(finish(rejected, 'rejected'))).toMatchObject({
        order: { status: 'rejected', reason: { code: 'FINISHED_BY_OPERATOR', message: 'seen there' } },
        finish: { by: 'kim', reason: 'seen there' },
      })
      expect(await pendingOf(account)).toBe(0)
      expect(await finish(filled, 'rejected')()).toStrictEqual(E.left({ _tag: 'OrderNotPending', status: 'filled' }))
      expect(await pendingOf(account)).toBe(0)
      expect(await eventsOf(account)).toStrictEqual(['order.created', 'order.created', 'order.filled'])
      // An order that nobody ended by hand says so.
      const byItself = await recorded(account)
      await advanced(account, byItself, ended)
      expect(await rightOf(operatorOrders.find(byItself))).toMatchObject(O.some({ finish: null, dueAt: null }))
    })

    it('leaves an order as it is that a lookup wrote meanwhile', async () => {
      const account = await linked()
      const id = await recorded(account)
      await advanced(account, id, lookingUp)
      const read = await operatorOrders.find(id)()
      await advanced(account, id, lookingUp)
      const before = await rightOf(operatorOrders.find(id))
      const ports = { operatorOrders: { find: () => async () => read }, orders: store, clock: { now: () => made } }
      expect(await finishOrder(ports)(id, { as: 'rejected', reason: 'r', by: 'b' })()).toStrictEqual(E.left({ _tag: 'OrderChanged' }))
      expect(await rightOf(operatorOrders.find(id))).toStrictEqual(before)
      expect(await pendingOf(account)).toBe(1)
    })

    it('reads those under way from the index of due orders, however many of the tenant have ended', async () => {
      const account = await linked()
      await recorded(account)
      await knex.raw(
        `insert into orders (id, tenant_id, user_id, account_id, symbol, side, volume, status, created_at, updated_at, step, destination_platform,
           destination_account, version, checked_at, settled_at)
         select 'ord_' || lpad(n::text, 20, 'e'), ?, ?, ?, 'EURUSD', 'buy', 1, 'filled', timestamptz '2026-11-20' + n * interval '1 second', now(),
           'settled', 'mt5', 'p', 3, now(), now()
         from generate_series(1, 20000) n`,
        [account.owner.tenantId, account.owner.userId, account.id],
      )
      await knex.raw('analyze orders')
      const statements: Knex.Sql[] = []
      const listener = (query: Knex.Sql): unknown => statements.push(query)
      knex.on('query', listener)
      const of = { tenants: [account.owner.tenantId], users: [account.owner.userId], accounts: [account.id] }
      for (const filter of [{}, { of }, { pendingSince: made }, { of, pendingSince: made }])
        await rightOf(operatorOrders.underWay(filter, { after: undefined, limit: 100 }))
      knex.removeListener('query', listener)
      expect(statements).toHaveLength(4)
      for (const { sql, bindings } of statements) {
        const { rows } = await knex.raw<{ rows: unknown[] }>(
          `explain (format json) ${sql.replaceAll(/\$\d+/g, '?')}`,
          bindings as Knex.RawBinding[],
        )
        expect(JSON.stringify(rows)).toContain('"Index Name":"orders_due"')
      }
    })
  })
}

operatorOrdersOn('on the embedded database', openEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  operatorOrdersOn('on a server', openServer)
})
