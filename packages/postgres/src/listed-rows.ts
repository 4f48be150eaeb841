// Tenants and accounts as the operator's lists show them: a tenant without its provider token, an account with what the head trader set for it.
import type { ListedAccount, ListedTenant } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { accountColumns, accountOfRow } from './account-row.ts'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import { accountChallenges, challengeStandings, traderLimitsOfRow } from './operator-rows.ts'

export const listedTenantColumns = (knex: Knex): readonly (string | Knex.Raw)[] => [
  'id',
  'name',
  knex.raw('provider_token is not null as has_provider_token'),
]

const decodeTenant = decodeRow('tenants', t.strict({ id: column.tenantId, name: t.string, has_provider_token: t.boolean }))

export const listedTenantOfRow = (row: unknown): ListedTenant => {
  const { has_provider_token: hasProviderToken, ...tenant } = decodeTenant(row)
  return { ...tenant, hasProviderToken }
}

// As JSON of texts, because a number of JSON would lose digits of a numeric.
const limitsOf = `(select json_build_object('account_id', account_id, 'max_lots_per_order', max_lots_per_order::text,
    'approval_above_lots', approval_above_lots::text, 'max_open_lots', max_open_lots::text,
    'max_open_positions', max_open_positions::text, 'allowed_symbols', allowed_symbols)
  from trader_limits where account_id = accounts.id) as limits`

export const listedAccountColumns = (knex: Knex): readonly (string | Knex.Raw)[] => [
  ...accountColumns(knex),
  knex.raw(limitsOf),
  accountChallenges(knex),
]

const decodeSettings = decodeRow(
  'accounts',
  t.type({
    limits: t.union([t.null, t.UnknownRecord]),
    challenges: challengeStandings,
  }),
)

export const listedAccountOfRow = (row: unknown): ListedAccount => {
  const { limits, challenges } = decodeSettings(row)
  return { account: accountOfRow(row), limits: limits === null ? null : traderLimitsOfRow(limits).limits, challenges }
}
