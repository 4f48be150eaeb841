// Idempotency-Key: a request that is sent again with the same key is answered as the first time,
// and carried out once.
import { createHash, randomUUID } from 'node:crypto'
import type { CallingProgram } from '@tradeport/domain/access'
import type { Refusal } from '@tradeport/domain/errors'
import type { Clock, IdempotencyStore } from '@tradeport/domain/ports'
import { outcomeUnknown } from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { hashJson } from './body/hash-json.ts'
import type { JsonObject } from './body/read-body.ts'
import { keptOutcome } from './route.ts'
import type { Outcome, ReadRequest, Route } from './route.ts'

interface KeyedRequest {
  readonly idempotency: IdempotencyStore
  readonly clock: Clock
  readonly caller: CallingProgram
  readonly route: Pick<Route<never>, 'method' | 'path'>
  readonly request: ReadRequest
  readonly body: JsonObject | undefined
}

/** The use case begins with `once.begin` before anything that cannot be undone. */
export const answerOnce = async ({
  idempotency,
  clock,
  caller,
  route: { method, path },
  request,
  body,
}: KeyedRequest): Promise<{ readonly outcome: Outcome; readonly isReplayed: boolean }> => {
  const { owner } = caller
  const { params, query } = request
  const requestHash = createHash('sha256')
    .update(`${method} ${path} ${hashJson({ params, query, body })}`)
    .digest('hex')
  const claim = { key: request.key ?? '', requestHash, id: randomUUID() }
  const claimed = await idempotency.claim(owner, claim, clock.now())()
  if (E.isLeft(claimed)) return { outcome: claimed, isReplayed: false }
  if (claimed.right.kind === 'unknown')
    return {
      outcome: E.left(request.whenUnknown() ?? outcomeUnknown('the first request left no reply')),
      isReplayed: true,
    }
  if (claimed.right.kind === 'replied')
    return { outcome: JSON.parse(claimed.right.reply.body) as Outcome, isReplayed: true }
  let hasBegun = false
  const begin = pipe(
    TE.fromIO(clock.now),
    TE.flatMap((now) => idempotency.begin(owner, claim, now)),
    TE.map(() => void (hasBegun = true)),
  )
  const outcome = await request.answer(caller, { begin }, claim)
  // Where this fails, that the claim has begun still says what to answer.
  if (hasBegun && isSettled(outcome)) await idempotency.keep(owner, claim, keptOutcome(outcome))()
  else if (E.isLeft(outcome) && !isOutcomeUnknown(outcome.left))
    await idempotency.release(owner, claim)()
  return { outcome, isReplayed: false }
}

/**
 * Whether the request had its effect, or the broker decided that it has none. Every other refusal
 * means that nothing was done.
 */
const isSettled = (outcome: Outcome): boolean =>
  E.isRight(outcome) ||
  outcome.left._tag === 'TradeRejected' ||
  outcome.left._tag === 'BrokerOutcomeUnknown'

const isOutcomeUnknown = (refusal: Refusal): boolean =>
  refusal._tag === 'BrokerOutcomeUnknown' ||
  (refusal._tag === 'ServiceUnavailable' && refusal.outcome === 'unknown')
