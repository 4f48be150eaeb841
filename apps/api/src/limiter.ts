// How often callers may ask (8.1): the limiter of this instance, and who is told of a suspension.
import { suspensionMs } from '@tradeport/domain'
import type { LocalRateLimiter, OwnerNotices, SuspensionListener } from '@tradeport/domain'
import { createLocalRateLimiter } from '@tradeport/memory'

export interface LimiterOptions {
  readonly notices: OwnerNotices
  readonly log: { readonly error: (fields: object, message: string) => void }
}

export const openLimiter = (options: LimiterOptions): LocalRateLimiter => createLocalRateLimiter({ onSuspension: tellOwner(options) })

// One mail for each suspension (decision 15), for which the reply does not wait.
const tellOwner =
  ({ notices, log }: LimiterOptions): SuspensionListener =>
  ({ kind, id, applicationId, owner }, until) => {
    const credential = { kind, id, applicationId }
    const notTold = (error: unknown): void =>
      log.error({ err: error, owner, credential, until }, 'an owner could not be told of a suspension')
    const tell = notices.tell(owner, { kind: 'suspended', credential, since: until - suspensionMs, until })
    tell().then((told) => (told._tag === 'Left' ? notTold(told.left) : undefined), notTold)
  }
