// Idempotency keys in memory.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse, type Refusal } from '@tradeport/domain/errors'
import {
  answerOfHeldKey,
  mayBeClaimed,
  type Claimed,
  type IdempotencyClaim,
} from '@tradeport/domain/access'
import type { IdempotencyStore, ReplyToKeep } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import type { FakeRecords, StoredKey } from './fake-records.ts'

export const createFakeIdempotencyStore = (records: FakeRecords): IdempotencyStore => {
  const { idempotencyKeys } = records
  return {
    claim: (owner, claim, now) =>
      TE.fromIOEither(
        (): E.Either<Refusal<'IdempotencyKeyReused' | 'IdempotencyInProgress'>, Claimed> => {
          const held = idempotencyKeys.get(placeOf(owner, claim))
          if (held !== undefined && !mayBeClaimed(held, now))
            return answerOfHeldKey(held, claim, now)
          idempotencyKeys.set(placeOf(owner, claim), {
            claimId: claim.id,
            requestHash: claim.requestHash,
            since: now,
            state: 'claimed',
          })
          return E.right({ kind: 'claimed' })
        },
      ),
    begin: (owner, claim, now) =>
      TE.fromIOEither(() => {
        const held = unansweredKey(records, owner, claim)
        if (held?.state !== 'claimed') return E.left(refuse('IdempotencyInProgress'))
        idempotencyKeys.set(placeOf(owner, claim), { ...held, since: now, state: 'begun' })
        return E.right(undefined)
      }),
    keep: (owner, claim, reply) =>
      TE.fromIO(() => {
        if (unansweredKey(records, owner, claim) !== undefined)
          keepInMemory(records, owner, { claim, reply })
      }),
    replace: (owner, claim, reply) =>
      TE.fromIO(() => {
        const held = idempotencyKeys.get(placeOf(owner, claim))
        if (held?.claimId === claim.id && held.state === 'replied')
          keepInMemory(records, owner, { claim, reply })
      }),
    release: (owner, claim) =>
      TE.fromIO(() => {
        if (unansweredKey(records, owner, claim) !== undefined)
          idempotencyKeys.delete(placeOf(owner, claim))
      }),
  }
}

const placeOf = ({ tenantId, userId }: Owner, { key }: IdempotencyClaim): string =>
  JSON.stringify([tenantId, userId, key])

/** What is stored of a claim that holds its key and has no reply; undefined otherwise. */
export const unansweredKey = (
  { idempotencyKeys }: FakeRecords,
  owner: Owner,
  claim: IdempotencyClaim,
): StoredKey | undefined => {
  const held = idempotencyKeys.get(placeOf(owner, claim))
  return held?.claimId === claim.id && held.state !== 'replied' ? held : undefined
}

/** For a claim that holds its key. */
export const keepInMemory = (
  { idempotencyKeys }: FakeRecords,
  owner: Owner,
  { claim, reply }: ReplyToKeep,
): void => {
  const place = placeOf(owner, claim)
  const held = idempotencyKeys.get(place)
  if (held !== undefined) idempotencyKeys.set(place, { ...held, state: 'replied', reply })
}
