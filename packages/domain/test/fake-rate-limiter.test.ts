// The fake limiter does what the real ones do.
import { createFakeRateLimiter } from '../src/testing/fake-rate-limiter.ts'
import { rateLimiterContract } from '../src/testing/rate-limiter-contract.ts'

rateLimiterContract('fake', (onSuspension) =>
  Promise.resolve({ limiter: createFakeRateLimiter(onSuspension), close: () => Promise.resolve() }),
)
