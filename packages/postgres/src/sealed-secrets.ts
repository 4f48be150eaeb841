// Every sealed secret in the database, for changing the key: those that the current key has not sealed are told by how they begin, opened by
// whichever key does it, and written anew. A batch is one transaction, so that a process that dies has done whole batches, and whoever goes on finds the rest.
import type { ResealedBatch, SealedSecret, SealedSecrets, SecretKind, SecretsCensus, Slice, TenantId, WebhookId } from '@tradeport/domain'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { Cipher, SecretPlace } from './cipher.ts'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import type { Database } from './database.ts'
import { toServiceUnavailable } from './failures.ts'
import { keptReplyPlace } from './idempotency-store.ts'
import { providerTokenPlace } from './provider-tokens.ts'
import { webhookSecretPlace } from './webhook-row.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

interface Holder {
  readonly kind: SecretKind
  readonly placeOf: (id: string) => SecretPlace
}

const holders: readonly Holder[] = [
  { kind: 'provider_token', placeOf: (id) => providerTokenPlace(id as TenantId) },
  { kind: 'webhook_secret', placeOf: (id) => webhookSecretPlace(id as WebhookId) },
  { kind: 'kept_reply', placeOf: keptReplyPlace },
]

export const createSealedSecrets = ({ knex, cipher }: Parts): SealedSecrets => ({
  reseal: (slice) => TE.tryCatch(() => reseal({ knex, cipher }, slice), toServiceUnavailable('sealedSecrets.reseal')),
  census: TE.tryCatch(() => countAll({ knex, cipher }), toServiceUnavailable('sealedSecrets.census')),
})

const decodeSealed = decodeRow('sealed secrets', t.type({ id: t.string, sealed: column.bytes }))

const reseal = ({ knex, cipher }: Parts, { after, limit }: Slice<SealedSecret>): Promise<ResealedBatch> =>
  knex.transaction(async (trx) => {
    const unreadable: SealedSecret[] = []
    let last: SealedSecret | undefined
    let seen = 0
    let resealed = 0
    const first = holders.findIndex(({ kind }) => kind === (after?.kind ?? 'provider_token'))
    for (const { kind, placeOf } of holders.slice(first)) {
      const { table, column: name } = placeOf('')
      const left = notCurrent(trx, cipher, table, name)
      const rows: unknown[] = await (after?.kind === kind ? left.where('id', '>', after.id) : left)
        .select({ id: 'id', sealed: name })
        .orderBy('id')
        .limit(limit - seen)
        // Whoever writes the secret meanwhile waits, and is waited for; what merely refers to its row does neither.
        .forNoKeyUpdate()
      for (const row of rows) {
        const { id, sealed } = decodeSealed(row)
        const secret = cipher.decrypt(placeOf(id), sealed)
        if (O.isNone(secret)) unreadable.push({ kind, id })
        else
          await trx(table)
            .where({ id })
            .whereNotNull(name)
            .update({ [name]: cipher.encrypt(placeOf(id), secret.value) })
        if (O.isSome(secret)) resealed += 1
        last = { kind, id }
      }
      seen += rows.length
      if (seen === limit) return { resealed, unreadable, last }
    }
    return { resealed, unreadable, last: undefined }
  })

const notCurrent = (knex: Knex, { currentHead }: Cipher, table: string, name: string): Knex.QueryBuilder =>
  knex(table)
    .whereNotNull(name)
    .whereRaw('substring(?? from 1 for ?) <> ?', [name, currentHead.length, Buffer.from(currentHead)])

const decodeCount = decodeRow('sealed secrets', t.type({ current: t.Int, others: t.Int }))

const countAll = async ({ knex, cipher }: Parts): Promise<SecretsCensus> => {
  let census: SecretsCensus = { current: 0, others: 0 }
  for (const { placeOf } of holders) {
    const { table, column: name } = placeOf('')
    const isCurrent = knex.raw('substring(?? from 1 for ?) = ?', [name, cipher.currentHead.length, Buffer.from(cipher.currentHead)])
    const rows: unknown[] = await knex(table)
      .whereNotNull(name)
      .select(
        knex.raw('count(*) filter (where ?)::int as current', [isCurrent]),
        knex.raw('count(*) filter (where not ?)::int as others', [isCurrent]),
      )
    const counted = decodeCount(rows[0])
    census = { current: census.current + counted.current, others: census.others + counted.others }
  }
  return census
}
