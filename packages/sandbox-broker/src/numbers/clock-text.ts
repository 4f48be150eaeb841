// The two ways in which the provider writes a time: UTC, and the broker's own clock without a zone.

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** How far the broker's clock is ahead of UTC. */
export const BROKER_AHEAD_MS = 2 * HOUR_MS

/** `2024-04-17T04:30:03.223Z` */
export const utcText = (at: number): string => new Date(at).toISOString()

/** `2024-04-17 07:30:03.223`, in the broker's zone and without saying so. */
export const brokerText = (at: number): string => {
  const text = new Date(at + BROKER_AHEAD_MS).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, -1)}`
}
