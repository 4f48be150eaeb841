// The table of closed trades: read page by page, sorted, and short in the document however long it is.
import type { Account, QueryOf, Trade } from '@tradeport/client'
import { Component } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { duration, money, number, price } from './format.ts'
import { setQuery } from './location.ts'
import { Notice, Result, Scroll, Section, Time } from './parts.tsx'
import { sentenceOf, type Session } from './session.ts'
import { useVisibleRows } from './visible-rows.ts'

const pageSize = 100
/** Each hundred is a request, and keys have limits. */
const mostSorted = 10_000

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

/** The pages that were read so far; `more` reads the next ones. */
const useTrades = ({ client }: Session, filter: QueryOf<'listTrades'>) => {
  const [loaded, setLoaded] = useState<Loaded>()
  const [failure, setFailure] = useState<string>()
  const running = useRef<AbortController | undefined>(undefined)
  const [isReading, setIsReading] = useState(false)
  const more = async (pages = 1): Promise<void> => {
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    setIsReading(true)
    setFailure(undefined)
    let known = loaded
    try {
      for (let page = 0; page < pages && (page === 0 || known?.cursor !== undefined); page++) {
        const { data, meta } = await client.listTrades(
          {
            ...filter,
            limit: pageSize,
            ...(known?.cursor !== undefined && { cursor: known.cursor }),
          },
          { signal },
        )
        const { total, cursor } = meta.pagination
        known = { trades: [...(known?.trades ?? []), ...data], total, cursor }
        setLoaded(known)
      }
    } catch (error) {
      if (!signal.aborted) setFailure(sentenceOf(error))
    }
    setIsReading(false)
  }
  useEffect(() => {
    void more()
    return () => running.current?.abort()
  }, [])
  return { loaded, failure, isReading, more, stop: () => running.current?.abort() }
}

export const TradeList = ({
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
  const { loaded, failure, isReading, more, stop } = useTrades(session, filter)
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
          <Extent loaded={loaded} isSorted={query.has('sort')} />
          <TradeTable trades={loaded.trades} query={query} accounts={accounts} />
        </>
      )}
      {loaded?.cursor !== undefined && (
        <p class="more">
          <button type="button" disabled={isReading} onClick={() => void more()}>
            {isReading ? 'Reading…' : `Show ${pageSize} more`}
          </button>{' '}
          {isReading ? (
            <button type="button" onClick={stop}>
              Stop
            </button>
          ) : (
            loaded.total <= mostSorted && (
              <button type="button" onClick={() => void more(Math.ceil(mostSorted / pageSize))}>
                Show all {number(loaded.total)}
              </button>
            )
          )}
        </p>
      )}
      {loaded === undefined && failure !== undefined && (
        <button type="button" onClick={() => void more()}>
          Try again
        </button>
      )}
    </Section>
  )
}

/** How many trades there are in the table, and which of them are sorted. */
const Extent = ({
  loaded: { trades, total, cursor },
  isSorted,
}: {
  loaded: Loaded
  isSorted: boolean
}) => (
  <p class="quiet" aria-live="polite">
    {cursor === undefined
      ? `${number(trades.length)} trades.`
      : `${number(trades.length)} of ${number(total)} trades, the most recently closed.`}
    {cursor !== undefined &&
      isSorted &&
      ` The order is that of these only${total > mostSorted ? `; the whole list can be sorted up to ${number(mostSorted)} trades, so choose narrower filters` : ', until all are shown'}.`}
  </p>
)

const TradeTable = ({
  trades,
  query,
  accounts,
}: {
  trades: readonly Trade[]
  query: URLSearchParams
  accounts: readonly Account[]
}) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const { by, isAscending } = orderOf(query)
  const inOrder = useMemo(() => sorted(trades, { by, isAscending }), [trades, by, isAscending])
  const { isLong, from, to, before, after } = useVisibleRows(body, inOrder.length)
  const accountOf = new Map(accounts.map((account) => [account.id, account]))
  const isOfSeveral = accounts.length > 1 && !query.get('account')
  return (
    <Scroll label="Closed trades">
      <table class={isLong ? 'trades long' : 'trades'} aria-rowcount={inOrder.length + 1}>
        <thead>
          <tr>
            {columns.map(([column, name, kind]) => {
              const isSorted = by === column
              const next = isSorted && !isAscending ? column : `-${column}`
              return (
                <th
                  key={column}
                  scope="col"
                  class={kind}
                  aria-sort={isSorted ? (isAscending ? 'ascending' : 'descending') : undefined}
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
            {isOfSeveral && <th scope="col">Account</th>}
          </tr>
        </thead>
        <tbody ref={body}>
          <Space height={before} />
          {inOrder.slice(from, to).map((trade, index) => (
            <TradeRow
              key={trade.id}
              trade={trade}
              index={from + index + 2}
              currency={accountOf.get(trade.accountId)?.currency}
              account={
                isOfSeveral ? (accountOf.get(trade.accountId)?.name ?? trade.accountId) : undefined
              }
            />
          ))}
          <Space height={after} />
        </tbody>
      </table>
    </Scroll>
  )
}

interface TradeRowProps {
  readonly trade: Trade
  /** Among all rows of the table, its head included, from 1. */
  readonly index: number
  readonly currency: string | undefined
  /** Undefined where all trades are of one account. */
  readonly account: string | undefined
}

/** Rendered once while one scrolls: writing its numbers and times takes most of the time. */
class TradeRow extends Component<TradeRowProps> {
  override shouldComponentUpdate(next: TradeRowProps): boolean {
    const { trade, index, currency, account } = this.props
    return (
      next.trade !== trade ||
      next.index !== index ||
      next.currency !== currency ||
      next.account !== account
    )
  }

  override render({ trade, index, currency, account }: TradeRowProps) {
    return (
      <tr aria-rowindex={index}>
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
        <td class="figure">{money(trade.profit, currency)}</td>
        <td class="figure">
          <Result amount={trade.netProfit} currency={currency} />
        </td>
        {account !== undefined && <td>{account}</td>}
      </tr>
    )
  }
}

/** Instead of rows that are not in the document. */
const Space = ({ height }: { height: number }) =>
  height === 0 ? null : (
    <tr aria-hidden="true" class="space">
      <td colSpan={columns.length} style={{ height: `${height}px` }} />
    </tr>
  )

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
