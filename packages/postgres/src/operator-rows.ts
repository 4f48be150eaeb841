// The operator's other records as rows: tenants, users, desks, limits and challenges.
import { challengeStatuses, plans } from '@tradeport/domain'
import type { AccountTraderLimits, Challenge, Desk, DeskLimits, Tenant, User } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from './columns.ts'
import { decodeRow, orNull, toNumeric, toTimestamptz } from './columns.ts'

const deskLimitProps = {
  max_open_lots: column.orAbsent(column.numeric),
  max_open_positions: column.orAbsent(column.numeric),
  allowed_symbols: column.orAbsent(t.array(t.string)),
}

const decodeTenant = decodeRow('tenants', t.strict({ id: column.tenantId, name: t.string }))

const decodeUser = decodeRow(
  'users',
  t.strict({ id: column.userId, tenant_id: column.tenantId, email: t.string, plan: column.oneOf('plan', plans) }),
)

const decodeDesk = decodeRow(
  'desks',
  t.strict({ id: t.string, tenant_id: column.tenantId, accounts: t.array(column.accountId), ...deskLimitProps }),
)

const decodeTraderLimits = decodeRow(
  'trader_limits',
  t.strict({
    account_id: column.accountId,
    max_lots_per_order: column.orAbsent(column.numeric),
    approval_above_lots: column.orAbsent(column.numeric),
    ...deskLimitProps,
  }),
)

const decodeChallenge = decodeRow(
  'challenges',
  t.strict({ account_id: column.accountId, started_at: column.instant, status: column.oneOf('status', challengeStatuses) }),
)

export const tenantOfRow = (row: unknown): Tenant => decodeTenant(row)

export const userOfRow = (row: unknown): User => {
  const { tenant_id: tenantId, ...user } = decodeUser(row)
  return { ...user, tenantId }
}

export const rowOfUser = ({ tenantId, ...user }: User) => ({ ...user, tenant_id: tenantId })

/** The accounts of a desk in their order, as `deskOfRow` takes them. */
export const deskAccounts = (knex: Knex): Knex.Raw =>
  knex.raw('array(select account_id::text from desk_accounts where desk_id = desks.id order by place) as accounts')

/** An account's challenges as JSON, the latest first; `challengeStandings` reads them. */
export const accountChallenges = (knex: Knex): Knex.Raw =>
  knex.raw(`(select coalesce(json_agg(json_build_object('startedAt', (extract(epoch from started_at) * 1000)::float8, 'status', status)
    order by started_at desc), '[]') from challenges where account_id = accounts.id) as challenges`)

export const challengeStandings = t.array(t.strict({ startedAt: column.instant, status: column.oneOf('status', challengeStatuses) }))

export const deskOfRow = (row: unknown): Desk => {
  const { id, tenant_id: tenantId, accounts, ...limits } = decodeDesk(row)
  return { id, tenantId, accounts, limits: deskLimitsOf(limits) }
}

export const rowOfDesk = ({ id, tenantId, limits }: Desk) => ({ id, tenant_id: tenantId, ...deskLimitColumns(limits) })

export const traderLimitsOfRow = (row: unknown): AccountTraderLimits => {
  const {
    account_id: accountId,
    max_lots_per_order: maxLotsPerOrder,
    approval_above_lots: approvalAboveLots,
    ...rest
  } = decodeTraderLimits(row)
  return { accountId, limits: { maxLotsPerOrder, ...deskLimitsOf(rest), approvalAboveLots } }
}

export const rowOfTraderLimits = ({ accountId, limits }: AccountTraderLimits) => ({
  account_id: accountId,
  max_lots_per_order: orNull(toNumeric)(limits.maxLotsPerOrder),
  approval_above_lots: orNull(toNumeric)(limits.approvalAboveLots),
  ...deskLimitColumns(limits),
})

export const challengeOfRow = (row: unknown): Challenge => {
  const { account_id: accountId, started_at: startedAt, status } = decodeChallenge(row)
  return { accountId, startedAt, status }
}

export const rowOfChallenge = ({ accountId, startedAt, status }: Challenge) => ({
  account_id: accountId,
  started_at: toTimestamptz(startedAt),
  status,
})

const deskLimitsOf = (row: t.TypeOf<t.TypeC<typeof deskLimitProps>>): DeskLimits => ({
  maxOpenLots: row.max_open_lots,
  maxOpenPositions: row.max_open_positions,
  allowedSymbols: row.allowed_symbols,
})

const deskLimitColumns = ({ maxOpenLots, maxOpenPositions, allowedSymbols }: DeskLimits) => ({
  max_open_lots: orNull(toNumeric)(maxOpenLots),
  max_open_positions: orNull(toNumeric)(maxOpenPositions),
  allowed_symbols: allowedSymbols,
})
