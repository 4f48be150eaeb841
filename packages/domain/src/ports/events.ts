// The log of events. Every method takes the owner first.
import type * as O from 'fp-ts/lib/Option.js'
import type { AsyncResult } from '../errors.ts'
import type { EventId, LoggedEvent } from '../events/event-log.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { WebhookEventType } from '../webhooks/webhook.ts'

/** Which events of an owner, and in which direction from which place. */
export interface EventsQuery {
  readonly types: readonly WebhookEventType[]
  readonly accountId?: AccountId | undefined
  readonly after?: EventId | undefined
  readonly before?: EventId | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

export interface EventsPage {
  readonly events: readonly LoggedEvent[]
  /** Whether more follow in the order of the page. */
  readonly hasNext: boolean
}

export interface EventLog {
  readonly page: (owner: Owner, query: EventsQuery) => AsyncResult<EventsPage>
  /** Whether the event is in the log. */
  readonly has: (owner: Owner, id: EventId) => AsyncResult<boolean>
  /** The first or the last event of the log. */
  readonly end: (owner: Owner, which: 'oldest' | 'newest') => AsyncResult<O.Option<EventId>>
  /**
   * Calls `receive` soon after events of an owner were recorded by any instance; with 'anyone' where
   * it is not known whose. A call can be lost. Returns a function that ends it.
   */
  readonly onRecorded: (receive: (whose: Owner | 'anyone') => void) => () => void
}
