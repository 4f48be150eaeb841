// Where an account is deployed, for links that do not name its region: asked once at the provisioning API and kept for a while, since an
// account can be moved and each question costs credits.
import type { Clock, Instant } from '@tradeport/domain'

/** Asks the provider; rejects where it cannot tell. */
export type LookUpRegion = () => Promise<string>

export interface Regions {
  /** @param key stands for the account and for whose token asks */
  readonly find: (key: string, lookUp: LookUpRegion) => Promise<string>
}

const keptMs = 10 * 60_000
const maxKept = 10_000

/** Keeps what was found for ten minutes. Simultaneous questions for one account are one; failures are not kept. */
export const createRegions = (clock: Clock): Regions => {
  const kept = new Map<string, { readonly region: Promise<string>; readonly since: Instant }>()

  const ask = (key: string, lookUp: LookUpRegion): Promise<string> => {
    const region = lookUp()
    const entry = { region, since: clock.now() }
    kept.delete(key)
    kept.set(key, entry)
    dropOldest(kept)
    region.catch(() => {
      if (kept.get(key) === entry) kept.delete(key)
    })
    return region
  }

  return {
    find: (key, lookUp) => {
      const entry = kept.get(key)
      return entry !== undefined && isYoung(clock.now() - entry.since) ? entry.region : ask(key, lookUp)
    },
  }
}

// A clock that was set back makes an age negative.
const isYoung = (ageMs: number): boolean => ageMs >= 0 && ageMs < keptMs

// A map keeps the order in which keys came.
const dropOldest = (kept: Map<string, unknown>): void => {
  const [oldest] = kept.keys()
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
}
