// How often callers may ask : by a limiter that the instances share where there is a Redis, else by
// this instance's own; and who is told of a suspension.
import { suspensionMs } from '@tradeport/domain/access'
import type { LimiterStanding } from '@tradeport/domain/operator'
import type { OwnerNotices, RateLimiter, SuspensionListener } from '@tradeport/domain/ports'
import { createLocalRateLimiter } from '@tradeport/memory'
import type { RedisRateLimiterOptions } from '@tradeport/redis'
import type { Logger } from 'pino'

/** Whose clock Redis goes by, and how long it may take. */
export type RedisTimes = Pick<RedisRateLimiterOptions, 'clock' | 'boundMs'>

export interface LimiterOptions {
  /** null: this instance alone. */
  readonly redisUrl: string | null
  readonly redisTimes: RedisTimes
  readonly notices: OwnerNotices
  /** Told of each suspension that begins here, beside its owner. It must not throw. */
  readonly suspensionBegan: () => void
  readonly log: Logger
}

export interface OpenedLimiter {
  readonly limiter: RateLimiter
  /**
   * `alone`: the limits are to be shared, and this instance counts by itself until Redis answers
   * again.
   */
  readonly status: () => LimiterStanding
  /** As `status`, after asking Redis. */
  readonly check: () => Promise<LimiterStanding>
  /** For how long in all this instance has counted by itself though the limits are to be shared. */
  readonly aloneMs: () => number
  readonly close: () => Promise<void>
}

export const openLimiter = async (options: LimiterOptions): Promise<OpenedLimiter> => {
  const { redisUrl, redisTimes, log } = options
  const onSuspension = tellOwner(options)
  const local = createLocalRateLimiter({ onSuspension })
  if (redisUrl === null) return { limiter: local, ...inProcess }
  // Loaded only where it is used, as whatever else a configuration may do without.
  const { openRedisRateLimiter } = await import('@tradeport/redis')
  const shared = await openRedisRateLimiter({
    ...redisTimes,
    url: redisUrl,
    local,
    onSuspension,
    log,
  })
  const { status, check, aloneMs } = shared
  return { limiter: shared, status, check, aloneMs, close: async () => shared.close() }
}

const inProcess: Omit<OpenedLimiter, 'limiter'> = {
  status: () => 'in-process',
  check: async () => 'in-process',
  aloneMs: () => 0,
  close: async () => undefined,
}

// One mail for each suspension , for which the reply does not wait.
const tellOwner =
  ({ notices, suspensionBegan, log }: LimiterOptions): SuspensionListener =>
  ({ kind, id, applicationId, owner }, until) => {
    suspensionBegan()
    const credential = { kind, id, applicationId }
    const notTold = (error: unknown): void =>
      log.error(
        { err: error, owner, credential, until },
        'an owner could not be told of a suspension',
      )
    const tell = notices.tell(owner, {
      kind: 'suspended',
      credential,
      since: until - suspensionMs,
      until,
    })
    tell().then((told) => (told._tag === 'Left' ? notTold(told.left) : undefined), notTold)
  }
