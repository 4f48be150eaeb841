// What happened: closed trades by the filters of the address, and their statistics.
import type { Account, QueryOf, Trade } from '@tradeport/client'
import { useEffect, useState } from 'preact/hooks'
import { Breakdown } from './breakdown.tsx'
import { duration, money, number, price } from './format.ts'
import { Pictures, Robust } from './insights.tsx'
import { setQuery } from './location.ts'
import { Age, Notice, Result, Scroll, Section, Shown, Time } from './parts.tsx'
import { inTurn, useRead } from './read.ts'
import { sentenceOf, whyHidden, type Session } from './session.ts'
import { Statistics } from './statistics.tsx'

const pageSize = 100

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
  const mayNameAccounts = whyHidden(me, 'accounts') === undefined
  const accounts = useRead(
    'accounts',
    mayNameAccounts ? async (signal) => (await client.listAccounts({ signal })).data : undefined,
  )
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

export const changeFilter = ({
  currentTarget: { name, value },
}: {
  currentTarget: HTMLInputElement | HTMLSelectElement
}): void => setQuery({ [name]: value.trim() })

const Filters = ({ query, accounts }: { query: URLSearchParams; accounts: readonly Account[] }) => {
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Account
        <select name="account" value={query.get('account') ?? ''} onChange={changeFilter}>
          <option value="">All</option>
          {accounts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Symbol
        <input name="symbol" size={10} value={query.get('symbol') ?? ''} onChange={changeFilter} />
      </label>
      <label>
        Closed from
        <input type="date" name="from" value={query.get('from') ?? ''} onChange={changeFilter} />
      </label>
      <label>
        to
        <input type="date" name="to" value={query.get('to') ?? ''} onChange={changeFilter} />
      </label>
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

/** A column: its heading, and what it sorts by. */
const columns = [
  ['closedAt', 'Closed', ''],
  ['symbol', 'Symbol', ''],
  ['type', 'Side', ''],
  ['volume', 'Lots', 'figure'],
  ['entryPrice', 'Entry', 'figure'],
  ['exitPrice', 'Exit', 'figure'],
  ['holdingTime', 'Held', 'figure'],
  ['profit', 'Profit', 'figure'],
  ['netProfit', 'Net profit', 'figure'],
] as const satisfies readonly (readonly [keyof Trade, string, string])[]

type Column = (typeof columns)[number][0]

interface Order {
  readonly by: Column
  readonly isAscending: boolean
}

/** Written into the address as `symbol` or `-symbol`; most recently closed first without it. */
const orderOf = (query: URLSearchParams): Order => {
  const text = query.get('sort') ?? '-closedAt'
  const name = text.replace(/^-/, '')
  const by = columns.find(([column]) => column === name)?.[0] ?? 'closedAt'
  return { by, isAscending: !text.startsWith('-') }
}

const sorted = (trades: readonly Trade[], { by, isAscending }: Order): readonly Trade[] => {
  const sign = isAscending ? 1 : -1
  return trades.toSorted((one, other) => {
    const [a, b] = [one[by], other[by]]
    return a === b ? 0 : sign * (a < b ? -1 : 1)
  })
}

interface Loaded {
  readonly trades: readonly Trade[]
  readonly total: number
  readonly cursor: string | undefined
}

/** The pages that were read so far; `more` reads the next. */
const useTrades = ({ client }: Session, filter: QueryOf<'listTrades'>) => {
  const [loaded, setLoaded] = useState<Loaded>()
  const [failure, setFailure] = useState<string>()
  const [isReading, setIsReading] = useState(false)
  const more = async (): Promise<void> => {
    setIsReading(true)
    setFailure(undefined)
    try {
      const { data, meta } = await client.listTrades({
        ...filter,
        limit: pageSize,
        ...(loaded?.cursor !== undefined && { cursor: loaded.cursor }),
      })
      const { total, cursor } = meta.pagination
      setLoaded({ trades: [...(loaded?.trades ?? []), ...data], total, cursor })
    } catch (error) {
      setFailure(sentenceOf(error))
    }
    setIsReading(false)
  }
  useEffect(() => void more(), [])
  return { loaded, failure, isReading, more }
}

const TradeList = ({
  session,
  query,
  filter,
  accounts,
}: {
  session: Session
  query: URLSearchParams
  filter: QueryOf<'listTrades'>
  accounts: readonly Account[]
}) => {
  const { loaded, failure, isReading, more } = useTrades(session, filter)
  const order = orderOf(query)
  const isWhole = loaded !== undefined && loaded.cursor === undefined
  const currencyOf = new Map(accounts.map(({ id, currency }) => [id, currency]))
  return (
    <Section
      title="Closed trades"
      aside={<Download session={session} filter={filter} isEmpty={loaded?.total === 0} />}
    >
      {failure !== undefined && <Notice kind="warning">{failure}</Notice>}
      {loaded === undefined ? (
        failure === undefined && <p class="reading">Reading…</p>
      ) : loaded.trades.length === 0 ? (
        <p class="quiet">No closed trade matches the filters.</p>
      ) : (
        <>
          <p class="quiet" aria-live="polite">
            {isWhole
              ? `${number(loaded.trades.length)} trades.`
              : `${number(loaded.trades.length)} of ${number(loaded.total)} trades, the most recently closed.`}
            {!isWhole && query.has('sort') && ' The order is that of these only.'}
          </p>
          <Scroll label="Closed trades">
            <table>
              <thead>
                <tr>
                  {columns.map(([column, name, kind]) => {
                    const isSorted = order.by === column
                    const next = isSorted && !order.isAscending ? column : `-${column}`
                    return (
                      <th
                        key={column}
                        scope="col"
                        class={kind}
                        aria-sort={
                          isSorted ? (order.isAscending ? 'ascending' : 'descending') : undefined
                        }
                      >
                        <button
                          type="button"
                          class="sort"
                          onClick={() => setQuery({ sort: next === '-closedAt' ? '' : next })}
                        >
                          {name}
                        </button>
                      </th>
                    )
                  })}
                </tr>
              </thead>
              <tbody>
                {sorted(loaded.trades, order).map((trade) => (
                  <tr key={trade.id}>
                    <td>
                      <a href={`/console/trades/${encodeURIComponent(trade.id)}`}>
                        <Time iso={trade.closedAt} />
                      </a>
                    </td>
                    <th scope="row">{trade.symbol}</th>
                    <td class={trade.type}>{trade.type}</td>
                    <td class="figure">
                      {number(trade.volume)}
                      {trade.volumeEstimated === true && (
                        <abbr title="A closing deal had no volume: this is the volume that was opened.">
                          {' '}
                          ≈
                        </abbr>
                      )}
                    </td>
                    <td class="figure">{price(trade.entryPrice)}</td>
                    <td class="figure">{price(trade.exitPrice)}</td>
                    <td class="figure">{duration(trade.holdingTime)}</td>
                    <td class="figure">{money(trade.profit, currencyOf.get(trade.accountId))}</td>
                    <td class="figure">
                      <Result amount={trade.netProfit} currency={currencyOf.get(trade.accountId)} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </>
      )}
      {loaded?.cursor !== undefined && (
        <button type="button" disabled={isReading} onClick={() => void more()}>
          {isReading ? 'Reading…' : `Show ${pageSize} more`}
        </button>
      )}
      {loaded === undefined && failure !== undefined && (
        <button type="button" onClick={() => void more()}>
          Try again
        </button>
      )}
    </Section>
  )
}

const Download = ({
  session: { client },
  filter,
  isEmpty,
}: {
  session: Session
  filter: QueryOf<'listTrades'>
  isEmpty: boolean
}) => {
  const [failure, setFailure] = useState<string>()
  const download = async (): Promise<void> => {
    setFailure(undefined)
    try {
      const file = await client.exportTrades({ ...filter, format: 'csv' })
      const url = URL.createObjectURL(new Blob([await file.text()], { type: file.contentType }))
      const link = Object.assign(document.createElement('a'), { href: url, download: file.name })
      link.click()
      URL.revokeObjectURL(url)
    } catch (error) {
      setFailure(sentenceOf(error))
    }
  }
  return (
    <>
      {failure !== undefined && <span role="alert">{failure} </span>}
      <button type="button" disabled={isEmpty} onClick={() => void download()}>
        Download CSV
      </button>
    </>
  )
}
