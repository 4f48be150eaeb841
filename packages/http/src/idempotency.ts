// Idempotency-Key: a request that is sent again with the same key is answered as the first time, and carried out once.
import { createHash, randomUUID } from 'node:crypto'
import type { Clock, IdempotencyClaim, IdempotencyStore, Once, Owner, Refusal } from '@tradeport/domain'
import { outcomeUnknown } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { hashJson } from './body/hash-json.ts'
import type { JsonObject } from './body/read-body.ts'
import { keptOutcome } from './route.ts'
import type { Answer, FileReply, ReadRequest, Route } from './route.ts'

export interface KeyedRequest {
  readonly owner: Owner
  readonly route: Pick<Route<never>, 'method' | 'path' | 'whenUnknown'>
  readonly request: ReadRequest
  readonly body: JsonObject | undefined
}

interface Ports {
  readonly idempotency: IdempotencyStore
  readonly clock: Clock
}

type Outcome = E.Either<Refusal, Answer | FileReply>

/** @param run carries the request out; it begins with `once.begin` before anything that cannot be undone */
export const answerOnce = async (
  { idempotency, clock }: Ports,
  { owner, route, request, body }: KeyedRequest,
  run: (once: Once, claim: IdempotencyClaim) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly isReplayed: boolean }> => {
  const requestHash = createHash('sha256')
    .update(`${route.method} ${route.path} ${hashJson({ params: request.params, query: request.query, body })}`)
    .digest('hex')
  const claim = { key: request.key ?? '', requestHash, id: randomUUID() }
  const claimed = await idempotency.claim(owner, claim, clock.now())()
  if (E.isLeft(claimed)) return { outcome: claimed, isReplayed: false }
  if (claimed.right.kind === 'unknown')
    return { outcome: E.left(route.whenUnknown?.(request.params) ?? outcomeUnknown('the first request left no reply')), isReplayed: true }
  if (claimed.right.kind === 'replied') return { outcome: JSON.parse(claimed.right.reply.body) as Outcome, isReplayed: true }
  let hasBegun = false
  const begin = pipe(
    TE.fromIO(clock.now),
    TE.flatMap((now) => idempotency.begin(owner, claim, now)),
    TE.map(() => void (hasBegun = true)),
  )
  const outcome = await run({ begin }, claim)
  // Where this fails, that the claim has begun still says what to answer.
  if (hasBegun && isSettled(outcome)) await idempotency.keep(owner, claim, keptOutcome(outcome))()
  else if (E.isLeft(outcome) && !isOutcomeUnknown(outcome.left)) await idempotency.release(owner, claim)()
  return { outcome, isReplayed: false }
}

/** Whether the request had its effect, or the broker decided that it has none. Every other refusal means that nothing was done. */
const isSettled = (outcome: Outcome): boolean =>
  E.isRight(outcome) || outcome.left._tag === 'TradeRejected' || outcome.left._tag === 'BrokerOutcomeUnknown'

const isOutcomeUnknown = (refusal: Refusal): boolean =>
  refusal._tag === 'BrokerOutcomeUnknown' || (refusal._tag === 'ServiceUnavailable' && refusal.outcome === 'unknown')
