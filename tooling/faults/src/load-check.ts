// Holds what callers were told under a fault against what may be told, and against what became of
// their orders in the end.

export interface Reply {
  /** Which kind of request. */
  readonly what: string
  /** Which instance was asked. */
  readonly slot: number
  /** By a clock that only goes forward, in milliseconds. */
  readonly beganAt: number
  readonly endedAt: number
  /** null where there was no answer. */
  readonly status: number | null
  readonly code: string | null
}

/** An order that a user wants, and what they were told of it. */
export interface Intent {
  /** Stands in the order as its clientId. */
  readonly id: string
  /** Sent with an idempotency key, and again until it is answered; one without is sent once. */
  readonly isKeyed: boolean
  readonly answers: readonly IntentAnswer[]
}

export interface IntentAnswer extends Pick<Reply, 'status' | 'code'> {
  readonly orderId: string | null
  /** Whether the reply says that the order may stand all the same. */
  readonly isUnsure: boolean
}

export interface PlacedOrder {
  readonly id: string
  readonly clientId?: string
}

/** `200`, `503 SERVICE_UNAVAILABLE`, `no answer`. */
export const outcomeOf = ({ status, code }: Pick<Reply, 'status' | 'code'>): string => {
  if (status === null) return 'no answer'
  return code === null ? String(status) : `${status} ${code}`
}

/** Counts by what was asked for, most frequent first. */
export const countOutcomes = (
  replies: readonly Reply[],
): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const counts = new Map<string, Map<string, number>>()
  for (const reply of replies) {
    const own = counts.get(reply.what) ?? new Map<string, number>()
    const outcome = outcomeOf(reply)
    counts.set(reply.what, own.set(outcome, (own.get(outcome) ?? 0) + 1))
  }
  return new Map(
    [...counts].map(([what, own]) => [
      what,
      new Map([...own].toSorted(([, one], [, other]) => other - one)),
    ]),
  )
}

/** @param allowed outcomes by what is asked for; `*` for all the rest */
export const checkReplies = (
  replies: readonly Reply[],
  allowed: Readonly<Record<string, readonly string[]>>,
): readonly string[] =>
  [...countOutcomes(replies)].flatMap(([what, outcomes]) =>
    [...outcomes]
      .filter(([outcome]) => !(allowed[what] ?? allowed['*'] ?? []).includes(outcome))
      .map(([outcome, count]) => `${what}: ${outcome} was answered ${count} times`),
  )

/** @returns sentences, each a broken promise */
export const checkIntents = (
  intents: readonly Intent[],
  orders: readonly PlacedOrder[],
): readonly string[] => {
  const byClientId = Map.groupBy(orders, ({ clientId }) => clientId ?? '')
  return intents.flatMap((intent) =>
    faultsOf(
      intent,
      (byClientId.get(intent.id) ?? []).map(({ id }) => id),
    ),
  )
}

const faultsOf = (
  { id, isKeyed, answers }: Intent,
  recorded: readonly string[],
): readonly string[] => {
  const told = [...new Set(answers.flatMap(({ orderId }) => orderId ?? []))]
  if (recorded.length > 1) return [`intent ${id} became ${recorded.length} orders`]
  if (told.length > 1) return [`intent ${id} was answered with ${told.length} orders`]
  const [answered] = told
  if (answered !== undefined)
    return recorded[0] === answered ? [] : [`order ${answered} was answered with 201 and is gone`]
  if (isKeyed)
    return [`intent ${id} was sent under one key until the patience was over, and never placed`]
  const isCertain =
    answers.length > 0 && answers.every(({ status, isUnsure }) => status !== null && !isUnsure)
  if (recorded.length === 0 || !isCertain) return []
  return [
    `intent ${id} was refused for certain (${answers.map(outcomeOf).join(', ')}), and is order ${recorded[0]}`,
  ]
}

/**
 * How long after a moment an instance gave its first answer of a kind that it was asked for after
 * that moment; null where it gave none.
 */
export const backAfterMs = (
  replies: readonly Reply[],
  at: number,
  { what, slot, outcome }: Wanted,
): number | null => {
  const ends = replies
    .filter(
      (reply) =>
        reply.what === what &&
        reply.slot === slot &&
        reply.beganAt >= at &&
        outcomeOf(reply) === outcome,
    )
    .map(({ endedAt }) => endedAt - at)
  return ends.length === 0 ? null : Math.min(...ends)
}

export interface Wanted {
  readonly what: string
  readonly slot: number
  readonly outcome: string
}

export interface Span {
  readonly from: number
  readonly to: number
}

/** Those that lie in one of the spans from beginning to end. */
export const within = (replies: readonly Reply[], spans: readonly Span[]): readonly Reply[] =>
  replies.filter(({ beganAt, endedAt }) =>
    spans.some(({ from, to }) => beganAt >= from && endedAt <= to),
  )

/** How many requests of one key passed until the first was refused. */
export interface Passed {
  readonly count: number
  readonly elapsedMs: number
}

export const freeBucketSize = 300
const freeIntervalMs = 600

/**
 * Whether no fewer passed than the bucket held, and no more than it held and got back meanwhile.
 * @param atLeast what a bucket held that was not touched by anybody else
 * @param atMost what it can have held
 */
export const checkPassed = (
  where: string,
  { count, elapsedMs }: Passed,
  atLeast: number,
  atMost: number,
): readonly string[] => {
  if (count < atLeast)
    return [`${where}: refused after ${count} requests, of ${atLeast} that were there to be had`]
  const refilled = Math.ceil(elapsedMs / freeIntervalMs) + 1
  return count <= atMost + refilled
    ? []
    : [`${where}: ${count} requests passed, and no more than ${atMost + refilled} may`]
}
