// The package's entry: caches as decorators of the domain's ports, and limits of one instance.
export {
  cachedBroker,
  cachedLiveAccounts,
  cachedMarketData,
  cachedMarketDataFeeds,
} from './account-caches.ts'
export { createAddressLimits } from './address-limits.ts'
export { cachedAccounts, cachedCredentials, cachedTokenVerifier } from './credential-caches.ts'
export { createLocalRateLimiter } from './local-rate-limiter.ts'
export { coalesceReads } from './next-read.ts'
export type { CountersOf } from './single-flight-cache.ts'
