// Secrets at rest: reads a tenant's provider token, and encrypts every secret with the current key
// after a change of keys. The first bytes of a ciphertext show whether its key is current. A batch
// is one transaction, so that after a crash the next run finds what is left.
import type { SealedSecret, SecretKind } from '@tradeport/domain/operator'
import type { ProviderTokens, SealedSecrets } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import { batchLookups } from '../connection/batches.ts'
import { bytes, decodeRow, nullable, tableOf } from '../connection/columns.ts'
import type { Knex } from 'knex'
import { databaseTask, databasePort, type Log } from '../connection/failures.ts'
import { createFailureLog } from '../connection/repeating.ts'
import { Sql, allOf, query, readAll, sql, transact } from '../connection/sql.ts'
import { openSecret, secretPlaces, type Cipher } from './cipher.ts'

interface Dependencies {
  readonly knex: Knex
  readonly cipher: Cipher
}

const sealedTokens = tableOf('tenants', { providerToken: nullable(bytes) })

/**
 * A token that cannot be decrypted counts as absent (the broker is then unavailable), and is logged
 * once.
 */
export const createProviderTokens = ({
  knex,
  cipher,
  log,
}: Dependencies & { readonly log: Log }): ProviderTokens => {
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
        return O.none
      }
    },
  })
}

const kinds = Object.keys(secretPlaces) as SecretKind[]

const sealedRows = {
  read: decodeRow('sealed secrets', t.strict({ id: t.string, sealed: bytes })),
}

export const createSealedSecrets = ({ knex, cipher }: Dependencies): SealedSecrets => ({
  ...databasePort<Pick<SealedSecrets, 'reseal'>>('sealedSecrets', {
    reseal: ({ after, limit }) =>
      transact(knex, async (trx) => {
        const unreadable: SealedSecret[] = []
        let last: SealedSecret | undefined
        let seen = 0
        for (const kind of kinds.slice(after === undefined ? 0 : kinds.indexOf(after.kind))) {
          const [table, name] = [
            new Sql(secretPlaces[kind].table),
            new Sql(secretPlaces[kind].column),
          ]
          // Locks out other writers of the secret. Rows that refer to this one can still be inserted.
          const rows = await readAll(
            trx,
            sql`select id, ${name} as sealed from ${table}
              where ${name} is not null and not ${isCurrent(cipher, name)}
                and ${allOf(after?.kind === kind && sql`id > ${after.id}`)}
              order by id limit ${limit - seen} for no key update`,
            sealedRows,
          )
          for (const { id, sealed } of rows) {
            const secret = cipher.decrypt(kind, id, sealed)
            last = { kind, id }
            if (O.isNone(secret)) unreadable.push(last)
            else
              await query(
                trx,
                sql`update ${table} set ${name} = ${cipher.encrypt(kind, id, secret.value)}
                  where id = ${id} and ${name} is not null`,
              )
          }
          seen += rows.length
          if (seen === limit) return { resealed: seen - unreadable.length, unreadable, last }
        }
        return { resealed: seen - unreadable.length, unreadable, last: undefined }
      }),
  }),
  census: databaseTask('sealedSecrets.census', async () => {
    const census = { current: 0, others: 0 }
    for (const place of Object.values(secretPlaces)) {
      const [table, name] = [new Sql(place.table), new Sql(place.column)]
      const rows = await query<{ readonly is_current: boolean; readonly count: number }>(
        knex,
        sql`select ${isCurrent(cipher, name)} as is_current, count(*)::int from ${table}
          where ${name} is not null group by is_current`,
      )
      for (const { is_current: isOfCurrent, count } of rows)
        census[isOfCurrent ? 'current' : 'others'] += count
    }
    return census
  }),
})

const isCurrent = ({ currentHead }: Cipher, column: Sql): Sql =>
  sql`(substring(${column} from 1 for ${currentHead.length}) = ${Buffer.from(currentHead)})`
