// Something that happened and that is posted to webhooks: its type, the data that receivers get,
// and a key that tells it from all others.
import type { Instant } from '../primitives/instant.ts'
import type { WebhookEventType } from '../webhooks/webhook.ts'
import type { EventPayloads } from './event-payloads.ts'

/** As it is stored and posted. */
export type EventData = Readonly<Record<string, unknown>>

export interface ServiceEvent {
  readonly type: WebhookEventType
  /**
   * The same for the same happening of an owner, however often it is reported; it is recorded once.
   */
  readonly key: string
  readonly data: EventData
  readonly at: Instant
}

/** An event of one type, with the data that the API's document promises. */
export interface EventOf<Type extends WebhookEventType> extends ServiceEvent {
  readonly type: Type
  readonly data: EventPayloads[Type]
}

/** Drops what has no value. */
export const withoutAbsent = <Data extends object>(data: Data): Data =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as Data
