// The log of events: read by pages, and followed as it grows.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ScopedCaller } from '../access/credential.ts'
import { refuse, type AsyncResult } from '../errors.ts'
import {
  formatEventId,
  readableTypes,
  type EventId,
  type LoggedEvent,
} from '../events/event-log.ts'
import type { EventsPage, EventsQuery } from '../ports/events.ts'
import type { Ports } from '../ports/index.ts'
import type { Owner } from '../primitives/ids.ts'
import type { WebhookEventType } from '../webhooks/webhook.ts'
import { createEventTails, type Follower } from './steps/event-tails.ts'
import type { StreamSlots } from './steps/stream-slots.ts'

/** Without types: all that the caller may read. */
type WithOptionalTypes<Query> = Omit<Query, 'types'> & {
  readonly types?: readonly WebhookEventType[] | undefined
}

const pageLimit = 1_000
/** Before every event. */
const logStart = formatEventId(0n)

/** Which events of a stream: all that the caller may read, after an event or from now on. */
export type StreamQuery = WithOptionalTypes<Pick<EventsQuery, 'accountId' | 'after'>>

export interface EventStream {
  /** What to resume after where no event came. */
  readonly startsAfter: EventId
  /**
   * The events as they are recorded, and an empty batch about every second. It ends where the
   * credential is not accepted any more and where the log cannot be read.
   */
  readonly batches: AsyncIterable<readonly LoggedEvent[]>
  /** Aborted where the reader has fallen too far behind. */
  readonly tooSlow: AbortSignal
  /** Must be called when the reader is gone, also where nothing was read. */
  readonly close: () => void
}

interface EventPorts extends Pick<Ports, 'eventLog' | 'watch' | 'pause'> {
  readonly streamSlots: StreamSlots
}

export const createEvents = (ports: EventPorts) => {
  const { eventLog, streamSlots } = ports
  const tails = createEventTails(ports)

  /** Refuses to resume after a purged event, since later events may be purged too. */
  const requireKept = (owner: Owner, after: EventId | undefined): AsyncResult<void, 'EventGone'> =>
    after === undefined || after === logStart
      ? TE.right(undefined)
      : pipe(
          eventLog.has(owner, after),
          TE.flatMap((isKept) =>
            isKept
              ? TE.right(undefined)
              : pipe(
                  eventLog.end(owner, 'oldest'),
                  TE.flatMap((oldest) =>
                    TE.left(refuse('EventGone', { oldest: O.toNullable(oldest) })),
                  ),
                ),
          ),
        )

  async function* batchesOf(
    { owner, isStillAccepted }: ScopedCaller,
    query: EventsQuery,
    follower: Follower,
  ): EventStream['batches'] {
    const { from = logStart } = follower
    for (let { after } = query; after !== undefined && after < from;) {
      const page = await eventLog.page(owner, { ...query, after })()
      if (E.isLeft(page)) return
      const { events, hasNext } = page.right
      // The follower has those that were recorded since it began.
      yield events.filter(({ id }) => id <= from)
      after = hasNext ? events.at(-1)?.id : undefined
    }
    for (;;) {
      const events = await follower.next()
      if (events === undefined || !(await isStillAccepted())) return
      yield events
    }
  }

  return {
    /** GET /events. */
    listEvents: (
      { owner, scopes }: ScopedCaller,
      { types, ...query }: WithOptionalTypes<EventsQuery>,
    ): AsyncResult<EventsPage, 'InsufficientScope' | 'EventGone'> =>
      pipe(
        TE.fromEither(readableTypes(scopes, types)),
        TE.flatMap((readable) => eventLog.page(owner, { ...query, types: readable })),
        // Looked up after the page was read: what was cleared away meanwhile was in the page.
        TE.tap(() => requireKept(owner, query.after)),
      ),

    /** GET /events/stream. */
    followEvents: (
      caller: ScopedCaller,
      { types, accountId, after }: StreamQuery,
    ): AsyncResult<EventStream, 'InsufficientScope' | 'EventGone' | 'StreamLimitReached'> =>
      pipe(
        TE.fromEither(readableTypes(caller.scopes, types)),
        TE.tap(() => requireKept(caller.owner, after)),
        TE.bindTo('readable'),
        TE.bindW('leave', () => TE.fromEither(streamSlots.open(caller.program))),
        TE.flatMap(({ readable, leave }) => {
          const tooSlow = new AbortController()
          const followed = { types: readable, accountId }
          return pipe(
            tails.follow(caller.owner, followed, () => tooSlow.abort()),
            TE.orElseFirstIOK(() => leave),
            TE.map((follower) => ({
              startsAfter: after ?? follower.from ?? logStart,
              batches: batchesOf(
                caller,
                { ...followed, after, order: 'asc', limit: pageLimit },
                follower,
              ),
              tooSlow: tooSlow.signal,
              close: () => {
                follower.end()
                leave()
              },
            })),
          )
        }),
      ),
  }
}
