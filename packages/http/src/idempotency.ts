// Idempotency-Key: a request that is sent again with the same key is answered as the first time,
// and carried out once.
import { hash, randomUUID } from 'node:crypto'
import type { ScopedCaller } from '@tradeport/domain/access'
import type { Refusal } from '@tradeport/domain/errors'
import {
  type Clock,
  type IdempotencyGuard,
  type IdempotencyStore,
  withoutKey,
} from '@tradeport/domain/ports'
import * as E from 'fp-ts/lib/Either.js'
import type { JsonObject } from './body.ts'
import { type Outcome, type AcceptedRequest, type Route, storedOutcome } from './route.ts'
import { isRecord } from './schema.ts'

/**
 * Runs `handle` at most once for each owner and key. Its use case calls `guard.begin` immediately
 * before its effect, or stores the reply itself through `replyToStore`, as placeOrder does.
 */
export const runIdempotently = async (
  idempotency: IdempotencyStore | undefined,
  clock: Clock,
  caller: ScopedCaller | undefined,
  { method, path }: Pick<Route<never>, 'method' | 'path'>,
  { key, params, handle, refusalIfOutcomeUnknown }: AcceptedRequest,
  body: JsonObject | undefined,
): Promise<{ readonly outcome: Outcome; readonly isReplayed: boolean }> => {
  if (key === undefined || caller === undefined || idempotency === undefined)
    return { outcome: await handle(caller, withoutKey), isReplayed: false }
  const { owner } = caller
  // Without the query: the only parameter of a POST says how long to wait for the reply.
  const requestHash = hashJson({ method, path, params, body })
  const claim = { key, requestHash, id: randomUUID() }
  const claimed = await idempotency.claim(owner, claim, clock.now())()
  if (E.isLeft(claimed)) return { outcome: claimed, isReplayed: false }
  const { right } = claimed
  if (right.kind === 'replied')
    return { outcome: JSON.parse(right.reply.body) as Outcome, isReplayed: true }
  if (right.kind === 'unknown')
    return { outcome: E.left(refusalIfOutcomeUnknown), isReplayed: true }
  let hasBegun = false
  const begin: IdempotencyGuard['begin'] = async () => {
    const begun = await idempotency.begin(owner, claim, clock.now())()
    hasBegun = E.isRight(begun)
    return begun
  }
  const outcome = await handle(caller, { begin }, claim)
  // If this write fails, a retry sees a begun claim: in progress at first, then unknown.
  if (hasBegun && shouldStoreReply(outcome))
    await idempotency.keep(owner, claim, storedOutcome(outcome))()
  else if (E.isLeft(outcome) && !isOutcomeUnknown(outcome))
    await idempotency.release(owner, claim)()
  return { outcome, isReplayed: false }
}

/** The others had no effect, or none that is known; the use case says which. */
const shouldStoreReply = (outcome: Outcome): boolean =>
  E.isRight(outcome) ||
  outcome.left._tag === 'TradeRejected' ||
  outcome.left._tag === 'BrokerOutcomeUnknown'

const isOutcomeUnknown = ({ left }: E.Left<Refusal>): boolean =>
  left._tag === 'BrokerOutcomeUnknown' ||
  (left._tag === 'ServiceUnavailable' && left.outcome === 'unknown')

/**
 * SHA-256 of a JSON value in lower-case hex: members sorted by name at every depth, no white space,
 * numbers as JSON.stringify writes them (1.0 and 1 are one value).
 */
export const hashJson = (value: object): string => hash('sha256', JSON.stringify(value, canonical))

const canonical = (_: string, part: unknown): unknown => {
  if (isRecord(part))
    return Object.fromEntries(
      Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)),
    )
  // JSON.parse reads a number too large for a double as Infinity, which JSON.stringify would write
  // as null.
  return part === Infinity || part === -Infinity ? { infinite: String(part) } : part
}
