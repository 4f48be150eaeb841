// The log of events as its owner reads it: ids in the order of the log, and who may read which.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { requireScope, type Scope } from '../access/credential.ts'
import type { Refusal } from '../errors.ts'
import type { AccountId, EventId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { webhookEventTypes, type WebhookEventType } from '../webhooks/webhook.ts'
import type { ServiceEvent } from './events.ts'

export type { EventId }

const idPattern = /^evt_[0-9a-z]{20}$/
const idLength = 20
/** The largest number that the log can give. */
const maxNumber = 2n ** 63n - 1n

/** Reads an event id; none where it could not be one. */
export const parseEventId = (text: string): O.Option<EventId> =>
  idPattern.test(text) ? O.some(text as EventId) : O.none

/**
 * `evt_` and the event's number in base 36, padded to 20 characters, so that the ids of an owner's
 * events sort as the events do.
 */
export const formatEventId = (number: bigint): EventId =>
  `evt_${number.toString(36).padStart(idLength, '0')}` as EventId

/** The number that the id was made from; `maxNumber` for an id that the log cannot give. */
export const eventNumber = (id: EventId): bigint => {
  let number = 0n
  for (const digit of id.slice('evt_'.length)) number = number * 36n + BigInt(parseInt(digit, 36))
  return number > maxNumber ? maxNumber : number
}

/** An event of the log. */
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

const readersOf = (type: WebhookEventType): readonly Scope[] =>
  readers[type.split('.')[0] ?? ''] ?? []

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
  const mayRead = (type: WebhookEventType) => requireScope(scopes, readersOf(type))
  if (requested === undefined)
    return E.right(webhookEventTypes.filter((type) => E.isRight(mayRead(type))))
  const refused = requested.map(mayRead).find(E.isLeft)
  return refused ?? E.right(requested)
}
