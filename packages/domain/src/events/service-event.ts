// Something that happened and that webhooks are told of: its type, the fields that receivers get, and a name that tells it from all others (section 6).
import type { Instant } from '../primitives/instant.ts'
import type { WebhookEventType } from '../webhooks/webhook.ts'

/** Fields as receivers see them: snake_case, times in ISO 8601; optional ones that have no value are left out. */
export type EventData = Readonly<Record<string, string | number | boolean | null>>

export interface ServiceEvent {
  readonly type: WebhookEventType
  /** The same for the same happening of an owner, however often it is told; it is recorded once. */
  readonly key: string
  readonly data: EventData
  readonly at: Instant
}

/** Drops what has no value. */
export const withoutAbsent = (fields: Readonly<Record<string, EventData[string] | undefined>>): EventData =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, EventData[string]] => field[1] !== undefined))
