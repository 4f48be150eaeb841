// The rate limiter: shared by the instances over Redis, or each instance's own; and the notice to
// the owner of a credential that it suspends.
import { suspensionMs } from '@tradeport/domain/access'
import type { OwnerNotices, SuspensionListener } from '@tradeport/domain/ports'
import { createLocalRateLimiter } from '@tradeport/memory'
import type { RedisRateLimiterOptions } from '@tradeport/redis'
import type { Logger } from 'pino'

/** Which clock Redis goes by, and how long it may take to answer. */
export type RedisTimes = Pick<RedisRateLimiterOptions, 'clock' | 'timeoutMs'>

interface LimiterOptions {
  /** Null: this instance's own. */
  readonly redisUrl: string | null
  readonly redisTimes: RedisTimes | undefined
  readonly ownerNotices: OwnerNotices
  /** Counts the suspensions that begin at this instance. It must not throw. */
  readonly suspensionBegan: () => void
  readonly log: Logger
}

export const openLimiter = async (options: LimiterOptions) => {
  const { redisUrl, redisTimes, log } = options
  const onSuspension = notifyOwner(options)
  const local = createLocalRateLimiter({ onSuspension })
  if (redisUrl === null) {
    const status = 'in-process' as const
    return {
      ...local,
      status: () => status,
      check: async () => ({ status }),
      localFallbackMs: () => 0,
      close: () => undefined,
    }
  }
  // Loaded only where it is used, like every package that only some configurations need.
  const { openRedisRateLimiter } = await import('@tradeport/redis')
  return openRedisRateLimiter({ ...redisTimes, url: redisUrl, local, onSuspension, log })
}

/** One mail for each suspension. The reply does not wait for it. */
const notifyOwner =
  ({ ownerNotices, suspensionBegan, log }: LimiterOptions): SuspensionListener =>
  async ({ kind, id, applicationId, owner }, until) => {
    suspensionBegan()
    const credential = { kind, id, applicationId }
    const since = until - suspensionMs
    const notice = { kind: 'suspended', credential, since, until } as const
    const queued = await ownerNotices.enqueue(owner, notice)()
    if (queued._tag === 'Left')
      log.error(
        { err: queued.left, owner, credential, until },
        'the notice of a suspension was not recorded',
      )
  }
