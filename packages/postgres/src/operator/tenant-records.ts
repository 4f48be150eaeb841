// The operator's lists in PostgreSQL, by keyset: a piece of a list costs what it holds, whatever
// stands before it and whatever other tenants have.
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { ListedAccount, ListedTenant, Slice, TenantCounts } from '@tradeport/domain/operator'
import type { OwnedSlice, TenantRecords } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { decodeRow } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'
import { accountOfRow, accounts } from '../credentials/account-store.ts'
import { listedAccessTokens, listedApiKeys } from '../credentials/credential-store.ts'
import {
  accountChallenges,
  challengeStandings,
  deskOfRow,
  desksWithAccounts,
  tenants,
  traderLimitsOfRow,
  users,
} from './records.ts'

const list =
  <A>(name: string, ofRow: (row: unknown) => A) =>
  (rows: Knex.QueryBuilder): TE.TaskEither<ServiceUnavailable, readonly A[]> =>
    attempt(`tenantRecords.${name}`, async () => ((await rows) as unknown[]).map(ofRow))

export const createTenantRecords = ({ knex }: Pick<Database, 'knex'>): TenantRecords => {
  const selectTenants = () =>
    knex('tenants').select(
      ...tenants.columns,
      knex.raw('provider_token is not null as has_provider_token'),
    )
  return {
    tenants: (slice) => list('tenants', listedTenantOfRow)(sliceById(selectTenants(), slice)),
    find: (id) =>
      pipe(
        list('find', listedTenantOfRow)(selectTenants().where({ id })),
        TE.map(([tenant]) => O.fromNullable(tenant)),
      ),
    counts: (id) => attempt('tenantRecords.counts', () => countAll(knex, id)),
    users: (id, slice) =>
      list(
        'users',
        users.read,
      )(sliceById(knex('users').where({ tenant_id: id }).select(users.columns), slice)),
    accounts: (id, slice) =>
      list(
        'accounts',
        listedAccountOfRow,
      )(
        sliceByUser(
          knex('accounts').select(
            ...accounts.columns,
            knex.raw(accountLimits),
            knex.raw(accountChallenges),
          ),
          id,
          slice,
        ),
      ),
    apiKeys: (id, slice) =>
      list(
        'apiKeys',
        listedApiKeys.read,
      )(sliceByUser(knex('api_keys').select(listedApiKeys.columns), id, slice)),
    accessTokens: (id, slice) =>
      list(
        'accessTokens',
        listedAccessTokens.read,
      )(sliceByUser(knex('access_tokens').select(listedAccessTokens.columns), id, slice)),
    desks: (id, slice) =>
      list('desks', deskOfRow)(sliceById(desksWithAccounts(knex).where({ tenant_id: id }), slice)),
  }
}

const sliceById = (rows: Knex.QueryBuilder, { after, limit }: Slice<string>): Knex.QueryBuilder =>
  (after === undefined ? rows : rows.where('id', '>', after)).orderBy('id').limit(limit)

const sliceByUser = (
  rows: Knex.QueryBuilder,
  tenantId: TenantId,
  { after, limit, userId }: OwnedSlice,
): Knex.QueryBuilder => {
  void rows.where({ tenant_id: tenantId }).orderBy(['user_id', 'id']).limit(limit)
  if (userId !== undefined) void rows.where({ user_id: userId })
  if (after !== undefined) void rows.whereRaw('(user_id, id) > (?, ?)', [after.userId, after.id])
  return rows
}

const decodeListed = decodeRow('tenants', t.type({ has_provider_token: t.boolean }))

const listedTenantOfRow = (row: unknown): ListedTenant => ({
  ...tenants.read(row),
  hasProviderToken: decodeListed(row).has_provider_token,
})

// As JSON of texts, because a number of JSON would lose digits of a numeric.
const accountLimits = `(select json_build_object('account_id', account_id, 'max_lots_per_order', max_lots_per_order::text,
    'approval_above_lots', approval_above_lots::text, 'max_open_lots', max_open_lots::text,
    'max_open_positions', max_open_positions::text, 'allowed_symbols', allowed_symbols)
  from trader_limits where trader_limits.tenant_id = accounts.tenant_id and account_id = accounts.id) as limits`

const decodeSettings = decodeRow(
  'accounts',
  t.type({ limits: t.union([t.null, t.UnknownRecord]), challenges: challengeStandings }),
)

const listedAccountOfRow = (row: unknown): ListedAccount => {
  const { limits, challenges } = decodeSettings(row)
  return {
    account: accountOfRow(row),
    limits: limits === null ? null : traderLimitsOfRow(limits).limits,
    challenges,
  }
}

const decodeCounts = decodeRow(
  'counts',
  t.strict({ users: t.Int, accounts: t.Int, apiKeys: t.Int, accessTokens: t.Int, desks: t.Int }),
)

const countAll = async (knex: Knex, tenantId: TenantId): Promise<TenantCounts> => {
  const own = (table: string) =>
    knex(table).where({ tenant_id: tenantId }).select(knex.raw('count(*)::int'))
  const rows: unknown[] = await knex.select({
    users: own('users'),
    accounts: own('accounts'),
    apiKeys: own('api_keys'),
    accessTokens: own('access_tokens'),
    desks: own('desks'),
  })
  return decodeCounts(rows[0])
}
