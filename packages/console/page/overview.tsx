// What is happening: accounts, the curve of one of them, open positions, working orders, events.
import type { Account, Position } from '@tradeport/client'
import { useEffect, useState } from 'preact/hooks'
import { AccountSummary, wasRead } from './account-summary.tsx'
import { ConnectionStatus, EventsOrReason, useEventLog } from './event-log.tsx'
import { describeEvent, eventTitle } from './events.ts'
import { money, percent, sumOf } from './format.ts'
import { useQuery } from './location.ts'
import { OrderTable, readWorkingOrders } from './order-table.tsx'
import {
  Age,
  Notice,
  Result,
  Scroll,
  Section,
  ReadResult,
  ReadSection,
  Table,
  Time,
  type Column,
} from './parts.tsx'
import { PositionTable, readPositions } from './position-table.tsx'
import { totalResult } from './positions.ts'
import { useAccounts, useRead, type Read, type RefreshWhen } from './read.ts'
import { useSession } from './session.ts'
import { accountName, unknownAccount } from './words.ts'

/**
 * Prices move without an event: figures are read again after this time while the page is visible.
 */
const refreshMs = 30_000
const shownEvents = 30

export const Overview = () => {
  const { whyHidden } = useSession()
  const query = useQuery()
  const log = useEventLog({})
  const when = { everyMs: refreshMs, changes: log.changes }
  const accounts = useAccounts(when)
  const [readsById, setReads] = useState<Readonly<Record<string, Read<readonly Position[]>>>>({})
  const orders = useRead(
    'orders',
    'orders',
    (client, signal) => readWorkingOrders(client, {}, signal),
    when,
  )
  const all = accounts.data ?? []
  const atBrokers = all.filter((account) => !isPaper(account))
  const positionReads = atBrokers.map((account) => ({ account, ...readsById[account.id] }))
  const wanted = query.get('account')
  const chosen = wanted ? all.find(({ id }) => id === wanted) : (atBrokers[0] ?? all[0])
  const held = positionReads.find(({ account }) => account.id === chosen?.id)
  return (
    <>
      <ReadSection title="Accounts" read={accounts}>
        {(list) => (
          <>
            <AccountTable accounts={list} chosenId={chosen?.id} />
            {wanted && !chosen && <Notice>{unknownAccount(wanted)}</Notice>}
          </>
        )}
      </ReadSection>
      {chosen && (
        <AccountSummary
          key={chosen.id}
          account={chosen}
          open={
            held?.data && held.readAt && !held.failure
              ? { amount: sumOf(held.data, totalResult), at: held.readAt }
              : undefined
          }
          changes={log.changes}
        />
      )}
      {atBrokers.map(({ id }) => (
        <PositionsRead
          key={id}
          {...{ id, when }}
          onRead={(read) => setReads((last) => ({ ...last, [id]: read }))}
        />
      ))}
      <Positions
        whyHidden={whyHidden('positions', 'accounts')}
        accounts={accounts}
        positions={positionReads}
      />
      <ReadSection title="Working orders" read={orders}>
        {(working) => (
          <OrderTable
            working={working}
            accountOf={(id) => accountName(all, id)}
            mayChange={!whyHidden('ordering')}
          />
        )}
      </ReadSection>
      <Section
        title="Latest events"
        aside={
          !log.whyHidden && (
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
                      <strong>{eventTitle(event.event)}</strong> {describeEvent(event, all)}{' '}
                      <span class="quiet">{accountName(all, event.accountId)}</span>
                    </span>
                  </li>
                ))}
              </ol>
            </Scroll>
          )}
        </EventsOrReason>
      </Section>
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

/** Sums figures as they are now: where one is unknown, so is its sum. */
const totalOf = ([currency, accounts]: readonly [string, readonly Account[]]) => {
  const unread = accounts.filter(({ liveDataUpdatedAt }) => liveDataUpdatedAt === null).length
  const logins = new Set(accounts.map((one) => `${one.accountNumber} ${one.server}`))
  // The figures of an account that is linked twice would count twice.
  const isRepeated = logins.size < accounts.length
  const sums = figures.map(([name, figure]) => {
    const values = accounts.map(figure).filter((value) => value !== null)
    const isKnown = !isRepeated && unread === 0 && values.length === accounts.length
    const sum = sumOf(values, (value) => value)
    return [name, isKnown ? money(sum, currency) : '–'] as const
  })
  return {
    Account: (
      <>
        All in {currency}
        <div class="quiet">
          {accounts.length} accounts
          {unread > 0 && `, ${unread} of which cannot be read now`}
          {isRepeated && ', some of which are the same at the broker'}
        </div>
      </>
    ),
    ...Object.fromEntries(sums),
  }
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

/** Reads the positions of one account, so that one unreadable broker does not hide the others'. */
const PositionsRead = ({
  id,
  when,
  onRead,
}: {
  id: string
  when: RefreshWhen
  onRead: (read: Read<readonly Position[]>) => void
}) => {
  const read = useRead('positions', id, (client, signal) => readPositions(client, id, signal), when)
  useEffect(() => onRead(read), [read.data, read.readAt, read.failure])
  return null
}

const Positions = ({
  whyHidden,
  accounts,
  positions,
}: {
  whyHidden: string | undefined
  accounts: Read<readonly Account[]>
  positions: readonly (Read<readonly Position[]> & { readonly account: Account })[]
}) => {
  const held = positions.flatMap(({ account, data = [], failure }) =>
    data.map((position) => ({ position, account, isStale: failure !== undefined })),
  )
  const isComplete =
    accounts.data !== undefined &&
    positions.every(({ data, failure }) => data !== undefined && !failure)
  return (
    <Section
      title="Open positions"
      whyHidden={whyHidden}
      aside={isComplete && !whyHidden ? `${held.length} open` : undefined}
    >
      {!accounts.data && <ReadResult read={accounts}>{() => null}</ReadResult>}
      {positions.map(
        ({ account, readAt, failure }) =>
          failure && (
            <Notice
              kind="warning"
              key={account.id}
              detail={
                readAt ? (
                  <>
                    Its positions are those of <Age iso={readAt} />.
                  </>
                ) : (
                  'Its positions are not known.'
                )
              }
            >
              {account.name}: {failure}
            </Notice>
          ),
      )}
      {held.length > 0 ? (
        <PositionTable held={held} isOfSeveral isSummed={isComplete} />
      ) : isComplete ? (
        <p class="quiet">No position is open.</p>
      ) : (
        positions.some(({ data, failure }) => data === undefined && !failure) && (
          <p class="reading">Reading…</p>
        )
      )}
    </Section>
  )
}
