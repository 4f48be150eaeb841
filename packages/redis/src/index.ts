// The package's entry: the limiter that several instances share.
export { openRedisRateLimiter } from './redis-rate-limiter.ts'
export type { RedisRateLimiter, RedisRateLimiterOptions } from './redis-rate-limiter.ts'
