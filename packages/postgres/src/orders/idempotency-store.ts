// Idempotency keys in PostgreSQL. Each change of a key is one statement that names the state it
// expects, so that exactly one of several attempts succeeds. `answerOfHeldKey` decides the rest.
import {
  answerOfHeldKey,
  claimLapseMs,
  heldKeyStates,
  keyLifetimeMs,
  type HeldKey,
  type IdempotencyClaim,
  type StoredReply,
} from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import type { IdempotencyStore, ReplyToStore } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { bytes, oneOf, nullable, tableOf } from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import { deleteSome } from '../connection/repeating.ts'
import {
  isUser,
  isOfOwner,
  query,
  selectFirst,
  returnsRow,
  sql,
  type Sql,
} from '../connection/sql.ts'
import { openSecret, type Cipher, type SealingDependencies } from '../credentials/cipher.ts'

export const createIdempotencyStore = ({ knex, cipher }: SealingDependencies): IdempotencyStore => {
  const writeReplyWhere =
    (condition: Sql) =>
    async (owner: Owner, claim: IdempotencyClaim, reply: StoredReply): Promise<void> => {
      const { plain, sealed } = bodyOf(cipher, { claim, reply })
      await query(
        knex,
        sql`update idempotency_keys set state = 'replied', reply_body = ${plain}, sealed_reply_body = ${sealed}
          where ${isHeldBy(owner, claim)} and ${condition}`,
      )
    }
  return databasePort<IdempotencyStore>('idempotency', {
    claim: async (owner, claim) => {
      // The condition is that of `mayBeClaimed`, when the key's row is free: the statement may have
      // waited for it. The user is locked, so that nothing is inserted for one who was removed.
      const isClaimed = await returnsRow(
        knex,
        sql`insert into idempotency_keys as held (tenant_id, user_id, key, request_hash, id, state, since)
          select tenant_id, id, ${claim.key}, ${claim.requestHash}, ${claim.id}, 'claimed', clock_timestamp()
          from users where ${isUser(owner)} for key share
          on conflict (tenant_id, user_id, key) do update set request_hash = excluded.request_hash, id = excluded.id, state = excluded.state,
            since = clock_timestamp(), reply_body = null, sealed_reply_body = null
          where held.since <= clock_timestamp() - ${keyLifetimeMs} * interval '1 ms'
            or (held.state = 'claimed' and abs(extract(epoch from clock_timestamp() - held.since)) * 1000 >= ${claimLapseMs})
          returning key`,
      )
      if (isClaimed) return E.right({ kind: 'claimed' })
      const held = await selectFirst(
        knex,
        sql`select ${keys.columns} from idempotency_keys
          where ${isOfOwner(owner)} and key = ${claim.key}`,
        keys,
      )
      // Without a row, another attempt has released the key since, or the user was removed.
      return O.isSome(held)
        ? answerOfHeldKey(heldKeyOf(cipher, held.value), claim)
        : E.left(refuse('IdempotencyInProgress'))
    },
    begin: async (owner, claim) => {
      const isBegun = await returnsRow(
        knex,
        sql`update idempotency_keys set state = 'begun', since = clock_timestamp()
          where ${isHeldBy(owner, claim)} and state = 'claimed' returning key`,
      )
      return isBegun ? E.right(undefined) : E.left(refuse('IdempotencyInProgress'))
    },
    storeReply: writeReplyWhere(sql`state <> 'replied'`),
    replaceReply: writeReplyWhere(sql`state = 'replied'`),
    release: async (owner, claim) => {
      await query(
        knex,
        sql`delete from idempotency_keys where ${isHeldBy(owner, claim)} and state <> 'replied'`,
      )
    },
  })
}

const isHeldBy = (owner: Owner, { key, id }: IdempotencyClaim): Sql =>
  sql`${isOfOwner(owner)} and key = ${key} and id = ${id}`

const keys = tableOf(
  'idempotency_keys',
  {
    id: t.string,
    requestHash: t.string,
    state: oneOf('state', heldKeyStates),
    ageMs: t.number,
    replyBody: nullable(t.string),
    sealedReplyBody: nullable(bytes),
  },
  { ageMs: '(extract(epoch from clock_timestamp() - since) * 1000)::float8' },
)

/** @throws DescribedError where the reply is sealed and cannot be opened */
const heldKeyOf = (
  cipher: Cipher,
  { id, replyBody, sealedReplyBody: sealed, ...held }: ReturnType<typeof keys.read>,
): HeldKey => {
  const { state } = held
  if (state !== 'replied') return { ...held, state }
  const body = sealed === null ? (replyBody ?? '') : openSecret(cipher, 'kept_reply', id, sealed)
  return { ...held, state, reply: { body, isSecret: sealed !== null } }
}

const bodyOf = (cipher: Cipher, { claim, reply: { body, isSecret } }: ReplyToStore) => ({
  plain: isSecret ? null : body,
  sealed: isSecret ? cipher.encrypt('kept_reply', claim.id, body) : null,
})

/**
 * Stores several replies in the caller's transaction, and returns how many: those whose claims hold
 * their keys and have not begun.
 */
export const storeReplies = async (
  trx: Knex.Transaction,
  cipher: Cipher,
  replies: readonly (ReplyToStore & { readonly owner: Owner })[],
): Promise<number> => {
  if (replies.length === 0) return 0
  const bodies = replies.map((reply) => bodyOf(cipher, reply))
  const sealed = bodies.map((body) =>
    body.sealed === null ? null : `\\x${Buffer.from(body.sealed).toString('hex')}`,
  )
  // Arrays rather than JSON: their lengths are known when the statement is planned, so that it
  // reads the keys by index.
  const stored = await query(
    trx,
    sql`update idempotency_keys as held
      set state = 'replied', reply_body = new.reply_body, sealed_reply_body = new.sealed::bytea
      from unnest(${replies.map(({ owner }) => owner.tenantId)}::text[],
          ${replies.map(({ owner }) => owner.userId)}::text[], ${replies.map(({ claim }) => claim.key)}::text[],
          ${replies.map(({ claim }) => claim.id)}::text[],
          ${bodies.map(({ plain }) => plain)}::text[], ${sealed}::text[])
        as new (tenant_id, user_id, key, id, reply_body, sealed)
      where held.tenant_id = new.tenant_id and held.user_id = new.user_id and held.key = new.key and held.id = new.id and held.state = 'claimed'
      returning 1`,
  )
  return stored.length
}

/** Removes expired keys, an hour late, because clocks differ. */
export const purgeKeys = deleteSome('idempotency_keys', sql`since < now() - interval '25 hours'`)
