// Idempotency-Key: a request that is sent again with the same key is answered as the first time,
// and carried out once.
import { hash, randomUUID } from 'node:crypto'
import type { IdempotencyClaim, StoredReply } from '@tradeport/domain/access'
import { isOutcomeUnknown, type Refusal, type RefusalTag } from '@tradeport/domain/errors'
import { type IdempotencyGuard, type IdempotencyStore, withoutKey } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import type { StreamedReply } from './route.ts'
import { isRecord } from './schema.ts'

/** A reply that is ready to be written, or kept for a repeated request. */
export interface JsonReply {
  readonly status: number
  readonly location: string | undefined
  /** JSON of the data. */
  readonly data: string
  readonly meta: unknown
  readonly isSecret: true | undefined
}

export type Outcome = E.Either<Refusal, JsonReply | StreamedReply>

/**
 * Runs `handle` at most once for each owner and key. Its use case calls `guard.begin` immediately
 * before its effect, or stores the reply itself through `keyedReply`, as placeOrder does. The
 * outcome is undefined where that of the first request is unknown.
 */
export const runIdempotently = async (
  idempotency: IdempotencyStore | undefined,
  owner: Owner | undefined,
  key: string | undefined,
  request: object,
  handle: (guard: IdempotencyGuard, claim?: IdempotencyClaim) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome | undefined; readonly isReplayed: boolean }> => {
  if (key === undefined || owner === undefined || idempotency === undefined)
    return { outcome: await handle(withoutKey), isReplayed: false }
  const claim = { key, requestHash: hashJson(request), id: randomUUID() }
  const claimed = await idempotency.claim(owner, claim)()
  if (E.isLeft(claimed)) return { outcome: claimed, isReplayed: false }
  const { right } = claimed
  if (right.kind === 'replied')
    return { outcome: JSON.parse(right.reply.body) as Outcome, isReplayed: true }
  if (right.kind === 'unknown') return { outcome: undefined, isReplayed: true }
  let hasBegun = false
  const begin: IdempotencyGuard['begin'] = async () => {
    const begun = await idempotency.begin(owner, claim)()
    hasBegun = E.isRight(begun)
    return begun
  }
  const outcome = await handle({ begin }, claim)
  // If the write fails, a retry sees a claim that has begun, also where nothing was done: in progress
  // at first, then unknown.
  if (hasBegun && (E.isRight(outcome) || storedRefusals.includes(outcome.left._tag)))
    await idempotency.storeReply(owner, claim, storedOutcome(outcome))()
  else if (E.isLeft(outcome) && !isOutcomeUnknown(outcome.left))
    await idempotency.release(owner, claim)()
  return { outcome, isReplayed: false }
}

/**
 * As it is stored for a day: JSON.parse returns the outcome, so that its shape is a stored format.
 */
export const storedOutcome = (outcome: Outcome): StoredReply => ({
  body: JSON.stringify(outcome),
  isSecret: E.isRight(outcome) && 'isSecret' in outcome.right && outcome.right.isSecret === true,
})

/**
 * Refusals that are stored, and answered again. After any other, nothing was done and the key may be
 * used again, or the outcome is unknown and the claim is kept.
 */
export const storedRefusals: readonly RefusalTag[] = [
  'TradeRejected',
  'PositionNotFound',
  'BrokerOutcomeUnknown',
]

/**
 * SHA-256 of a JSON value in lower-case hex: members sorted by name at every depth, no white space,
 * numbers as JSON.stringify writes them (1.0 and 1 are one value). No route accepts a number that is
 * too large for a double, which would be written as null.
 */
export const hashJson = (value: object): string => hash('sha256', JSON.stringify(value, canonical))

const canonical = (_: string, part: unknown): unknown =>
  isRecord(part)
    ? Object.fromEntries(
        Object.keys(part)
          .toSorted()
          .map((name) => [name, part[name]]),
      )
    : part
