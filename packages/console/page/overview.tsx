// What is happening: accounts, the curve of one of them, open positions, working orders, events.
import type { Account, Position } from '@tradeport/client'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { AccountSummary, wasRead } from './account-summary.tsx'
import { EventsOrReason, ConnectionStatus, useEventLog } from './event-log.tsx'
import { describeEvent, eventTitle } from './events.ts'
import { money, percent } from './format.ts'
import { useQuery } from './location.ts'
import { OrderTable, readWorkingOrders } from './order-table.tsx'
import { Age, Notice, Result, Scroll, Section, Shown, Table, Time, type Column } from './parts.tsx'
import { PositionTable } from './position-table.tsx'
import { oneAtATime, type OneAtATime } from './one-at-a-time.ts'
import { openResult, readPositions } from './positions.ts'
import { settled, useAccounts, useInterval, useRead, type Again, type Read } from './read.ts'
import { useSession } from './session.ts'
import { accountName } from './words.ts'

/** Prices move without an event: figures are read again after this time while the page is visible. */
const refreshMs = 30_000
const shownEvents = 30

export const Overview = () => {
  const { whyHidden } = useSession()
  const query = useQuery()
  const [eventCount, setEventCount] = useState(0)
  const onEvent = useCallback(() => setEventCount((count) => count + 1), [])
  const again = { everyMs: refreshMs, on: eventCount }
  const accounts = useAccounts(again)
  const positions = usePositions(accounts.data ?? [], again)
  const orders = useRead(
    'orders',
    'orders',
    (client, signal) => readWorkingOrders(client, {}, signal),
    again,
  )
  const all = accounts.data ?? []
  const chosen = all.find(({ id }) => id === query.get('account')) ?? all[0]
  const held = positions.find(({ account }) => account.id === chosen?.id)
  return (
    <>
      <h1>Overview</h1>
      <Section title="Accounts">
        <Shown read={accounts}>
          {(list) => <AccountTable accounts={list} chosenId={chosen?.id} />}
        </Shown>
      </Section>
      {chosen !== undefined && (
        <AccountSummary
          key={chosen.id}
          account={chosen}
          open={
            held?.data && held.readAt && held.failure === undefined
              ? { amount: openResult(held.data), at: held.readAt }
              : undefined
          }
          eventCount={eventCount}
        />
      )}
      <Positions
        hidden={whyHidden('positions', 'accounts')}
        ofAccounts={accounts.data && positions}
      />
      <Section title="Working orders">
        <Shown read={orders}>
          {(working) => (
            <OrderTable
              working={working}
              accountOf={(id) => accountName(all, id)}
              mayChange={whyHidden('ordering') === undefined}
            />
          )}
        </Shown>
      </Section>
      <Events accounts={all} onEvent={onEvent} />
    </>
  )
}

const statusWords: Readonly<Record<Account['status'], string>> = {
  connected: 'Connected',
  disconnected: 'Disconnected',
  syncing: 'Connecting',
  error: 'Cannot be read',
}

const isPaper = ({ brokerType }: Account): boolean => brokerType === 'paper'

/** Balance and floating result make equity. */
const figures = [
  ['Balance', ({ balance }: Account) => balance],
  ['Floating result', ({ equity, balance }: Account) => equity - balance],
  ['Equity', ({ equity }: Account) => equity],
  ['Free margin', ({ freeMargin }: Account) => freeMargin],
] as const

const AccountTable = ({
  accounts,
  chosenId,
}: {
  accounts: readonly Account[]
  chosenId: string | undefined
}) => {
  if (accounts.length === 0) return <Notice>No account is linked to this user yet.</Notice>
  const columns: readonly Column<Account>[] = [
    [
      'Account',
      (account) => <AccountName account={account} isChosen={account.id === chosenId} />,
      'row',
    ],
    ...figures.map(([name, figure]): Column<Account> => [
      name,
      (account) => {
        const value = figure(account)
        if (value === null || !wasRead(account)) return '–'
        return name === 'Floating result' ? (
          <Result amount={value} currency={account.currency} />
        ) : (
          money(value, account.currency)
        )
      },
      'figure',
    ]),
    [
      'Margin level',
      (account) =>
        account.marginLevel === null || !wasRead(account) ? '–' : percent(account.marginLevel, 0),
      'figure',
    ],
  ]
  // Only accounts of one currency are summed up.
  const currencies = Map.groupBy(
    accounts.filter((account) => !isPaper(account)),
    ({ currency }) => currency,
  )
  return (
    <>
      <Table
        label="Accounts"
        columns={columns}
        rows={accounts}
        keyOf={({ id }) => id}
        classOf={({ id, liveDataUpdatedAt }) =>
          `${id === chosenId ? 'chosen' : ''} ${liveDataUpdatedAt === null ? 'old' : ''}`
        }
        sums={[...currencies].filter(([, some]) => some.length > 1).map(totalOf)}
      />
      <p class="quiet">
        Floating result is equity less balance: what open positions have made and the broker has not
        booked yet, swap included, and a credit of the broker if there is one.
      </p>
    </>
  )
}

/** Of the figures as they are now: one that is unknown makes the sum unknown. */
const totalOf = ([currency, accounts]: readonly [string, readonly Account[]]) => {
  const unread = accounts.filter(({ liveDataUpdatedAt }) => liveDataUpdatedAt === null).length
  const sums = figures.map(([, figure]) => {
    const values = accounts.map(figure).filter((value) => value !== null)
    return unread > 0 || values.length < accounts.length
      ? '–'
      : money(
          values.reduce((sum, value) => sum + value, 0),
          currency,
        )
  })
  return [
    <>
      All in {currency}
      <div class="quiet">
        {accounts.length} accounts
        {unread > 0 && `, ${unread} of which cannot be read now`}
      </div>
    </>,
    ...sums,
  ]
}

const AccountName = ({ account, isChosen }: { account: Account; isChosen: boolean }) => {
  const { id, name, isDemo, accountNumber, server, status, lastSyncAt, liveDataUpdatedAt } = account
  return (
    <>
      <a
        href={`/console?account=${id}`}
        aria-current={isChosen ? 'true' : undefined}
        title="Show its curve"
      >
        {name}
      </a>{' '}
      <span class="tag">{isDemo ? 'demo' : 'live'}</span>
      <div class="quiet">
        {accountNumber} · {server}
      </div>
      <div class="quiet">
        <span class={`status ${liveDataUpdatedAt === null ? status : 'connected'}`}>
          {statusWords[status]}
        </span>
        ,{' '}
        {liveDataUpdatedAt !== null ? (
          <>
            read <Age iso={liveDataUpdatedAt} />
          </>
        ) : wasRead(account) ? (
          <>
            figures of <Age iso={lastSyncAt} />
          </>
        ) : (
          'never read'
        )}
      </div>
    </>
  )
}

type OfAccount = Read<readonly Position[]> & { readonly account: Account }

/** Each account by itself, so that a broker that cannot be read hides no other's positions. */
const usePositions = (
  accounts: readonly Account[],
  { everyMs, on }: Again,
): readonly OfAccount[] => {
  const { client, whyHidden } = useSession()
  const [reads, setReads] = useState<Readonly<Record<string, Read<readonly Position[]>>>>({})
  const isHidden = whyHidden('positions') !== undefined
  const readable = isHidden ? [] : accounts.filter((account) => !isPaper(account))
  const readings = useRef(new Map<string, OneAtATime>()).current
  const readingsNow = (): readonly OneAtATime[] =>
    readable.map(({ id }) => {
      const reading =
        readings.get(id) ??
        oneAtATime(async (signal) => {
          const outcome = await settled(readPositions(client, id, signal))
          if (!signal.aborted) setReads((last) => ({ ...last, [id]: { ...last[id], ...outcome } }))
        })
      readings.set(id, reading)
      return reading
    })
  useEffect(() => {
    for (const { startAfter } of readingsNow()) startAfter()
  }, [readable.map(({ id }) => id).join(), on])
  useEffect(() => () => readings.forEach(({ stop }) => stop()), [])
  useInterval(() => {
    for (const { startUnlessRunning } of readingsNow()) startUnlessRunning()
  }, everyMs)
  return readable.map((account) => ({ account, ...reads[account.id] }))
}

const Positions = ({
  hidden,
  ofAccounts,
}: {
  hidden: string | undefined
  /** Undefined while the accounts are not known. */
  ofAccounts: readonly OfAccount[] | undefined
}) => {
  const known = ofAccounts ?? []
  const held = known.flatMap(({ account, data = [], failure }) =>
    data.map((position) => ({ position, account, isStale: failure !== undefined })),
  )
  const isComplete =
    ofAccounts?.every(({ data, failure }) => data !== undefined && failure === undefined) ?? false
  return (
    <Section
      title="Open positions"
      whyHidden={hidden}
      aside={isComplete && hidden === undefined ? `${held.length} open` : undefined}
    >
      {known.map(
        ({ account, readAt, failure }) =>
          failure !== undefined && (
            <Notice kind="warning" key={account.id}>
              {account.name}: {failure}{' '}
              {readAt === undefined ? (
                'Its positions are not known.'
              ) : (
                <>
                  Its positions are those of <Age iso={readAt} />.
                </>
              )}
            </Notice>
          ),
      )}
      {held.length > 0 ? (
        <PositionTable held={held} isOfSeveral isSummed={isComplete} />
      ) : isComplete ? (
        <p class="quiet">No position is open.</p>
      ) : (
        known.some(({ data, failure }) => data === undefined && failure === undefined) && (
          <p class="reading">Reading…</p>
        )
      )}
    </Section>
  )
}

const Events = ({ accounts, onEvent }: { accounts: readonly Account[]; onEvent: () => void }) => {
  const log = useEventLog({}, onEvent)
  return (
    <Section
      title="Latest events"
      aside={
        log.hidden === undefined && (
          <>
            <ConnectionStatus log={log} /> <a href="/console/events">All events</a>
          </>
        )
      }
    >
      <EventsOrReason log={log}>
        {(events) => (
          <Scroll label="Latest events">
            <ol class="events" aria-live="off">
              {events.slice(0, shownEvents).map((event) => (
                <li key={event.id}>
                  <Time iso={event.timestamp} />
                  <span>
                    <strong>{eventTitle(event.event)}</strong> {describeEvent(event)}{' '}
                    <span class="quiet">{accountName(accounts, event.accountId)}</span>
                  </span>
                </li>
              ))}
            </ol>
          </Scroll>
        )}
      </EventsOrReason>
    </Section>
  )
}
