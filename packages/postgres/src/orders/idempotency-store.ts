// Idempotency keys in PostgreSQL. Each change of a key is one statement on its row, which names the
// state that it expects, so that of several attempts exactly one makes it. The rules of
// `answerOfHeldKey` decide everything else.
import {
  answerOfHeldKey,
  claimLapseMs,
  heldKeyStates,
  keyLifetimeMs,
} from '@tradeport/domain/access'
import { idempotencyInProgress } from '@tradeport/domain/errors'
import type { Claimed, HeldKey, IdempotencyClaim } from '@tradeport/domain/access'
import type { IdempotencyInProgress, IdempotencyKeyReused } from '@tradeport/domain/errors'
import type { IdempotencyStore, ReplyToKeep } from '@tradeport/domain/ports'
import type { Instant, Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { identity, pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from '../connection/columns.ts'
import { tableOf, toTimestamptz } from '../connection/columns.ts'
import type { Database } from '../connection/database.ts'
import { attempt, attemptEither } from '../connection/failures.ts'
import type { Cipher } from '../credentials/cipher.ts'
import { openSecret, sealSecret } from '../credentials/secrets.ts'

interface Parts extends Pick<Database, 'knex'> {
  readonly cipher: Cipher
}

/** A key can be released between the two statements of a claim, but not again and again. */
const claimAttempts = 5

export const createIdempotencyStore = ({ knex, cipher }: Parts): IdempotencyStore => ({
  claim: (owner, claim, now) =>
    attemptEither('idempotency.claim', () => claimKey({ knex, cipher }, owner, claim, now)),
  begin: (owner, claim, now) =>
    pipe(
      attempt('idempotency.begin', () => begin(knex, owner, claim, now)),
      TE.filterOrElseW(identity, () => idempotencyInProgress),
      TE.map(() => undefined),
    ),
  keep: (owner, claim, reply) =>
    attempt('idempotency.keep', async () => {
      await unanswered(knex, owner, claim).update({
        state: 'replied',
        ...replyColumns(cipher, { claim, reply }),
      })
    }),
  release: (owner, claim) =>
    attempt('idempotency.release', async () => {
      await unanswered(knex, owner, claim).delete()
    }),
})

type ClaimResult = E.Either<IdempotencyKeyReused | IdempotencyInProgress, Claimed>

const claimKey = async (
  { knex, cipher }: Parts,
  owner: Owner,
  claim: IdempotencyClaim,
  now: Instant,
): Promise<ClaimResult> => {
  for (let attempt = 0; attempt < claimAttempts; attempt++) {
    if (await acquireKey(knex, owner, claim, now)) return E.right({ kind: 'claimed' })
    const row: unknown = await ownKey(knex, owner, claim).first(keys.columns)
    if (row !== undefined) return answerOfHeldKey(heldKeyOf(cipher, row), claim, now)
  }
  return E.left(idempotencyInProgress)
}

// As `mayBeClaimed` says.
const acquireKey = async (
  knex: Knex,
  { tenantId, userId }: Owner,
  { key, requestHash, id }: IdempotencyClaim,
  now: Instant,
): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `insert into idempotency_keys as held (tenant_id, user_id, key, request_hash, id, state, since) values (?, ?, ?, ?, ?, 'claimed', ?)
     on conflict (tenant_id, user_id, key) do update set request_hash = excluded.request_hash, id = excluded.id, state = excluded.state,
       since = excluded.since, reply_body = null, sealed_reply_body = null
     where held.since <= ? or (held.state = 'claimed' and (held.since <= ? or held.since >= ?))
     returning key`,
    [
      tenantId,
      userId,
      key,
      requestHash,
      id,
      toTimestamptz(now),
      toTimestamptz(now - keyLifetimeMs),
      toTimestamptz(now - claimLapseMs),
      toTimestamptz(now + claimLapseMs),
    ],
  )
  return rows.length > 0
}

const begin = async (
  knex: Knex,
  owner: Owner,
  claim: IdempotencyClaim,
  now: Instant,
): Promise<boolean> => {
  const begun: number = await unanswered(knex, owner, claim)
    .where({ state: 'claimed' })
    .update({ state: 'begun', since: toTimestamptz(now) })
  return begun > 0
}

const ownKey = (
  knex: Knex,
  { tenantId, userId }: Owner,
  { key }: IdempotencyClaim,
): Knex.QueryBuilder =>
  knex('idempotency_keys').where({ tenant_id: tenantId, user_id: userId, key })

/** The key's row where this claim holds it and it has no reply. */
const unanswered = (knex: Knex, owner: Owner, claim: IdempotencyClaim): Knex.QueryBuilder =>
  ownKey(knex, owner, claim).where({ id: claim.id }).whereNot({ state: 'replied' })

const keys = tableOf('idempotency_keys', {
  id: t.string,
  requestHash: t.string,
  state: column.oneOf('state', heldKeyStates),
  since: column.instant,
  replyBody: column.orAbsent(t.string),
  sealedReplyBody: column.orAbsent(column.bytes),
})

/** @throws DescribedError where the reply is sealed and cannot be opened */
const heldKeyOf = (cipher: Cipher, row: unknown): HeldKey => {
  const { id, requestHash, state, since, replyBody, sealedReplyBody: sealed } = keys.read(row)
  if (state !== 'replied') return { requestHash, state, since }
  const body = sealed === null ? (replyBody ?? '') : openSecret(cipher, 'kept_reply', id, sealed)
  return { requestHash, state, since, reply: { body, isSecret: sealed !== null } }
}

const replyColumns = (cipher: Cipher, { claim, reply }: ReplyToKeep) => ({
  reply_body: reply.isSecret ? null : reply.body,
  sealed_reply_body: reply.isSecret ? sealSecret(cipher, 'kept_reply', claim.id, reply.body) : null,
})

export interface OwnedReply extends ReplyToKeep {
  readonly owner: Owner
}

/**
 * Keeps several replies in the caller's transaction. Returns the ids of the claims that hold their
 * keys; the others are left as they are.
 */
export const keepReplies = async (
  trx: Knex.Transaction,
  cipher: Cipher,
  replies: readonly OwnedReply[],
): Promise<ReadonlySet<string>> => {
  if (replies.length === 0) return new Set()
  const columns = replies.map((reply) => replyColumns(cipher, reply))
  // Arrays rather than JSON: their lengths are known when the statement is planned, so that it
  // reads the keys by index.
  const { rows } = await trx.raw<{ rows: readonly { readonly id: string }[] }>(
    `update idempotency_keys as held
     set state = 'replied', reply_body = nullif(new.reply_body, ''),
       sealed_reply_body = nullif(new.sealed, '')::bytea
     from unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
       as new (tenant_id, user_id, key, id, reply_body, sealed)
     where held.tenant_id = new.tenant_id and held.user_id = new.user_id and held.key = new.key and held.id = new.id and held.state <> 'replied'
     returning held.id`,
    [
      ...placesOf(replies),
      replies.map(({ claim }) => claim.id),
      columns.map(({ reply_body: body }) => body ?? ''),
      columns.map(({ sealed_reply_body: sealed }) =>
        sealed === null ? '' : `\\x${Buffer.from(sealed).toString('hex')}`,
      ),
    ],
  )
  return new Set(rows.map(({ id }) => id))
}

/** The primary keys of several rows, column by column. */
const placesOf = (replies: readonly OwnedReply[]): readonly string[][] => [
  replies.map(({ owner }) => owner.tenantId),
  replies.map(({ owner }) => owner.userId),
  replies.map(({ claim }) => claim.key),
]

/**
 * Takes replies back that `keepReplies` kept in the same transaction, so that the claims hold their
 * keys as before.
 */
export const withdrawReplies = async (
  trx: Knex.Transaction,
  replies: readonly OwnedReply[],
): Promise<void> => {
  if (replies.length === 0) return
  await trx.raw(
    `update idempotency_keys set state = 'claimed', reply_body = null, sealed_reply_body = null
     where (tenant_id, user_id, key) in (select * from unnest(?::text[], ?::text[], ?::text[]))`,
    placesOf(replies),
  )
}

/** Removes keys that count no more; an hour is left for clocks that differ. */
export const purgeKeys = async (knex: Knex): Promise<void> => {
  await knex.raw(`delete from idempotency_keys where since < now() - interval '25 hours'`)
}
