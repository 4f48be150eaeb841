// Whether this instance can serve (`/readyz`): short checks, throttled so that nobody can load the
// database by asking.
import type { Readiness } from '@tradeport/http'
import { throttled } from './throttled.ts'

export interface ReadinessParts {
  /** By the name that is reported where it fails. A check that rejects has failed. */
  readonly checks: Readonly<Record<string, () => Promise<boolean>>>
  readonly limiter: () => Readiness['limiter']
  /** A draining instance wants no new request, whatever the checks say. */
  readonly isDraining: () => boolean
}

const throttle = { everyMs: 1_000, deadlineMs: 2_000, fallback: false }

export const createReadiness = ({
  checks,
  limiter,
  isDraining,
}: ReadinessParts): (() => Promise<Readiness>) => {
  const throttledChecks = Object.entries(checks).map(([name, check]) => ({
    name,
    isGood: throttled(check, throttle),
  }))
  return async () => {
    if (isDraining()) return { failing: ['draining'], limiter: limiter() }
    const results = await Promise.all(
      throttledChecks.map(async ({ name, isGood }) => ((await isGood()) ? [] : [name])),
    )
    return { failing: results.flat(), limiter: limiter() }
  }
}
