// The log of events, as it arrives.
import { isTradeportError, type Client, type FollowOptions, type LogEvent } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ActionMessage, useAction } from './actions.tsx'
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
import { Notice, Section, ReadResult, Table, Time } from './parts.tsx'
import { throttled } from './one-at-a-time.ts'
import { useAccounts, useStream } from './read.ts'
import { useSession } from './session.ts'
import { accountName, sentenceOf } from './words.ts'

const pageSize = 50
/** Events that arrive make the list no longer than this: the oldest are dropped. */
const maxEvents = 1_000

interface Shown {
  /** Newest first. */
  readonly events: readonly LogEvent[]
  /** Whether older ones can be read, also again where they were dropped. */
  readonly hasOlder: boolean
  /** How many came while the user paused and the page was full; they are not among `events`. */
  readonly missed: number
}

const nothing: Shown = { events: [], hasOlder: false, missed: 0 }

export type FollowedLog = ReturnType<typeof useEventLog>

/** An id before that of every event that is kept. */
const startOfLog = async (client: Client, signal: AbortSignal): Promise<string> => {
  const after = `evt_${'0'.repeat(20)}`
  try {
    await client.listEvents({ after, limit: 1 }, { signal })
    return after
  } catch (error) {
    // Earlier events were cleared away.
    if (isTradeportError(error) && error.code === 'EVENT_GONE') return error.details.resumeAfter
    throw error
  }
}

/**
 * The latest events, and each that comes.
 * @param isPaused whether nothing that is shown may be dropped when an event arrives
 */
export const useEventLog = (
  filter: Pick<FollowOptions, 'accountId' | 'types'>,
  isPaused = false,
) => {
  const { client, whyHidden } = useSession()
  /** Undefined until it was read. */
  const [log, setLog] = useState<Shown>()
  /** Grows when events arrived that may have changed other parts of the page. */
  const [changes, setChanges] = useState(0)
  const [isFollowing, setIsFollowing] = useState(false)
  const [failure, setFailure] = useState<string>()
  const readingOlder = useAction('older events')
  const paused = useRef(isPaused)
  paused.current = isPaused
  const [timesReadAnew, setTimesReadAnew] = useState(0)
  const key = JSON.stringify([filter, timesReadAnew])
  const { types, ...ofAccount } = filter
  const query = { ...ofAccount, ...(types && { types: types.join() }) }
  /** Replaced whenever the log is read anew, so that late replies to an older read are told apart. */
  const following = useRef<{ readonly key: string; resumeAfter?: string | undefined }>(undefined)
  useStream('events', key, async (client, signal) => {
    const changed = throttled(() => setChanges((last) => last + 1))
    const onConnection = (isOpen: boolean): void => {
      if (!signal.aborted) setIsFollowing(isOpen)
    }
    let read = following.current
    if (read?.key !== key) {
      following.current = read = { key }
      setLog(undefined)
      setFailure(undefined)
    }
    try {
      if (!read.resumeAfter) {
        // Read before the list: where none matches the filter, the stream begins after this one,
        // and misses nothing.
        const [newestOfAll] = (await client.listEvents({ order: 'desc', limit: 1 }, { signal }))
          .data
        const { data, meta } = await client.listEvents(
          { ...query, order: 'desc', limit: pageSize },
          { signal },
        )
        setLog({ events: data, hasOlder: meta.pagination.has_next, missed: 0 })
        setFailure(undefined)
        read.resumeAfter = (data[0] ?? newestOfAll)?.id ?? (await startOfLog(client, signal))
      }
      const after = read.resumeAfter
      for await (const event of client.events({ ...filter, after, signal, onConnection })) {
        read.resumeAfter = event.id
        setLog((last = nothing) => {
          if (paused.current && last.events.length >= maxEvents)
            return { ...last, missed: last.missed + 1 }
          const kept = last.events.slice(0, Math.max(maxEvents, last.events.length) - 1)
          const isDropped = kept.length < last.events.length
          return { ...last, events: [event, ...kept], hasOlder: last.hasOlder || isDropped }
        })
        changed()
      }
    } catch (error) {
      if (!signal.aborted) {
        // Such as an event that is kept no more: the next try reads the log anew.
        following.current = { key }
        setFailure(sentenceOf(error))
      }
    }
    setIsFollowing(false)
  })
  const readOlder = (): void =>
    void readingOlder.run(async () => {
      const { current } = following
      const { events: shown } = log ?? nothing
      const before = shown.at(-1)?.id ?? ''
      const { data, meta } = await client.listEvents({ ...query, before, limit: pageSize })
      // The filter may have changed meanwhile.
      if (following.current !== current) return undefined
      // An event that came meanwhile may have dropped the last of those that were shown.
      setLog(({ events, missed } = nothing) => ({
        missed,
        events: [
          ...events,
          ...[...shown, ...data].filter(({ id }) => id < (events.at(-1)?.id ?? '')),
        ],
        hasOlder: meta.pagination.has_next,
      }))
      return undefined
    })
  return {
    /** Why the key may not read it. */
    whyHidden: whyHidden('events'),
    filter,
    ...log,
    changes,
    isFollowing,
    failure,
    readOlder,
    readAnew: () => setTimesReadAnew((last) => last + 1),
    readingOlder,
  }
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
  const { whyHidden, events, failure } = log
  const why = failure && `Events are not followed: ${failure} It is tried again every few seconds.`
  return (
    <ReadResult read={{ whyHidden, failure: why, data: events }}>
      {(shown) => (shown.length === 0 ? <p class="quiet">{emptyWords(log)}</p> : children(shown))}
    </ReadResult>
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

const chooseTypes = (types: readonly EventType[]): void => setQuery({ types: types.join() })

export const EventLog = () => {
  const query = useQuery()
  const { me } = useSession()
  const accounts = useAccounts()
  const byMissingScopes = Map.groupBy(eventTypes, (type) => missingScopesOf(me, type))
  const readable = byMissingScopes.get(undefined) ?? []
  const wanted = (query.get('types') ?? '').split(',')
  // Those that the key may not read are left out.
  const types = readable.filter((type) => wanted.includes(type))
  const accountId = query.get('account') ?? ''
  // The newest event that was shown when the user paused; ids sort as the events do.
  const [pausedAt, setPausedAt] = useState<string>()
  const isPaused = pausedAt !== undefined
  const log = useEventLog(
    { ...(accountId !== '' && { accountId }), ...(types.length > 0 && { types }) },
    isPaused,
  )
  const { events: read = [], missed = 0 } = log
  const notShown = isPaused ? read.filter(({ id }) => id > pausedAt).length : 0
  const newer = notShown + missed
  const pauseOrResume = (): void => {
    setPausedAt(isPaused ? undefined : (read[0]?.id ?? ''))
    if (isPaused && missed > 0) log.readAnew()
  }
  if (log.whyHidden) return <Notice>{log.whyHidden}</Notice>
  return (
    <>
      <form class="event-filters" aria-label="Filters">
        <div class="filters">
          <AccountFilter accounts={accounts} none="All" />
        </div>
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
        {[...byMissingScopes].map(
          ([scopes, missing]) =>
            scopes && (
              <Notice key={scopes}>
                This key may not read {missing.map((type) => `“${eventTitle(type)}”`).join(', ')}:
                it needs the scope {scopes}.
              </Notice>
            ),
        )}
      </form>
      <Section
        title="Log"
        aside={
          <div class="buttons">
            {isPaused ? (
              <span role="status">
                {newer === 0 ? 'paused' : `paused, ${plural(newer, 'newer event')}`}
              </span>
            ) : (
              <ConnectionStatus log={log} />
            )}
            <button
              type="button"
              class="small"
              aria-pressed={isPaused}
              disabled={!log.events}
              onClick={pauseOrResume}
            >
              {isPaused ? 'Resume' : 'Pause'}
            </button>
          </div>
        }
      >
        <EventsOrReason log={log}>
          {(events) => (
            <>
              <p class="quiet">{plural(events.length - notShown, 'event')} shown, newest first.</p>
              <Table
                label="Log"
                kind="log"
                rows={events.slice(notShown)}
                keyOf={({ id }) => id}
                columns={[
                  ['Recorded', ({ timestamp }) => <Time iso={timestamp} />],
                  ['Event', ({ event }) => eventTitle(event), 'row'],
                  ['What happened', (event) => describeEvent(event, accounts.data), 'words'],
                  ['Account', ({ accountId: id }) => accountName(accounts.data, id)],
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
              {log.hasOlder && (
                <button
                  type="button"
                  disabled={log.readingOlder.isDisabled}
                  onClick={log.readOlder}
                >
                  Show {pageSize} older
                </button>
              )}
              <ActionMessage action={log.readingOlder} />
            </>
          )}
        </EventsOrReason>
      </Section>
    </>
  )
}
