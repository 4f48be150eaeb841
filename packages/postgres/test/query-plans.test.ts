// Statements go by index, however many rows others have: no table is read through, and what is
// listed is read off an index.
import type { Account } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type { BrokerDeal } from '@tradeport/domain/journal'
import type { JournalClaim } from '@tradeport/domain/ports'
import type { TenantId, Ticket } from '@tradeport/domain/primitives'
import { noKeys, rightOf, write } from '@tradeport/testkit'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { beforeAll, expect, it } from 'vitest'
import { openJournal, readDisagreeingJournals, type OpenedJournal } from '../src/index.ts'
import { purgeRemoved } from '../src/operator/removals.ts'
import { brokerAccountOf, onEachDatabase, poll } from './harness.ts'
import { inRun, requests, start } from './store-commands.ts'

const day = Date.UTC(2026, 10, 21)
const run = '99999999'
const world = inRun(start, run)
const [account] = world.accounts.put as [Account]
const { id: accountId, owner } = account
const { tenantId } = owner

// Two thousand tenants with little each, and much of one tenant that has ended.
const crowd = (tenantId: string) => [
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
  `insert into trader_limits (tenant_id, account_id, max_open_lots) select tenant_id, id, 1 from accounts on conflict do nothing`,
  `insert into risk_thresholds (tenant_id, account_id, type, severity, value, halt, cancel_orders)
   select tenant_id, id, 'equity_below', 'warning', 1, false, false from accounts`,
  `insert into challenges (tenant_id, account_id, started_at, status) select tenant_id, id, now(), 'active' from accounts`,
  `insert into halts (tenant_id, account_id, halted_by, since) select tenant_id, id, 'operator', now() from accounts where tenant_id like 'crowd-%'`,
  `insert into balance_snapshots (tenant_id, account_id, taken_at, provider_account_id, balance, equity, margin)
   select tenant_id, id, timestamptz '2026-01-01' + n * interval '5 minutes', coalesce(provider_account_id, id::text), 1, 1, 1
   from (select tenant_id, id, provider_account_id from accounts order by user_id like 'crowd-%', id limit 20) a, generate_series(1, 2000) n`,
  `insert into webhooks (tenant_id, id, user_id, url, event_types, secret, enabled, failure_count, created_at, updated_at)
   select 'crowd-' || n, gen_random_uuid(), 'crowd-' || n, 'https://example.com', '{}', '', true, 0, now(), now()
   from generate_series(1, 2000) n, generate_series(1, 10)`,
  `insert into order_counters (tenant_id, user_id, day, created, pending) select tenant_id, id, '2026-11-20', 20, 5 from users where id like 'crowd-%'`,
  `insert into orders (tenant_id, id, user_id, account_id, symbol, side, order_type, volume, status, created_at, updated_at, step, destination_platform,
     destination_provider_account_id, checked_at, version, ended_at, due_at)
   select 'crowd-' || (n % 2000 + 1), 'ord_' || lpad(n::text, 20, 'x'), 'crowd-' || (n % 2000 + 1), gen_random_uuid(), 'EURUSD', 'buy', 'market', 1,
     case when n % 4 = 0 then 'pending' else 'filled' end, timestamptz '2026-11-20' + n * interval '1 second', now(),
     case when n % 4 = 0 then 'looking_up' else 'ended' end, 'mt5', 'p-' || n, now(), 3,
     case when n % 4 = 0 then null else now() end, case when n % 4 = 0 then now() + interval '2 minutes' + n * interval '1 ms' end
   from generate_series(1, 40000) n`,
  `insert into orders (tenant_id, id, user_id, account_id, symbol, side, order_type, volume, status, created_at, updated_at, step, destination_platform,
     destination_provider_account_id, checked_at, version, ended_at)
   select '${tenantId}', 'ord_' || lpad(n::text, 20, 'e'), 'gone', gen_random_uuid(), 'EURUSD', 'buy', 'market', 1, 'filled',
     timestamptz '2026-11-20' + n * interval '1 second', now(), 'ended', 'mt5', 'p', now(), 3, now()
   from generate_series(1, 20000) n`,
  `insert into idempotency_keys (tenant_id, user_id, key, request_hash, id, state, since, reply_body)
   select 'crowd-' || (n % 2000 + 1), 'crowd-' || (n % 2000 + 1), 'key-' || n, 'h', 'claim-' || n, 'replied', now(), '{}' from generate_series(1, 20000) n`,
  `insert into journals (tenant_id, account_id, provider_account_id, linked_at, synced_at, wanted_at, paused_until, failures)
   select tenant_id, id, 'p', now(), now(), now() - interval '1 hour', now() + interval '1 hour', row_number() over () % 2
   from accounts where tenant_id like 'crowd-%'`,
  `insert into candle_series (tenant_id, account_id, provider_account_id, symbol, timeframe)
   select tenant_id, id, 'p0', 'EURUSD', '1m' from accounts`,
  `insert into candles (tenant_id, series_id, time_ms, open, high, low, close, volume)
   select tenant_id, id, n, 1, 1, 1, 1, 1 from candle_series, generate_series(1, 5) n`,
  `insert into deals (tenant_id, account_id, time_ms, id, entry, kind, position_id, profit, commission, swap)
   select tenant_id, account_id, n, n, 'in', 'buy', n, 0, 0, 0 from journals, generate_series(1, 5) n`,
  `insert into trades (tenant_id, account_id, position_id, status, symbol, side, volume, entry_price, exit_price, profit, commission, swap,
     net_profit, opened_at, closed_at, holding_time, closing_deal_id)
   select tenant_id, account_id, n, 'closed', 'EURUSD', 'buy', 1, 1, 1, 1, 0, 0, 1, n, n, 1, n from journals, generate_series(1, 5) n`,
]

/** The tables of which a plan reads every row. */
const readThrough = (plans: string): readonly (string | undefined)[] =>
  [...plans.matchAll(/"Node Type":"Seq Scan"[^{}]*?"Relation Name":"(\w+)"/g)].map(
    ([, table]) => table,
  )

const isClaim = ({ sql }: Knex.Sql) => /due.*skip locked/s.test(sql)

onEachDatabase('statements', (here) => {
  let journal: OpenedJournal
  let claimed: JournalClaim
  const broker = brokerAccountOf(account)
  const series = { account: broker, symbol: 'EURUSD', timeframe: '1m' } as const
  const candle = { time: 5, open: 1, high: 1, low: 1, close: 1, volume: 1 }
  const statements: Knex.Sql[] = []
  beforeAll(async () => {
    await write(here.operator, world)
    for (const statement of crowd(tenantId)) await here.knex.raw(statement)
    journal = openJournal(here)
    claimed = O.toNullable(await rightOf(journal.journal.claim(broker))) as JournalClaim
    await writeDeals()
    // One by one: all of a busy server may take longer than a statement may.
    const { rows } = await here.knex.raw<{ rows: readonly { tablename: string }[] }>(
      'select tablename from pg_tables where schemaname = current_schema()',
    )
    for (const { tablename } of rows) await here.knex.raw('analyze ??', tablename)
    here.knex.on('query', (query: Knex.Sql) => statements.push(query))
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
      changed: deals.slice(0, 1).map((deal) => ({ was: deal, deal })),
      vanished: deals.slice(1),
      reading: null,
      rereadAtFor: () => null,
      firstReadOffset: null,
      completed: { syncedAt: day, latestDealAt: day },
    })()
  }

  const explain = async ({ sql, bindings }: Knex.Sql, options = 'format json') => {
    // The statement as it was sent, its placeholders turned back into knex's own.
    const { rows } = await here.knex.raw<{ rows: unknown[] }>(
      `explain (${options}) ${sql.replaceAll(/\$\d+/g, '?')}`,
      bindings as Knex.RawBinding[],
    )
    return JSON.stringify(rows)
  }
  /** @param explained statements that need not be explained again */
  const plansOf = async (call: () => Promise<unknown>, explained = new Set<string>()) => {
    statements.length = 0
    await call()
    const sent = statements.filter(({ sql }) =>
      /^\s*(?:select(?! pg_|from "users")|update|with|delete|insert into "?(?:orders|order_counters|idempotency|journals|deals|trades|halts))/.test(
        sql,
      ),
    )
    expect(sent).not.toHaveLength(0)
    const others = sent.filter(({ sql }) => !explained.has(sql))
    for (const { sql } of others) explained.add(sql)
    return (await Promise.all(others.map((one) => explain(one)))).join()
  }

  it('of requests read no table through', async () => {
    const reading: Record<string, unknown> = {}
    const explained = new Set<string>()
    for (const request of requests)
      for (const { shown, run: ask } of fc.sample(request, { numRuns: 8, seed: 8 })) {
        const tables = readThrough(await plansOf(ask(here, run, day), explained))
        if (tables.length > 0) reading[shown] = tables
      }
    expect(reading).toStrictEqual({})
  })

  it('of what removed records leave read no large table through', async () => {
    await here.knex.raw(`insert into removals values ('crowd-1', 'user', 'crowd-1'),
      ('crowd-2', 'account', gen_random_uuid()), ('crowd-3', 'webhook', gen_random_uuid())`)
    await here.knex.raw(`insert into events (tenant_id, id, user_id, key, type, account_id, data)
      select 'crowd-' || n % 2000, n, 'crowd-' || n % 2000, n, 'order.created', gen_random_uuid(), '{}' from generate_series(1, 20000) n`)
    await here.knex
      .raw(`insert into webhook_deliveries (tenant_id, id, webhook_id, event_id, status, attempts, created_at)
      select tenant_id, gen_random_uuid(), gen_random_uuid(), id, 'success', 1, now() from events`)
    await here.knex.raw('analyze removals, events, webhook_deliveries')
    for (const { text, bindings } of purgeRemoved()) {
      const plan = await explain({ sql: text, bindings } as unknown as Knex.Sql)
      // Each of the few accounts with snapshots has a twentieth of them.
      const few = ['removals', 'balance_snapshots']
      expect(readThrough(plan).filter((table = '') => !few.includes(table))).toStrictEqual([])
    }
  })

  const slice = { after: undefined, limit: 101 }
  const place = { closedAt: day, closingDealId: '5', accountId }
  const everything = { accountIds: [accountId], filter: {} } as const
  it.each([
    ['accounts of an owner', () => here.accounts.list(owner)],
    ['webhooks of an owner', () => here.webhooks.list(owner)],
    [
      'snapshots of an account',
      () => here.accounts.snapshots(owner, accountId, { from: 0, to: 2e12, limit: 365 }),
    ],
    ['users of a tenant', () => here.tenantRecords.users('crowd-1' as TenantId, slice)],
    ['tenants', () => here.tenantRecords.tenants({ after: tenantId, limit: 101 })],
  ])('of a list of %s sort nothing', async (_, call) => {
    const plans = await plansOf(call())
    expect(readThrough(plans)).toStrictEqual([])
    expect(plans).not.toContain('"Node Type":"Sort"')
  })

  const selection = {
    accountIds: [accountId],
    filter: { profitFilter: 'profit', symbol: 'EURUSD' as never, startDate: 0, endDate: day },
  } as const
  it.each([
    ['any order', () => here.operatorOrders.find('ord_none' as never)],
    ['the open orders of an account', () => here.orders.openOrders(broker.owner, broker.accountId)],
    ['how far a journal is', () => journal.journal.find(broker)],
    ['a claim of a journal', () => journal.journal.claim(broker)],
    ['the deals from a time on', () => journal.journal.dealsFrom(broker, day, 9)],
    ['the deals of an order', () => journal.journal.closingDeals(broker, '1', day)],
    ['a comparison with the balance', () => journal.journal.check(claimed, 1, day)],
    ['a wanted read', () => journal.journal.wantRead(broker, day)],
    ['a write of deals', () => writeDeals],
    ['a page of trades', () => journal.trades.page(owner, selection, place, 100)],
    ['an export', () => journal.trades.exportPage(owner, selection, undefined, 1_000)],
    ['the results', () => journal.trades.results(owner, selection)],
    ['those by symbol', () => journal.trades.netProfitsBy(owner, selection, 'symbol')],
    [
      'the deals of a position',
      () => journal.trades.deals(owner, accountId, '1', { page: 1, limit: 9 }),
    ],
    ['a reconciliation', () => journal.trades.reconciliation(owner, accountId)],
    ['the balances', () => journal.trades.balances(owner, accountId, day)],
    [
      'the cash flows',
      () => journal.trades.cashFlows(owner, accountId, { startDate: 0, endDate: day }, 500),
    ],
    ['a trade', () => journal.trades.find(owner, { accountId, ticket: '1' as Ticket })],
    ['the skipped positions', () => journal.trades.skipped(owner, [accountId])],
    [
      'a page of candles',
      () => here.candles.read(series, { from: 0, to: day }, { limit: 100, end: 'last' }),
    ],
    ['a write of candles', () => here.candles.add(series, { from: 5, to: 5 }, [candle])],
    ['the journals that disagree', () => readDisagreeingJournals(here.knex)],
  ])('of %s read no table through', async (_, call) => {
    expect(readThrough(await plansOf(call()))).toStrictEqual([])
  })

  it('of what a document names read no large table through', async () => {
    const keys = {
      ...noKeys,
      traderLimits: [accountId],
      challenges: [{ accountId, startedAt: day }],
      balanceSnapshots: [{ accountId, timestamp: day }],
      riskThresholds: [{ accountId, type: 'equity_below', severity: 'warning' } as const],
      halts: [accountId],
    }
    const refused = E.left(refuse('ValidationError', { issues: [] }))
    const plans = await plansOf(here.operator.apply(keys, () => refused))
    expect(readThrough(plans)).toStrictEqual(['market_data_feed'])
  })

  const of = { tenants: [tenantId], users: [owner.userId], accounts: [accountId] }
  const claims = async (
    jobs: { work: typeof journal.jobs.work } | typeof here.orderJobs,
    count = 1,
  ) => {
    const worker = await jobs.work(async () => undefined)
    await poll(() => statements.filter(isClaim).length).toBeGreaterThanOrEqual(count)
    await worker.stop()
    statements.splice(0, Infinity, ...statements.filter(isClaim).slice(0, count))
  }
  it('of polls for due journals read none that is paused', async () => {
    await claims(journal.jobs, 2)
    const plans = await Promise.all(
      statements.map((claim) => explain(claim, 'analyze, format json')),
    )
    expect(plans).toHaveLength(2)
    // Thousands are paused. One that another test left due may be leased.
    expect(plans.join()).not.toMatch(/"Rows Removed by Filter":\d\d/)
  })

  it.each([
    ['due orders', 'orders_due', () => claims(here.orderJobs)],
    ['due journals', 'journals_due', () => claims(journal.jobs)],
    [
      'a page of trades in closing order',
      'trades_closed',
      () => journal.trades.page(owner, everything, place, 10)(),
    ],
    ...[{}, { unresolvedSince: day }, { of }, { unresolvedSince: day, of }].map(
      (filter): [string, string, () => Promise<unknown>] => [
        `orders under way (${Object.keys(filter).join()})`,
        'orders_due',
        () => here.operatorOrders.underWay(filter, { after: undefined, limit: 100 })(),
      ],
    ),
  ])('of %s use the index %s', async (_, index, call) => {
    const plans = await plansOf(call)
    expect(plans).toContain(`"Index Name":"${index}"`)
    expect(readThrough(plans)).toStrictEqual([])
  })
})
