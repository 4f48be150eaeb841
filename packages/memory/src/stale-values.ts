// Memory that a busy hour took is given back: what is stale goes although nobody asks for it, and not only when something newer needs its room.
import type { Clock } from '@tradeport/domain'

/** For how long a stale value still stands, as if it were none, before it goes: what is asked for again meanwhile takes its place. */
export const staleStandsMs = 30_000

/** How exactly the library's cache looks at the clock. Whether a value is stale is decided elsewhere. */
const resolutionMs = 1_000

/** Settings of the library's cache; when a value goes is told with it, as its `ttl`. */
export const letsGoOfStale = (clock: Clock) => ({ ttlAutopurge: true, ttlResolution: resolutionMs, perf: clock }) as const
