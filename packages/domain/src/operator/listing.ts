// The operator's records as lists, read piece by piece: however long a list is, a piece of it costs
// what it holds. A cursor says after which record the next piece begins, and is bound to its list.
import * as E from 'fp-ts/lib/Either.js'
import type * as O from 'fp-ts/lib/Option.js'
import type { Account } from '../accounts/account.ts'
import { invalidCursor } from '../errors.ts'
import type { InvalidCursor } from '../errors.ts'
import type { UserId } from '../primitives/ids.ts'
import { cursorAfter, placeOfCursor } from '../primitives/cursor.ts'
import type { Challenge, StoredAccessToken, StoredApiKey, Tenant, TraderLimits } from './records.ts'

/** A tenant as it is shown: whether it has a provider token, never which. */
export interface ListedTenant extends Tenant {
  readonly hasProviderToken: boolean
}

/** How many records a tenant has. */
export interface TenantCounts {
  readonly users: number
  readonly accounts: number
  readonly apiKeys: number
  readonly accessTokens: number
  readonly desks: number
}

/** A key or token as it is shown: without the hash by which it is found. */
export type ListedApiKey = Omit<StoredApiKey, 'hash'>
export type ListedAccessToken = Omit<StoredAccessToken, 'hash'>

/** An account with what the head trader set for it. */
export interface ListedAccount {
  readonly account: Account
  /** null where none were ever set. */
  readonly limits: TraderLimits | null
  /** Newest first; the first counts. */
  readonly challenges: readonly Omit<Challenge, 'accountId'>[]
}

/** So many records of a list, from its beginning or after a place. */
export interface Slice<Place> {
  readonly after: Place | undefined
  readonly limit: number
}

/** The place of a record that belongs to a user: lists run by user, then by id. */
export interface OwnedPlace {
  readonly userId: UserId
  readonly id: string
}

/** As callers ask for a piece. */
export interface ListRequest {
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface OwnedListRequest extends ListRequest {
  /** Whose records alone; undefined for all of the tenant's. */
  readonly userId?: UserId | undefined
}

export interface Listed<A> {
  readonly items: readonly A[]
  /** Undefined on the last piece. */
  readonly cursor: string | undefined
}

/** What tells one list from another, its owner and its filter among it. */
export type ListName = readonly string[]

export const writeListCursor = (list: ListName, place: readonly string[]): string =>
  cursorAfter(list, place)

/** One that is damaged, of another version or of another list is refused. */
export const readListCursor = <Place>(
  list: ListName,
  cursor: string,
  parsePlace: (texts: readonly string[]) => O.Option<Place>,
): E.Either<InvalidCursor, Place> => {
  const place = placeOfCursor(list, cursor)
  return place?.every(isText) === true
    ? E.fromOption(() => invalidCursor)(parsePlace(place))
    : E.left(invalidCursor)
}

const isText = (one: unknown): one is string => typeof one === 'string'

/** @param found one record more than was asked for, where there is one */
export const listed = <A>(
  found: readonly A[],
  limit: number,
  cursorAfter: (item: A) => string,
): Listed<A> => {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    cursor: found.length > limit && last !== undefined ? cursorAfter(last) : undefined,
  }
}
