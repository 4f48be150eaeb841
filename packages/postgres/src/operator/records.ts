// The operator's records as rows, other than accounts and credentials: tenants, users, desks,
// limits, challenges, risk thresholds and halts.
import { plans } from '@tradeport/domain/access'
import { thresholdSeverities, thresholdTypes, type OperatorHalt } from '@tradeport/domain/accounts'
import { haltedBy, type Halt } from '@tradeport/domain/errors'
import {
  challengeStatuses,
  marketDataFeedId,
  type AccountTraderLimits,
  type Desk,
  type StoredMarketDataFeed,
} from '@tradeport/domain/operator'
import type { MarketDataFeed } from '@tradeport/domain/ports'
import * as t from 'io-ts'
import {
  ids,
  instant,
  mapped,
  numeric,
  oneOf,
  nullable,
  tableOf,
  withOwner,
  type Row,
} from '../connection/columns.ts'
import { sql, type Selection } from '../connection/sql.ts'

const tenant = { id: ids.tenant, name: t.string }

export const tenants = tableOf('tenants', tenant)

export const listedTenants = tableOf(
  'tenants',
  { ...tenant, hasProviderToken: t.boolean },
  { hasProviderToken: 'provider_token is not null' },
)

export const users = tableOf('users', {
  id: ids.user,
  tenantId: ids.tenant,
  email: t.string,
  plan: oneOf('plan', plans),
})

const deskLimits = {
  maxOpenLots: nullable(numeric),
  maxOpenPositions: nullable(numeric),
  allowedSymbols: nullable(t.readonlyArray(t.string)),
}

const deskTable = tableOf(
  'desks',
  {
    id: t.string,
    tenantId: ids.tenant,
    accounts: t.readonlyArray(ids.account),
    ...deskLimits,
  },
  {
    accounts: `array(
      select account_id::text from desk_accounts as places where places.tenant_id = desks.tenant_id and desk_id = desks.id order by place)`,
  },
)

/** With their accounts in their order, which are not written with them. */
export const desks = {
  ...mapped(deskTable, ({ id, tenantId, accounts, ...limits }) => ({
    id,
    tenantId,
    accounts,
    limits,
  })),
  write: ({ id, tenantId, limits }: Desk): Row => deskTable.write({ id, tenantId, ...limits }),
}

const traderLimitsTable = tableOf('trader_limits', {
  accountId: ids.account,
  maxLotsPerOrder: nullable(numeric),
  approvalAboveLots: nullable(numeric),
  ...deskLimits,
})

export const traderLimits = {
  ...mapped(traderLimitsTable, ({ accountId, ...limits }) => ({ accountId, limits })),
  write: ({ accountId, limits }: AccountTraderLimits): Row =>
    traderLimitsTable.write({ accountId, ...limits }),
}

const challenge = { startedAt: instant, status: oneOf('status', challengeStatuses) }

export const challenges = tableOf('challenges', { accountId: ids.account, ...challenge })

/** The challenges of the accounts that a statement reads, the latest first, as JSON. */
export const accountChallenges = {
  codec: t.readonlyArray(t.strict(challenge)),
  sql: sql`(
    select coalesce(json_agg(json_build_object('startedAt', (extract(epoch from started_at) * 1000)::float8, 'status', status) order by started_at desc), '[]')
    from challenges where challenges.tenant_id = accounts.tenant_id and account_id = accounts.id)`,
}

const threshold = {
  type: oneOf('type', thresholdTypes),
  severity: oneOf('severity', thresholdSeverities),
  value: numeric,
  halt: t.boolean,
  cancelOrders: t.boolean,
}

export const riskThresholds = tableOf('risk_thresholds', { accountId: ids.account, ...threshold })

export const checkedThresholds = tableOf('risk_thresholds', {
  accountId: ids.account,
  ...threshold,
  providerAccountId: nullable(t.string),
  breachedValue: nullable(numeric),
  reference: nullable(numeric),
  unconfirmedEquity: nullable(numeric),
  day: nullable(instant),
  checkedAt: nullable(instant),
})

const haltTable = tableOf('halts', {
  accountId: ids.account,
  haltedBy: oneOf('halted by', haltedBy),
  since: instant,
  reason: nullable(t.string),
  cancelOrders: t.boolean,
})

export const halts = mapped(haltTable, ({ haltedBy: by, since, reason }): Halt => ({
  by,
  since,
  reason,
}))

export const operatorHalts = {
  ...mapped(haltTable, ({ accountId, since, reason, cancelOrders }): OperatorHalt => ({
    accountId,
    since,
    reason,
    cancelOrders,
  })),
  write: (halt: OperatorHalt): Row => haltTable.write({ ...halt, haltedBy: 'operator' }),
}

const spellings = t.readonly(t.record(t.string, t.string))
const feedTable = tableOf('market_data_feed', {
  id: t.literal(marketDataFeedId),
  accountId: ids.account,
  symbols: spellings,
})

export const marketDataFeed = {
  ...feedTable,
  // As JSON text: the driver would write an object in another way.
  write: (feed: StoredMarketDataFeed): Row => ({
    ...feedTable.write(feed),
    symbols: JSON.stringify(feed.symbols),
  }),
}

/**
 * With the owner of its account. A removed account has none: no user has it, also not one whose id
 * is `-`.
 */
export const ownedFeed: Selection<MarketDataFeed> = mapped(
  tableOf(
    'market_data_feed',
    { accountId: ids.account, symbols: spellings, tenantId: ids.tenant, userId: ids.user },
    { userId: "coalesce(accounts.user_id, '-')" },
  ),
  withOwner,
)

/** The thresholds of the accounts that a statement reads, as JSON. */
export const accountThresholds = {
  codec: t.readonlyArray(
    t.strict({
      ...threshold,
      breached: t.boolean,
      reference: nullable(numeric),
      checkedAt: nullable(t.number),
    }),
  ),
  sql: sql`(
    select coalesce(json_agg(json_build_object('type', type, 'severity', severity, 'value', value::text, 'halt', halt, 'cancelOrders', cancel_orders,
      'breached', coalesce(breached_value = value, false), 'reference', reference::text, 'checkedAt', (extract(epoch from checked_at) * 1000)::float8) order by type, severity), '[]')
    from risk_thresholds where risk_thresholds.tenant_id = accounts.tenant_id and account_id = accounts.id)`,
}
