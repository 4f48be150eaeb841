// The identifiers that callers and operators use, each minted here alone.
import * as O from 'fp-ts/lib/Option.js'

declare const brand: unique symbol
/** A nominal type over a plain one: a value gets its brand only in the module that checks it. */
export type Brand<A, Name extends string> = A & { readonly [brand]: Name }

export type TenantId = Brand<string, 'TenantId'>
export type UserId = Brand<string, 'UserId'>
/** A linked account's platform id: a UUID in lower case. */
export type AccountId = Brand<string, 'AccountId'>
/** A webhook's id: a UUID in lower case. */
export type WebhookId = Brand<string, 'WebhookId'>
/**
 * The id of one delivery of an event to a webhook, the same for all its attempts: a UUID in lower
 * case.
 */
export type DeliveryId = Brand<string, 'DeliveryId'>
/** Of an event in the log: its number in the order of the log. */
export type EventId = Brand<string, 'EventId'>
/**
 * The broker's own number for a position, 1 to 64 characters without white space or control
 * characters.
 */
export type Ticket = Brand<string, 'Ticket'>

/**
 * Whose record it is. It is the first parameter of every store method, so that no record can be
 * requested without its owner.
 */
export interface Owner {
  readonly tenantId: TenantId
  readonly userId: UserId
}

/** One text for each owner, for maps and queues of owners. */
export const ownerKey = ({ tenantId, userId }: Owner): string => JSON.stringify([tenantId, userId])

export const isSameOwner = (a: Owner, b: Owner): boolean =>
  a.tenantId === b.tenantId && a.userId === b.userId

/** The id of a position and of the trade that it becomes: the account and the broker's ticket. */
export interface PositionId {
  readonly accountId: AccountId
  readonly ticket: Ticket
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ticketPattern = /^[!-~]{1,64}$/
const operatorIdPattern = /^[!-~]{1,128}$/
// Clients leave . and .. out of a path.
const ownerIdPattern = /^(?!\.{1,2}$)[!-~]{1,128}$/

/** Reads an id; anything that could not be one is none. */
export type Parse<Id> = (text: string) => O.Option<Id>

/** Reads an id that the pattern describes. */
export const parseBy =
  <Id extends string>(pattern: RegExp): Parse<Id> =>
  (text) =>
    pattern.test(text) ? O.some(text as Id) : O.none

// The platform writes UUIDs in lower case.
const parseUuid = <Id extends string>(text: string): O.Option<Id> =>
  parseBy<Id>(uuidPattern)(text.toLowerCase())

/** A tenant's id as the operator names it: 1 to 128 visible ASCII characters, not `.` or `..`. */
export const parseTenantId = parseBy<TenantId>(ownerIdPattern)
/** A user's id, as that of a tenant. */
export const parseUserId = parseBy<UserId>(ownerIdPattern)
/** The id of a key, a token or a desk: 1 to 128 visible ASCII characters. */
export const parseRecordId = parseBy<string>(operatorIdPattern)

/** Reads a UUID in either case. */
export const parseAccountId: Parse<AccountId> = parseUuid
export const parseWebhookId: Parse<WebhookId> = parseUuid
export const parseDeliveryId: Parse<DeliveryId> = parseUuid

/** Reads a broker's ticket; anything that could not be one is none. */
export const parseTicket = parseBy<Ticket>(ticketPattern)

/** Reads `<account_id>:<broker_ticket>`; none when either half is not well-formed. */
export const parsePositionId = (text: string): O.Option<PositionId> => {
  const colon = text.indexOf(':')
  if (colon < 0) return O.none
  const accountId = parseAccountId(text.slice(0, colon))
  const ticket = parseTicket(text.slice(colon + 1))
  if (O.isNone(accountId) || O.isNone(ticket)) return O.none
  return O.some({ accountId: accountId.value, ticket: ticket.value })
}

/** Writes a position's id as callers see it. */
export const formatPositionId = (accountId: AccountId, ticket: string): string =>
  `${accountId}:${ticket}`
