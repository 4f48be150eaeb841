// Statements go by index, however many rows others have: no table is read through, and what is
// listed is read off an index.
import {
  newClaim,
  newOrderOn,
  newReply,
  newWebhook,
  placementOf,
  rightOf,
  someProgram,
  storedAccount,
  toRecord,
} from '@tradeport/testkit'
import type { Account, AccountReading, BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { PendingOrder } from '@tradeport/domain/orders'
import type { JournalClaim, OrdersQuery } from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'
import type { Webhook } from '@tradeport/domain/webhooks'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createJournalHealth,
  createOperatorOrders,
  createTenantRecords,
  openJournal,
  type OpenedJournal,
} from '../src/index.ts'
import { onEachDatabase, pulse, silent, webhooksOn, type OpenedDatabase } from './open-stores.ts'
import { startInstance, type OrderInstance } from './order-ports.ts'

const day = Date.UTC(2026, 10, 21)
const claim = newClaim()
const reading: AccountReading = {
  tradeMode: 'demo',
  broker: null,
  currency: null,
  figures: { balance: 1, equity: 1, margin: 1, freeMargin: 1, marginLevel: 1, leverage: 1 },
  readAt: 2e12,
}

// Two thousand tenants with little each, and the tenant of the account under test with much that
// has ended.
const crowd = (own: Account): readonly string[] => [
  `insert into tenants (id, name) select 'crowd-' || n, 'Crowd' from generate_series(1, 2000) n`,
  `insert into users (tenant_id, id, email, plan) select 'crowd-' || n, 'crowd-' || n, 'e', 'free' from generate_series(1, 2000) n`,
  `insert into accounts (id, tenant_id, user_id, name, broker_type, account_number, server, purpose, linked_as_demo, currency, balance, equity, margin, status,
     created_at, updated_at)
   select gen_random_uuid(), 'crowd-' || n, 'crowd-' || n, '', 'mt5', '', '', 'trading', true, 'USD', 1, 1, 1, 'connected', now(), now()
   from generate_series(1, 2000) n, generate_series(1, 2)`,
  `insert into api_keys (tenant_id, id, user_id, name, hash, scopes, ip_allowlist, enabled)
   select 'crowd-' || n, 'key-' || n || '-' || m, 'crowd-' || n, '', encode(sha256((n || '-' || m)::bytea), 'hex'), '{}', '{}', true
   from generate_series(1, 2000) n, generate_series(1, 2) m`,
  `insert into access_tokens (tenant_id, id, user_id, application_id, hash, scopes, enabled)
   select tenant_id, id, user_id, '', hash, '{}', true from api_keys`,
  `insert into desks (tenant_id, id) select 'crowd-' || n, 'desk-' || n || '-' || m from generate_series(1, 2000) n, generate_series(1, 2) m`,
  `insert into desk_accounts (tenant_id, desk_id, account_id, place) select tenant_id, desks.id, accounts.id, 0 from desks join accounts using (tenant_id)`,
  `insert into trader_limits (tenant_id, account_id, max_open_lots) select tenant_id, id, 1 from accounts`,
  `insert into risk_thresholds (tenant_id, account_id, type, severity, value, halt)
   select tenant_id, id, 'equity_below', 'warning', 1, false from accounts`,
  `insert into challenges (tenant_id, account_id, started_at, status) select tenant_id, id, now(), 'active' from accounts`,
  `insert into balance_snapshots (tenant_id, account_id, taken_at, balance, equity, margin)
   select tenant_id, id, timestamptz '2026-01-01' + n * interval '5 minutes', 1, 1, 1
   from (select tenant_id, id from accounts order by user_id like 'crowd-%', id limit 20) a, generate_series(1, 2000) n`,
  `insert into webhooks (tenant_id, id, user_id, url, event_types, secret, enabled, failure_count, created_at, updated_at)
   select 'crowd-' || n, gen_random_uuid(), 'crowd-' || n, 'https://example.com', '{}', '', true, 0, now(), now()
   from generate_series(1, 2000) n, generate_series(1, 10)`,
  `insert into order_counters (tenant_id, user_id, day, created, pending) select tenant_id, id, '2026-11-20', 20, 5 from users where id like 'crowd-%'`,
  `insert into orders (tenant_id, id, user_id, account_id, symbol, side, volume, status, created_at, updated_at, step, destination_platform,
     destination_account, checked_at, version, ended_at, due_at)
   select 'crowd-' || (n % 2000 + 1), 'ord_' || lpad(n::text, 20, 'x'), 'crowd-' || (n % 2000 + 1), gen_random_uuid(), 'EURUSD', 'buy', 1,
     case when n % 4 = 0 then 'pending' else 'filled' end, timestamptz '2026-11-20' + n * interval '1 second', now(),
     case when n % 4 = 0 then 'looking_up' else 'ended' end, 'mt5', 'p-' || n, now(), 3,
     case when n % 4 = 0 then null else now() end, case when n % 4 = 0 then now() + interval '2 minutes' + n * interval '1 ms' end
   from generate_series(1, 40000) n`,
  `insert into orders (tenant_id, id, user_id, account_id, symbol, side, volume, status, created_at, updated_at, step, destination_platform,
     destination_account, checked_at, version, ended_at)
   select '${own.owner.tenantId}', 'ord_' || lpad(n::text, 20, 'e'), 'gone', gen_random_uuid(), 'EURUSD', 'buy', 1, 'filled',
     timestamptz '2026-11-20' + n * interval '1 second', now(), 'ended', 'mt5', 'p', now(), 3, now()
   from generate_series(1, 20000) n`,
  `insert into idempotency_keys (tenant_id, user_id, key, request_hash, id, state, since, reply_body)
   select 'crowd-' || (n % 2000 + 1), 'crowd-' || (n % 2000 + 1), 'key-' || n, 'h', 'claim-' || n, 'replied', now(), '{}' from generate_series(1, 20000) n`,
  `insert into order_list_starts (tenant_id, user_id, list, last_sequence, started_at)
   select 'crowd-' || (n % 2000 + 1), 'crowd-' || (n % 2000 + 1), int4send(n), 1, now() - n * interval '1 second' from generate_series(1, 20000) n`,
  `insert into journals (tenant_id, account_id, provider_account_id, linked_at, synced_at, wanted_at)
   select tenant_id, id, 'p', now(), now(), now() + interval '1 hour' from accounts where tenant_id like 'crowd-%'`,
  `insert into deals (tenant_id, account_id, time_ms, id, entry, kind, position_id, profit, commission, swap)
   select tenant_id, account_id, n, n, 'in', 'buy', n, 0, 0, 0 from journals, generate_series(1, 10) n`,
  `insert into trades (tenant_id, account_id, position_id, status, symbol, side, volume, entry_price, exit_price, profit, commission, swap,
     net_profit, opened_at, closed_at, holding_time, closing_deal_id)
   select tenant_id, account_id, n, 'closed', 'EURUSD', 'buy', 1, 1, 1, 1, 0, 0, 1, n, n, 1, n from journals, generate_series(1, 10) n`,
]

/** The tables of which a plan reads every row. */
const readThrough = (plans: string): readonly (string | undefined)[] =>
  [...plans.matchAll(/"Node Type":"Seq Scan"[^{}]*?"Relation Name":"(\w+)"/g)].map(
    ([, table]) => table,
  )

const isClaim = ({ sql }: Knex.Sql) => /due.*skip locked/s.test(sql)

onEachDatabase((open) => {
  let opened: OpenedDatabase
  let knex: Knex
  let ports: OrderInstance['ports']
  let stop: () => Promise<void>
  let account: Account
  let order: PendingOrder
  let webhook: Webhook
  let journal: OpenedJournal
  let broker: BrokerAccount
  let claimed: JournalClaim
  const statements: Knex.Sql[] = []
  beforeAll(async () => {
    opened = await open()
    knex = opened.database.knex
    ;({ ports, stop } = await startInstance(opened.database))
    account = await storedAccount(ports.operator)
    webhook = newWebhook(account.owner, 0)
    await rightOf(webhooksOn(opened.database).create(account.owner, { webhook, secret: 's' }))
    for (const statement of crowd(account)) await knex.raw(statement)
    broker = {
      accountId: account.id,
      owner: account.owner,
      platform: 'mt5',
      providerAccountId: `provider-${account.id}`,
      region: null,
    }
    journal = openJournal({ knex, log: silent, pulse })
    claimed = O.toNullable(await rightOf(journal.journal.claim(broker))) as JournalClaim
    await writeDeals()
    await knex.raw('analyze')
    order = newOrderOn(account, day)
    await rightOf(ports.orders.record(account.owner, toRecord(order)))
    await rightOf(ports.idempotency.claim(account.owner, claim, day))
    knex.on('query', (query: Knex.Sql) => statements.push(query))
  })
  afterAll(async () => {
    await stop()
    await opened.close()
  })

  const writeDeals = () => {
    const deals = ['1', '2'].map((id): BrokerDeal => ({
      id,
      kind: 'buy',
      side: 'buy',
      entry: 'in',
      positionId: '1',
      profit: 1,
      commission: 0,
      swap: 0,
      time: day,
    }))
    return journal.journal.write(claimed, {
      inserted: deals,
      changed: deals.slice(0, 1),
      vanished: deals.slice(1),
      reading: null,
      now: day,
      firstReadOffset: null,
      completed: { syncedAt: day, latestDealAt: day },
    })()
  }

  const explain = async ({ sql, bindings }: Knex.Sql): Promise<string> => {
    // The statement as it was sent, its placeholders turned back into knex's own.
    const { rows } = await knex.raw<{ rows: unknown[] }>(
      `explain (format json) ${sql.replaceAll(/\$\d+/g, '?')}`,
      bindings as Knex.RawBinding[],
    )
    return JSON.stringify(rows)
  }

  const plansOf = async (call: () => Promise<unknown>): Promise<string> => {
    statements.length = 0
    await call()
    const sent = statements.filter(({ sql }) =>
      /^\s*(?:select(?! pg_|from "users")|update|with|delete|insert into "?(?:orders|order_counters|idempotency|journals|deals|trades))/.test(
        sql,
      ),
    )
    expect(sent).not.toHaveLength(0)
    return (await Promise.all(sent.map(explain))).join()
  }

  const webhooks = () => webhooksOn(opened.database)
  const records = () => createTenantRecords(opened.database)
  const list = (query: Partial<OrdersQuery>) =>
    ports.orders.list(account.owner, someProgram, { page: 1, limit: 100, ...query }, day)()
  const record = (more: Parameters<typeof toRecord>[1]) =>
    ports.orders.record(account.owner, toRecord(newOrderOn(account, day), more))()
  const slice = { after: undefined, limit: 101, userId: undefined }
  const selection = () => ({
    accountIds: [account.id],
    filter: { profit: 'profit', symbol: 'EURUSD' as never, from: 0, to: day } as const,
  })
  const place = () => ({ closedAt: day, closingDealId: '5', accountId: account.id })
  const later = () => ({ ...slice, after: { userId: account.owner.userId, id: 'a' } })

  const unsorted: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['the accounts of an owner', () => ports.accounts.list(account.owner)()],
    ['an account', () => ports.accounts.find(account.owner, account.id)()],
    [
      'the snapshots of an account',
      () =>
        ports.accounts.snapshots(account.owner, account.id, { from: 0, to: 2e12, limit: 365 })(),
    ],
    [
      'the last snapshot when a reading is recorded',
      () => ports.accounts.recordReading(account.owner, account, reading)(),
    ],
    ['the webhooks of an owner', () => webhooks().list(account.owner)()],
    ['a webhook', () => webhooks().findWithSecret(account.owner, webhook.id)()],
    [
      'a webhook that is changed',
      () => webhooks().change(account.owner, webhook.id, { enabled: false }, 0)(),
    ],
    [
      'how many webhooks an owner has',
      () =>
        webhooks().create(account.owner, { webhook: newWebhook(account.owner, 0), secret: 's' })(),
    ],
    ['a key by its hash', () => ports.credentials.findApiKey('0'.repeat(64) as never)()],
    ['an order', () => ports.orders.find(account.owner, order.id)()],
    ['the users of a tenant', () => records().users(account.owner.tenantId, slice)()],
    ['all tenants', () => records().tenants({ after: account.owner.tenantId, limit: 101 })()],
  ]
  it.each(unsorted)('reads %s by index alone', async (_, call) => {
    const plans = await plansOf(call)
    expect(readThrough(plans)).toStrictEqual([])
    expect(plans).not.toContain('"Node Type":"Sort"')
  })

  it.each<[string, () => Promise<unknown>]>([
    [
      'the accounts of a tenant',
      () =>
        records().accounts(account.owner.tenantId, {
          ...later(),
          after: { userId: 'a' as never, id: account.id },
        })(),
    ],
    ['the keys of a tenant', () => records().apiKeys(account.owner.tenantId, slice)()],
    [
      'the keys of a tenant after a place',
      () => records().apiKeys(account.owner.tenantId, later())(),
    ],
    [
      'the keys of a user',
      () => records().apiKeys(account.owner.tenantId, { ...slice, userId: account.owner.userId })(),
    ],
    ['the tokens of a tenant', () => records().accessTokens(account.owner.tenantId, later())()],
    ['the desks of a tenant', () => records().desks(account.owner.tenantId, slice)()],
    ['a placement', () => ports.orders.placement(account.owner, order.id)()],
    ['the first page', () => list({})],
    ['a first page that begins a list', () => list({ limit: 1 })],
    ['a filtered page', () => list({ page: 2, limit: 9, status: 'filled', from: 0, to: 2e12 })],
    ['a page of one client id', () => list({ clientId: 'theirs' })],
    ['the limits', () => ports.orderLimits.limitsOf(account.owner, account.id)()],
    ['the challenges', () => ports.orderLimits.challenges(account.owner, account.id)()],
    [
      'a key that is claimed',
      () => ports.idempotency.claim(account.owner, newClaim({ key: claim.key }), day)(),
    ],
    ['a key that begins', () => ports.idempotency.begin(account.owner, claim, day)()],
    ['a key that is released', () => ports.idempotency.release(account.owner, newClaim())()],
    ['what a new order needs', () => record({ keep: { claim, reply: newReply() } })],
    [
      'what a new order with limits needs',
      () => record({ openPositions: { asOf: day, positions: new Map() } }),
    ],
    [
      'the numbers of other orders',
      () => ports.orders.othersTickets(account.owner, placementOf(order))(),
    ],
    [
      'an order that ends',
      () => {
        const end = {
          placement: { step: 'ended' },
          outcome: { kind: 'filled', fill: {} },
          continueInMs: null,
        } as const
        return ports.orders.advance(account.owner, placementOf(order), end, day)()
      },
    ],
    ['any order', () => createOperatorOrders(opened.database).find(order.id)()],
    ['how far a journal is', () => journal.journal.find(broker)()],
    ['a claim of a journal', () => journal.journal.claim(broker)()],
    ['the deals from a time on', () => journal.journal.dealsFrom(broker, day)()],
    ['the deals of an order', () => journal.journal.closingDeals(broker, '1', day)()],
    ['a comparison with the balance', () => journal.journal.check(claimed, 1, day)()],
    ['a wanted read', () => journal.journal.want(broker, day)()],
    ['what a write of deals needs', writeDeals],
    ['a page of trades', () => journal.records.page(account.owner, selection(), place(), 100)()],
    [
      'a page for an export',
      () => journal.records.exportPage(account.owner, selection(), undefined, 1_000)(),
    ],
    ['the results', () => journal.records.results(account.owner, selection())()],
    [
      'a trade',
      () => journal.records.find(account.owner, { accountId: account.id, ticket: '1' as Ticket })(),
    ],
    ['the skipped positions', () => journal.records.skipped(account.owner, [account.id])()],
    ['the journals that disagree', () => createJournalHealth(knex).disagreeing()],
  ])('reads %s without reading a table through', async (_, call) => {
    expect(readThrough(await plansOf(call))).toStrictEqual([])
  })

  it('reads a page of trades in closing order off the index', async () => {
    const everything = { ...selection(), filter: { profit: 'all' } } as const
    const plans = await plansOf(() =>
      journal.records.page(account.owner, everything, place(), 10)(),
    )
    expect(plans).toContain('"Index Name":"trades_closed"')
  })

  const of = () => ({
    tenants: [account.owner.tenantId],
    users: [account.owner.userId],
    accounts: [account.id],
  })
  it.each<[string, string, () => Promise<unknown>]>([
    ...(['orders', 'journals'] as const).map((queue): [string, string, () => Promise<unknown>] => [
      `due ${queue}`,
      `${queue}_due`,
      async () => {
        const worker = await (queue === 'orders' ? ports.jobs : journal.jobs).work(
          async () => undefined,
        )
        await expect.poll(() => statements.some(isClaim)).toBe(true)
        await worker.stop()
        statements.splice(0, Infinity, ...statements.filter(isClaim).slice(0, 1))
      },
    ]),
    ...([{}, { pendingSince: day }] as const).flatMap((filter) =>
      [false, true].map((some): [string, string, () => Promise<unknown>] => [
        `orders under way (${JSON.stringify(filter)}, of some: ${some})`,
        'orders_due',
        () =>
          createOperatorOrders(opened.database).underWay(
            { ...filter, ...(some && { of: of() }) },
            { after: undefined, limit: 100 },
          )(),
      ]),
    ),
  ])('reads %s from the index %s', async (_, index, call) => {
    const plans = await plansOf(call)
    expect(plans).toContain(`"Index Name":"${index}"`)
    expect(readThrough(plans)).toStrictEqual([])
  })
})
