// Reads each owner's log once and shares the new events among all who follow it. The log is read
// when events were recorded, and every few seconds in case a notification was lost. While a follower
// wants events of the broker, the accounts of its owner are watched, so that there are any.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult } from '../../errors.ts'
import type { EventId, LoggedEvent } from '../../events/event-log.ts'
import type { EventsQuery } from '../../ports/events.ts'
import type { Ports } from '../../ports/index.ts'
import { ownerKey, type Owner } from '../../primitives/ids.ts'
import { secondMs } from '../../primitives/instant.ts'
import { brokerEventTypes, webhookEventTypes } from '../../webhooks/webhook.ts'
import type { LiveStream } from './stream-slots.ts'

/** A follower that has not taken the batch before is cut off with more than this waiting. */
const maxPending = { events: 1_000, characters: 1_048_576 }
/** How many events a read of the log returns at most. */
export const pageLimit = 1_000
const tickMs = secondMs
/** Every so many ticks, the log is read without a notification, and the watch is kept up. */
const ticksBetweenReads = 5

interface EventBatch {
  readonly events: readonly LoggedEvent[]
  /** How far the log was read: a follower that has all batches continues after it. */
  readonly readTo: EventId
}

/**
 * Ends on `close`, on a failed read, when the reader falls too far behind, or when the log lost
 * events that were read. What the reader has not taken is then dropped.
 */
export interface EventStream extends LiveStream<EventBatch> {
  /** The batches hold only events after this one. */
  readonly startsAfter: EventId
  readonly isOver: () => boolean
}

/** An event with its size, which is measured once for all who follow. */
interface SizedEvent {
  readonly event: LoggedEvent
  readonly characters: number
}

interface Follower {
  readonly wantsBrokerEvents: boolean
  readonly deliver: (events: readonly SizedEvent[]) => void
  readonly wake: () => void
  readonly end: () => void
}

interface FollowedLog {
  readonly owner: Owner
  readonly followers: Set<Follower>
  /** How far the log was read. */
  readTo: EventId
  /** Whether the log may have lost its last events, as after a failover, and `readTo` with them. */
  mayHaveLostEvents: boolean
  isReading: boolean
  isReadWanted: boolean
}

/** Followers of the logs of owners. */
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
      // Where the event `readTo` was lost, new ones may have smaller ids, which no page after it has.
      if (log.mayHaveLostEvents || events.length > 0) {
        log.mayHaveLostEvents = false
        const isResumable = await eventLog.isResumable(log.owner, log.readTo)()
        if (E.isLeft(isResumable) || !isResumable.right) {
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
      if (sized.length > 0) for (const follower of log.followers) follower.deliver(sized)
    }
    log.isReading = false
  }

  // Where it fails, the next call renews the watch, well before it would end.
  const renewWatches = () => {
    const owners = [...logs.values()]
      .filter(({ followers }) => [...followers].some(({ wantsBrokerEvents }) => wantsBrokerEvents))
      .map(({ owner }) => owner)
    if (owners.length > 0) void watch.keepWatching(owners)()
  }

  const runWhileFollowed = async () => {
    isTicking = true
    const stopListening = eventLog.onRecorded((whose) => {
      if (whose !== 'anyone') {
        const log = logs.get(ownerKey(whose))
        if (log !== undefined) void read(log)
        return
      }
      // Notifications may have been missed while the database could not be reached, as in a failover,
      // which may lose commits.
      for (const log of logs.values()) {
        log.mayHaveLostEvents = true
        void read(log)
      }
    })
    for (let count = 1; logs.size > 0; count++) {
      await pause(tickMs)()
      for (const log of logs.values()) {
        for (const follower of log.followers) follower.wake()
        if (count % ticksBetweenReads === 0) void read(log)
      }
      if (count % ticksBetweenReads === 0) renewWatches()
    }
    stopListening()
    isTicking = false
  }

  const logOf = (owner: Owner, readTo: EventId): FollowedLog => {
    const known = logs.get(ownerKey(owner))
    if (known !== undefined) return known
    const log = {
      owner,
      followers: new Set<Follower>(),
      readTo,
      mayHaveLostEvents: false,
      isReading: false,
      isReadWanted: false,
    }
    logs.set(ownerKey(owner), log)
    if (!isTicking) void runWhileFollowed()
    return log
  }

  return {
    follow: (
      owner: Owner,
      { types, accountId }: Pick<EventsQuery, 'types' | 'accountId'>,
    ): AsyncResult<EventStream> =>
      pipe(
        eventLog.bounds(owner),
        TE.map(({ newest }) => {
          const log = logOf(owner, newest)
          // The log may have been read further than `newest`, or less far.
          const startsAfter = laterId(newest, log.readTo)
          let pending: LoggedEvent[] = []
          let characters = 0
          let isOver = false
          let wake: (() => void) | undefined
          const end = () => {
            if (isOver) return
            isOver = true
            log.followers.delete(follower)
            if (log.followers.size === 0) logs.delete(ownerKey(owner))
            wake?.()
          }
          const follower: Follower = {
            wantsBrokerEvents: brokerEventTypes.some((type) => types.includes(type)),
            deliver: (events) => {
              const isBehind = pending.length > 0
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
              const isFull =
                pending.length > maxPending.events || characters > maxPending.characters
              if (isBehind && isFull) end()
              else if (pending.length > 0) wake?.()
            },
            wake: () => wake?.(),
            end,
          }
          log.followers.add(follower)
          if (follower.wantsBrokerEvents) void watch.keepWatching([owner])()
          // Events may have been recorded since `newest` was read.
          void read(log)
          const batches = async function* (): EventStream['batches'] {
            for (;;) {
              if (pending.length === 0 && !isOver)
                await new Promise<void>((resolve) => {
                  wake = resolve
                })
              if (isOver) return
              const events = pending
              pending = []
              characters = 0
              yield { events, readTo: laterId(startsAfter, log.readTo) }
            }
          }
          return { startsAfter, batches: batches(), isOver: () => isOver, close: end }
        }),
      ),
  }
}

const laterId = (one: EventId, other: EventId): EventId => (other > one ? other : one)
