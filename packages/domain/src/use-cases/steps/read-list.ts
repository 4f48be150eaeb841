// A piece of a list of the operator's records: from its cursor to the cursor of the next piece,
// within one tenant that is there.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { notFound } from '../../errors.ts'
import type { InvalidCursor, NotFound, ServiceUnavailable } from '../../errors.ts'
import { listed, readListCursor, writeListCursor } from '../../operator/listing.ts'
import type { Listed, ListedTenant, ListName, ListRequest, Slice } from '../../operator/listing.ts'
import type { TenantRecords } from '../../ports/tenant-records.ts'
import { parseUserId } from '../../primitives/ids.ts'
import type { TenantId, UserId } from '../../primitives/ids.ts'

/** How a list is read, and how a place in it is written into a cursor. */
export interface ReadableList<Place, A> {
  readonly name: ListName
  readonly placeOf: (item: A) => readonly string[]
  readonly parsePlace: (texts: readonly string[]) => O.Option<Place>
  readonly read: (slice: Slice<Place>) => TE.TaskEither<ServiceUnavailable, readonly A[]>
}

export type ListRefusal = ServiceUnavailable | InvalidCursor

/** Undefined without a cursor: the list is read from its beginning. */
export const readPlace = <Place>(
  list: ListName,
  cursor: string | undefined,
  parsePlace: (texts: readonly string[]) => O.Option<Place>,
): TE.TaskEither<InvalidCursor, Place | undefined> =>
  TE.fromEither(
    cursor === undefined ? E.right(undefined) : readListCursor(list, cursor, parsePlace),
  )

export const readList = <Place, A>(
  { name, placeOf, parsePlace, read }: ReadableList<Place, A>,
  { cursor, limit }: ListRequest,
): TE.TaskEither<ListRefusal, Listed<A>> =>
  pipe(
    readPlace(name, cursor, parsePlace),
    // One more than asked for shows whether there is a next piece.
    TE.flatMap((after) => read({ after, limit: limit + 1 })),
    TE.map((found) => listed(found, limit, (item) => writeListCursor(name, placeOf(item)))),
  )

export const requireTenant =
  ({ records }: { readonly records: Pick<TenantRecords, 'find'> }) =>
  (tenantId: TenantId): TE.TaskEither<ServiceUnavailable | NotFound, ListedTenant> =>
    pipe(records.find(tenantId), TE.flatMap(TE.fromOption(() => notFound('tenant'))))

/** Lists by id. */
export const byId = <Id extends string>(parse: (text: string) => O.Option<Id>) => ({
  placeOf: ({ id }: { readonly id: Id }): readonly string[] => [id],
  parsePlace: ([id = '', ...others]: readonly string[]): O.Option<Id> =>
    others.length > 0 ? O.none : parse(id),
})

/** Lists by user, then id. */
export const byOwner = <Id extends string>(parse: (text: string) => O.Option<Id>) => ({
  placeOf: ({ userId, id }: { readonly userId: UserId; readonly id: Id }): readonly string[] => [
    userId,
    id,
  ],
  parsePlace: ([user = '', record = '', ...others]: readonly string[]): O.Option<{
    readonly userId: UserId
    readonly id: Id
  }> => {
    const [userId, id] = [parseUserId(user), parse(record)]
    return others.length > 0 || O.isNone(userId) || O.isNone(id)
      ? O.none
      : O.some({ userId: userId.value, id: id.value })
  },
})
