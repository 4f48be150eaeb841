// A document removes at once what others find and lock, however much there is, and workers delete
// the rest. What gets the id of a removed record has nothing of it.
import type { Account } from '@tradeport/domain/accounts'
import type { Webhook } from '@tradeport/domain/webhooks'
import {
  newClaim,
  newOrderOn,
  newTenant,
  newUser,
  puts,
  removes,
  rightOf,
  write,
} from '@tradeport/testkit'
import type { Knex } from 'knex'
import type { DatabaseError } from 'pg'
import { expect, it } from 'vitest'
import { openDatabase, openJournal } from '../src/index.ts'
import {
  brokerAccountOf,
  countRows,
  lockWaits,
  onEachDatabase,
  poll,
  startInstance,
  storedAccount,
  type Instance,
} from './harness.ts'

const noon = Date.parse('2026-11-21T12:00:00.000Z')

const tables = [
  'orders',
  'events',
  'webhook_deliveries',
  'idempotency_keys',
  'deals',
  'trades',
  'balance_snapshots',
  'candles',
  'candle_series',
]

const unbounded = (here: Instance, text: string, bindings: readonly (string | number)[]) =>
  here.knex.transaction(async (trx) => {
    await trx.raw('set local statement_timeout = 0')
    await trx.raw(text, bindings)
  })

/** An account, its user and a webhook of the user, with so many rows of everything. */
const storedWith = async (here: Instance, rows: number) => {
  const account = await storedAccount(here.operator)
  const { owner } = account
  const webhook = await here.storedWebhook(owner)
  const order = await here.recordOrder(newOrderOn(account, noon))
  const claim = newClaim({ key: 'k1' })
  const columns = (await here.knex('orders').columnInfo()) as Record<string, unknown>
  const copied = Object.keys(columns).filter((name) => !['id', 'step', 'sequence'].includes(name))
  await unbounded(
    here,
    `with given as (select ?::text as tenant_id, ?::text as user_id, ?::uuid as account_id, ?::uuid as webhook_id, ?::text as order_id),
      many as (select given.*, n from given, generate_series(1, ?) as n),
      ended as (
        insert into orders (${copied.join()}, id, step)
        select ${copied.map((name) => `orders.${name}`).join()}, left(order_id, 14) || lpad(n::text, 10, '0'), 'ended' from many join orders on orders.id = order_id),
      event as (
        insert into events (tenant_id, id, user_id, key, type, account_id, data)
        select tenant_id, 'evt_' || lpad(n::text, 20, '0'), user_id, 'k' || n, 'order.created', account_id, '{}' from many returning tenant_id, id),
      delivery as (
        insert into webhook_deliveries (tenant_id, id, webhook_id, event_id, status, attempts, created_at)
        select tenant_id, gen_random_uuid(), '${webhook.id}', id, 'success', 1, now() from event),
      replied as (
        insert into idempotency_keys (tenant_id, user_id, key, request_hash, id, state, since, reply_body)
        select tenant_id, user_id, 'k' || n, '${claim.requestHash}', 'c' || n, 'replied', to_timestamp(${noon / 1_000}), '"theirs"' from many),
      deal as (
        insert into deals (tenant_id, account_id, time_ms, id, entry, kind, position_id, profit, commission, swap)
        select tenant_id, account_id, n, n, 'in', 'buy', n, 0, 0, 0 from many),
      trade as (insert into trades (tenant_id, account_id, position_id, status) select tenant_id, account_id, n, 'open' from many),
      snapshot as (
        insert into balance_snapshots (tenant_id, account_id, taken_at, provider_account_id, balance, equity, margin)
        select tenant_id, account_id, to_timestamp(n), '', 1, 1, 1 from many),
      series as (
        insert into candle_series (tenant_id, account_id, provider_account_id, symbol, timeframe, known)
        select tenant_id, account_id, 'p-1', 'EURUSD', '1m', '{[1,9]}' from given returning tenant_id, id)
    insert into candles select series.tenant_id, series.id, n, 1, 1, 1, 1, 1 from series, many`,
    [owner.tenantId, owner.userId, account.id, webhook.id, order.id, rows],
  )
  return { account, webhook, order, claim }
}

const dealsOf = async ({ knex }: Instance, account: Account) =>
  (await knex('deals').where({ account_id: account.id })).length

/** What requests find of an owner and an account. */
const seenOf = async (here: Instance, stored: Account, webhook: Webhook) => {
  const page = { page: 1, limit: 2 }
  const account = { ...brokerAccountOf(stored), providerAccountId: 'p-1' }
  const { owner, accountId } = account
  const deliveries = here.deliveries.list(owner, webhook.id, page)
  return {
    orders: (await rightOf(here.orders.list(owner, page))).pagination.total,
    deliveries: (await rightOf(deliveries)).pagination.total,
    events: (await here.eventsOf(owner, { limit: 2 })).length,
    snapshots: await rightOf(here.accounts.snapshots(owner, accountId, { limit: 1 })),
    ...(await rightOf(
      here.candles.read(
        { account, symbol: 'EURUSD', timeframe: '1m' },
        { from: 0, to: 9 },
        { limit: 1, end: 'first' },
      ),
    )),
  }
}
const nothing = {
  orders: 0,
  deliveries: 0,
  events: 0,
  snapshots: [],
  known: [],
  candles: [],
}

onEachDatabase('what removed records leave', (here, there, _, onServer) => {
  it.each([
    ['user', 1_100],
    ['tenant', 10],
  ] as const)('is shown to nobody, and to no later %s with the same id', async (what, rows) => {
    const { account, webhook, order, claim } = await storedWith(here, rows)
    const { owner } = account
    expect(await seenOf(here, account, webhook)).toMatchObject({ orders: rows + 1, events: 2 })
    await write(
      here.operator,
      what === 'user' ? { users: removes(owner.userId) } : { tenants: removes(owner.tenantId) },
    )
    expect(await seenOf(here, account, webhook)).toStrictEqual(nothing)
    await write(here.operator, {
      tenants: puts({ id: owner.tenantId, name: 'Acme' }),
      users: puts({ ...newUser(owner.tenantId), id: owner.userId }),
      accounts: puts(account),
    })
    expect(await seenOf(here, account, webhook)).toStrictEqual(nothing)
    expect(await dealsOf(here, account)).toBe(0)
    expect(await rightOf(here.idempotency.claim(owner, claim))).toStrictEqual({
      kind: 'claimed',
    })
    // It may be executed whoever is removed.
    expect(
      await here.knex('orders').where({ tenant_id: owner.tenantId }).pluck('id'),
    ).toStrictEqual([order.id])
  })

  it('is not that of an account which the same document gives another user', async () => {
    const { account, webhook } = await storedWith(here, 10)
    const other = newUser(account.owner.tenantId)
    const given = { ...account, owner: { ...account.owner, userId: other.id } }
    await write(here.operator, {
      users: { put: [other], remove: [account.owner.userId] },
      accounts: puts(given),
    })
    expect(await seenOf(here, given, webhook)).toStrictEqual(nothing)
    expect(await dealsOf(here, account)).toBe(0)
  })

  it('is deleted by the workers', async () => {
    const [{ account }, left, { webhook }] = [
      await storedWith(here, 1_100),
      await storedWith(here, 10),
      await storedWith(here, 10),
    ]
    await write(here.operator, {
      users: removes(account.owner.userId),
      accounts: removes(left.account.id),
    })
    await rightOf(here.webhooks.remove(webhook.owner, webhook.id))
    const { stop } = await here.orderJobs.work(async () => undefined)
    await poll(() => here.knex('removals')).toStrictEqual([])
    await stop()
    const count = async (table: string, column: string, value: string) =>
      (await here.knex(table).where({ [column]: value })).length
    const { tenantId } = account.owner
    for (const table of tables)
      expect([table, await count(table, 'tenant_id', tenantId)]).toStrictEqual([
        table,
        table === 'orders' ? 1 : 0,
      ])
    for (const table of tables.slice(4, 8))
      expect([table, await count(table, 'tenant_id', left.account.owner.tenantId)]).toStrictEqual([
        table,
        0,
      ])
    expect(await count('events', 'user_id', left.account.owner.userId)).toBe(11)
    expect(await count('webhook_deliveries', 'webhook_id', webhook.id)).toBe(0)
  })

  it('of a link to another account at the provider is deleted some at a time', async () => {
    const { account } = await storedWith(here, 10_100)
    const { journal } = openJournal(here)
    const provider = { providerAccountId: 'another', region: null }
    const linked = { ...account, provider }
    await here.knex('journals').insert({
      tenant_id: account.owner.tenantId,
      account_id: account.id,
      provider_account_id: 'p-1',
      linked_at: new Date(),
    })
    await write(here.operator, { accounts: puts(linked) })
    const deleted = countRows(here.knex, /delete from (?:deals|trades)/)
    expect(await rightOf(journal.claim(brokerAccountOf(linked)))).toMatchObject({
      value: { state: { deals: 0 } },
    })
    deleted.stop()
    expect([Math.max(...deleted.counts), await dealsOf(here, account)]).toStrictEqual([10_000, 0])
  })

  onServer(
    'is waited for while others write it, also where they wait for the document',
    async () => {
      const { account, order } = await storedWith(here, 1)
      const { owner } = account
      const other = newTenant()
      const statements: string[] = []
      const writing = there.knex.transaction(async (trx) => {
        await trx('orders').where({ id: order.id }).forUpdate()
        here.knex.on('query', ({ sql }: Knex.Sql) => statements.push(sql))
        const written = write(here.operator, {
          tenants: { put: [other], remove: [owner.tenantId] },
          users: puts({ ...newUser(other.id), id: owner.userId }),
        })
        await poll(() => lockWaits(here)).toBeGreaterThan(0)
        const counter = trx('order_counters')
          .where({ user_id: owner.userId })
          .update({ pending: 0 })
        return { written, counted: await counter.catch(({ code }: DatabaseError) => code) }
      })
      const { written, counted } = await writing
      await written
      expect(counted).not.toBe('57014')
      expect(statements.length).toBeLessThan(200)
    },
  )

  onServer(
    'takes its removal no longer than a statement may last, however much it is',
    async () => {
      const { account } = await storedWith(here, 20_000)
      const hasty = await openDatabase({
        ...(here.database.server ?? { inMemory: true }),
        statementTimeoutMs: 200,
      })
      await write(startInstance(hasty).operator, { users: removes(account.owner.userId) })
      await hasty.close()
    },
  )
})
