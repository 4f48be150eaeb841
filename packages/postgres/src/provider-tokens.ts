// A tenant's provider token, opened for the moment of its use. One that does not open counts as none (the broker is then unavailable) and is
// told to the operator.
import type { ProviderTokens, TenantId } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { Cipher, SecretPlace } from './cipher.ts'
import * as column from './columns.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import type { Log } from './log.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
  readonly log: Log
}

export const providerTokenPlace = (tenantId: TenantId): SecretPlace => ({
  table: 'tenants',
  column: 'provider_token',
  rowId: tenantId,
})

export const createProviderTokens = ({ knex, cipher, log }: Parts): ProviderTokens => ({
  find: (tenantId) => TE.tryCatch(() => findToken(knex, cipher, log, tenantId), toServiceUnavailable('providerTokens.find')),
})

const decodeTokenRow = column.decodeRow('tenants', t.strict({ provider_token: column.orAbsent(column.bytes) }))

const findToken = async (knex: Knex, cipher: Cipher, log: Log, tenantId: TenantId): Promise<O.Option<string>> => {
  const rows: unknown[] = await knex('tenants').where({ id: tenantId }).select('provider_token')
  const sealed = rows[0] === undefined ? null : decodeTokenRow(rows[0]).provider_token
  if (sealed === null) return O.none
  const token = cipher.decrypt(providerTokenPlace(tenantId), sealed)
  if (O.isNone(token)) {
    const reason = `the provider token of tenant ${tenantId} cannot be decrypted; was it written under another secrets key?`
    log.warn({ event: 'provider_token_unreadable', reason })
  }
  return token
}
