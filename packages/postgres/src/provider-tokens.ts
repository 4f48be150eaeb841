// A tenant's provider token, opened for the moment of its use. One that does not open counts as none (the broker is then unavailable) and is
// told to the operator.
import type { ProviderTokens, ServiceUnavailable, TenantId } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
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

export const createProviderTokens = (parts: Parts): ProviderTokens => {
  const findToken = inBatches(readingTogether, (tenantIds: readonly TenantId[]) => findTokens(parts, tenantIds))
  return {
    find: (tenantId) =>
      pipe(
        TE.tryCatch(() => findToken(tenantId), unavailable),
        TE.flatMapEither(identity),
      ),
  }
}

const unavailable = toServiceUnavailable('providerTokens.find')

const decodeTokenRow = column.decodeRow('tenants', t.strict({ provider_token: column.orAbsent(column.bytes) }))

// Each tenant's is opened once for all who ask together. A row that cannot be read is told to those who ask for it, and to nobody else.
const findTokens = async ({ knex, cipher, log }: Parts, tenantIds: readonly TenantId[]): Promise<readonly FoundToken[]> => {
  const rows: { readonly id: TenantId }[] = await withText(knex, 'tenants', 'id', [...new Set(tenantIds)]).select('id', 'provider_token')
  const found = new Map(rows.map((row) => [row.id, E.tryCatch(() => openToken(cipher, log, row.id, row), unavailable)]))
  return tenantIds.map((id) => found.get(id) ?? E.right(O.none))
}

type FoundToken = E.Either<ServiceUnavailable, O.Option<string>>

const openToken = (cipher: Cipher, log: Log, tenantId: TenantId, row: unknown): O.Option<string> => {
  const { provider_token: sealed } = decodeTokenRow(row)
  if (sealed === null) return O.none
  const token = cipher.decrypt(providerTokenPlace(tenantId), sealed)
  if (O.isNone(token)) {
    const reason = `the provider token of tenant ${tenantId} cannot be decrypted; was it written under another secrets key?`
    log.warn({ event: 'provider_token_unreadable', reason })
  }
  return token
}
