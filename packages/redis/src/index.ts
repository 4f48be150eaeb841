// The package's entry: the limiter that several instances share.
export type { ScriptClock } from './decide-script.ts'
export type { Log } from './link.ts'
export { openRedisRateLimiter } from './redis-rate-limiter.ts'
export type { RedisRateLimiter, RedisRateLimiterOptions } from './redis-rate-limiter.ts'
