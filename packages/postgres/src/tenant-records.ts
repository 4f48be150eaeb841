// The operator's lists in PostgreSQL, by keyset: a piece of a list costs what it holds, whatever stands before it and whatever other tenants have.
import type { OwnedSlice, ServiceUnavailable, Slice, TenantCounts, TenantId, TenantRecords } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { decodeRow } from './columns.ts'
import { listedAccessTokenColumns, listedAccessTokenOfRow, listedApiKeyColumns, listedApiKeyOfRow } from './credential-row.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { listedAccountColumns, listedAccountOfRow, listedTenantColumns, listedTenantOfRow } from './listed-rows.ts'
import { deskAccounts, deskOfRow, userOfRow } from './operator-rows.ts'

const list =
  <A>(name: string, ofRow: (row: unknown) => A) =>
  (read: () => PromiseLike<unknown[]>): TE.TaskEither<ServiceUnavailable, readonly A[]> =>
    TE.tryCatch(async () => (await read()).map(ofRow), toServiceUnavailable(`tenantRecords.${name}`))

export const createTenantRecords = ({ knex }: Pick<Database, 'knex'>): TenantRecords => ({
  tenants: (slice) => list('tenants', listedTenantOfRow)(() => sliceById(knex('tenants'), slice).select(listedTenantColumns(knex))),
  find: (id) =>
    pipe(
      list('find', listedTenantOfRow)(() => knex('tenants').where({ id }).select(listedTenantColumns(knex))),
      TE.map(([tenant]) => O.fromNullable(tenant)),
    ),
  counts: (id) => TE.tryCatch(() => countAll(knex, id), toServiceUnavailable('tenantRecords.counts')),
  users: (id, slice) =>
    list('users', userOfRow)(() => sliceById(knex('users').where({ tenant_id: id }), slice).select('id', 'tenant_id', 'email', 'plan')),
  accounts: (id, slice) => list('accounts', listedAccountOfRow)(() => sliceByOwner(knex, accounts, id, slice)),
  apiKeys: (id, slice) => list('apiKeys', listedApiKeyOfRow)(() => sliceByOwner(knex, apiKeys, id, slice)),
  accessTokens: (id, slice) => list('accessTokens', listedAccessTokenOfRow)(() => sliceByOwner(knex, accessTokens, id, slice)),
  desks: (id, slice) =>
    list('desks', deskOfRow)(() => sliceById(knex('desks').where({ tenant_id: id }), slice).select('*', deskAccounts(knex))),
})

const sliceById = (rows: Knex.QueryBuilder, { after, limit }: Slice<string>): Knex.QueryBuilder =>
  (after === undefined ? rows : rows.where('id', '>', after)).orderBy('id').limit(limit)

interface OwnedTable {
  readonly name: string
  /** As its index has it. */
  readonly ofUser: string
  readonly columns: (knex: Knex) => readonly (string | Knex.Raw)[]
  /** Before every id, and the type of ids. */
  readonly lowestId: string
  readonly idType: 'text' | 'uuid'
}

const apiKeys: OwnedTable = {
  name: 'api_keys',
  ofUser: 'api_keys.user_id = users.id',
  columns: listedApiKeyColumns,
  lowestId: '',
  idType: 'text',
}
const accessTokens: OwnedTable = {
  name: 'access_tokens',
  ofUser: 'access_tokens.user_id = users.id',
  columns: listedAccessTokenColumns,
  lowestId: '',
  idType: 'text',
}
const accounts: OwnedTable = {
  name: 'accounts',
  ofUser: '(accounts.tenant_id, accounts.user_id) = (users.tenant_id, users.id)',
  columns: listedAccountColumns,
  lowestId: '00000000-0000-0000-0000-000000000000',
  idType: 'uuid',
}

// User by user, each from where the piece before has ended: a row comparison over both tables would be a filter, not a place in an index.
const sliceByOwner = (
  knex: Knex,
  { name, ofUser, columns, lowestId, idType }: OwnedTable,
  tenantId: TenantId,
  { after, limit, userId }: OwnedSlice,
): Knex.QueryBuilder => {
  const users = knex('users').where('users.tenant_id', tenantId)
  if (userId !== undefined) void users.where('users.id', userId)
  if (after !== undefined) void users.where('users.id', '>=', after.userId)
  const beginning = knex.raw(`(case when users.id = ? then ? else ? end)::${idType}`, [
    after?.userId ?? '',
    after?.id ?? lowestId,
    lowestId,
  ])
  const own = knex(name).whereRaw(ofUser).where(`${name}.id`, '>', beginning).orderBy(`${name}.id`).limit(limit).select(columns(knex))
  return knex
    .from(knex.raw('? as users cross join lateral ? as own', [users.select('users.id', 'users.tenant_id'), own]))
    .select('own.*')
    .orderBy(['users.id', 'own.id'])
    .limit(limit)
}

const decodeCounts = decodeRow('counts', t.strict({ users: t.Int, accounts: t.Int, apiKeys: t.Int, accessTokens: t.Int, desks: t.Int }))

const countAll = async (knex: Knex, tenantId: TenantId): Promise<TenantCounts> => {
  const own = (table: string) => knex(table).where({ tenant_id: tenantId }).select(knex.raw('count(*)::int'))
  const ofUsers = (table: string) =>
    knex(table).join('users', 'users.id', `${table}.user_id`).where('users.tenant_id', tenantId).select(knex.raw('count(*)::int'))
  const rows: unknown[] = await knex.select({
    users: own('users'),
    accounts: own('accounts'),
    apiKeys: ofUsers('api_keys'),
    accessTokens: ofUsers('access_tokens'),
    desks: own('desks'),
  })
  return decodeCounts(rows[0])
}
