// The rate limiter that several instances share. While Redis is slow or unavailable, an instance
// limits alone, from the last known state.
import { Redis } from 'ioredis'
import {
  caughtUp,
  movedTo,
  rateVerdict,
  stricterRateState,
  type EndpointLimit,
  type RateState,
  type RateSubject,
  type RateVerdict,
} from '@tradeport/domain/access'
import type { LimiterStanding } from '@tradeport/domain/operator'
import type { LocalRateLimiter, RateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import { defineDecision, type ScriptClock, type SharedDecision } from './decide-script.ts'

interface Log {
  readonly info: (fields: object, message: string) => void
  readonly warn: (fields: object, message: string) => void
}

export interface RedisRateLimiterOptions {
  /** `redis://` or `rediss://`; a password in it is never logged. */
  readonly url: string
  /** Decides while Redis does not, and receives what Redis decides for this instance. */
  readonly local: LocalRateLimiter
  /** Called for suspensions that begin in Redis; the local limiter reports its own. */
  readonly onSuspension: SuspensionListener
  readonly log: Log
  /** The longest that a request waits for Redis; 100 ms by default. */
  readonly timeoutMs?: number
  /** The time between probes while Redis is unavailable; 500 ms by default. */
  readonly probeIntervalMs?: number
  /** A connection without traffic for so long is replaced; 10 s by default. */
  readonly silenceMs?: number
  readonly prefix?: string
  /** `redis` by default. */
  readonly clock?: ScriptClock
}

export interface RedisRateLimiter extends RateLimiter {
  /** `alone` while this instance limits without Redis. */
  readonly status: () => 'shared' | 'alone'
  /** The status after a probe of at most `timeoutMs`. */
  readonly check: () => Promise<LimiterStanding>
  /** How long in total this instance has limited alone. */
  readonly localFallbackMs: () => number
  readonly close: () => void
}

const connectMs = 2_000
const reconnectMs = 500
/** No application's: every tenant has an id. */
const probeSubject: RateSubject = {
  kind: 'access_token',
  id: 'probe',
  owner: { tenantId: '' as never, userId: '' as never },
  applicationId: null,
  plan: 'enterprise',
}

/** Resolves within two seconds, whether Redis answers or not. */
export const openRedisRateLimiter = async (
  options: RedisRateLimiterOptions,
): Promise<RedisRateLimiter> => {
  const {
    url,
    local,
    onSuspension,
    log,
    timeoutMs = 100,
    probeIntervalMs = 500,
    silenceMs = 10_000,
    prefix = 'tradeport:limits:',
    clock = 'redis',
  } = options
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectMs,
    socketTimeout: silenceMs,
    retryStrategy: () => reconnectMs,
    // After a failover the address may lead to another server.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
    // Without queues and repetitions a request is never decided late or counted twice.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  })
  const askRedis = defineDecision(redis, { prefix, clock })
  // ioredis silently stays in database 0 if it cannot select that of the URL, and two services
  // would share their limits. Nothing is sent for 0: not every proxy or user may use the command.
  const { db = 0 } = redis.options
  /** Sends what a request would send. A connection keeps the order of the two. */
  const probe = (): Promise<unknown> =>
    Promise.all([db === 0 ? undefined : redis.select(db), askRedis(probeSubject, undefined, 0)])
  // The generations of states that came from Redis since it was last up. All other states are sent
  // to it with the subject's next request.
  let generations = new WeakMap<RateState, string>()

  // Requests use Redis until it fails to answer in time, and again once it answers a probe. In
  // between none waits for it.
  let state: 'up' | 'down' | 'closed' = 'up'
  let timer: NodeJS.Timeout | undefined
  let downSince = 0
  let totalDownMs = 0
  const isUp = (): boolean => state === 'up'
  const downMs = (): number => totalDownMs + (state === 'down' ? performance.now() - downSince : 0)
  let lastError: unknown = new Error('the connection was closed')
  const check = async (): Promise<LimiterStanding> => {
    try {
      await withTimeout(probe(), timeoutMs)
      markUp()
      return { status: 'shared' }
    } catch (error) {
      const cause = redis.status === 'ready' ? error : lastError
      markDown(cause)
      return { status: 'alone', reason: reasonOf(cause) }
    }
  }
  const probeAgain = async (): Promise<void> => {
    if ((await check()).status === 'alone') probeLater()
  }
  const probeLater = (): void => {
    clearTimeout(timer)
    if (state !== 'down') return
    timer = setTimeout(() => void probeAgain(), probeIntervalMs)
    timer.unref()
  }
  const markUp = (): void => {
    if (state !== 'down') return
    totalDownMs = downMs()
    state = 'up'
    // It may have lost its data.
    generations = new WeakMap()
    log.info(
      { event: 'redis_back' },
      'Redis can be used again: limits are shared with the other instances',
    )
  }
  const markDown = (error: unknown): void => {
    if (state !== 'up') return
    state = 'down'
    downSince = performance.now()
    log.warn(
      { event: 'redis_lost', reason: reasonOf(error) },
      'Redis cannot be used: this instance limits by itself until it can',
    )
    probeLater()
  }
  redis.on('error', (error) => {
    lastError = error
  })
  redis.on('close', () => markDown(lastError))

  const decideShared = async (
    subject: RateSubject,
    endpoint: EndpointLimit | undefined,
    now: Instant,
  ): Promise<RateVerdict> => {
    const known = local.stateOf(subject)
    const answer = askRedis(
      subject,
      endpoint,
      now,
      known && caughtUp(known, now),
      known && generations.get(known),
    )
    let shared: SharedDecision
    try {
      shared = await withTimeout(answer, timeoutMs)
    } catch (error) {
      markDown(error)
      answer.then((late) => adoptLateSuspension(subject, late, now)).catch(() => undefined)
      return local.decide(subject, endpoint, now)
    }
    if (isUp()) generations.set(adopt(subject, shared, now), shared.generation)
    if (shared.outcome === 'suspension_began')
      onSuspension(subject, now + shared.state.suspendedUntil - shared.now)
    return rateVerdict(shared, subject.plan, endpoint, shared.now)
  }

  /** Keeps the state of Redis by this instance's clock, with the buckets of other endpoints. */
  const adopt = (
    subject: RateSubject,
    { state: shared }: SharedDecision,
    now: Instant,
  ): RateState => {
    const state = movedTo(shared, now)
    const known = local.stateOf(subject)
    const adopted =
      known === undefined
        ? state
        : { ...state, endpoints: { ...caughtUp(known, now).endpoints, ...state.endpoints } }
    local.adopt(subject, adopted)
    return adopted
  }

  // The request was decided locally, but only this answer reports a suspension that began in Redis.
  const adoptLateSuspension = (
    subject: RateSubject,
    { outcome, state: shared }: SharedDecision,
    now: Instant,
  ): void => {
    const known = local.stateOf(subject)
    if (outcome !== 'suspension_began' || known === undefined || known.suspendedUntil > known.at)
      return
    const state = movedTo(shared, now)
    local.adopt(subject, stricterRateState(caughtUp(known, now), state, now))
    onSuspension(subject, state.suspendedUntil)
  }

  // What accepts connections may refuse the script: a replica, a Sentinel, a node of a cluster.
  await withTimeout(redis.connect().then(probe), connectMs).catch(markDown)
  return {
    decide: (subject, endpoint, now) =>
      isUp() ? decideShared(subject, endpoint, now) : local.decide(subject, endpoint, now),
    status: () => (isUp() ? 'shared' : 'alone'),
    check,
    localFallbackMs: downMs,
    close: () => {
      state = 'closed'
      clearTimeout(timer)
      redis.disconnect()
    },
  }
}

/**
 * Rejects if the answer takes longer. An answer that has arrived but was not read yet, in a busy
 * process, is in time.
 */
const withTimeout = <A>(answer: Promise<A>, ms: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => setImmediate(() => reject(new Error(`no answer within ${ms} ms`))),
      ms,
    )
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })

// The error of several refused addresses has no message.
const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
