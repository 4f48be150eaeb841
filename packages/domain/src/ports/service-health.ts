// What the operator's doctor checks beside the records: the database, the broker, the limiter, and
// the provider's answer to a tenant's token.
import type * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type {
  DisagreeingJournal,
  Durability,
  LimiterStanding,
  ProviderStanding,
} from '../operator/health.ts'
import type { TenantId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

export interface DatabaseHealth {
  /** The database's clock. */
  readonly now: TE.TaskEither<ServiceUnavailable, Instant>
  /** Whether the tables are those that this version needs. */
  readonly isMigrated: TE.TaskEither<ServiceUnavailable, boolean>
  readonly durability: TE.TaskEither<ServiceUnavailable, Durability>
}

export interface JournalHealth {
  /** Up to `maxListedJournals`, the oldest comparison first. */
  readonly disagreeing: TE.TaskEither<ServiceUnavailable, readonly DisagreeingJournal[]>
}

export interface LimiterHealth {
  /** Asks whatever counts the requests. */
  readonly standing: T.Task<LimiterStanding>
}

export interface ProviderProbe {
  /** Shows the tenant's token to the provider, by a read that changes nothing. */
  readonly probe: (tenantId: TenantId) => T.Task<ProviderStanding>
}
