// The limits counted from all that ever happened, as the specification words them: slow, and
// nothing like the rule that it is held against.
import type { Plan } from '../../src/access/credential.ts'
import type { EndpointLimit } from '../../src/access/rate-limits.ts'
import { toUtcDay } from '../../src/primitives/instant.ts'

export type SlowOutcome = 'admitted' | 'refused' | 'suspension_began' | 'suspended'

interface Past {
  /** Time as a clock would have it that is never set back. */
  readonly elapsedMs: number
  readonly day: string
  readonly route: string | undefined
  readonly outcome: SlowOutcome
}

const figures = {
  free: { perMinute: 100, full: 300, perDay: 10_000 },
  pro: { perMinute: 1_000, full: 3_000, perDay: 100_000 },
  enterprise: { perMinute: 10_000, full: 30_000, perDay: 1_000_000 },
} as const

/** Of one subject on one plan. */
export const createSlowRateLimiter = (
  plan: Plan,
): { readonly decide: (endpoint: EndpointLimit | undefined, now: number) => SlowOutcome } => {
  const past: Past[] = []
  const { perMinute, full, perDay } = figures[plan]
  let [lastNow, elapsedMs, day] = [0, 0, '']
  let startsAt: number | undefined

  // Tokens of a bucket, in as many parts as a minute or an hour has milliseconds, so that no
  // fraction is lost.
  const tokensAfter = (
    admitted: readonly Past[],
    size: number,
    perPeriod: number,
    periodMs: number,
  ): number => {
    let [level, at] = [size * periodMs, startsAt ?? 0]
    for (const one of admitted) {
      level = Math.min(size * periodMs, level + (one.elapsedMs - at) * perPeriod) - periodMs
      at = one.elapsedMs
    }
    return Math.min(size * periodMs, level + (elapsedMs - at) * perPeriod) / periodMs
  }

  const outcomeNow = (endpoint: EndpointLimit | undefined): SlowOutcome => {
    const suspension = past.findLast(({ outcome }) => outcome === 'suspension_began')
    if (suspension !== undefined && elapsedMs - suspension.elapsedMs < 15 * 60_000)
      return 'suspended'
    const admitted = past.filter(({ outcome }) => outcome === 'admitted')
    const own = admitted.filter(({ route }) => route === endpoint?.route)
    const passes =
      tokensAfter(admitted, full, perMinute, 60_000) >= 1 &&
      admitted.filter((one) => one.day === day).length < perDay &&
      (endpoint === undefined ||
        tokensAfter(own, endpoint.requests, endpoint.requests, endpoint.periodSeconds * 1_000) >= 1)
    if (passes) return 'admitted'
    const recent = past.slice(
      past.findLastIndex(({ outcome }) => outcome === 'suspension_began') + 1,
    )
    const refusals = recent.filter(
      (one) => one.outcome === 'refused' && elapsedMs - one.elapsedMs < 5 * 60_000,
    )
    return refusals.length >= 9 ? 'suspension_began' : 'refused'
  }

  return {
    decide: (endpoint, now) => {
      elapsedMs += Math.max(0, now - lastNow)
      startsAt ??= elapsedMs
      // A day that was begun goes on where the clock is set back, until the next midnight.
      const today = toUtcDay(now)
      if (today < day)
        for (const [index, one] of past.entries())
          past[index] = one.day === day ? { ...one, day: today } : one
      day = today
      lastNow = now
      const outcome = outcomeNow(endpoint)
      past.push({ elapsedMs, day, route: endpoint?.route, outcome })
      return outcome
    },
  }
}
