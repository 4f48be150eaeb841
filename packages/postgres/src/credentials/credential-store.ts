// Finds credentials by their hash, with the tenant and plan of their user, and the e-mail address
// of a user. Lookups that arrive during a read share the next one.
import { plans, type Credential } from '@tradeport/domain/access'
import type { User } from '@tradeport/domain/operator'
import type { CredentialStore, UserStore } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { batchLookups } from '../connection/batches.ts'
import {
  credentialHash,
  ids,
  instant,
  mapped,
  oneOf,
  nullable,
  scope,
  tableOf,
  withOwner,
} from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import { isUser, query, selectFirst, sql, type Selection } from '../connection/sql.ts'
import { users } from '../operator/records.ts'

const common = {
  id: t.string,
  userId: ids.user,
  scopes: t.readonlyArray(scope),
  expiresAt: nullable(instant),
  enabled: t.boolean,
}
const withAddresses = { ...common, ipAllowlist: t.readonlyArray(t.string) }
const ofApiKey = { ...withAddresses, name: t.string }
const ofAccessToken = { ...common, applicationId: t.string }
const hashed = { hash: credentialHash }

export const listedApiKeys = tableOf('api_keys', ofApiKey)
export const listedAccessTokens = tableOf('access_tokens', ofAccessToken)
export const apiKeys = tableOf('api_keys', { ...ofApiKey, ...hashed })
export const accessTokens = tableOf('access_tokens', { ...ofAccessToken, ...hashed })

const ofUser = { tenantId: ids.tenant, plan: oneOf('plan', plans) }
const userColumns = { tenantId: 'users.tenant_id', plan: 'users.plan' }

const apiKeyCredentials = mapped(
  tableOf('api_keys', { ...withAddresses, ...ofUser }, userColumns),
  ({ scopes, ...key }): Credential => ({
    kind: 'api_key',
    applicationId: null,
    ...withOwner(key),
    scopes: new Set(scopes),
  }),
)

const accessTokenCredentials = mapped(
  tableOf('access_tokens', { ...ofAccessToken, ...ofUser }, userColumns),
  ({ scopes, ...token }): Credential => ({
    kind: 'access_token',
    ipAllowlist: [],
    ...withOwner(token),
    scopes: new Set(scopes),
  }),
)

export const createCredentialStore = (knex: Knex): CredentialStore =>
  databasePort<CredentialStore>('credentials', {
    findApiKey: findByHash(knex, apiKeyCredentials),
    findAccessToken: findByHash(knex, accessTokenCredentials),
    findUserPlan: async (owner) =>
      O.map(({ plan }: User) => ({ owner, plan }))(await findUser(knex, owner)),
  })

// One read at a time, so that any number of unknown hashes occupies one connection.
const findByHash = <A>(
  knex: Knex,
  { table, columns, read }: Selection<A>,
): ((hash: string) => Promise<O.Option<A>>) =>
  batchLookups(
    (hashes) =>
      query(
        knex,
        sql`select hash as key, ${columns} from ${table}
          join users on users.tenant_id = ${table}.tenant_id and users.id = user_id
          where hash = any(${hashes}::text[])`,
      ),
    read,
    { concurrency: 1, maxSize: 1_000 },
  )

/** The e-mail address of a user. */
export const createUserStore = (knex: Knex): UserStore =>
  databasePort<UserStore>('users', {
    email: async (owner) => O.map(({ email }: User) => email)(await findUser(knex, owner)),
  })

const findUser = (knex: Knex, owner: Owner): Promise<O.Option<User>> =>
  selectFirst(knex, sql`select ${users.columns} from users where ${isUser(owner)}`, users)
