// What is happening: accounts, the curve of one of them, open positions, working orders, events.
import type { Account, DataOf, Position } from '@tradeport/client'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { AccountSummary, wasRead } from './account-summary.tsx'
import { Followed, Live, useEventLog } from './event-log.tsx'
import { describeEvent, eventTitle } from './events.ts'
import { money, number, percent, price } from './format.ts'
import { OrderRows } from './order-rows.tsx'
import { Age, figureHeads, heads, Notice, Result, Scroll, Section, Shown, Time } from './parts.tsx'
import { type Read, useAccounts, useInterval, useRead } from './read.ts'
import { sentenceOf, whyHidden, type Session } from './session.ts'

/** Prices move without an event: figures are read again after this time while the page is visible. */
const refreshMs = 30_000
const shownEvents = 30

export const Overview = ({ session, query }: { session: Session; query: URLSearchParams }) => {
  const { me } = session
  const hidden = whyHidden(me, 'accounts')
  const accounts = useAccounts(session)
  const all = accounts.data ?? []
  const chosen = all.find(({ id }) => id === query.get('account')) ?? all[0]
  const [changes, setChanges] = useState(0)
  const onEvent = useCallback(() => setChanges((count) => count + 1), [])
  useInterval(accounts.refresh, refreshMs)
  useEffect(() => {
    if (changes > 0) accounts.refresh()
  }, [changes, accounts.refresh])

  return (
    <>
      <h1>Overview</h1>
      <Section title="Accounts">
        {hidden === undefined ? (
          <Shown read={accounts}>
            {(list) => <AccountTable accounts={list} chosenId={chosen?.id} />}
          </Shown>
        ) : (
          <Notice>{hidden}</Notice>
        )}
      </Section>
      {chosen !== undefined && (
        <AccountSummary key={chosen.id} session={session} account={chosen} changes={changes} />
      )}
      <Positions session={session} accounts={accounts.data} changes={changes} />
      <WorkingOrders session={session} accounts={all} changes={changes} />
      <Events session={session} accounts={all} onEvent={onEvent} />
    </>
  )
}

const statusWords: Readonly<Record<Account['status'], string>> = {
  connected: 'Connected',
  disconnected: 'Disconnected',
  syncing: 'Connecting',
  error: 'Cannot be read',
}

/** The accounts of each currency of which there are several, so that no sum mixes currencies. */
const severalOfCurrency = (
  accounts: readonly Account[],
): readonly (readonly [currency: string, accounts: readonly Account[]])[] =>
  [
    ...Map.groupBy(
      accounts.filter(({ brokerType }) => brokerType !== 'paper'),
      ({ currency }) => currency,
    ),
  ].filter(([, some]) => some.length > 1)

const AccountTable = ({
  accounts,
  chosenId,
}: {
  accounts: readonly Account[]
  chosenId: string | undefined
}) => {
  if (accounts.length === 0) return <Notice>No account is linked to this user yet.</Notice>
  return (
    <Scroll label="Accounts">
      <table>
        <thead>
          <tr>
            {heads('Account')}
            {figureHeads('Equity', 'Balance', 'Open result', 'Free margin', 'Margin level')}
          </tr>
        </thead>
        <tbody>
          {accounts.map((account) => (
            <AccountRow key={account.id} account={account} isChosen={account.id === chosenId} />
          ))}
        </tbody>
        <tfoot>
          {severalOfCurrency(accounts).map(([currency, some]) => (
            <TotalRow key={currency} currency={currency} accounts={some} />
          ))}
        </tfoot>
      </table>
    </Scroll>
  )
}

/** Of the figures as they are now: one that is unknown makes the sum unknown. */
const TotalRow = ({ currency, accounts }: { currency: string; accounts: readonly Account[] }) => {
  const unread = accounts.filter(({ liveDataUpdatedAt }) => liveDataUpdatedAt === null).length
  const sum = (of: (account: Account) => number | null): string => {
    const figures = accounts.map(of).filter((figure) => figure !== null)
    return unread > 0 || figures.length < accounts.length
      ? '–'
      : money(
          figures.reduce((total, figure) => total + figure, 0),
          currency,
        )
  }
  return (
    <tr>
      <th scope="row">
        All in {currency}
        <div class="quiet">
          {accounts.length} accounts
          {unread > 0 && `, ${unread} of which cannot be read now`}
        </div>
      </th>
      <td class="figure">{sum(({ equity }) => equity)}</td>
      <td class="figure">{sum(({ balance }) => balance)}</td>
      <td class="figure">{sum(({ equity, balance }) => equity - balance)}</td>
      <td class="figure">{sum(({ freeMargin }) => freeMargin)}</td>
      <td class="figure" />
    </tr>
  )
}

const AccountRow = ({ account, isChosen }: { account: Account; isChosen: boolean }) => {
  const { currency, balance, equity, freeMargin, marginLevel, status } = account
  const isLive = account.liveDataUpdatedAt !== null
  const figure = (value: number | null): string =>
    value === null || !wasRead(account) ? '–' : money(value, currency)
  return (
    <tr class={isChosen ? 'chosen' : undefined}>
      <th scope="row">
        <a
          href={`/console?account=${account.id}`}
          aria-current={isChosen ? 'true' : undefined}
          title="Show its curve"
        >
          {account.name}
        </a>{' '}
        <span class="tag">{account.isDemo ? 'demo' : 'live'}</span>
        <div class="quiet">
          {account.accountNumber} · {account.server}
        </div>
        <div class="quiet">
          <span class={`status ${isLive ? 'connected' : status}`}>{statusWords[status]}</span>,{' '}
          {isLive ? (
            <>
              read <Age iso={account.liveDataUpdatedAt ?? ''} />
            </>
          ) : wasRead(account) ? (
            <>
              figures of <Age iso={account.lastSyncAt} />
            </>
          ) : (
            'never read'
          )}
        </div>
      </th>
      <td class={`figure ${isLive ? '' : 'stale'}`}>{figure(equity)}</td>
      <td class={`figure ${isLive ? '' : 'stale'}`}>{figure(balance)}</td>
      <td class={`figure ${isLive ? '' : 'stale'}`}>
        {wasRead(account) ? <Result amount={equity - balance} currency={currency} /> : '–'}
      </td>
      <td class={`figure ${isLive ? '' : 'stale'}`}>{figure(freeMargin)}</td>
      <td class={`figure ${isLive ? '' : 'stale'}`}>
        {marginLevel === null || !wasRead(account) ? '–' : percent(marginLevel, 0)}
      </td>
    </tr>
  )
}

const useRefreshOn = (changes: number, refresh: () => void): void => {
  useEffect(() => {
    if (changes > 0) refresh()
  }, [changes, refresh])
}

type OfAccount = Read<readonly Position[]> & { readonly account: Account }

/** Each account by itself, so that a broker that cannot be read hides no other's positions. */
const usePositions = ({ client }: Session, accounts: readonly Account[] | undefined) => {
  const [reads, setReads] = useState<Readonly<Record<string, Read<readonly Position[]>>>>({})
  const readable = (accounts ?? []).filter(({ brokerType }) => brokerType !== 'paper')
  const latest = useRef(readable)
  latest.current = readable
  const refresh = useCallback((): void => {
    const readOne = async ({ id }: Account): Promise<void> => {
      const read = async (): Promise<Partial<Read<readonly Position[]>>> => {
        const positions: Position[] = []
        for await (const position of client.listPositions.each({ accountId: id }))
          positions.push(position)
        return { data: positions, readAt: Date.now(), failure: undefined }
      }
      const outcome = await read().catch((error: unknown) => ({ failure: sentenceOf(error) }))
      setReads((last) => ({ ...last, [id]: { ...last[id], ...outcome, isReading: false } }))
    }
    for (const account of latest.current) void readOne(account)
  }, [client])
  const ids = readable.map(({ id }) => id).join()
  useEffect(() => {
    if (ids !== '') refresh()
  }, [ids, refresh])
  useInterval(refresh, refreshMs)
  const ofAccounts: readonly OfAccount[] = readable.map((account) => ({
    account,
    ...(reads[account.id] ?? { isReading: true }),
  }))
  return { ofAccounts, refresh }
}

const Positions = ({
  session,
  accounts,
  changes,
}: {
  session: Session
  accounts: readonly Account[] | undefined
  changes: number
}) => {
  const hidden = whyHidden(session.me, 'positions') ?? whyHidden(session.me, 'accounts')
  const { ofAccounts, refresh } = usePositions(session, hidden === undefined ? accounts : undefined)
  useRefreshOn(changes, refresh)
  const count = ofAccounts.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
  const isComplete = ofAccounts.every(({ data, failure }) => data !== undefined && !failure)
  if (hidden !== undefined)
    return (
      <Section title="Open positions">
        <Notice>{hidden}</Notice>
      </Section>
    )
  return (
    <Section title="Open positions" aside={isComplete ? `${count} open` : undefined}>
      {ofAccounts.map(
        ({ account, readAt, failure }) =>
          failure !== undefined && (
            <Notice kind="warning" key={account.id}>
              {account.name}: {failure}{' '}
              {readAt === undefined ? (
                'Its positions are not known.'
              ) : (
                <>
                  Its positions are those of <Age iso={new Date(readAt).toISOString()} />.
                </>
              )}
            </Notice>
          ),
      )}
      {count > 0 ? (
        <Scroll label="Open positions">
          <table>
            <thead>
              <tr>
                {heads('Symbol', 'Account', 'Side')}
                {figureHeads(
                  'Lots',
                  'Entry',
                  'Now',
                  'Stop loss',
                  'Take profit',
                  'Swap',
                  'Open result',
                )}
                {heads('Opened')}
              </tr>
            </thead>
            <tbody>
              {ofAccounts.flatMap(({ account, data, failure }) =>
                (data ?? []).map((position) => (
                  <tr key={position.id} class={failure === undefined ? undefined : 'stale'}>
                    <th scope="row">{position.symbol}</th>
                    <td>{account.name}</td>
                    <td class={position.type}>{position.type}</td>
                    <td class="figure">{number(position.volume)}</td>
                    <td class="figure">{price(position.entryPrice)}</td>
                    <td class="figure">{price(position.currentPrice)}</td>
                    <td class="figure">
                      {position.stopLoss === undefined ? 'none' : price(position.stopLoss)}
                    </td>
                    <td class="figure">
                      {position.takeProfit === undefined ? 'none' : price(position.takeProfit)}
                    </td>
                    <td class="figure">{money(position.swap, account.currency)}</td>
                    <td class="figure">
                      <Result amount={position.unrealizedPnl} currency={account.currency} />
                    </td>
                    <td>
                      <Time iso={position.openedAt} />
                    </td>
                  </tr>
                )),
              )}
            </tbody>
          </table>
        </Scroll>
      ) : isComplete && accounts !== undefined ? (
        <p class="quiet">No position is open.</p>
      ) : (
        ofAccounts.some(({ isReading }) => isReading) && <p class="reading">Reading…</p>
      )}
    </Section>
  )
}

const nameOf = (accounts: readonly Account[], id: string): string =>
  accounts.find((account) => account.id === id)?.name ?? id

const WorkingOrders = ({
  session: { client, me },
  accounts,
  changes,
}: {
  session: Session
  accounts: readonly Account[]
  changes: number
}) => {
  const hidden = whyHidden(me, 'orders')
  const orders = useRead(
    'orders',
    hidden === undefined
      ? async (signal) => {
          const pages = await Promise.all(
            (['pending', 'open'] as const).map((status) =>
              client.listOrders({ status, limit: 50 }, { signal }),
            ),
          )
          return {
            orders: pages.flatMap(({ data }) => data),
            total: pages.reduce((sum, { meta }) => sum + meta.pagination.total, 0),
          }
        }
      : undefined,
  )
  useRefreshOn(changes, orders.refresh)
  return (
    <Section title="Working orders">
      {hidden === undefined ? (
        <Shown read={orders}>
          {({ orders: list, total }) => <OrderTable {...{ orders: list, total, accounts, me }} />}
        </Shown>
      ) : (
        <Notice>{hidden}</Notice>
      )}
    </Section>
  )
}

const OrderTable = ({
  orders,
  total,
  accounts,
  me,
}: {
  orders: DataOf<'listOrders'>
  total: number
  accounts: readonly Account[]
  me: Session['me']
}) => {
  if (orders.length === 0) return <p class="quiet">No order is waiting for its outcome.</p>
  return (
    <>
      <OrderRows
        orders={orders}
        accountOf={(id) => nameOf(accounts, id)}
        mayChange={whyHidden(me, 'ordering') === undefined}
      />
      {total > orders.length && (
        <p class="quiet">
          {orders.length} of {total} are shown.
        </p>
      )}
    </>
  )
}

const Events = ({
  session,
  accounts,
  onEvent,
}: {
  session: Session
  accounts: readonly Account[]
  onEvent: () => void
}) => {
  const hidden = whyHidden(session.me, 'events')
  const log = useEventLog(session, hidden === undefined ? {} : undefined, onEvent)
  if (hidden !== undefined)
    return (
      <Section title="Latest events">
        <Notice>{hidden}</Notice>
      </Section>
    )
  return (
    <Section
      title="Latest events"
      aside={
        <>
          <Live log={log} /> <a href="/console/events">All events</a>
        </>
      }
    >
      <Followed log={log}>
        {(events) => (
          <Scroll label="Latest events">
            <ol class="events" aria-live="off">
              {events.slice(0, shownEvents).map((event) => (
                <li key={event.id}>
                  <Time iso={event.timestamp} />
                  <span>
                    <strong>{eventTitle(event.event)}</strong> {describeEvent(event)}{' '}
                    <span class="quiet">{nameOf(accounts, event.accountId)}</span>
                  </span>
                </li>
              ))}
            </ol>
          </Scroll>
        )}
      </Followed>
    </Section>
  )
}
