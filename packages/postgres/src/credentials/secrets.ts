// Secrets at rest: reads a tenant's provider token, and encrypts every secret with the current key
// after a change of keys. The first bytes of a ciphertext show whether its key is current, so that
// after a crash the next run finds what is left.
import type { SealedSecret, SecretKind, SecretCounts } from '@tradeport/domain/operator'
import type { ProviderTokens, SealedSecrets } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import { batchLookups } from '../connection/batches.ts'
import { bytes, nullable, oneOf, tableOf } from '../connection/columns.ts'
import { databaseTask, databasePort, type Log } from '../connection/failures.ts'
import { createFailureLog } from '../connection/repeating.ts'
import { Sql, allOf, query, queryOne, readAll, returnsRow, sql } from '../connection/sql.ts'
import { openSecret, secretPlaces, type SealingDependencies } from './cipher.ts'

const sealedTokens = tableOf('tenants', { providerToken: nullable(bytes) })

/** A token that cannot be decrypted is unavailable and not absent, and is logged once. */
export const createProviderTokens = ({
  knex,
  cipher,
  log,
}: SealingDependencies & { readonly log: Log }): ProviderTokens => {
  const unreadable = createFailureLog('provider_token_unreadable', log)
  const findToken = batchLookups(
    (ids) =>
      query(
        knex,
        sql`select id as key, ${sealedTokens.columns} from tenants where id = any(${ids}::text[])`,
      ),
    sealedTokens.read,
  )
  return databasePort<ProviderTokens>('providerTokens', {
    find: async (tenantId) => {
      const found = await findToken(tenantId)
      if (O.isNone(found) || found.value.providerToken === null) return O.none
      try {
        return O.some(openSecret(cipher, 'provider_token', tenantId, found.value.providerToken))
      } catch (error) {
        unreadable.report(error)
        throw error
      }
    },
  })
}

const kinds = Object.keys(secretPlaces) as SecretKind[]

const sealedSecrets = tableOf('sealed secrets', {
  kind: oneOf('kind', kinds),
  id: t.string,
  sealed: bytes,
})

const sealedRows = new Sql(
  Object.entries(secretPlaces)
    .map(
      ([kind, { table, column }]) =>
        `select '${kind}' as kind, id::text as id, ${column} as sealed from ${table} where ${column} is not null`,
    )
    .join(' union all '),
)

const isUnder = (heads: readonly Uint8Array[]): Sql =>
  sql`substring(sealed from 1 for ${heads[0]?.length}) = any(${heads.map((head) => Buffer.from(head))}::bytea[])`

export const createSealedSecrets = ({ knex, cipher }: SealingDependencies): SealedSecrets => {
  const current = cipher.heads.slice(0, 1)
  return {
    ...databasePort<Pick<SealedSecrets, 'reseal'>>('sealedSecrets', {
      reseal: async ({ after, limit }) => {
        const wanted = allOf(
          sql`not ${isUnder(current)}`,
          after !== undefined && sql`(kind, id) > (${after.kind}, ${after.id})`,
        )
        const rows = await readAll(
          knex,
          sql`select * from (${sealedRows}) as all_sealed where ${wanted} order by kind, id limit ${limit}`,
          sealedSecrets,
        )
        const unreadable: SealedSecret[] = []
        let resealed = 0
        for (const { kind, id, sealed } of rows) {
          const secret = cipher.decrypt(kind, id, sealed)
          if (O.isNone(secret)) {
            unreadable.push({ kind, id })
            continue
          }
          const table = new Sql(secretPlaces[kind].table)
          const column = new Sql(secretPlaces[kind].column)
          const isWritten = await returnsRow(
            knex,
            sql`update ${table} set ${column} = ${cipher.encrypt(kind, id, secret.value)}
            where id = ${id} and ${column} = ${sealed} returning 1`,
          )
          if (isWritten) resealed += 1
        }
        const last = rows.length === limit ? rows.at(-1) : undefined
        return { resealed, unreadable, last: last && { kind: last.kind, id: last.id } }
      },
    }),
    counts: databaseTask('sealedSecrets.counts', () =>
      queryOne<SecretCounts>(
        knex,
        sql`select (count(*) filter (where ${isUnder(current)}))::int as current,
          (count(*) filter (where ${isUnder(cipher.heads)} and not ${isUnder(current)}))::int as earlier,
          (count(*) filter (where not ${isUnder(cipher.heads)}))::int as unknown
        from (${sealedRows}) as all_sealed`,
      ),
    ),
  }
}
