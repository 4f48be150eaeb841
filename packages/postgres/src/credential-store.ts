// Whose a key or token is, by its hash, with the tenant and plan of its user. Lookups that arrive while one is under way share the next read.
import type { CredentialHash, CredentialStore, Owner, UserPlan } from '@tradeport/domain'
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
import { inBatches } from './in-batches.ts'
import { withText } from './named-rows.ts'

export const createCredentialStore = ({ knex }: Pick<Database, 'knex'>): CredentialStore => {
  const apiKeyRow = sharingReads((hashes) =>
    withText(knex, 'api_keys', 'api_keys.hash', hashes)
      .join('users', 'users.id', 'api_keys.user_id')
      .select([...apiKeyColumns(knex), ...credentialOwnerColumns]),
  )
  const accessTokenRow = sharingReads((hashes) =>
    withText(knex, 'access_tokens', 'access_tokens.hash', hashes)
      .join('users', 'users.id', 'access_tokens.user_id')
      .select([...accessTokenColumns(knex), ...credentialOwnerColumns]),
  )
  return {
    findApiKey: (hash) =>
      TE.tryCatch(async () => O.map(apiKeyCredentialOfRow)(await apiKeyRow(hash)), toServiceUnavailable('credentials.findApiKey')),
    findAccessToken: (hash) =>
      TE.tryCatch(
        async () => O.map(accessTokenCredentialOfRow)(await accessTokenRow(hash)),
        toServiceUnavailable('credentials.findAccessToken'),
      ),
    findUserPlan: (owner) => TE.tryCatch(() => findUserPlan(knex, owner), toServiceUnavailable('credentials.findUserPlan')),
  }
}

interface HashedRow {
  readonly hash: string
}

// One read at a time, so that however many unknown hashes arrive, they occupy one connection. Rows are decoded by each caller: one that cannot be
// decoded fails only whoever asked for it.
const sharingReads = (
  readRows: (hashes: readonly CredentialHash[]) => PromiseLike<readonly HashedRow[]>,
): ((hash: CredentialHash) => Promise<O.Option<HashedRow>>) =>
  inBatches({ lanes: 1, maxSize: 1_000 }, async (hashes: readonly CredentialHash[]) => {
    const byHash = new Map((await readRows(hashes)).map((row) => [row.hash, row]))
    return hashes.map((hash) => O.fromNullable(byHash.get(hash)))
  })

const findUserPlan = async (knex: Knex, { tenantId, userId }: Owner): Promise<O.Option<UserPlan>> => {
  const rows: unknown[] = await knex('users').where({ id: userId, tenant_id: tenantId }).select('id', 'tenant_id', 'plan')
  return O.map(userPlanOfRow)(O.fromNullable(rows[0]))
}
