// The package's entry: the limiter that several instances share.
export type { ScriptClock } from './decide-script.ts'
export { openRedisRateLimiter } from './redis-rate-limiter.ts'
export type { Log, RedisRateLimiter, RedisRateLimiterOptions } from './redis-rate-limiter.ts'
