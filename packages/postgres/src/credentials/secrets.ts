// Sealed secrets: where each kind stands, a tenant's provider token opened for the moment of its
// use, and every secret sealed anew when the key is changed. Those that the current key has not
// sealed are found by how they begin, opened by whichever key does it, and written anew. A batch is
// one transaction, so that a process that dies has done whole batches, and whoever goes on finds
// the rest.
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type {
  ResealedBatch,
  SealedSecret,
  SecretKind,
  SecretsCensus,
  Slice,
} from '@tradeport/domain/operator'
import type { ProviderTokens, SealedSecrets } from '@tradeport/domain/ports'
import type { TenantId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { inBatches } from '../connection/batches.ts'
import * as column from '../connection/columns.ts'
import { tableOf } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import {
  DescribedError,
  attempt,
  attemptEither,
  toServiceUnavailable,
} from '../connection/failures.ts'
import type { Log } from '../connection/log.ts'
import * as t from 'io-ts'
import type { Cipher } from './cipher.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

const places = {
  provider_token: {
    table: 'tenants',
    column: 'provider_token',
    called: 'the provider token of tenant',
  },
  webhook_secret: { table: 'webhooks', column: 'secret', called: 'the secret of webhook' },
  kept_reply: { table: 'idempotency_keys', column: 'sealed_reply_body', called: 'the kept reply' },
} as const satisfies Record<
  SecretKind,
  { readonly table: string; readonly column: string; readonly called: string }
>

const placeOf = (kind: SecretKind, rowId: string) => ({
  table: places[kind].table,
  column: places[kind].column,
  rowId,
})

export const sealSecret = (
  cipher: Cipher,
  kind: SecretKind,
  id: string,
  secret: string,
): Uint8Array => cipher.encrypt(placeOf(kind, id), secret)

/** @throws DescribedError where no key of the service opens it */
export const openSecret = (
  cipher: Cipher,
  kind: SecretKind,
  id: string,
  sealed: Uint8Array,
): string => {
  const secret = cipher.decrypt(placeOf(kind, id), sealed)
  if (O.isNone(secret))
    throw new DescribedError(
      `${places[kind].called} ${id} cannot be decrypted; was it written under another secrets key?`,
    )
  return secret.value
}

const providerTokens = tableOf('tenants', { providerToken: column.orAbsent(column.bytes) })

type FoundToken = E.Either<ServiceUnavailable, O.Option<string>>

/**
 * A token that does not open counts as none (the broker is then unavailable) and is reported to the
 * operator.
 */
export const createProviderTokens = ({
  knex,
  cipher,
  log,
}: Parts & { readonly log: Log }): ProviderTokens => {
  const open = (tenantId: TenantId, row: unknown): O.Option<string> => {
    const { providerToken: sealed } = providerTokens.read(row)
    if (sealed === null) return O.none
    try {
      return O.some(openSecret(cipher, 'provider_token', tenantId, sealed))
    } catch (error) {
      log.warn({ event: 'provider_token_unreadable', reason: (error as Error).message })
      return O.none
    }
  }
  // Each tenant's is opened once for all who ask together. A row that cannot be read fails those
  // who ask for it, and nobody else.
  const findToken = inBatches(
    { lanes: 4, maxSize: 200 },
    async (tenantIds: readonly TenantId[]): Promise<readonly FoundToken[]> => {
      const rows: { readonly id: TenantId }[] = await knex('tenants')
        .whereRaw('id = any(?::text[])', [[...new Set(tenantIds)]])
        .select('id', 'provider_token')
      const found = new Map(
        rows.map((row) => [
          row.id,
          E.tryCatch(() => open(row.id, row), toServiceUnavailable('providerTokens.find')),
        ]),
      )
      return tenantIds.map((id) => found.get(id) ?? E.right(O.none))
    },
  )
  return {
    find: (tenantId) => attemptEither('providerTokens.find', () => findToken(tenantId)),
  }
}

export const createSealedSecrets = (parts: Parts): SealedSecrets => ({
  reseal: (slice) => attempt('sealedSecrets.reseal', () => reseal(parts, slice)),
  census: attempt('sealedSecrets.census', () => countAll(parts)),
})

const kinds = Object.keys(places) as SecretKind[]

const sealedRows = tableOf('sealed secrets', { id: t.string, sealed: column.bytes })

const reseal = (
  { knex, cipher }: Parts,
  { after, limit }: Slice<SealedSecret>,
): Promise<ResealedBatch> =>
  knex.transaction(async (trx) => {
    const unreadable: SealedSecret[] = []
    let last: SealedSecret | undefined
    let seen = 0
    for (const kind of kinds.slice(after === undefined ? 0 : kinds.indexOf(after.kind))) {
      const { table, column: name } = places[kind]
      const left = trx(table)
        .whereNotNull(name)
        .whereNot(isCurrent(trx, cipher, name))
      const rows: unknown[] = await (after?.kind === kind ? left.where('id', '>', after.id) : left)
        .select({ id: 'id', sealed: name })
        .orderBy('id')
        .limit(limit - seen)
        // Whoever writes the secret meanwhile waits, and is waited for; what merely refers to its
        // row does neither.
        .forNoKeyUpdate()
      for (const { id, sealed } of rows.map(sealedRows.read)) {
        const secret = cipher.decrypt(placeOf(kind, id), sealed)
        if (O.isNone(secret)) unreadable.push({ kind, id })
        else
          await trx(table)
            .where({ id })
            .whereNotNull(name)
            .update({ [name]: sealSecret(cipher, kind, id, secret.value) })
        last = { kind, id }
      }
      seen += rows.length
      if (seen === limit) return { resealed: seen - unreadable.length, unreadable, last }
    }
    return { resealed: seen - unreadable.length, unreadable, last: undefined }
  })

const isCurrent = (knex: Knex, { currentHead }: Cipher, name: string): Knex.Raw =>
  knex.raw('substring(?? from 1 for ?) = ?', [name, currentHead.length, Buffer.from(currentHead)])

const countAll = async ({ knex, cipher }: Parts): Promise<SecretsCensus> => {
  let census: SecretsCensus = { current: 0, others: 0 }
  for (const { table, column: name } of Object.values(places)) {
    const rows: readonly { readonly is_current: boolean; readonly count: number }[] = await knex(
      table,
    )
      .whereNotNull(name)
      .select(knex.raw('? as is_current, count(*)::int as count', [isCurrent(knex, cipher, name)]))
      .groupBy('is_current')
    for (const { is_current: counted, count } of rows)
      census = counted
        ? { ...census, current: census.current + count }
        : { ...census, others: census.others + count }
  }
  return census
}
