// The log of events in memory.
import { startOfLog, type EventId, type LoggedEvent } from '../../src/events/index.ts'
import type { EventLog } from '../../src/ports/index.ts'
import type { Owner } from '../../src/primitives/index.ts'
import * as E from 'fp-ts/lib/Either.js'
import { refuse } from '../../src/errors.ts'
import * as TE from 'fp-ts/lib/TaskEither.js'

/** Of the nth event that the log recorded. */
export const eventIdOf = (n: number): EventId => `evt_${String(n).padStart(20, '0')}` as EventId

export interface FakeEventLog extends EventLog {
  /** Records events, and notifies unless `isSilent`. */
  readonly record: (
    owner: Owner,
    events: readonly (Pick<LoggedEvent, 'type' | 'accountId'> &
      Partial<Pick<LoggedEvent, 'data'>>)[],
    isSilent?: boolean,
  ) => readonly LoggedEvent[]
  /** Removes an owner's events up to this one. */
  readonly clear: (owner: Owner, upTo: EventId) => void
  /** Takes the last events away, as a failover does, and notifies unless it is silent. */
  readonly lose: (owner: Owner, count: number, isSilent?: boolean) => void
  /** Whether the log can be read. */
  isReadable: boolean
  /** How many pages were read. */
  reads: number
}

export const createFakeEventLog = (): FakeEventLog => {
  const logs = new Map<string, LoggedEvent[]>()
  const receivers = new Set<(whose: Owner | 'anyone') => void>()
  let number = 0
  const logOf = ({ tenantId, userId }: Owner): LoggedEvent[] => {
    const key = `${tenantId} ${userId}`
    const log = logs.get(key) ?? []
    logs.set(key, log)
    return log
  }
  const lastCleared = new Map<LoggedEvent[], LoggedEvent>()
  const startOf = (owner: Owner): EventId => lastCleared.get(logOf(owner))?.id ?? startOfLog
  const read = <A>(value: () => A) =>
    TE.fromIOEither(() =>
      log.isReadable
        ? E.right(value())
        : E.left(refuse('ServiceUnavailable', { reason: 'the log cannot be read' })),
    )
  const log: FakeEventLog = {
    isReadable: true,
    reads: 0,
    record: (owner, events, isSilent = false) => {
      const added = events.map((event): LoggedEvent => ({
        id: eventIdOf(++number),
        recordedAt: number,
        data: { number },
        ...event,
      }))
      logOf(owner).push(...added)
      if (!isSilent) for (const receive of receivers) receive(owner)
      return added
    },
    clear: (owner, upTo) => {
      const kept = logOf(owner).findIndex(({ id }) => id > upTo)
      const cleared = logOf(owner).splice(0, kept < 0 ? Infinity : kept)
      const last = cleared.at(-1)
      if (last) lastCleared.set(logOf(owner), last)
    },
    lose: (owner, count, isSilent = false) => {
      logOf(owner).splice(logOf(owner).length - count)
      if (!isSilent) for (const receive of receivers) receive('anyone')
    },
    page: (owner, { types, accountId, after, before, order, limit }) =>
      read(() => {
        log.reads++
        const found = logOf(owner).filter(
          (event) =>
            types.includes(event.type) &&
            (accountId === undefined || event.accountId === accountId) &&
            (after === undefined || event.id > after) &&
            (before === undefined || event.id < before),
        )
        if (order === 'desc') found.reverse()
        return { events: found.slice(0, limit), hasNext: found.length > limit }
      }),
    isResumable: (owner, after) =>
      read(() =>
        typeof after === 'number'
          ? after >= (lastCleared.get(logOf(owner))?.recordedAt ?? -Infinity)
          : after === startOf(owner) || logOf(owner).some(({ id }) => id === after),
      ),
    bounds: (owner) =>
      read(() => {
        const [kept, clearedTo] = [logOf(owner), startOf(owner)]
        return { clearedTo, oldest: kept[0]?.id ?? null, newest: kept.at(-1)?.id ?? clearedTo }
      }),
    onRecorded: (receive) => {
      receivers.add(receive)
      return () => receivers.delete(receive)
    },
  }
  return log
}
