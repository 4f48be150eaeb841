// The limiter that several instances share, and what an instance does while Redis is slow or gone:
// it limits by itself, from where Redis left off.
import { Redis } from 'ioredis'
import { caughtUp, movedTo, rateVerdict, stricterRateState } from '@tradeport/domain/access'
import type { EndpointLimit, RateState, RateSubject, RateVerdict } from '@tradeport/domain/access'
import type { LocalRateLimiter, RateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import type { Instant } from '@tradeport/domain/primitives'
import { defineDecision } from './decide-script.ts'
import type { ScriptClock, SharedDecision } from './decide-script.ts'
import { createLink, inTime } from './link.ts'
import type { Log } from './link.ts'

export interface RedisRateLimiterOptions {
  /** `redis://` or `rediss://`; a password in it is never logged. */
  readonly url: string
  /** Decides while Redis does not, and is told of all that Redis decides for this instance. */
  readonly local: LocalRateLimiter
  /** Of what begins in Redis; the local limiter tells of its own. */
  readonly onSuspension: SuspensionListener
  readonly log: Log
  /** The longest that a request waits for Redis, 100 ms when left out. */
  readonly boundMs?: number
  /** How often Redis is tried while it is away, 500 ms when left out. */
  readonly probeEveryMs?: number
  /**
   * A connection that is silent for so long is given up, because a network may swallow it without a
   * word; 10 s when left out.
   */
  readonly silenceMs?: number
  readonly prefix?: string
  /** `redis` when left out. */
  readonly clock?: ScriptClock
}

export interface RedisRateLimiter extends RateLimiter {
  /** `alone` while this instance limits by itself. */
  readonly status: () => 'shared' | 'alone'
  /** As `status`, from an answer that Redis gives now, or fails to give within `boundMs`. */
  readonly check: () => Promise<'shared' | 'alone'>
  /** For how long in all this instance has limited by itself. */
  readonly aloneMs: () => number
  readonly close: () => void
}

const connectMs = 2_000
const reconnectMs = 500
const probed: RateSubject = {
  kind: 'api_key',
  id: 'probe',
  owner: { tenantId: '' as never, userId: '' as never },
  applicationId: null,
  plan: 'enterprise',
}

/** Resolves in two seconds at most, whether Redis answers or not. */
export const openRedisRateLimiter = async (
  options: RedisRateLimiterOptions,
): Promise<RedisRateLimiter> => {
  const {
    url,
    local,
    onSuspension,
    log,
    boundMs = 100,
    probeEveryMs = 500,
    silenceMs = 10_000,
    prefix = 'tradeport:limits:',
    clock = 'redis',
  } = options
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectMs,
    socketTimeout: silenceMs,
    retryStrategy: () => reconnectMs,
    // A request is decided here at once rather than later there, and never counted twice.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  })
  const askRedis = defineDecision(redis, { prefix, clock })
  // The client goes on in database 0 without a word where the one of the URL is not to be had, and
  // two services would share their limits. Where it is 0 nothing is sent: not every proxy knows the
  // command, nor may every user give it.
  const { db = 0 } = redis.options
  const select = async (): Promise<unknown> => (db === 0 ? undefined : redis.select(db))
  // What Redis itself has told since it was last found. All else that is known here, it is told in
  // turn with the subject's next request.
  let told = new WeakSet<RateState>()
  const link = createLink(redis, {
    log,
    probe: () =>
      // At once, in time for a request's own bound: one connection keeps their order.
      inTime(Promise.all([select(), askRedis(probed, undefined, 0)]), boundMs),
    probeEveryMs,
    onReturn: () => {
      told = new WeakSet()
    },
  })

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
      known === undefined || told.has(known) ? undefined : caughtUp(known, now),
    )
    let shared: SharedDecision
    try {
      shared = await inTime(answer, boundMs)
    } catch (error) {
      link.lost(error)
      answer.then((late) => heedLate(subject, late, now)).catch(() => undefined)
      return local.decide(subject, endpoint, now)
    }
    if (link.isUp()) told.add(learn(subject, shared, now))
    if (shared.outcome === 'suspension_began')
      onSuspension(subject, now + shared.state.suspendedUntil - shared.now)
    return rateVerdict(shared, subject.plan, endpoint, shared.now)
  }

  /**
   * Keeps what Redis told by this instance's own clock, with the buckets of endpoints that were not
   * asked for.
   */
  const learn = (
    subject: RateSubject,
    { state: shared }: SharedDecision,
    now: Instant,
  ): RateState => {
    const state = movedTo(shared, now)
    const known = local.stateOf(subject)
    const learnt =
      known === undefined
        ? state
        : { ...state, endpoints: { ...caughtUp(known, now).endpoints, ...state.endpoints } }
    local.adopt(subject, learnt)
    return learnt
  }

  // Nobody waited for it any longer, but a suspension that began with it is one of which nobody
  // else tells.
  const heedLate = (
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

  await inTime(redis.connect().then(select), connectMs).catch(link.lost)
  return {
    decide: (subject, endpoint, now) =>
      link.isUp() ? decideShared(subject, endpoint, now) : local.decide(subject, endpoint, now),
    status: () => (link.isUp() ? 'shared' : 'alone'),
    check: async () => ((await link.check()) ? 'shared' : 'alone'),
    aloneMs: link.downMs,
    close: () => {
      link.stop()
      redis.disconnect()
    },
  }
}
