// The package's entry: caches as decorators of the domain's ports, and the cache they share.
export type { ForgetsAccounts } from './account-key.ts'
export { createAddressLimits } from './address-limits.ts'
export { cachedAccounts } from './cached-accounts.ts'
export type { CachedAccounts } from './cached-accounts.ts'
export { cachedBroker } from './cached-broker.ts'
export type { CachedBrokerOptions } from './cached-broker.ts'
export { cachedCredentials } from './cached-credentials.ts'
export type { CachedCredentials } from './cached-credentials.ts'
export { cachedLiveAccounts } from './cached-live-accounts.ts'
export { cachedPositionViews } from './cached-position-views.ts'
export { cachedTokenVerifier } from './cached-token-verifier.ts'
export { forgettingDesk } from './forgetting-desk.ts'
export { createLocalRateLimiter } from './local-rate-limiter.ts'
export type { LocalRateLimiterOptions } from './local-rate-limiter.ts'
export { createSingleFlightCache } from './single-flight-cache.ts'
export type {
  CacheTally,
  SingleFlightCache,
  SingleFlightCacheOptions,
  Tallies,
} from './single-flight-cache.ts'
