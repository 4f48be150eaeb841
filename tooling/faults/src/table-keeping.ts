// What becomes of the rows of every table: what clears them, or why they are kept. A table that
// grows and stands not here is one that nobody thought of.

export interface Keeping {
  /** Whether it may hold more after a soak than before. */
  readonly grows: boolean
  readonly why: string
}

const records: Keeping = { grows: false, why: "the operator's records" }
const jobs: Keeping = {
  grows: true,
  why: 'cleared of what was done an hour ago; owner notices stay for a week',
}
const queues: Keeping = { grows: false, why: 'one row for each queue or version' }

export const tableKeeping: Readonly<Record<string, Keeping>> = {
  'public.tenants': records,
  'public.users': records,
  'public.accounts': records,
  'public.api_keys': records,
  'public.access_tokens': records,
  'public.desks': records,
  'public.desk_accounts': records,
  'public.trader_limits': records,
  'public.challenges': records,
  'public.balance_snapshots': {
    grows: true,
    why: 'kept for good: what GET /accounts/{id}/history gives; one in five minutes of an account that is read',
  },
  'public.orders': { grows: true, why: "kept for good: the user's orders; at most 100 a day" },
  'public.order_counters': { grows: true, why: 'one row for each user who ever ordered' },
  'public.order_list_starts': {
    grows: true,
    why: 'cleared every hour of what is older than 70 minutes',
  },
  'public.idempotency_keys': {
    grows: true,
    why: 'cleared every hour of what is older than 25 hours',
  },
  'public.position_locks': {
    grows: false,
    why: 'goes with the release; cleared of what a dead process left',
  },
  'public.journals': { grows: false, why: 'one row for each account that was read' },
  'public.deals': {
    grows: true,
    why: "kept for good: the broker's history; goes with its account",
  },
  'public.trades': { grows: true, why: 'one row for each position of the deals' },
  'public.webhooks': { grows: false, why: 'at most ten for each user' },
  'public.events': { grows: true, why: 'cleared every hour of what is older than 30 days' },
  'public.webhook_deliveries': { grows: true, why: 'goes with its event or its webhook' },
  'public.knex_migrations': queues,
  'public.knex_migrations_lock': queues,
}

export const keepingOf = (table: string): Keeping | undefined =>
  tableKeeping[table] ?? (table.startsWith('pgboss.') ? pgBoss(table) : undefined)

const pgBoss = (table: string): Keeping => (table.startsWith('pgboss.job_common') ? jobs : queues)
