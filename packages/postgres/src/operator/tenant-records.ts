// The operator's lists in PostgreSQL, by keyset: a page costs what it holds, wherever it is in its
// list and whatever other tenants have.
import type { Slice, RecordCounts } from '@tradeport/domain/operator'
import type { OwnedSlice, TenantRecords } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import * as t from 'io-ts'
import { tableOf } from '../connection/columns.ts'
import type { Knex } from 'knex'
import { databasePort } from '../connection/failures.ts'
import {
  Sql,
  allOf,
  queryOne,
  readAll,
  selectFirst,
  sql,
  type Selection,
} from '../connection/sql.ts'
import { accounts } from '../credentials/account-store.ts'
import { listedAccessTokens, listedApiKeys } from '../credentials/credential-store.ts'
import {
  accountChallenges,
  accountThresholds,
  desks,
  listedTenants,
  traderLimits,
  users,
} from './records.ts'

export const createTenantRecords = (knex: Knex): TenantRecords => {
  const listed = <A>(rows: Selection<A>, where: Sql, order: string, limit: number) =>
    readAll(
      knex,
      sql`select ${rows.columns} from ${rows.table} where ${where} order by ${new Sql(order)} limit ${limit}`,
      rows,
    )
  const byId =
    <A>(rows: Selection<A>) =>
    (id: TenantId, { after, limit }: Slice<string>) => {
      const where = allOf(sql`tenant_id = ${id}`, after !== undefined && sql`id > ${after}`)
      return listed(rows, where, 'id', limit)
    }
  const byUser =
    <A>(rows: Selection<A>) =>
    (id: TenantId, { after, limit, userId }: OwnedSlice) => {
      const where = allOf(
        sql`tenant_id = ${id}`,
        userId !== undefined && sql`user_id = ${userId}`,
        after !== undefined && sql`(user_id, id) > (${after.userId}, ${after.id})`,
      )
      return listed(rows, where, 'user_id, id', limit)
    }
  return databasePort<TenantRecords>('tenantRecords', {
    tenants: ({ after, limit }) =>
      listed(listedTenants, allOf(after !== undefined && sql`id > ${after}`), 'id', limit),
    find: (id) =>
      selectFirst(
        knex,
        sql`select ${listedTenants.columns} from tenants where id = ${id}`,
        listedTenants,
      ),
    counts: (tenantId, userId) => {
      const ofTenant = sql`tenant_id = ${tenantId}`
      const owned = allOf(ofTenant, userId !== undefined && sql`user_id = ${userId}`)
      const unowned = userId === undefined ? ofTenant : sql`false`
      return queryOne<RecordCounts>(
        knex,
        sql`select (select count(*)::int from users where ${unowned}) as users,
          (select count(*)::int from accounts where ${owned}) as accounts,
          (select count(*)::int from api_keys where ${owned}) as "apiKeys",
          (select count(*)::int from access_tokens where ${owned}) as "accessTokens",
          (select count(*)::int from desks where ${unowned}) as desks,
          (select count(*)::int from webhooks where ${owned}) as webhooks`,
      )
    },
    users: byId(users),
    accounts: byUser(listedAccounts),
    apiKeys: byUser(listedApiKeys),
    accessTokens: byUser(listedAccessTokens),
    desks: byId(desks),
  })
}

const settings = tableOf(
  'accounts',
  {
    limits: t.union([t.null, t.UnknownRecord]),
    challenges: accountChallenges.codec,
    riskThresholds: accountThresholds.codec,
  },
  {
    // As JSON of texts, because a number of JSON would lose digits of a numeric.
    limits: `(select json_build_object('account_id', account_id, 'max_lots_per_order', max_lots_per_order::text,
      'approval_above_lots', approval_above_lots::text, 'max_open_lots', max_open_lots::text,
      'max_open_positions', max_open_positions::text, 'allowed_symbols', allowed_symbols)
      from trader_limits where trader_limits.tenant_id = accounts.tenant_id and account_id = accounts.id)`,
    challenges: accountChallenges.sql.text,
    riskThresholds: accountThresholds.sql.text,
  },
)

const listedAccounts = {
  ...accounts,
  columns: sql`${accounts.columns}, ${settings.columns}`,
  read: (row: unknown) => {
    const { limits, ...lists } = settings.read(row)
    return {
      account: accounts.read(row),
      limits: limits === null ? null : traderLimits.read(limits).limits,
      ...lists,
    }
  },
}
