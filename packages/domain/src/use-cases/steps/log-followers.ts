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

interface FollowedLog {
  readonly owner: Owner
  readonly followers: Set<Follower>
  /** How far the log was read. */
  readTo: EventId
  /** Whether the log may have lost its last events, as after a failover, and `readTo` with them. */
  mayHaveLost: boolean
  isReading: boolean
  isReadWanted: boolean
}

export const createLogFollowers = ({
  eventLog,
  watch,
  pause,
}: Pick<Ports, 'eventLog' | 'watch' | 'pause'>) => {
  const logs = new Map<string, FollowedLog>()
  let isTicking = false

  const read = async (log: FollowedLog) => {
    log.isReadWanted = true
    if (log.isReading) return
    log.isReading = true
    while (log.isReadWanted && log.followers.size > 0) {
      log.isReadWanted = false
      const page = await eventLog.page(log.owner, {
        types: webhookEventTypes,
        after: log.readTo,
        order: 'asc',
        limit: pageLimit,
      })()
      if (E.isLeft(page)) {
        for (const follower of log.followers) follower.end()
        break
      }
      const { events, hasNext } = page.right
      // Where `readTo` was lost, new events with smaller ids are not in the page.
      if (log.mayHaveLost || events.length > 0) {
        log.mayHaveLost = false
        const isKept = await eventLog.isResumable(log.owner, log.readTo)()
        if (E.isLeft(isKept) || !isKept.right) {
          for (const follower of log.followers) follower.end()
          break
        }
      }
      log.readTo = events.at(-1)?.id ?? log.readTo
      log.isReadWanted ||= hasNext
      const sized = events.map((event) => ({
        event,
        characters: JSON.stringify(event.data).length,
      }))
      if (sized.length > 0) for (const follower of log.followers) follower.give(sized)
    }
    log.isReading = false
  }

  // A failure is made good by the next call, well before the watch would end.
  const keepWatch = () => {
    const owners = [...logs.values()]
      .filter(({ followers }) => [...followers].some(({ wantsBrokerEvents }) => wantsBrokerEvents))
      .map(({ owner }) => owner)
    if (owners.length > 0) void watch.keepWatching(owners)()
  }

  const runWhileFollowed = async () => {
    isTicking = true
    const stop = eventLog.onRecorded((whose) => {
      for (const [key, log] of logs)
        if (whose === 'anyone' || key === keyOf(whose)) {
          // Notices are missed when a connection is lost, as in a failover, which may lose commits.
          log.mayHaveLost ||= whose === 'anyone'
          void read(log)
        }
    })
    for (let count = 1; logs.size > 0; count++) {
      await pause(tickMs)()
      for (const log of logs.values()) {
        for (const follower of log.followers) follower.tick()
        if (count % ticksBetweenReads === 0) void read(log)
      }
      if (count % ticksBetweenReads === 0) keepWatch()
    }
    stop()
    isTicking = false
  }

  const logOf = (owner: Owner, readTo: EventId): FollowedLog => {
    const known = logs.get(keyOf(owner))
    if (known !== undefined) return known
    const log = {
      owner,
      followers: new Set<Follower>(),
      readTo,
      mayHaveLost: false,
      isReading: false,
      isReadWanted: false,
    }
    logs.set(keyOf(owner), log)
    if (!isTicking) void runWhileFollowed()
    return log
  }

  return {
    follow: (owner: Owner, { types, accountId }: FollowedEvents): AsyncResult<FollowerFeed> =>
      pipe(
        eventLog.bounds(owner),
        TE.map(({ newest }) => {
          const log = logOf(owner, newest)
          const startsAfter = later(newest, log.readTo)
          let pending: LoggedEvent[] = []
          let characters = 0
          let isOver = false
          let wake: (() => void) | undefined
          const end = () => {
            if (isOver) return
            isOver = true
            log.followers.delete(follower)
            if (log.followers.size === 0) logs.delete(keyOf(owner))
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
          log.followers.add(follower)
          if (follower.wantsBrokerEvents) void watch.keepWatching([owner])()
          // Events may have been recorded since `newest` was read.
          void read(log)
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
              return { events, readTo: later(startsAfter, log.readTo) }
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
