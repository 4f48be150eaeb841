// The log of events: read by pages, and followed as it grows.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ScopedCaller } from '../access/credential.ts'
import { refuse, type AsyncResult } from '../errors.ts'
import { readableTypes, type EventId, type LoggedEvent } from '../events/event-log.ts'
import type { Listed } from '../operator/listing.ts'
import type { EventsPage, EventsQuery } from '../ports/events.ts'
import type { Ports } from '../ports/index.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { createLogFollowers, pageLimit, type EventStream } from './steps/log-followers.ts'
import type { WithQuery } from './input.ts'
import { requireOwnAccount } from './steps/find.ts'
import type { StreamSlots } from './steps/stream-slots.ts'

/**
 * Without types: all that the caller may read. Without an order: oldest first, or newest first
 * where only `before` is given.
 */
type ListedQuery = Partial<EventsQuery> & Pick<EventsQuery, 'limit'>

/** A browser that resumes sends the last event that it has; it counts before `after`. */
interface WithLastEventId {
  readonly headers: { readonly 'Last-Event-ID'?: EventId | undefined }
}

interface EventPorts extends Pick<Ports, 'accounts' | 'eventLog' | 'watch' | 'pause'> {
  readonly streamSlots: StreamSlots
}

/** The log of events, for a caller who may read their types. */
export const createEvents = (ports: EventPorts) => {
  const { eventLog, streamSlots } = ports
  const followers = createLogFollowers(ports)

  /** Misses no event after `after`. */
  const readPage = (owner: Owner, query: EventsQuery): AsyncResult<EventsPage, 'EventGone'> =>
    pipe(
      eventLog.page(owner, query),
      // Checked after the page was read: what is cleared away from now on is in the page.
      TE.tap(() => requireResumable(ports)(owner, query.after)),
    )

  /** What was recorded since `after`, in pages, and then what the stream brings. */
  async function* batchesAfter(
    after: EventId | undefined,
    owner: Owner,
    query: EventsQuery,
    { startsAfter, batches, isOver }: EventStream,
  ): EventStream['batches'] {
    let readTo = after ?? startsAfter
    while (readTo < startsAfter && !isOver()) {
      const page = await readPage(owner, { ...query, after: readTo })()
      if (E.isLeft(page)) return
      // The stream brings the events after `startsAfter`.
      const events = page.right.events.filter(({ id }) => id <= startsAfter)
      readTo = page.right.hasNext ? (events.at(-1)?.id ?? startsAfter) : startsAfter
      yield { events, readTo }
    }
    yield* batches
  }

  return {
    /**
     * GET /events. The cursor is the last event's, also where none follows yet. Where there is none
     * after an event, it is the newest of any type: the other may be cleared away before one comes.
     */
    listEvents: (
      { owner, scopes }: ScopedCaller,
      { query: { types, order, ...sent } }: WithQuery<ListedQuery>,
    ): AsyncResult<Listed<LoggedEvent>, 'InsufficientScope' | 'AccountNotFound' | 'EventGone'> => {
      const isOldestFirst = sent.before === undefined || sent.after !== undefined
      const query = { ...sent, order: order ?? (isOldestFirst ? 'asc' : 'desc') } as const
      const isPolling =
        sent.after !== undefined && sent.before === undefined && query.order === 'asc'
      return pipe(
        TE.fromEither(readableTypes(scopes, types)),
        TE.tap(() => requireOwnAccount(ports)(owner, query.accountId)),
        TE.bindTo('readable'),
        // Read before the page, which has what is recorded meanwhile.
        TE.bind('bounds', () => (isPolling ? eventLog.bounds(owner) : TE.right(undefined))),
        TE.bindW('page', ({ readable }) => readPage(owner, { ...query, types: readable })),
        TE.map(({ bounds, page: { events, hasNext } }) => ({
          data: events,
          pagination: { limit: query.limit, hasNext, cursor: events.at(-1)?.id ?? bounds?.newest },
        })),
      )
    },

    /** GET /events/stream: without `after`, from now on. */
    streamEvents: (
      caller: ScopedCaller,
      {
        query: { types, accountId, after: sent },
        headers,
      }: WithQuery<Partial<Pick<EventsQuery, 'types' | 'accountId' | 'after'>>> & WithLastEventId,
    ): AsyncResult<
      EventStream,
      'InsufficientScope' | 'AccountNotFound' | 'EventGone' | 'StreamLimitReached'
    > => {
      const after = headers['Last-Event-ID'] ?? sent
      const { owner, program, scopes } = caller
      return pipe(
        TE.fromEither(readableTypes(scopes, types)),
        TE.tap(() => requireOwnAccount(ports)(owner, accountId)),
        TE.tap(() => requireResumable(ports)(owner, after)),
        TE.flatMap((readable) => {
          const followed = { types: readable, accountId }
          const query = { ...followed, order: 'asc', limit: pageLimit } as const
          return streamSlots.open(
            program,
            pipe(
              followers.follow(owner, followed),
              TE.map((feed) => ({
                ...feed,
                startsAfter: after ?? feed.startsAfter,
                batches: batchesAfter(after, owner, query, feed),
              })),
            ),
          )
        }),
      )
    },
  }
}

/** Refuses to continue after an event or a time where a later event may have been cleared away. */
export const requireResumable =
  ({ eventLog }: Pick<Ports, 'eventLog'>) =>
  (owner: Owner, after: EventId | Instant | undefined): AsyncResult<void, 'EventGone'> =>
    pipe(
      after === undefined ? TE.right(true) : eventLog.isResumable(owner, after),
      TE.flatMap((isResumable) =>
        isResumable
          ? TE.right(undefined)
          : pipe(
              eventLog.bounds(owner),
              TE.flatMap(({ clearedTo, oldest }) =>
                TE.left(refuse('EventGone', { resumeAfter: clearedTo, oldest })),
              ),
            ),
      ),
    )
