// What happened: closed trades by the filters of the address, and their statistics.
import type { Account, QueryOf } from '@tradeport/client'
import { Breakdown } from './breakdown.tsx'
import { AccountFilter, changeFilter, PeriodFilter } from './filters.tsx'
import { Pictures, Robust } from './insights.tsx'
import { Age, Notice, Section, Shown } from './parts.tsx'
import { inTurn, useAccounts, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'
import { Statistics } from './statistics.tsx'
import { TradeList } from './trade-list.tsx'

type Filter = Pick<QueryOf<'listTrades'>, 'accountId' | 'symbol' | 'startDate' | 'endDate'>

/** Days in the viewer's zone become moments. */
const filterOf = (query: URLSearchParams): Filter => {
  const given = (name: string): string | undefined => query.get(name) || undefined
  const [accountId, symbol] = [given('account'), given('symbol')?.toUpperCase()]
  const [from, to] = [given('from'), given('to')]
  return {
    ...(accountId && { accountId }),
    ...(symbol && { symbol }),
    ...(from && { startDate: new Date(`${from}T00:00:00.000`).toISOString() }),
    ...(to && { endDate: new Date(`${to}T23:59:59.999`).toISOString() }),
  }
}

const results = ['all', 'profit', 'loss'] as const

const resultOf = (query: URLSearchParams): (typeof results)[number] =>
  results.find((one) => one === query.get('result')) ?? 'all'

export const Trades = ({ session, query }: { session: Session; query: URLSearchParams }) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'trades')
  const accounts = useAccounts(session)
  const isExtended = me.capabilities.includes('insights')
  const filter = filterOf(query)
  const key = JSON.stringify(filter)
  const statistics = useRead(
    key,
    hidden === undefined
      ? inTurn((signal) =>
          client.getTradeStatistics(
            { ...filter, ...(isExtended && { extended: true }) },
            { signal },
          ),
        )
      : undefined,
  )
  const currencies = new Set(
    (accounts.data ?? [])
      .filter(({ id }) => filter.accountId === undefined || id === filter.accountId)
      .map(({ currency }) => currency),
  )
  const currency = currencies.size === 1 ? [...currencies][0] : undefined
  if (hidden !== undefined)
    return (
      <>
        <h1>Trades</h1>
        <Notice>{hidden}</Notice>
      </>
    )
  return (
    <>
      <h1>Trades</h1>
      <Filters query={query} accounts={accounts.data ?? []} />
      <Section
        title="Statistics"
        aside={
          filter.accountId !== undefined && (
            <a href={reportUrl(query)} title="Of all symbols, on a page that prints">
              Report of this account
            </a>
          )
        }
      >
        <Shown read={statistics}>
          {({ data, meta }) => (
            <>
              {meta.warnings?.map(({ code, message }) => (
                <Notice key={code}>{message}</Notice>
              ))}
              <Statistics statistics={data} currency={currency} />
              <p class="quiet">
                From the broker's deals, read <Age iso={meta.provenance.readAt} />.{' '}
                {meta.provenance.skipped.length === 0
                  ? 'No position was left out.'
                  : `${meta.provenance.skipped.length} positions are left out, because their deals do not add up to a trade:`}
              </p>
              {meta.provenance.skipped.length > 0 && (
                <Skipped skipped={meta.provenance.skipped} accounts={accounts.data ?? []} />
              )}
            </>
          )}
        </Shown>
      </Section>
      {isExtended && (
        <>
          <Breakdown {...{ session, query, filter, currency }} />
          <Pictures {...{ session, query, filter, currency }} />
          <Robust key={key} {...{ session, filter, currency }} />
        </>
      )}
      <TradeList
        key={`${key}${resultOf(query)}`}
        session={session}
        query={query}
        filter={{ ...filter, profitFilter: resultOf(query) }}
        accounts={accounts.data ?? []}
      />
    </>
  )
}

/** Of the account and the days of the filters. */
const reportUrl = (query: URLSearchParams): string => {
  const kept = ['account', 'from', 'to'].flatMap((name) => {
    const value = query.get(name)
    return value === null ? [] : [[name, value] as [string, string]]
  })
  return `/console/report?${new URLSearchParams(kept).toString()}`
}

const Filters = ({ query, accounts }: { query: URLSearchParams; accounts: readonly Account[] }) => {
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <AccountFilter query={query} accounts={accounts} none="All" />
      <label>
        Symbol
        <input name="symbol" size={10} value={query.get('symbol') ?? ''} onChange={changeFilter} />
      </label>
      <PeriodFilter query={query} />
      <label>
        Result
        <select name="result" value={resultOf(query)} onChange={changeFilter}>
          <option value="all">All</option>
          <option value="profit">Profit</option>
          <option value="loss">Loss</option>
        </select>
      </label>
    </form>
  )
}

const Skipped = ({
  skipped,
  accounts,
}: {
  skipped: readonly { accountId: string; positionId: string; reason: string }[]
  accounts: readonly Account[]
}) => (
  <ul class="quiet">
    {skipped.map(({ accountId, positionId, reason }) => (
      <li key={`${accountId}${positionId}`}>
        Position {positionId} of {accounts.find(({ id }) => id === accountId)?.name ?? accountId}:{' '}
        {reason.replaceAll('_', ' ')}
      </li>
    ))}
  </ul>
)
