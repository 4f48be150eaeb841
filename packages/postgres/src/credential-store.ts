// Whose a key or token is, by its hash: one indexed read that brings the user's tenant and plan along.
import type { Credential, CredentialHash, CredentialStore, Owner, UserPlan } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import {
  accessTokenColumns,
  accessTokenCredentialOfRow,
  apiKeyColumns,
  apiKeyCredentialOfRow,
  credentialOwnerColumns,
  userPlanOfRow,
} from './credential-row.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'

export const createCredentialStore = ({ knex }: Pick<Database, 'knex'>): CredentialStore => ({
  findApiKey: (hash) => TE.tryCatch(() => findApiKey(knex, hash), toServiceUnavailable('credentials.findApiKey')),
  findAccessToken: (hash) => TE.tryCatch(() => findAccessToken(knex, hash), toServiceUnavailable('credentials.findAccessToken')),
  findUserPlan: (owner) => TE.tryCatch(() => findUserPlan(knex, owner), toServiceUnavailable('credentials.findUserPlan')),
})

const findApiKey = async (knex: Knex, hash: CredentialHash): Promise<O.Option<Credential>> => {
  const rows: unknown[] = await knex('api_keys')
    .join('users', 'users.id', 'api_keys.user_id')
    .where('api_keys.hash', hash)
    .select([...apiKeyColumns(knex), ...credentialOwnerColumns])
  return O.map(apiKeyCredentialOfRow)(O.fromNullable(rows[0]))
}

const findAccessToken = async (knex: Knex, hash: CredentialHash): Promise<O.Option<Credential>> => {
  const rows: unknown[] = await knex('access_tokens')
    .join('users', 'users.id', 'access_tokens.user_id')
    .where('access_tokens.hash', hash)
    .select([...accessTokenColumns(knex), ...credentialOwnerColumns])
  return O.map(accessTokenCredentialOfRow)(O.fromNullable(rows[0]))
}

const findUserPlan = async (knex: Knex, { tenantId, userId }: Owner): Promise<O.Option<UserPlan>> => {
  const rows: unknown[] = await knex('users').where({ id: userId, tenant_id: tenantId }).select('id', 'tenant_id', 'plan')
  return O.map(userPlanOfRow)(O.fromNullable(rows[0]))
}
