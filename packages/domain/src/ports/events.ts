// The log of events. Every method takes the owner first.
import type { AsyncResult } from '../errors.ts'
import type { EventId, LoggedEvent } from '../events/event-log.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
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

export interface LogBounds {
  /** The last event that was cleared away; the id of the number 0 where none was. */
  readonly clearedTo: EventId
  /** The first event that is kept. */
  readonly oldest: EventId | null
  /** The last event that was recorded; `clearedTo` where none is kept. */
  readonly newest: EventId
}

export interface EventLog {
  readonly page: (owner: Owner, query: EventsQuery) => AsyncResult<EventsPage>
  /**
   * Whether every event after this one, or recorded after this time, is kept. False for an id that
   * no event of the owner has had.
   */
  readonly isResumable: (owner: Owner, after: EventId | Instant) => AsyncResult<boolean>
  readonly bounds: (owner: Owner) => AsyncResult<LogBounds>
  /**
   * Calls `receive` soon after events of an owner were recorded by any instance; with 'anyone'
   * where it is not known whose. A call can be lost. Returns a function that ends it.
   */
  readonly onRecorded: (receive: (whose: Owner | 'anyone') => void) => () => void
}
