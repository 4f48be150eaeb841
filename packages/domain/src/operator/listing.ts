// The operator's records as lists, read piece by piece: the cost of a piece depends on what it
// holds, not on how long the list is. A cursor names the record after which the next piece begins,
// and is bound to its list.
import { sequenceS } from 'fp-ts/lib/Apply.js'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '../accounts/account.ts'
import type { CheckedThreshold, RiskThreshold } from '../accounts/risk-threshold.ts'
import { refuse, type AsyncResult, type Refusal } from '../errors.ts'
import { cursorAfter, placeOfCursor } from '../primitives/cursor.ts'
import { parseUserId, type Parse, type UserId } from '../primitives/ids.ts'
import type { TraderLimits } from '../orders/limits.ts'
import type { Challenge, StoredAccessToken, StoredApiKey, Tenant } from './records.ts'

/** A tenant as it is shown: whether it has a provider token, never which. */
export interface ListedTenant extends Tenant {
  readonly hasProviderToken: boolean
}

/** How many records a tenant has, or a user. */
export interface RecordCounts {
  readonly users: number
  readonly accounts: number
  readonly apiKeys: number
  readonly accessTokens: number
  readonly desks: number
  readonly webhooks: number
}

/** A key or token as it is shown: without the hash by which it is found. */
export type ListedApiKey = Omit<StoredApiKey, 'hash'>
export type ListedAccessToken = Omit<StoredAccessToken, 'hash'>

/** A threshold and its last check. */
interface ListedThreshold
  extends Omit<RiskThreshold, 'accountId'>, Pick<CheckedThreshold, 'reference' | 'checkedAt'> {
  readonly breached: boolean
}

/** An account with what the head trader set for it. */
export interface ListedAccount {
  readonly account: Account
  /** null where none were ever set. */
  readonly limits: TraderLimits | null
  /** Newest first; the first counts. */
  readonly challenges: readonly Omit<Challenge, 'accountId'>[]
  /** By type and severity. */
  readonly riskThresholds: readonly ListedThreshold[]
}

/** Up to `limit` records of a list, from its beginning or after a place. */
export interface Slice<Place> {
  readonly after: Place | undefined
  readonly limit: number
}

/** The place of a record that belongs to a user: lists run by user, then by id. */
export interface OwnedPlace {
  readonly userId: UserId
  readonly id: string
}

/** A caller's request for a piece. */
export interface ListRequest {
  readonly cursor?: string | undefined
  readonly limit: number
}

export interface OwnedListRequest extends ListRequest {
  /** Only the records of this user; undefined for all of the tenant's. */
  readonly userId?: UserId | undefined
}

export interface Listed<A> {
  readonly data: readonly A[]
  readonly pagination: {
    readonly limit: number
    readonly hasNext: boolean
    /** Undefined on the last piece. */
    readonly cursor: string | undefined
  }
}

/** How the places of a list are written into cursors, and read from them. */
export interface CursorCodec<Place, A> {
  readonly placeOf: (item: A) => readonly string[]
  readonly parsePlace: (texts: readonly string[]) => O.Option<Place>
}

export interface ReadableList<Place, A> extends CursorCodec<Place, A> {
  /** Distinguishes this list from every other, with its owner and its filters. */
  readonly name: readonly string[]
  readonly read: (slice: Slice<Place>) => AsyncResult<readonly A[]>
}

/** The fields of a place; none where one of them is malformed. */
export const allParsed = sequenceS(O.Applicative)

/** Lists by id. */
export const byId = <Id extends string>(
  parse: Parse<Id>,
): CursorCodec<Id, { readonly id: Id }> => ({
  placeOf: ({ id }) => [id],
  parsePlace: ([id = '']) => parse(id),
})

/** Lists by user, then id. */
export const byOwner = <Id extends string>(
  parse: Parse<Id>,
): CursorCodec<OwnedPlace & { readonly id: Id }, { readonly userId: UserId; readonly id: Id }> => ({
  placeOf: ({ userId, id }) => [userId, id],
  parsePlace: ([userId = '', id = '']) => allParsed({ userId: parseUserId(userId), id: parse(id) }),
})

/**
 * The place in a cursor; undefined without a cursor. One that is damaged, of another version or of
 * another list is refused.
 */
export const readPlace = <Place>(
  { name, parsePlace }: Pick<ReadableList<Place, never>, 'name' | 'parsePlace'>,
  cursor: string | undefined,
): E.Either<Refusal<'InvalidCursor'>, Place | undefined> => {
  if (cursor === undefined) return E.right(undefined)
  const place = placeOfCursor(name, cursor)
  return E.fromOption(() => refuse('InvalidCursor'))(
    place?.every((text) => typeof text === 'string') === true ? parsePlace(place) : O.none,
  )
}

export const readList = <Place, A>(
  list: ReadableList<Place, A>,
  { cursor, limit }: ListRequest,
): AsyncResult<Listed<A>, 'InvalidCursor'> =>
  pipe(
    TE.fromEither(readPlace(list, cursor)),
    // One more than requested shows whether there is a next piece.
    TE.flatMap((after) => list.read({ after, limit: limit + 1 })),
    TE.map((found) => {
      const data = found.slice(0, limit)
      const hasNext = found.length > limit
      const cursor = hasNext ? cursorAfter(list.name, list.placeOf(data.at(-1)!)) : undefined
      return { data, pagination: { limit, hasNext, cursor } }
    }),
  )
