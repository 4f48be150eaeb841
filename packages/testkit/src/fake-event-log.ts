// The log of events in memory.
import { eventNumber, formatEventId, type LoggedEvent } from '@tradeport/domain/events'
import type { EventLog } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { refuse } from '@tradeport/domain/errors'
import * as TE from 'fp-ts/lib/TaskEither.js'

export interface FakeEventLog extends EventLog {
  /** Records events, and notifies unless `isSilent`. */
  readonly record: (
    owner: Owner,
    events: readonly Pick<LoggedEvent, 'type' | 'accountId'>[],
    isSilent?: boolean,
  ) => readonly LoggedEvent[]
  /** Removes an owner's events up to this number. */
  readonly clear: (owner: Owner, upTo: bigint) => void
  /** Whether the log can be read. */
  isReadable: boolean
  /** How many pages were read. */
  reads: number
}

export const createFakeEventLog = (): FakeEventLog => {
  const logs = new Map<string, LoggedEvent[]>()
  const receivers = new Set<(whose: Owner) => void>()
  let number = 0n
  const logOf = ({ tenantId, userId }: Owner): LoggedEvent[] => {
    const key = `${tenantId} ${userId}`
    const log = logs.get(key) ?? []
    logs.set(key, log)
    return log
  }
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
        ...event,
        id: formatEventId(++number),
        recordedAt: Number(number),
        data: { number: Number(number) },
      }))
      logOf(owner).push(...added)
      if (!isSilent) for (const receive of receivers) receive(owner)
      return added
    },
    clear: (owner, upTo) => {
      const kept = logOf(owner).filter(({ id }) => eventNumber(id) > upTo)
      logOf(owner).splice(0, Infinity, ...kept)
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
    has: (owner, id) => read(() => logOf(owner).some((event) => event.id === id)),
    end: (owner, which) =>
      read(() => O.fromNullable(logOf(owner).at(which === 'oldest' ? 0 : -1)?.id)),
    onRecorded: (receive) => {
      receivers.add(receive)
      return () => receivers.delete(receive)
    },
  }
  return log
}
