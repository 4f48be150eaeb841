// Every table. A key begins with its tenant, so that the database can be divided by tenant. Ids
// that the operator's documents name without a tenant are unique by themselves too. What belongs to
// a record goes with it, and what there may be much of is deleted afterwards
// (operator/removals.ts).
import type { Knex } from 'knex'

export const up = (knex: Knex): Promise<void> => knex.raw(tables)

// Knex asks for it.
export const down = (): Promise<void> =>
  Promise.reject(new Error('the first migration is not undone'))

// Numeric without a scale holds every finite double exactly. Texts of users, and replies, are kept
// as JSON text: they may hold characters that PostgreSQL's own types cannot.
const tables = `
  create table tenants (
    id text primary key,
    name text not null,
    provider_token bytea -- sealed
  );

  create table users (
    tenant_id text not null references tenants on delete cascade,
    id text not null unique,
    email text not null,
    plan text not null,
    -- Part of the ids of the user's events, so that no other user has them.
    event_id_salt text not null default left(replace(gen_random_uuid()::text, '-', ''), 16),
    last_event_number bigint not null default 0,
    -- The last of the user's events that were deleted because of their age.
    events_cleared_to text collate "C",
    -- When the latest of them was recorded.
    events_cleared_until timestamptz,
    primary key (tenant_id, id)
  );

  create table accounts (
    tenant_id text not null,
    id uuid not null unique,
    user_id text not null,
    name text not null,
    broker text,
    broker_type text not null,
    account_number text not null,
    server text not null,
    purpose text not null,
    linked_as_demo boolean not null,
    trade_mode text,
    currency text not null,
    balance numeric not null,
    equity numeric not null,
    margin numeric not null,
    free_margin numeric,
    margin_level numeric,
    leverage numeric,
    status text not null,
    provider_account_id text,
    region text,
    last_read_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );
  create index accounts_of_user on accounts (tenant_id, user_id, created_at, id);
  create index accounts_of_link on accounts (tenant_id, provider_account_id);

  -- Hashes are checked at the end of a transaction, so that two credentials can exchange theirs in it.
  create table api_keys (
    tenant_id text not null,
    id text not null unique,
    user_id text not null,
    name text not null,
    hash text not null unique deferrable initially deferred,
    scopes text[] not null,
    ip_allowlist text[] not null,
    expires_at timestamptz,
    enabled boolean not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );
  create index api_keys_of_user on api_keys (tenant_id, user_id, id);

  create table access_tokens (
    tenant_id text not null,
    id text not null unique,
    user_id text not null,
    application_id text not null,
    hash text not null unique deferrable initially deferred,
    scopes text[] not null,
    expires_at timestamptz,
    enabled boolean not null,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );
  create index access_tokens_of_user on access_tokens (tenant_id, user_id, id);

  create table desks (
    tenant_id text not null references tenants on delete cascade,
    id text not null unique,
    max_open_lots numeric,
    max_open_positions numeric,
    allowed_symbols text[],
    primary key (tenant_id, id)
  );

  create table desk_accounts (
    tenant_id text not null,
    desk_id text not null,
    account_id uuid not null,
    place integer not null,
    primary key (tenant_id, desk_id, account_id),
    foreign key (tenant_id, desk_id) references desks on delete cascade,
    foreign key (tenant_id, account_id) references accounts on delete cascade
  );
  create index desk_accounts_of_account on desk_accounts (tenant_id, account_id);

  create table trader_limits (
    tenant_id text not null,
    account_id uuid not null,
    max_lots_per_order numeric,
    approval_above_lots numeric,
    max_open_lots numeric,
    max_open_positions numeric,
    allowed_symbols text[],
    primary key (tenant_id, account_id),
    foreign key (tenant_id, account_id) references accounts on delete cascade
  );

  create table challenges (
    tenant_id text not null,
    account_id uuid not null,
    started_at timestamptz not null,
    status text not null,
    primary key (tenant_id, account_id, started_at),
    foreign key (tenant_id, account_id) references accounts on delete cascade
  );

  create table balance_snapshots (
    tenant_id text not null,
    account_id uuid not null,
    taken_at timestamptz not null,
    -- Whose figures these are; empty where the operator entered them.
    provider_account_id text not null,
    balance numeric not null,
    equity numeric not null,
    margin numeric not null,
    free_margin numeric,
    primary key (tenant_id, account_id, taken_at)
  );
  -- An account has one tenant, and is seldom linked anew. Otherwise the planner expects few snapshots of an account, and sorts them all instead of reading the newest off the index.
  create statistics balance_snapshots_of_account (dependencies) on tenant_id, account_id, provider_account_id from balance_snapshots;

  create table risk_thresholds (
    tenant_id text not null,
    account_id uuid not null,
    type text not null,
    severity text not null,
    value numeric not null,
    halt boolean not null,
    cancel_orders boolean not null,
    -- What the last check left.
    provider_account_id text,
    breached_value numeric,
    reference numeric,
    unconfirmed_equity numeric,
    day timestamptz,
    checked_at timestamptz,
    primary key (tenant_id, account_id, type, severity),
    foreign key (tenant_id, account_id) references accounts on delete cascade
  );

  create table halts (
    tenant_id text not null,
    account_id uuid not null,
    halted_by text not null,
    since timestamptz not null,
    reason text,
    cancel_orders boolean not null default false,
    primary key (tenant_id, account_id, halted_by),
    foreign key (tenant_id, account_id) references accounts on delete cascade
  );

  -- One row at most, whatever the tenant. It outlives its account, so that a feed that is gone is
  -- an error and not none.
  create table market_data_feed (
    id text primary key,
    tenant_id text not null,
    account_id uuid not null,
    symbols jsonb not null
  );

  -- The candles that are kept of a symbol. Times are opening times in epoch milliseconds.
  create table candle_series (
    tenant_id text not null,
    account_id uuid not null,
    provider_account_id text collate "C" not null,
    symbol text collate "C" not null,
    timeframe text collate "C" not null,
    id bigint generated always as identity,
    -- The times of which every candle is kept.
    known int8multirange not null default '{}',
    primary key (tenant_id, account_id, provider_account_id, symbol, timeframe),
    unique (tenant_id, id)
  );

  create table candles (
    tenant_id text collate "C" not null,
    series_id bigint not null,
    time_ms bigint not null,
    open float8 not null, high float8 not null, low float8 not null, close float8 not null,
    volume float8 not null,
    primary key (tenant_id, series_id, time_ms),
    foreign key (tenant_id, series_id) references candle_series (tenant_id, id) on delete cascade
  );

  -- No references: an order under way is followed to its end although its user was removed, and stays when its account is no longer linked.
  create table orders (
    tenant_id text not null,
    id text not null unique,
    -- In the order in which a user's orders are committed.
    sequence bigserial not null,
    user_id text not null,
    -- Its user was removed; another user may get the same id.
    is_orphaned boolean not null default false,
    account_id uuid not null,
    symbol text not null,
    -- Null where the order is sent with the symbol as it is.
    broker_symbol text,
    side text not null,
    order_type text not null,
    volume numeric not null,
    price numeric,
    stop_limit_price numeric,
    time_in_force text,
    expires_at timestamptz,
    stop_loss numeric,
    take_profit numeric,
    comment text,
    client_id text,
    status text not null,
    fill_price numeric,
    filled_volume numeric,
    filled_at timestamptz,
    position_id text,
    reject_code text,
    reject_message text,
    cancel_reason text,
    cancelled_at timestamptz,
    expired_at timestamptz,
    broker_order_id text,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- The placement.
    step text not null,
    destination_platform text not null,
    destination_provider_account_id text not null,
    destination_region text,
    sent_at timestamptz,
    unexecuted_at timestamptz,
    -- Who wanted it cancelled, and whether the broker confirmed it.
    cancelled_by text,
    is_cancel_confirmed boolean,
    -- Lookups, rechecks, or lookups while an open order is missing, by the step; and the last lookup that did not show it, or since when it is missing.
    lookups integer,
    -- The broker reported that a part was executed.
    is_partly_executed boolean,
    absent_lookups integer,
    absent_ms float8,
    absent_at timestamptz,
    version integer not null,
    -- The run of the database server in which it was recorded: a later one may lack writes of this one.
    recorded_run timestamptz not null default pg_postmaster_start_time(),
    -- By the database's clock: when its checks began, when its outcome was stored, and when a process has to go on with it.
    -- A process claims it by moving that time ahead, as it does with notices.
    checked_at timestamptz not null,
    ended_at timestamptz,
    due_at timestamptz,
    -- The operator who ended it by hand, and why.
    finished_by text,
    finish_reason text,
    primary key (tenant_id, id)
  );
  create index orders_of_user on orders (tenant_id, user_id, created_at, sequence) include (is_orphaned);
  -- What a limit counts of a broker account: pending and open orders, and those that were filled since its positions were read.
  create index orders_in_books on orders (tenant_id, destination_provider_account_id, ended_at) where status in ('pending', 'open', 'filled', 'partially_filled');
  -- What the watch compares with what the broker holds.
  create index orders_open on orders (tenant_id, account_id) where status = 'open';
  create index orders_orphaned on orders (tenant_id) where is_orphaned;
  create index orders_due on orders (due_at) where due_at is not null;

  -- What a user may still order, in one row that whoever records an order locks, so that a limit is never passed.
  create table order_counters (
    tenant_id text not null,
    user_id text not null,
    -- The last UTC day on which an order was created, and how many were.
    day date not null,
    created integer not null,
    -- How many are pending or open.
    pending integer not null,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );

  create table idempotency_keys (
    tenant_id text not null,
    user_id text not null,
    key text not null,
    request_hash text not null,
    -- Of the claim that holds the key.
    id text not null,
    state text not null,
    since timestamptz not null,
    reply_body text,
    -- A reply that holds a secret.
    sealed_reply_body bytea,
    primary key (tenant_id, user_id, key)
  );
  create index idempotency_keys_by_age on idempotency_keys (since);
  create index idempotency_keys_sealed on idempotency_keys (id) where sealed_reply_body is not null;

  -- Which position (by its ticket) or open order (by its id) is being changed under which lease. No reference: a row lives as long as a change takes.
  create table change_locks (
    tenant_id text not null,
    -- The account at the provider, so that all links to it share one lock.
    provider_account_id text not null,
    subject text not null,
    lease_id uuid not null,
    leased_until timestamptz not null,
    primary key (tenant_id, provider_account_id, subject)
  );

  create table webhooks (
    tenant_id text not null,
    id uuid not null unique,
    sequence bigserial not null,
    user_id text not null,
    url text not null,
    event_types text[] not null,
    secret bytea not null, -- sealed
    -- What it replaced, sealed, which signs too until then.
    previous_secret bytea,
    previous_secret_until timestamptz,
    enabled boolean not null,
    failure_count integer not null,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    -- The lease under which it is sent to now, and how its receiver took the last attempt. No index on these: they change with every delivery, and PostgreSQL updates
    -- a row in place only where no index has to change.
    lease_id uuid,
    leased_until timestamptz,
    is_slow boolean not null default false,
    primary key (tenant_id, id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );
  create index webhooks_of_user on webhooks (tenant_id, user_id, created_at, sequence);

  create table events (
    tenant_id text not null,
    id text collate "C" not null,
    user_id text not null,
    -- An event that is recorded again is the same event.
    key text not null,
    type text not null,
    account_id uuid not null,
    data text not null,
    recorded_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, user_id, key)
  );
  create index events_of_user on events (tenant_id, user_id, id);
  create index events_by_age on events (recorded_at);

  create table webhook_deliveries (
    tenant_id text not null,
    id uuid not null default gen_random_uuid(),
    sequence bigserial not null,
    webhook_id uuid not null,
    event_id text collate "C" not null,
    status text not null default 'pending',
    attempts integer not null default 0,
    response_code integer,
    response_time_ms integer,
    failure_reason text,
    created_at timestamptz not null default now(),
    last_attempt_at timestamptz,
    next_attempt_at timestamptz default now(),
    replay_of uuid,
    primary key (tenant_id, id),
    foreign key (tenant_id, event_id) references events on delete cascade
  );
  create index webhook_deliveries_log on webhook_deliveries (tenant_id, webhook_id, sequence);
  create index webhook_deliveries_by_status on webhook_deliveries (tenant_id, webhook_id, status, sequence);
  create index webhook_deliveries_of_event on webhook_deliveries (tenant_id, event_id);
  create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where status = 'pending';

  create table owner_notices (
    tenant_id text not null,
    user_id text not null,
    -- A hash of what distinguishes the notice.
    id text not null,
    notice json not null,
    created_at timestamptz not null default now(),
    attempts integer not null default 0,
    -- Of the next attempt; null once it is sent or given up.
    due_at timestamptz,
    primary key (tenant_id, user_id, id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );
  create index owner_notices_due on owner_notices (due_at) where due_at is not null;

  -- Users with an open stream for events of the broker.
  create table stream_leases (
    tenant_id text not null,
    user_id text not null,
    leased_until timestamptz not null,
    primary key (tenant_id, user_id),
    foreign key (tenant_id, user_id) references users on delete cascade
  );

  -- How far an account's history is synchronised.
  create table journals (
    tenant_id text not null,
    account_id uuid not null references accounts (id) on delete cascade,
    provider_account_id text not null,
    linked_at timestamptz not null,
    -- Of the next page of a first read that has not reached the end.
    first_read_offset integer,
    synced_at timestamptz,
    -- The earliest and the latest read that is wanted, and the latest one for what comes late.
    wanted_at timestamptz,
    last_wanted_at timestamptz,
    late_wanted_at timestamptz,
    -- The next round of the watch; null while nobody waits for the account's events.
    watch_at timestamptz,
    -- How many deals there are, and how many closed trades.
    deals integer not null default 0,
    trades integer not null default 0,
    latest_deal_at timestamptz,
    checked_at timestamptz,
    checked_balance numeric,
    difference numeric,
    reread_at timestamptz,
    disagreements integer not null default 0,
    is_due_to_balance_alone boolean not null default false,
    -- Grows whenever a closed trade that was there is replaced or removed.
    revision bigint not null default 0,
    lease_id uuid,
    leased_until timestamptz,
    -- When the account may be given out again, and how often in a row it could not be read.
    paused_until timestamptz,
    failures integer not null default 0,
    -- When it is to be read; null where it is not.
    due_at timestamptz generated always as (
      case when least(wanted_at, reread_at, watch_at) is not null
        then greatest(least(wanted_at, reread_at, watch_at), paused_until) end) stored,
    primary key (tenant_id, account_id)
  );
  create index journals_of_account on journals (account_id);
  create index journals_disagreeing on journals (checked_at) where disagreements > 0;
  create index journals_due on journals (least(failures, 1), due_at) where due_at is not null;

  -- As the broker gave them.
  create table deals (
    tenant_id text not null,
    account_id uuid not null,
    -- Epoch milliseconds; NaN where the broker's could not be read, Infinity where it gave none, so that both come after all others.
    time_ms float8 not null,
    id text collate "C" not null,
    -- Empty where the broker gave none.
    entry text not null,
    kind text not null,
    reason text collate "C",
    order_id text collate "C",
    position_id text collate "C",
    symbol text collate "C",
    volume numeric, price numeric, stop_loss numeric, take_profit numeric,
    profit numeric not null, commission numeric not null, swap numeric not null,
    -- By how much the balance changed: curves read it in half the time that the sum takes them.
    moved float8 not null generated always as (case when kind = 'credit' then 0 else (profit + commission + swap)::float8 end) stored,
    primary key (tenant_id, account_id, time_ms, id, entry)
  );
  -- Partial, so that the planner does not use it for reads by time before it has statistics.
  create index deals_of_positions on deals (tenant_id, account_id, position_id) where position_id is not null;
  create index deals_of_money on deals (tenant_id, account_id, time_ms) where kind not in ('buy', 'sell');

  -- The positions that are folded from the deals.
  create table trades (
    tenant_id text not null,
    account_id uuid not null,
    -- As a check, since PostgreSQL 17 ignores the condition of the index of positions where a column is declared not null.
    position_id text collate "C" check (position_id is not null),
    status text not null,
    skip_reason text,
    symbol text collate "C",
    side text,
    volume float8, entry_price float8, exit_price float8, profit float8, commission float8, swap float8, net_profit float8,
    -- Epoch milliseconds, and whole seconds.
    opened_at float8, closed_at float8, holding_time float8,
    volume_estimated boolean,
    closing_deal_id text collate "C"
  );
  -- Partial, so that the planner does not use it for lists before it has statistics: it would sort all trades of the account.
  create unique index trades_of_positions on trades (tenant_id, account_id, position_id) where position_id is not null;
  create index trades_skipped on trades (tenant_id, account_id) where status = 'skipped';
  -- In closing order, with what filters and statistics look at, so that trades are counted and summed up on the index alone.
  create index trades_closed on trades (tenant_id, account_id, closed_at, length(closing_deal_id), closing_deal_id)
    include (symbol, net_profit, holding_time) where status = 'closed';

  -- What was removed and has left rows behind.
  create table removals (
    kind text not null,
    tenant_id text not null,
    id text not null,
    primary key (tenant_id, kind, id)
  );
  create function record_removal() returns trigger language plpgsql as $$
  begin
    insert into removals values (tg_argv[0], old.tenant_id, old.id) on conflict do nothing;
    return null;
  end $$;
  create trigger record_removal after delete on users for each row execute function record_removal('user');
  create trigger record_removal after delete on accounts for each row execute function record_removal('account');
  create trigger record_removal after delete on webhooks for each row execute function record_removal('webhook');`
