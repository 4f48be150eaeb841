// Whose a key or token is, by its hash, with the tenant and plan of its user, and where that user's
// mail goes. Lookups that arrive while one is under way share the next read.
import { plans } from '@tradeport/domain/access'
import type { Credential } from '@tradeport/domain/access'
import type { User } from '@tradeport/domain/operator'
import type { CredentialStore, UserStore } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { readingTogether } from '../connection/batches.ts'
import * as column from '../connection/columns.ts'
import { tableOf } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt } from '../connection/failures.ts'
import { users } from '../operator/records.ts'

const listed = {
  id: t.string,
  userId: column.userId,
  scopes: t.readonlyArray(column.scope),
  expiresAt: column.orAbsent(column.instant),
  enabled: t.boolean,
}
const ofApiKey = { name: t.string, ipAllowlist: t.readonlyArray(t.string) }
const ofAccessToken = { applicationId: t.string }

export const listedApiKeys = tableOf('api_keys', { ...listed, ...ofApiKey })
export const listedAccessTokens = tableOf('access_tokens', { ...listed, ...ofAccessToken })
export const apiKeys = tableOf('api_keys', { ...listed, ...ofApiKey, hash: column.credentialHash })
export const accessTokens = tableOf('access_tokens', {
  ...listed,
  ...ofAccessToken,
  hash: column.credentialHash,
})

const ofUser = { tenantId: column.tenantId, plan: column.oneOf('plan', plans) }
const ownedApiKeys = tableOf('api_keys', {
  ...listed,
  ipAllowlist: ofApiKey.ipAllowlist,
  ...ofUser,
})
const ownedAccessTokens = tableOf('access_tokens', { ...listed, ...ofAccessToken, ...ofUser })

const credentialOfApiKey = (row: object): Credential => {
  const { tenantId, userId, scopes, ...key } = ownedApiKeys.read(row)
  return {
    kind: 'api_key',
    applicationId: null,
    ...key,
    owner: { tenantId, userId },
    scopes: new Set(scopes),
  }
}

const credentialOfAccessToken = (row: object): Credential => {
  const { tenantId, userId, scopes, ...token } = ownedAccessTokens.read(row)
  return {
    kind: 'access_token',
    ipAllowlist: [],
    ...token,
    owner: { tenantId, userId },
    scopes: new Set(scopes),
  }
}

export const createCredentialStore = ({ knex }: Pick<Database, 'knex'>): CredentialStore => {
  const apiKeyRow = readByHash(knex, 'api_keys', listedApiKeys.columns)
  const accessTokenRow = readByHash(knex, 'access_tokens', listedAccessTokens.columns)
  return {
    findApiKey: (hash) =>
      attempt('credentials.findApiKey', async () =>
        O.map(credentialOfApiKey)(O.fromNullable(await apiKeyRow(hash))),
      ),
    findAccessToken: (hash) =>
      attempt('credentials.findAccessToken', async () =>
        O.map(credentialOfAccessToken)(O.fromNullable(await accessTokenRow(hash))),
      ),
    findUserPlan: (owner) =>
      attempt('credentials.findUserPlan', async () =>
        O.map(({ plan }: User) => ({ owner, plan }))(await findUser(knex, owner)),
      ),
  }
}

// One read at a time, so that however many unknown hashes arrive, they occupy one connection. Rows
// are decoded by each caller: one that cannot be decoded fails only whoever asked for it.
const readByHash = (knex: Knex, table: string, columns: readonly string[]) =>
  readingTogether<{ readonly key: string }>(
    (hashes) =>
      knex(table)
        .whereRaw('hash = any(?::text[])', [[...hashes]])
        .join('users', { 'users.tenant_id': `${table}.tenant_id`, 'users.id': `${table}.user_id` })
        .select([...columns, { key: 'hash' }, 'users.tenant_id', 'users.plan']),
    { lanes: 1, maxSize: 1_000 },
  )

/** Where a user's mail goes. */
export const createUserStore = ({ knex }: Pick<Database, 'knex'>): UserStore => ({
  email: (owner) =>
    attempt('users.email', async () =>
      O.map(({ email }: User) => email)(await findUser(knex, owner)),
    ),
})

const findUser = async (knex: Knex, { tenantId, userId }: Owner): Promise<O.Option<User>> => {
  const row: unknown = await knex('users')
    .where({ tenant_id: tenantId, id: userId })
    .first(users.columns)
  return O.map(users.read)(O.fromNullable(row))
}
