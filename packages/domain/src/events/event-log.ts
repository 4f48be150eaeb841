// The log of events as its owner reads it: ids in the order of the log, and who may read which.
import * as E from 'fp-ts/lib/Either.js'
import { requireScope, type Scope } from '../access/credential.ts'
import type { Refusal } from '../errors.ts'
import { parseBy, type AccountId, type EventId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { webhookEventTypes, type WebhookEventType } from '../webhooks/webhook.ts'
import type { ServiceEvent } from './events.ts'

export type { EventId }

/** Sorts before every event of a log. */
export const startOfLog = `evt_${'0'.repeat(20)}` as EventId

/** Reads an event id; none where it could not be one. */
export const parseEventId = parseBy<EventId>(/^evt_[0-9a-z]{20,32}$/)

export interface LoggedEvent {
  readonly id: EventId
  readonly type: WebhookEventType
  readonly accountId: AccountId
  /** When it was recorded. */
  readonly recordedAt: Instant
  readonly data: ServiceEvent['data']
}

/** One of these scopes is needed to read the types that begin so. */
const readers: Readonly<Record<string, readonly Scope[]>> = {
  order: ['trading:read'],
  position: ['trading:read', 'positions:read'],
  trade: ['trading:read', 'history:read'],
  account: ['accounts:read'],
  risk: ['accounts:read'],
}

/** Every scope that lets a caller read some type of event. */
export const eventScopes: readonly Scope[] = [...new Set(Object.values(readers).flat())]

/**
 * The types to read: those that were requested, which must all be readable, or else all that the
 * scopes allow.
 */
export const readableTypes = (
  scopes: ReadonlySet<Scope>,
  requested: readonly WebhookEventType[] | undefined,
): E.Either<Refusal<'InsufficientScope'>, readonly WebhookEventType[]> => {
  const mayRead = (type: WebhookEventType) =>
    requireScope(scopes, readers[type.split('.')[0] ?? ''] ?? [])
  if (requested === undefined)
    return E.right(webhookEventTypes.filter((type) => E.isRight(mayRead(type))))
  const refused = requested.map(mayRead).find(E.isLeft)
  return refused ?? E.right(requested)
}
