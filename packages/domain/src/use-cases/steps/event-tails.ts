// Reads each owner's log once and shares the new events among all who follow it. The log is read
// when events were recorded, and every few seconds in case a notification was lost. The accounts of
// owners whose followers want events of the broker are watched meanwhile.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult } from '../../errors.ts'
import type { EventId, LoggedEvent } from '../../events/event-log.ts'
import type { Ports } from '../../ports/index.ts'
import type { AccountId, Owner } from '../../primitives/ids.ts'
import { secondMs } from '../../primitives/instant.ts'
import {
  brokerEventTypes,
  webhookEventTypes,
  type WebhookEventType,
} from '../../webhooks/webhook.ts'

/** How far a follower may fall behind before it is cut off. */
const maxPending = { events: 1_000, characters: 1_048_576 }
const pageLimit = 1_000
const tickMs = secondMs
/** Every so many ticks, the log is read without a notification, and the watch is kept up. */
const ticksBetweenReads = 5

/** The events that a follower gets. */
export interface FollowedEvents {
  readonly types: readonly WebhookEventType[]
  /** All accounts where it is left out. */
  readonly accountId?: AccountId | undefined
}

export interface EventBatch {
  readonly events: readonly LoggedEvent[]
  /** How far the log was read: a follower that has all batches continues after it. */
  readonly readTo: EventId
}

export interface FollowerFeed {
  /** The last event before those that `next` returns. */
  readonly startsAfter: EventId
  /**
   * The events that were recorded since the last call; none once a second without any. Undefined
   * once the follower has ended: by `end`, by a failed read, or because it was too slow.
   */
  readonly next: () => Promise<EventBatch | undefined>
  readonly isOver: () => boolean
  readonly end: () => void
}

/** Measured once for all who follow. */
interface SizedEvent {
  readonly event: LoggedEvent
  readonly characters: number
}

interface Follower {
  readonly wantsBrokerEvents: boolean
  readonly give: (events: readonly SizedEvent[]) => void
  readonly tick: () => void
  readonly end: () => void
}

interface Tail {
  readonly owner: Owner
  readonly followers: Set<Follower>
  /** How far the log was read. */
  readTo: EventId
  /** Whether the log may have lost its last events, as after a failover, and `readTo` with them. */
  mayHaveLost: boolean
  isReading: boolean
  isReadWanted: boolean
}

export const createEventTails = ({
  eventLog,
  watch,
  pause,
}: Pick<Ports, 'eventLog' | 'watch' | 'pause'>) => {
  const tails = new Map<string, Tail>()
  let isTicking = false

  const read = async (tail: Tail) => {
    tail.isReadWanted = true
    if (tail.isReading) return
    tail.isReading = true
    while (tail.isReadWanted && tail.followers.size > 0) {
      tail.isReadWanted = false
      const page = await eventLog.page(tail.owner, {
        types: webhookEventTypes,
        after: tail.readTo,
        order: 'asc',
        limit: pageLimit,
      })()
      if (E.isLeft(page)) {
        for (const follower of tail.followers) follower.end()
        break
      }
      const { events, hasNext } = page.right
      // Where `readTo` was lost, new events with smaller ids are not in the page.
      if (tail.mayHaveLost || events.length > 0) {
        tail.mayHaveLost = false
        const isKept = await eventLog.isResumable(tail.owner, tail.readTo)()
        if (E.isLeft(isKept) || !isKept.right) {
          for (const follower of tail.followers) follower.end()
          break
        }
      }
      tail.readTo = events.at(-1)?.id ?? tail.readTo
      tail.isReadWanted ||= hasNext
      const sized = events.map((event) => ({
        event,
        characters: JSON.stringify(event.data).length,
      }))
      if (sized.length > 0) for (const follower of tail.followers) follower.give(sized)
    }
    tail.isReading = false
  }

  // A failure is made good by the next call, well before the watch would end.
  const keepWatch = () => {
    const owners = [...tails.values()]
      .filter(({ followers }) => [...followers].some(({ wantsBrokerEvents }) => wantsBrokerEvents))
      .map(({ owner }) => owner)
    if (owners.length > 0) void watch.watchFor(owners)()
  }

  const runWhileFollowed = async () => {
    isTicking = true
    const stop = eventLog.onRecorded((whose) => {
      for (const [key, tail] of tails)
        if (whose === 'anyone' || key === keyOf(whose)) {
          tail.mayHaveLost ||= whose === 'anyone'
          void read(tail)
        }
    })
    for (let count = 1; tails.size > 0; count++) {
      await pause(tickMs)()
      for (const tail of tails.values()) {
        for (const follower of tail.followers) follower.tick()
        if (count % ticksBetweenReads === 0) void read(tail)
      }
      if (count % ticksBetweenReads === 0) keepWatch()
    }
    stop()
    isTicking = false
  }

  const tailOf = (owner: Owner, readTo: EventId): Tail => {
    const known = tails.get(keyOf(owner))
    if (known !== undefined) return known
    const tail = {
      owner,
      followers: new Set<Follower>(),
      readTo,
      mayHaveLost: false,
      isReading: false,
      isReadWanted: false,
    }
    tails.set(keyOf(owner), tail)
    if (!isTicking) void runWhileFollowed()
    return tail
  }

  return {
    follow: (owner: Owner, { types, accountId }: FollowedEvents): AsyncResult<FollowerFeed> =>
      pipe(
        eventLog.bounds(owner),
        TE.map(({ newest }) => {
          const tail = tailOf(owner, newest)
          const startsAfter = later(newest, tail.readTo)
          let pending: LoggedEvent[] = []
          let characters = 0
          let isOver = false
          let wake: (() => void) | undefined
          const end = () => {
            if (isOver) return
            isOver = true
            tail.followers.delete(follower)
            if (tail.followers.size === 0) tails.delete(keyOf(owner))
            wake?.()
          }
          const follower: Follower = {
            wantsBrokerEvents: brokerEventTypes.some((type) => types.includes(type)),
            give: (events) => {
              // The shared reading may be behind `startsAfter`.
              for (const { event, characters: added } of events)
                if (
                  event.id > startsAfter &&
                  types.includes(event.type) &&
                  (accountId === undefined || event.accountId === accountId)
                ) {
                  pending.push(event)
                  characters += added
                }
              if (pending.length > maxPending.events || characters > maxPending.characters) end()
              else if (pending.length > 0) wake?.()
            },
            tick: () => wake?.(),
            end,
          }
          tail.followers.add(follower)
          if (follower.wantsBrokerEvents) void watch.watchFor([owner])()
          // Events may have been recorded since `newest` was read.
          void read(tail)
          return {
            startsAfter,
            next: async () => {
              if (pending.length === 0 && !isOver)
                await new Promise<void>((resolve) => {
                  wake = resolve
                })
              if (isOver) return undefined
              const events = pending
              pending = []
              characters = 0
              return { events, readTo: later(startsAfter, tail.readTo) }
            },
            isOver: () => isOver,
            end,
          }
        }),
      ),
  }
}

/** The log may have been read further, or less far, than where it ended for a new follower. */
const later = (one: EventId, other: EventId): EventId => (other > one ? other : one)

const keyOf = ({ tenantId, userId }: Owner): string => JSON.stringify([tenantId, userId])
