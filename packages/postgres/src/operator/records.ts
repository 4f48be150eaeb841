// The operator's records as rows, other than accounts and credentials: tenants, users, desks,
// limits and challenges.
import { plans } from '@tradeport/domain/access'
import { challengeStatuses } from '@tradeport/domain/operator'
import type { AccountTraderLimits, Desk } from '@tradeport/domain/operator'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../connection/columns.ts'
import { decodeRow, tableOf } from '../connection/columns.ts'
import type { Row } from '../connection/columns.ts'

export const tenants = tableOf('tenants', { id: column.tenantId, name: t.string })

export const users = tableOf('users', {
  id: column.userId,
  tenantId: column.tenantId,
  email: t.string,
  plan: column.oneOf('plan', plans),
})

const deskLimits = {
  maxOpenLots: column.orAbsent(column.numeric),
  maxOpenPositions: column.orAbsent(column.numeric),
  allowedSymbols: column.orAbsent(t.readonlyArray(t.string)),
}

const desks = tableOf('desks', { id: t.string, tenantId: column.tenantId, ...deskLimits })

const decodeDeskAccounts = decodeRow(
  'desks',
  t.type({ accounts: t.readonlyArray(column.accountId) }),
)

/** Desks with their accounts in their order. */
export const desksWithAccounts = (knex: Knex): Knex.QueryBuilder =>
  knex('desks').select(
    ...desks.columns,
    knex.raw(`array(
      select account_id::text from desk_accounts as places where places.tenant_id = desks.tenant_id and desk_id = desks.id order by place) as accounts`),
  )

export const deskOfRow = (row: unknown): Desk => {
  const { id, tenantId, ...limits } = desks.read(row)
  return { id, tenantId, accounts: decodeDeskAccounts(row).accounts, limits }
}

export const rowOfDesk = ({ limits, ...desk }: Desk): Row => desks.write({ ...desk, ...limits })

export const traderLimits = tableOf('trader_limits', {
  accountId: column.accountId,
  maxLotsPerOrder: column.orAbsent(column.numeric),
  approvalAboveLots: column.orAbsent(column.numeric),
  ...deskLimits,
})

export const traderLimitsOfRow = (row: unknown): AccountTraderLimits => {
  const { accountId, ...limits } = traderLimits.read(row)
  return { accountId, limits }
}

export const rowOfTraderLimits = ({ accountId, limits }: AccountTraderLimits): Row =>
  traderLimits.write({ accountId, ...limits })

const status = column.oneOf('status', challengeStatuses)

export const challenges = tableOf('challenges', {
  accountId: column.accountId,
  startedAt: column.instant,
  status,
})

/**
 * The challenges of the accounts that a statement reads as JSON, the latest first;
 * `challengeStandings` reads them.
 */
export const accountChallenges = `(
  select coalesce(json_agg(json_build_object('startedAt', (extract(epoch from started_at) * 1000)::float8, 'status', status) order by started_at desc), '[]')
  from challenges where challenges.tenant_id = accounts.tenant_id and account_id = accounts.id) as challenges`

export const challengeStandings = t.readonlyArray(t.strict({ startedAt: column.instant, status }))
