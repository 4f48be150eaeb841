// The log of events. Every method takes the owner first.
import type { AsyncResult } from '../errors.ts'
import type { EventId, LoggedEvent } from '../events/event-log.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { WebhookEventType } from '../webhooks/webhook.ts'

/** Which events of an owner, and in which direction from which place. */
export interface EventsQuery {
  /** Only these; none without any. */
  readonly types: readonly WebhookEventType[]
  readonly accountId?: AccountId | undefined
  /** Events after this one; by default from the first that is kept. */
  readonly after?: EventId | undefined
  /** Events before this one; by default to the last. */
  readonly before?: EventId | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Up to `limit` events in the order of the query. */
export interface EventsPage {
  readonly events: readonly LoggedEvent[]
  /** Whether more follow in the order of the page. */
  readonly hasNext: boolean
}

/** How far the kept part of an owner's log reaches. */
export interface LogBounds {
  /** The last event that was cleared away; the id of the number 0 where none was. */
  readonly clearedTo: EventId
  /** The first event that is kept. */
  readonly oldest: EventId | null
  /** The last event that was recorded; `clearedTo` where none is kept. */
  readonly newest: EventId
}

/**
 * The events of each owner, numbered in the order in which they become visible: whoever has read to
 * one finds every later event after it.
 */
export interface EventLog {
  /** Only what is kept: `isResumable` says whether events were cleared away after a place. */
  readonly page: (owner: Owner, query: EventsQuery) => AsyncResult<EventsPage>
  /**
   * Whether every event after this one, or recorded after this time, is kept. False for an id that
   * no event of the owner has had.
   */
  readonly isResumable: (owner: Owner, after: EventId | Instant) => AsyncResult<boolean>
  /** For an owner who does not exist they are those of an empty log. */
  readonly bounds: (owner: Owner) => AsyncResult<LogBounds>
  /**
   * Calls `receive` soon after events of an owner were recorded by any instance; with 'anyone'
   * where it is not known whose. A call can be lost. Returns a function that ends it.
   */
  readonly onRecorded: (receive: (whose: Owner | 'anyone') => void) => () => void
}
