// Reads of orders go by index, however many orders others have: no table is read through, and the newest page is read off an index.
import { newClaim, newOrderOn, newReply, placementOf, rightOf, someProgram, storedAccount, toRecord } from '@tradeport/domain/testing'
import type { Account, PendingOrder } from '@tradeport/domain'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'
import { startInstance } from './order-ports.ts'
import type { OrderInstance } from './order-ports.ts'

const day = Date.UTC(2026, 10, 21)
const claim = newClaim()

const crowd = `
  insert into tenants (id, name) values ('crowd', 'Crowd');
  insert into users (id, tenant_id, email, plan) select 'crowd-' || n, 'crowd', 'e', 'free' from generate_series(1, 2000) n;
  insert into accounts (id, tenant_id, user_id, name, broker_type, account_number, server, purpose, linked_as_demo, currency, balance, equity,
      margin, status, created_at, updated_at)
    select gen_random_uuid(), 'crowd', 'crowd-' || n, '', 'mt5', '', '', 'trading', true, 'USD', 1, 1, 1, 'connected', now(), now()
    from generate_series(1, 2000) n;
  insert into trader_limits (account_id, max_open_lots) select id, 1 from accounts;
  insert into challenges (account_id, started_at, status) select id, now(), 'active' from accounts;
  insert into desks (id, tenant_id) select 'desk-' || n, 'crowd' from generate_series(1, 2000) n;
  insert into desk_accounts (desk_id, account_id, place) select 'desk-' || row_number() over (order by id), id, 0 from accounts where tenant_id = 'crowd';
  insert into order_counters (tenant_id, user_id, day, created, pending) select 'crowd', 'crowd-' || n, '2026-11-20', 20, 5 from generate_series(1, 2000) n;
  insert into orders (id, tenant_id, user_id, account_id, symbol, side, volume, status, created_at, updated_at, step, destination_platform, destination_account,
      checked_at, version, settled_at, due_at)
    select 'ord_' || lpad(n::text, 20, 'x'), 'crowd', 'crowd-' || (n % 2000 + 1), gen_random_uuid(), 'EURUSD', 'buy', 1,
      case when n % 4 = 0 then 'pending' else 'filled' end, timestamptz '2026-11-20' + n * interval '1 second', now(),
      case when n % 4 = 0 then 'looking_up' else 'settled' end, 'mt5', 'p-' || n, now(), 3,
      case when n % 4 = 0 then null else now() end, case when n % 4 = 0 then now() + interval '2 minutes' + n * interval '1 ms' end
    from generate_series(1, 40000) n;
  insert into idempotency_keys (tenant_id, user_id, key, request_hash, id, state, since, reply_body)
    select 'crowd', 'crowd-' || (n % 2000 + 1), 'key-' || n, 'h', 'claim-' || n, 'replied', now(), '{}' from generate_series(1, 20000) n;
  insert into order_list_starts (tenant_id, user_id, list, last_sequence, started_at)
    select 'crowd', 'crowd-' || (n % 2000 + 1), int4send(n), 1, now() - n * interval '1 second' from generate_series(1, 20000) n`

const claimIn = (statements: readonly Knex.Sql[]): Knex.Sql | undefined =>
  statements.find(({ sql }) => sql.startsWith('update "orders" set "due_at"'))

/** The tables of which a plan reads every row. */
const readThrough = (plans: string): readonly string[] =>
  [...plans.matchAll(/"Node Type":"Seq Scan"[^{}]*?"Relation Name":"(\w+)"/g)].map(([, table]) => table ?? '')

const plansOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  describe(title, () => {
    let opened: OpenedDatabase
    let instance: OrderInstance
    let account: Account
    let order: PendingOrder
    let statements: Knex.Sql[] = []
    beforeAll(async () => {
      opened = await open()
      instance = await startInstance(opened.database)
      account = await storedAccount(instance.ports.operator)
      for (const statement of crowd.split(';\n')) await opened.database.knex.raw(statement)
      order = newOrderOn(account, day)
      await rightOf(instance.ports.orders.record(account.owner, toRecord(order)))
      await rightOf(instance.ports.idempotency.claim(account.owner, claim, day))
      await opened.database.knex.raw('analyze')
      opened.database.knex.on('query', (query: Knex.Sql) => statements.push(query))
    })
    afterAll(async () => {
      await instance.stop()
      await opened.close()
    })

    const plansOf = async (call: () => Promise<unknown>): Promise<string> => {
      statements = []
      await call()
      const sent = statements.filter(({ sql }) =>
        /^\s*(select|update|with|delete|insert into (orders|order_counters|idempotency))/.test(sql),
      )
      expect(sent).not.toHaveLength(0)
      const plans: string[] = []
      for (const { sql, bindings } of sent) {
        const text = `explain (format json) ${sql.replaceAll(/\$\d+/g, '?')}`
        const { rows } = await opened.database.knex.raw<{ rows: unknown[] }>(text, bindings as Knex.RawBinding[])
        plans.push(JSON.stringify(rows))
      }
      return plans.join()
    }

    it.each<[string, () => Promise<unknown>]>([
      ['an order', () => instance.ports.orders.find(account.owner, order.id)()],
      ['a placement', () => instance.ports.orders.placement(account.owner, order.id)()],
      ['the first page', () => instance.ports.orders.list(account.owner, someProgram, { page: 1, limit: 100 }, day)()],
      ['a first page that begins a list', () => instance.ports.orders.list(account.owner, someProgram, { page: 1, limit: 1 }, day)()],
      [
        'a filtered page',
        () => instance.ports.orders.list(account.owner, someProgram, { page: 2, limit: 9, status: 'filled', from: 0, to: 2e12 }, day)(),
      ],
      ['the guards', () => instance.ports.guards.guards(account.owner, account.id)()],
      ['the challenges', () => instance.ports.guards.challenges(account.owner, account.id)()],
      [
        'a page of one client id',
        () => instance.ports.orders.list(account.owner, someProgram, { page: 1, limit: 100, clientId: 'theirs' }, day)(),
      ],
      ['a key that is claimed', () => instance.ports.idempotency.claim(account.owner, newClaim({ key: claim.key }), day)()],
      ['a key that begins', () => instance.ports.idempotency.begin(account.owner, claim, day)()],
      ['a key that is released', () => instance.ports.idempotency.release(account.owner, newClaim())()],
      [
        'what a new order needs',
        () => instance.ports.orders.record(account.owner, toRecord(newOrderOn(account, day), { keep: { claim, reply: newReply() } }))(),
      ],
      [
        'what a new order with limits needs',
        () => {
          const books = { asOf: day, positions: new Map() }
          return instance.ports.orders.record(account.owner, toRecord(newOrderOn(account, day), { books }))()
        },
      ],
      ['the numbers of other orders', () => instance.ports.orders.othersTickets(account.owner, placementOf(order))()],
      [
        'an order that ends',
        () =>
          instance.ports.orders.advance(
            account.owner,
            placementOf(order),
            { placement: { step: 'settled' }, outcome: { kind: 'filled', fill: {} }, continueInMs: null },
            day,
          )(),
      ],
    ])('reads %s by index', async (_, call) => {
      expect(readThrough(await plansOf(call))).toStrictEqual([])
    })

    it('reads the orders that are due by index', async () => {
      const worker = await instance.ports.jobs.work(async () => undefined)
      await expect.poll(() => claimIn(statements), { timeout: 60_000 }).toBeDefined()
      await worker.stop()
      const polled = claimIn(statements)
      const { rows } = await opened.database.knex.raw<{ rows: unknown[] }>(
        `explain (format json) ${polled?.sql.replaceAll(/\$\d+/g, '?')}`,
        (polled?.bindings ?? []) as Knex.RawBinding[],
      )
      expect(JSON.stringify(rows)).toContain('"Index Name":"orders_due"')
      expect(readThrough(JSON.stringify(rows))).toStrictEqual([])
    })
  })
}

plansOn('query plans of orders on the embedded database', openEmbedded)
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  plansOn('query plans of orders', openServer)
})
