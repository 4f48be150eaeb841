// Whether this instance can serve (`/readyz`): its checks, each short, and held back so that nobody can load the database by asking.
import type { Readiness } from '@tradeport/http'
import { heldBack } from './held-back.ts'

export interface ReadinessParts {
  /** By the name that is told where it fails. One that rejects has failed. */
  readonly checks: Readonly<Record<string, () => Promise<boolean>>>
  readonly limiter: () => Readiness['limiter']
  /** From then on no new request is wanted, whatever the checks say. */
  readonly isDraining: () => boolean
}

const times = { everyMs: 1_000, deadlineMs: 2_000, otherwise: false }

export const createReadiness = ({ checks, limiter, isDraining }: ReadinessParts): (() => Promise<Readiness>) => {
  const held = Object.entries(checks).map(([name, check]) => ({ name, isGood: heldBack(check, times) }))
  return async () => {
    if (isDraining()) return { failing: ['draining'], limiter: limiter() }
    const results = await Promise.all(held.map(async ({ name, isGood }) => ((await isGood()) ? [] : [name])))
    return { failing: results.flat(), limiter: limiter() }
  }
}
