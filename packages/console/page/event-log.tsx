// The log of events, as it arrives.
import type { Account, LogEvent } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import {
  describeEvent,
  eventTitle,
  eventTypes,
  linksOf,
  missingScopes,
  type EventType,
} from './events.ts'
import { AccountFilter } from './filters.tsx'
import { plural } from './format.ts'
import { setQuery } from './location.ts'
import { heads, Notice, Scroll, Section, Time } from './parts.tsx'
import { useAccounts } from './read.ts'
import { sentenceOf, whyHidden, type Session } from './session.ts'

const pageSize = 50
/** What arrived is dropped at the old end beyond this. */
const mostEvents = 1_000
/** Several events often come together. */
const settleMs = 400

interface EventFilter {
  readonly accountId?: string
  /** All that the key may read when left out. */
  readonly types?: readonly EventType[]
}

interface FollowedLog {
  /** Newest first; undefined until they were read. */
  readonly events: readonly LogEvent[] | undefined
  readonly isFollowing: boolean
  readonly failure: string | undefined
  readonly hasOlder: boolean
  readonly older: () => Promise<void>
}

/**
 * The latest events, and each that comes.
 * @param filter undefined reads nothing
 * @param onEvent called soon after one or several came
 */
export const useEventLog = (
  { client }: Session,
  filter: EventFilter | undefined,
  onEvent?: () => void,
): FollowedLog => {
  const [events, setEvents] = useState<readonly LogEvent[]>()
  const [isFollowing, setIsFollowing] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [hasOlder, setHasOlder] = useState(false)
  const key = filter && JSON.stringify(filter)
  const query = {
    ...(filter?.accountId !== undefined && { accountId: filter.accountId }),
    ...(filter?.types !== undefined && { types: filter.types.join() }),
  }
  useEffect(() => {
    if (filter === undefined) return undefined
    const controller = new AbortController()
    const { signal } = controller
    let timer: ReturnType<typeof setTimeout> | undefined
    setEvents(undefined)
    setFailure(undefined)
    const run = async (): Promise<void> => {
      const { data, meta } = await client.listEvents(
        { ...query, order: 'desc', limit: pageSize },
        { signal },
      )
      setEvents(data)
      setHasOlder(meta.pagination.has_next)
      const onConnection = (isOpen: boolean): void => {
        if (!signal.aborted) setIsFollowing(isOpen)
      }
      const after = data[0]?.id
      for await (const event of client.events({ ...filter, after, signal, onConnection })) {
        setEvents((last = []) => [event, ...last].slice(0, Math.max(mostEvents, last.length)))
        timer ??= setTimeout(() => {
          timer = undefined
          onEvent?.()
        }, settleMs)
      }
    }
    run().catch((error: unknown) => {
      if (signal.aborted) return
      setFailure(sentenceOf(error))
      setIsFollowing(false)
    })
    return () => {
      controller.abort()
      clearTimeout(timer)
      setIsFollowing(false)
    }
  }, [client, key, onEvent])
  const older = async (): Promise<void> => {
    const before = events?.at(-1)?.id
    if (before === undefined) return
    try {
      const { data, meta } = await client.listEvents({ ...query, before, limit: pageSize })
      setEvents((last = []) => [...last, ...data])
      setHasOlder(meta.pagination.has_next)
    } catch (error) {
      setFailure(sentenceOf(error))
    }
  }
  return { events, isFollowing, failure, hasOlder, older }
}

export const Live = ({ log: { isFollowing } }: { log: FollowedLog }) =>
  isFollowing ? (
    <span class="status connected">live</span>
  ) : (
    <span class="status off connecting">not connected</span>
  )

/** The events that were read, or why they were not. */
export const Followed = ({
  log: { events, failure },
  children,
}: {
  log: FollowedLog
  children: (events: readonly LogEvent[]) => ComponentChildren
}) => (
  <>
    {failure !== undefined && (
      <Notice kind="warning">Events are not followed: {failure} Reload to try again.</Notice>
    )}
    {events === undefined
      ? failure === undefined && <p class="reading">Reading…</p>
      : children(events)}
  </>
)

/** The types of the address; those that the key may not read are left out. */
const typesOf = (query: URLSearchParams, readable: readonly EventType[]): readonly EventType[] => {
  const wanted = (query.get('types') ?? '').split(',')
  return readable.filter((type) => wanted.includes(type))
}

export const EventLog = ({ session, query }: { session: Session; query: URLSearchParams }) => {
  const { me } = session
  const hidden = whyHidden(me, 'events')
  const accounts = useAccounts(session)
  const readable = eventTypes.filter((type) => missingScopes(me, type) === undefined)
  const types = typesOf(query, readable)
  const accountId = query.get('account') ?? ''
  const log = useEventLog(
    session,
    hidden === undefined
      ? { ...(accountId !== '' && { accountId }), ...(types.length > 0 && { types }) }
      : undefined,
  )
  // The newest event that was shown when the reader paused; ids sort as the events do.
  const [pausedAt, setPausedAt] = useState<string>()
  const newer =
    pausedAt === undefined ? 0 : (log.events ?? []).filter(({ id }) => id > pausedAt).length
  return (
    <>
      <h1>Events</h1>
      {hidden === undefined ? (
        <>
          <Filters {...{ session, query, types, accounts: accounts.data ?? [] }} />
          <Section
            title="Log"
            aside={
              <div class="buttons">
                {pausedAt === undefined ? (
                  <Live log={log} />
                ) : (
                  <span role="status">
                    {newer === 0 ? 'paused' : `paused, ${plural(newer, 'newer event')}`}
                  </span>
                )}
                <button
                  type="button"
                  class="small"
                  aria-pressed={pausedAt !== undefined}
                  disabled={log.events === undefined}
                  onClick={() =>
                    setPausedAt(pausedAt === undefined ? (log.events?.[0]?.id ?? '') : undefined)
                  }
                >
                  {pausedAt === undefined ? 'Pause' : 'Resume'}
                </button>
              </div>
            }
          >
            <Followed log={log}>
              {(events) => (
                <>
                  <EventTable events={events.slice(newer)} accounts={accounts.data ?? []} />
                  {log.hasOlder && (
                    <button type="button" onClick={() => void log.older()}>
                      Show {pageSize} older
                    </button>
                  )}
                </>
              )}
            </Followed>
          </Section>
        </>
      ) : (
        <Notice>{hidden}</Notice>
      )}
    </>
  )
}

const Filters = ({
  session: { me },
  query,
  types,
  accounts,
}: {
  session: Session
  query: URLSearchParams
  types: readonly EventType[]
  accounts: readonly Account[]
}) => {
  const hidden = Map.groupBy(eventTypes, (type) => missingScopes(me, type))
  const readable = hidden.get(undefined) ?? []
  hidden.delete(undefined)
  const set = (type: EventType, isChosen: boolean): void =>
    setQuery({
      types: readable.filter((one) => (one === type ? isChosen : types.includes(one))).join(),
    })
  return (
    <form class="event-filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <AccountFilter query={query} accounts={accounts} none="All" />
      <fieldset>
        <legend>Only these types</legend>
        <div class="choices">
          {readable.map((type) => (
            <label key={type} class="choice">
              <input
                type="checkbox"
                checked={types.includes(type)}
                onChange={({ currentTarget: { checked } }) => set(type, checked)}
              />
              {eventTitle(type)}
            </label>
          ))}
          {types.length > 0 && (
            <button type="button" onClick={() => setQuery({ types: '' })}>
              All types
            </button>
          )}
        </div>
      </fieldset>
      {[...hidden].map(([scopes, missing]) => (
        <Notice key={scopes}>
          This key may not read {missing.map((type) => `“${eventTitle(type)}”`).join(', ')}: it
          needs the scope {scopes}.
        </Notice>
      ))}
    </form>
  )
}

const EventTable = ({
  events,
  accounts,
}: {
  events: readonly LogEvent[]
  accounts: readonly Account[]
}) => {
  if (events.length === 0)
    return <p class="quiet">Nothing was recorded yet. What happens appears here.</p>
  const names = new Map(accounts.map(({ id, name }) => [id, name]))
  return (
    <>
      <p class="quiet">{plural(events.length, 'event')} shown, newest first.</p>
      <Scroll label="Log">
        <table class="log">
          <thead>
            <tr>{heads('Recorded', 'Event', 'What happened', 'Account', 'Look at')}</tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <tr key={event.id}>
                <td>
                  <Time iso={event.timestamp} />
                </td>
                <th scope="row">{eventTitle(event.event)}</th>
                <td class="words">{describeEvent(event)}</td>
                <td>{names.get(event.accountId) ?? event.accountId}</td>
                <td class="links">
                  {linksOf(event).map(([name, url]) => (
                    <a key={url} href={url}>
                      {name}
                    </a>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
}
