// The table of closed trades: read page by page, sorted, and short in the document however long it
// is.
import type { Account, QueryOf, Trade } from '@tradeport/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { duration, lots, money, number, plural, price } from './format.ts'
import { useAction } from './actions.tsx'
import { setQuery, useQuery } from './location.ts'
import { Cells, Notice, Result, Scroll, Section, Time, type Column } from './parts.tsx'
import { useSession } from './session.ts'
import { useVisibleRows } from './visible-rows.ts'

const pageSize = 100
/** Each hundred is a request, and keys have limits. */
const maxListed = 10_000
const maxDownloadMs = 5 * 60_000

/** The columns, by the field of a trade that each is sorted by. */
export const columnsOf = (currencyOf: (trade: Trade) => string | undefined) =>
  ({
    closedAt: [
      'Closed',
      ({ id, closedAt }) => (
        <a href={`/console/trades/${encodeURIComponent(id)}`}>
          <Time iso={closedAt} />
        </a>
      ),
    ],
    symbol: ['Symbol', ({ symbol }) => symbol, 'row'],
    type: ['Side', ({ type }) => type],
    volume: [
      'Lots',
      ({ volume, volumeEstimated }) => (
        <>
          {lots(volume)}
          {volumeEstimated === true && (
            <abbr title="A closing deal had no volume: this is the volume that was opened.">
              {' '}
              ≈
            </abbr>
          )}
        </>
      ),
      'figure',
    ],
    entryPrice: ['Entry', ({ entryPrice }) => price(entryPrice), 'figure'],
    exitPrice: ['Exit', ({ exitPrice }) => price(exitPrice), 'figure'],
    holdingTime: ['Held', ({ holdingTime }) => duration(holdingTime), 'figure'],
    profit: ['Profit', (trade) => money(trade.profit, currencyOf(trade)), 'figure'],
    netProfit: [
      'Net profit',
      (trade) => <Result amount={trade.netProfit} currency={currencyOf(trade)} />,
      'figure',
    ],
  }) satisfies { readonly [Key in keyof Trade]?: Column<Trade> }

type SortKey = keyof ReturnType<typeof columnsOf>

const sortKeys = Object.keys(columnsOf(() => undefined)) as readonly SortKey[]

/** Written into the address as `symbol` or `-symbol`; most recently closed first without it. */
const sortingOf = (query: URLSearchParams) => {
  const text = query.get('sort') ?? '-closedAt'
  const by = sortKeys.find((one) => one === text.replace(/^-/, '')) ?? 'closedAt'
  return { by, isAscending: !text.startsWith('-') }
}

const sorted = (
  trades: readonly Trade[],
  { by, isAscending }: ReturnType<typeof sortingOf>,
): readonly Trade[] => {
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
const useTrades = (filter: QueryOf<'listTrades'>) => {
  const { client } = useSession()
  const [loaded, setLoaded] = useState<Loaded>()
  const { run, ...action } = useAction('trades')
  const running = useRef<AbortController | undefined>(undefined)
  const more = (pages = 1): Promise<void> =>
    run(async () => {
      const { signal } = (running.current = new AbortController())
      let known = loaded
      for (let page = 0; page < pages && (page === 0 || known?.cursor !== undefined); page++) {
        const next = { ...filter, limit: pageSize, ...(known?.cursor && { cursor: known.cursor }) }
        try {
          const { data, meta } = await client.listTrades(next, { signal })
          const { total, cursor } = meta.pagination
          known = { trades: [...(known?.trades ?? []), ...data], total, cursor }
        } catch (error) {
          if (signal.aborted) return undefined
          throw error
        }
        setLoaded(known)
      }
      return undefined
    })
  const stop = (): void => running.current?.abort()
  useEffect(() => {
    void more()
    return stop
  }, [])
  return { ...action, loaded, more, stop }
}

export const TradeList = ({
  filter,
  accounts,
}: {
  filter: QueryOf<'listTrades'>
  accounts: readonly Account[]
}) => {
  const { loaded, failure, isRunning, isDisabled, more, stop } = useTrades(filter)
  const isSorted = useQuery().has('sort')
  return (
    <Section
      title="Closed trades"
      aside={<Download filter={filter} isEmpty={loaded?.total === 0} />}
    >
      {failure && <Notice kind="warning">{failure}</Notice>}
      {!loaded ? (
        !failure && <p class="reading">Reading…</p>
      ) : loaded.trades.length === 0 ? (
        <p class="quiet">No closed trade matches the filters.</p>
      ) : (
        <>
          <p class="quiet" aria-live="polite">
            {countWords(loaded, isSorted)}
          </p>
          <TradeTable trades={loaded.trades} accounts={accounts} />
        </>
      )}
      {loaded?.cursor && (
        <p class="more">
          <button type="button" disabled={isDisabled} onClick={() => void more()}>
            {isRunning ? 'Reading…' : `Show ${pageSize} more`}
          </button>{' '}
          {isRunning ? (
            <button type="button" onClick={stop}>
              Stop
            </button>
          ) : (
            loaded.total <= maxListed && (
              <button
                type="button"
                disabled={isDisabled}
                onClick={() => void more(Math.ceil(maxListed / pageSize))}
              >
                Show all {number(loaded.total)}
              </button>
            )
          )}
        </p>
      )}
      {!loaded && failure && (
        <button type="button" disabled={isDisabled} onClick={() => void more()}>
          Try again
        </button>
      )}
    </Section>
  )
}

/** How many trades there are in the table, and which of them are sorted. */
const countWords = ({ trades, total, cursor }: Loaded, isSorted: boolean): string => {
  if (!cursor) return `${plural(trades.length, 'trade')}.`
  const words = `${number(trades.length)} of ${number(total)} trades, the most recently closed.`
  if (!isSorted) return words
  return `${words} The order is that of these only${total > maxListed ? `; the whole list can be sorted up to ${number(maxListed)} trades, so choose narrower filters` : ', until all are shown'}.`
}

const TradeTable = ({
  trades,
  accounts,
}: {
  trades: readonly Trade[]
  accounts: readonly Account[]
}) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const query = useQuery()
  const { by, isAscending } = sortingOf(query)
  const inOrder = useMemo(() => sorted(trades, { by, isAscending }), [trades, by, isAscending])
  const { isLong, from, to, before, after } = useVisibleRows(body, inOrder.length)
  const isOfSeveral = accounts.length > 1 && !query.get('account')
  const columns = useMemo((): readonly Column<Trade>[] => {
    const accountOf = new Map(accounts.map((account) => [account.id, account]))
    const accountColumn: Column<Trade> = [
      'Account',
      ({ accountId }) => accountOf.get(accountId)?.name ?? accountId,
    ]
    return [
      ...Object.values(columnsOf(({ accountId }) => accountOf.get(accountId)?.currency)),
      ...(isOfSeveral ? [accountColumn] : []),
    ]
  }, [accounts, isOfSeveral])
  return (
    <Scroll label="Closed trades">
      <table class={isLong ? 'rows trades long' : 'rows trades'} aria-rowcount={inOrder.length + 1}>
        <thead>
          <tr>
            {columns.map(([name, , kind], at) => {
              const key = sortKeys[at]
              const next = key === by && !isAscending ? key : `-${key}`
              return (
                <th
                  key={name}
                  scope="col"
                  class={kind}
                  aria-sort={key === by ? (isAscending ? 'ascending' : 'descending') : undefined}
                >
                  {key ? (
                    <button
                      type="button"
                      class="sort"
                      onClick={() => setQuery({ sort: next === '-closedAt' ? '' : next })}
                    >
                      {name}
                    </button>
                  ) : (
                    name
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody ref={body}>
          <SpacerRow height={before} columns={columns.length} />
          {inOrder.slice(from, to).map((trade, at) => (
            <TradeRow key={trade.id} trade={trade} index={from + at + 2} columns={columns} />
          ))}
          <SpacerRow height={after} columns={columns.length} />
        </tbody>
      </table>
    </Scroll>
  )
}

/** Not rendered again while the user scrolls: formatting its numbers and times is slow. */
const TradeRow = ({
  trade,
  index,
  columns,
}: {
  trade: Trade
  /** Among all rows of the table, its head included, from 1. */
  index: number
  columns: readonly Column<Trade>[]
}) =>
  useMemo(
    () => (
      <tr aria-rowindex={index}>
        <Cells columns={columns} row={trade} />
      </tr>
    ),
    [trade, index, columns],
  )

/** Instead of rows that are not in the document. */
const SpacerRow = ({ height, columns }: { height: number; columns: number }) =>
  height === 0 ? null : (
    <tr aria-hidden="true" class="space">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  )

const Download = ({ filter, isEmpty }: { filter: QueryOf<'listTrades'>; isEmpty: boolean }) => {
  const { client } = useSession()
  const { isRunning, isDisabled, done, failure, run } = useAction('export')
  const download = async (_: string, left: AbortSignal): Promise<string | undefined> => {
    const signal = AbortSignal.any([left, AbortSignal.timeout(maxDownloadMs)])
    const file = await client.exportTrades({ ...filter, format: 'csv' }, { signal })
    const url = URL.createObjectURL(new Blob([await file.text()], { type: file.contentType }))
    const link = Object.assign(document.createElement('a'), { href: url, download: file.name })
    link.click()
    // Some browsers begin to read it only later.
    setTimeout(() => URL.revokeObjectURL(url), maxDownloadMs)
    const { skippedPositions: skipped } = file
    return skipped === 0 ? undefined : `${plural(skipped, 'position')} left out of the file. `
  }
  return (
    <>
      <span role="status">{failure ? `${failure} ` : done}</span>
      <button type="button" disabled={isEmpty || isDisabled} onClick={() => void run(download)}>
        {isRunning ? 'Reading…' : 'Download CSV'}
      </button>
    </>
  )
}
