// What the process must lend to the HTTP door, beside the use cases: time, turns, ids and a log.
import type { Breather, Clock, RateLimiter } from '@tradeport/domain'
import type { TrustedProxies } from './access/caller-address.ts'

/** A structured log; pino's fits. */
export interface Log {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

export interface Edge extends Breather {
  readonly clock: Clock
  /** `req_` and a random suffix (2.1). */
  readonly newRequestId: () => string
  readonly log: Log
}

/** What the API needs beside that. */
export interface ApiEdge extends Edge {
  readonly limiter: RateLimiter
  /** Those before this service that tell where a request comes from. */
  readonly trustedProxies: TrustedProxies
}
