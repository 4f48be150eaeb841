// What the process must lend to the HTTP door, beside the use cases: time, turns, ids and a log.
import type { Breather, Clock, RateLimiter } from '@tradeport/domain'
import type { TrustedProxies } from './access/caller-address.ts'
import type { PlainRoutes } from './routing/plain-routes.ts'
import type { Watching } from './routing/watch.ts'

/** A structured log; pino's fits. */
export interface Log {
  readonly warn: (fields: object, message: string) => void
  readonly error: (fields: object, message: string) => void
}

export interface Edge extends Breather, Watching {
  readonly clock: Clock
  /** `req_` and a random suffix (2.1). */
  readonly newRequestId: () => string
  readonly log: Log
  /** Once this says so, every reply is the last of its connection: whoever kept it would send the next request to an instance that ends. */
  readonly isDraining?: (() => boolean) | undefined
  /** What is answered beside the routes, such as probes. */
  readonly plainRoutes?: PlainRoutes | undefined
}

/** What the API needs beside that. */
export interface ApiEdge extends Edge {
  readonly limiter: RateLimiter
  /** Those before this service that tell where a request comes from. */
  readonly trustedProxies: TrustedProxies
}
