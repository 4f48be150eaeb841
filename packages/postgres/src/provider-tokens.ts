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
import { inBatches, readingTogether } from './in-batches.ts'
import { withText } from './named-rows.ts'
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

export const createProviderTokens = ({ knex, cipher, log }: Parts): ProviderTokens => {
  const findRow = inBatches(readingTogether, (tenantIds: readonly TenantId[]) => findTokenRows(knex, tenantIds))
  return {
    find: (tenantId) =>
      TE.tryCatch(async () => openToken(cipher, log, tenantId, await findRow(tenantId)), toServiceUnavailable('providerTokens.find')),
  }
}

const decodeTokenRow = column.decodeRow('tenants', t.strict({ provider_token: column.orAbsent(column.bytes) }))

const findTokenRows = async (knex: Knex, tenantIds: readonly TenantId[]): Promise<readonly unknown[]> => {
  const rows: { readonly id: string }[] = await withText(knex, 'tenants', 'id', [...new Set(tenantIds)]).select('id', 'provider_token')
  const byId = new Map(rows.map((row) => [row.id, row]))
  return tenantIds.map((id) => byId.get(id))
}

const openToken = (cipher: Cipher, log: Log, tenantId: TenantId, row: unknown): O.Option<string> => {
  const sealed = row === undefined ? null : decodeTokenRow(row).provider_token
  if (sealed === null) return O.none
  const token = cipher.decrypt(providerTokenPlace(tenantId), sealed)
  if (O.isNone(token)) {
    const reason = `the provider token of tenant ${tenantId} cannot be decrypted; was it written under another secrets key?`
    log.warn({ event: 'provider_token_unreadable', reason })
  }
  return token
}
