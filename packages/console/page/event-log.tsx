// The log of events, as it arrives.
import type { Account, LogEvent } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ActionMessage, useAction, type Action } from './actions.tsx'
import {
  describeEvent,
  eventTitle,
  eventTypes,
  linksOf,
  missingScopesOf,
  type EventType,
} from './events.ts'
import { AccountFilter, TypeChoices } from './filters.tsx'
import { plural } from './format.ts'
import { setQuery, useQuery } from './location.ts'
import { Notice, Section, Shown, Table, Time } from './parts.tsx'
import { spaced } from './one-at-a-time.ts'
import { useAccounts, useStream } from './read.ts'
import { useSession } from './session.ts'
import { accountName, sentenceOf } from './words.ts'

const pageSize = 50
/** With more events than this, the oldest are dropped from the page. */
const maxEvents = 1_000
interface EventFilter {
  readonly accountId?: string
  /** All that the key may read when left out. */
  readonly types?: readonly EventType[]
}

interface FollowedLog {
  /** Why the key may not read it. */
  readonly hidden: string | undefined
  readonly filter: EventFilter
  /** Newest first; undefined until they were read. */
  readonly events: readonly LogEvent[] | undefined
  readonly isFollowing: boolean
  readonly failure: string | undefined
  readonly hasOlder: boolean
  readonly readOlder: () => void
  readonly reading: Action
}

/**
 * The latest events, and each that comes.
 * @param onEvent called soon after one or several came
 */
export const useEventLog = (filter: EventFilter, onEvent?: () => void): FollowedLog => {
  const { client, whyHidden } = useSession()
  const [events, setEvents] = useState<readonly LogEvent[]>()
  const [isFollowing, setIsFollowing] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [hasOlder, setHasOlder] = useState(false)
  const reading = useAction()
  const key = JSON.stringify(filter)
  const { types, ...ofAccount } = filter
  const query = { ...ofAccount, ...(types !== undefined && { types: types.join() }) }
  /** What was read last, from where it is followed again. */
  const latest = useRef<{ readonly key: string; newest: string | undefined }>(undefined)
  useStream('events', key, async (client, signal) => {
    const changed = spaced(() => onEvent?.())
    setFailure(undefined)
    try {
      if (latest.current?.key !== key || latest.current.newest === undefined) {
        setEvents(undefined)
        const { data, meta } = await client.listEvents(
          { ...query, order: 'desc', limit: pageSize },
          { signal },
        )
        setEvents(data)
        setHasOlder(meta.pagination.has_next)
        latest.current = { key, newest: data[0]?.id }
      }
      const read = latest.current
      const onConnection = (isOpen: boolean): void => {
        if (!signal.aborted) setIsFollowing(isOpen)
      }
      for await (const event of client.events({
        ...filter,
        after: read.newest,
        signal,
        onConnection,
      })) {
        read.newest = event.id
        setEvents((last = []) => [event, ...last].slice(0, Math.max(maxEvents, last.length)))
        changed()
      }
    } catch (error) {
      if (!signal.aborted) setFailure(sentenceOf(error))
    }
    setIsFollowing(false)
  })
  const readOlder = (): void =>
    void reading.run(async () => {
      const before = events?.at(-1)?.id ?? ''
      const { data, meta } = await client.listEvents({ ...query, before, limit: pageSize })
      // The filter may have changed meanwhile.
      if (latest.current?.key !== key) return undefined
      setEvents((last = []) => [...last, ...data])
      setHasOlder(meta.pagination.has_next)
      return undefined
    })
  const hidden = whyHidden('events')
  return { hidden, filter, events, isFollowing, failure, hasOlder, readOlder, reading }
}

export const ConnectionStatus = ({ log: { isFollowing } }: { log: FollowedLog }) =>
  isFollowing ? (
    <span class="status connected">live</span>
  ) : (
    <span class="status off connecting">not connected</span>
  )

/** The events that were read, or why there are none. */
export const EventsOrReason = ({
  log,
  children,
}: {
  log: FollowedLog
  children: (events: readonly LogEvent[]) => ComponentChildren
}) => {
  const { hidden, events, failure } = log
  const why = failure && `Events are not followed: ${failure} Reload to try again.`
  return (
    <Shown read={{ hidden, failure: why, data: events }}>
      {(shown) => (shown.length === 0 ? <p class="quiet">{emptyWords(log)}</p> : children(shown))}
    </Shown>
  )
}

/** While a page that shows one of these is open, the service watches the accounts at the broker. */
const watchedFor: readonly EventType[] = [
  'position.opened',
  'position.closed',
  'trade.closed',
  'account.balance_changed',
]

/** What an empty log means: nothing has happened, or nobody watches. */
const emptyWords = ({ filter: { accountId, types }, isFollowing }: FollowedLog): string => {
  const isFiltered = accountId !== undefined || types !== undefined
  const found = isFiltered
    ? 'No event that matches the filters was recorded.'
    : 'Nothing was recorded in the time for which events are kept.'
  if (!isFollowing)
    return `${found} This page is not connected to the log, so that what happens now does not appear.`
  return types === undefined || types.some((type) => watchedFor.includes(type))
    ? `${found} While this page is open, accounts of MetaTrader 4 and 5 are watched: what happens from now on appears here.`
    : `${found} What happens through this service appears here. What the broker does by itself is not watched for these types alone.`
}

/** The types of the address; those that the key may not read are left out. */
const typesOf = (query: URLSearchParams, readable: readonly EventType[]): readonly EventType[] => {
  const wanted = (query.get('types') ?? '').split(',')
  return readable.filter((type) => wanted.includes(type))
}

export const EventLog = () => {
  const query = useQuery()
  const { me } = useSession()
  const accounts = useAccounts()
  const readable = eventTypes.filter((type) => missingScopesOf(me, type) === undefined)
  const types = typesOf(query, readable)
  const accountId = query.get('account') ?? ''
  const log = useEventLog({
    ...(accountId !== '' && { accountId }),
    ...(types.length > 0 && { types }),
  })
  // The newest event that was shown when the reader paused; ids sort as the events do.
  const [pausedAt, setPausedAt] = useState<string>()
  const newer =
    pausedAt === undefined ? 0 : (log.events ?? []).filter(({ id }) => id > pausedAt).length
  return (
    <>
      <h1>Events</h1>
      {log.hidden === undefined ? (
        <>
          <Filters {...{ types, accounts: accounts.data ?? [] }} />
          <Section
            title="Log"
            aside={
              <div class="buttons">
                {pausedAt === undefined ? (
                  <ConnectionStatus log={log} />
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
            <EventsOrReason log={log}>
              {(events) => (
                <>
                  <EventTable events={events.slice(newer)} accounts={accounts.data ?? []} />
                  {log.hasOlder && (
                    <button type="button" disabled={log.reading.isRunning} onClick={log.readOlder}>
                      Show {pageSize} older
                    </button>
                  )}
                  <ActionMessage action={log.reading} />
                </>
              )}
            </EventsOrReason>
          </Section>
        </>
      ) : (
        <Notice>{log.hidden}</Notice>
      )}
    </>
  )
}

const chooseTypes = (types: readonly EventType[]): void => setQuery({ types: types.join() })

const Filters = ({
  types,
  accounts,
}: {
  types: readonly EventType[]
  accounts: readonly Account[]
}) => {
  const { me } = useSession()
  const hidden = Map.groupBy(eventTypes, (type) => missingScopesOf(me, type))
  const readable = hidden.get(undefined) ?? []
  hidden.delete(undefined)
  return (
    <form class="event-filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <AccountFilter accounts={accounts} none="All" />
      <TypeChoices
        legend="Only these types"
        offered={readable}
        chosen={types}
        onChange={chooseTypes}
      >
        {types.length > 0 && (
          <button type="button" onClick={() => chooseTypes([])}>
            All types
          </button>
        )}
      </TypeChoices>
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
}) => (
  <>
    <p class="quiet">{plural(events.length, 'event')} shown, newest first.</p>
    <Table
      label="Log"
      kind="log"
      rows={events}
      keyOf={({ id }) => id}
      columns={[
        ['Recorded', ({ timestamp }) => <Time iso={timestamp} />],
        ['Event', ({ event }) => eventTitle(event), 'row'],
        ['What happened', describeEvent, 'words'],
        ['Account', ({ accountId }) => accountName(accounts, accountId)],
        [
          'Look at',
          (event) =>
            linksOf(event).map(([name, url]) => (
              <a key={url} href={url}>
                {name}
              </a>
            )),
        ],
      ]}
    />
  </>
)
