// How far the provider's clock is ahead of ours, from the Date headers of its answers.
import type { Instant } from '@tradeport/domain/primitives'

export interface ClockSkew {
  /** Adds the Date header of an answer, with our times of the request and of its answer. */
  readonly observe: (date: string | null, askedAt: Instant, answeredAt: Instant) => void
  /** Above 0 if the provider's clock is ahead; null before the first readable Date header. */
  readonly ms: () => number | null
}

/**
 * Each answer bounds the skew: its Date was written between request and answer, and is rounded down
 * to seconds. The estimate is the middle of the range that all answers allow. An answer that
 * contradicts those before it means that a clock was set, and restarts the estimate.
 */
export const createClockSkew = (): ClockSkew => {
  let low = Number.NEGATIVE_INFINITY
  let high = Number.POSITIVE_INFINITY
  return {
    observe: (date, askedAt, answeredAt) => {
      const written = Date.parse(date ?? '')
      if (!Number.isFinite(written) || answeredAt < askedAt) return
      const [lowest, highest] = [written - answeredAt, written + 1_000 - askedAt]
      const isAgreed = lowest <= high && highest >= low
      low = isAgreed ? Math.max(low, lowest) : lowest
      high = isAgreed ? Math.min(high, highest) : highest
    },
    ms: () => (Number.isFinite(low + high) ? Math.round((low + high) / 2) : null),
  }
}
