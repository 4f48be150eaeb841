// What happened, as it is recorded for webhooks: appended to, never changed. Where the capability `events` is off nothing is recorded.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceEvent } from '../events/service-event.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { Owner } from '../primitives/ids.ts'

export interface EventLog {
  /**
   * Records events in their order, all or none, each with one delivery for every webhook of the owner that is enabled and asked for it. One whose key
   * is recorded already makes nothing. Stores that write what an event tells of record it themselves, in the same transaction.
   */
  readonly record: (owner: Owner, events: readonly ServiceEvent[]) => TE.TaskEither<ServiceUnavailable, void>
}
