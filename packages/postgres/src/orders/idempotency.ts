// Idempotency keys: a claim before the checks, and the order that it made once that is recorded. Whether a claim still counts is decided by one statement
// on the key's row, so that of several requests exactly one gets it.
import { idempotencyInProgress, idempotencyKeyReused, minuteMs, secondMs } from '@tradeport/domain'
import type { IdempotencyClaim, IdempotencyInProgress, IdempotencyKeyReused, Instant, Owner, PendingOrder } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Knex } from 'knex'
import { toTimestamptz } from '../columns.ts'
import { orderColumns, recordedOrderOfRow } from './order-row.ts'

/** Of a process that died. Where the checks of a living one take longer, two requests may check at once, and the first to record makes the one order. */
const leaseMs = 10 * secondMs
const keyLifetimeMs = 24 * 60 * minuteMs
/** A key can be given back between the two statements of a claim, but not again and again. */
const claimAttempts = 5

type ClaimResult = E.Either<IdempotencyKeyReused | IdempotencyInProgress, O.Option<PendingOrder>>

export const claimKey = async (knex: Knex, owner: Owner, claim: IdempotencyClaim, now: Instant): Promise<ClaimResult> => {
  for (let attempt = 0; attempt < claimAttempts; attempt++) {
    if (await takeKey(knex, owner, claim, now)) return E.right(O.none)
    const held = await holderOf(knex, owner, claim)
    if (held !== undefined) return held
  }
  return E.left(idempotencyInProgress)
}

// A claim from the future was made before a clock was set back. It has lapsed: otherwise it would lock the key for an unknown time.
const takeKey = async (knex: Knex, { tenantId, userId }: Owner, { key, bodyHash }: IdempotencyClaim, now: Instant): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `insert into idempotency_keys as held (tenant_id, user_id, key, body_hash, claimed_at) values (?, ?, ?, ?, ?)
     on conflict (tenant_id, user_id, key) do update set body_hash = excluded.body_hash, order_id = null, claimed_at = excluded.claimed_at
     where held.claimed_at <= ? or (held.order_id is null and (held.claimed_at <= ? or held.claimed_at > ?))
     returning key`,
    [
      tenantId,
      userId,
      key,
      bodyHash,
      toTimestamptz(now),
      toTimestamptz(now - keyLifetimeMs),
      toTimestamptz(now - leaseMs),
      toTimestamptz(now + leaseMs),
    ],
  )
  return rows.length > 0
}

const holderOf = async (knex: Knex, owner: Owner, { key, bodyHash }: IdempotencyClaim): Promise<ClaimResult | undefined> => {
  const [row] = await heldKeys(knex, [{ owner, key }])
  if (row === undefined) return undefined
  if (row.bodyHash !== bodyHash) return E.left(idempotencyKeyReused)
  return row.order === undefined ? E.left(idempotencyInProgress) : E.right(O.some(row.order))
}

export interface OwnedKey {
  readonly owner: Owner
  readonly key: string
}

export interface HeldKey extends OwnedKey {
  readonly bodyHash: string
  /** What the key made, as it was first answered. */
  readonly order: PendingOrder | undefined
}

/** Who holds the keys now. */
export const heldKeys = async (knex: Knex, keys: readonly OwnedKey[]): Promise<readonly HeldKey[]> => {
  const rows: (Record<'held_tenant_id' | 'held_user_id' | 'key' | 'body_hash', string> & { readonly id: string | null })[] = await knex(
    'idempotency_keys',
  )
    .leftJoin('orders', 'orders.id', 'idempotency_keys.order_id')
    .whereRaw('(idempotency_keys.tenant_id, idempotency_keys.user_id, key) in (select * from unnest(?::text[], ?::text[], ?::text[]))', [
      keys.map(({ owner }) => owner.tenantId),
      keys.map(({ owner }) => owner.userId),
      keys.map(({ key }) => key),
    ])
    .select({ held_tenant_id: 'idempotency_keys.tenant_id', held_user_id: 'idempotency_keys.user_id' })
    .select('key', 'body_hash', ...orderColumns(knex))
  return rows.map((row) => ({
    owner: { tenantId: row.held_tenant_id, userId: row.held_user_id } as Owner,
    key: row.key,
    bodyHash: row.body_hash,
    order: row.id === null ? undefined : recordedOrderOfRow(row),
  }))
}

export const releaseKey = async (knex: Knex, { tenantId, userId }: Owner, { key, bodyHash }: IdempotencyClaim): Promise<void> => {
  await knex('idempotency_keys').where({ tenant_id: tenantId, user_id: userId, key, body_hash: bodyHash }).whereNull('order_id').delete()
}

/** Removes keys that count no more; an hour is left for clocks that differ. */
export const purgeKeys = async (knex: Knex): Promise<void> => {
  await knex.raw(`delete from idempotency_keys where claimed_at < now() - interval '25 hours'`)
}
