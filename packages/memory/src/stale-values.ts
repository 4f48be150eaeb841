// Memory that a busy hour took is given back: what is stale goes although nobody asks for it, and
// not only when something newer needs its room.

/**
 * For how long a stale value still stands, as if it were none, before it goes: what is asked for
 * again meanwhile takes its place.
 */
export const staleStandsMs = 30_000

/**
 * Settings of the library's cache; when a value goes is told with it, as its `ttl`. It goes by a
 * clock in fractions of a millisecond that is never set back: an entry that is looked at in the
 * very millisecond in which its time is up would stay. Whether a value is stale is decided
 * elsewhere.
 */
export const letsGoOfStale = {
  ttlAutopurge: true,
  ttlResolution: 1_000,
  perf: { now: () => performance.now() },
} as const
