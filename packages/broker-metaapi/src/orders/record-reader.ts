// Reads the broker's lists in which an order may be found. What cannot be read of a list is left out and said to be missing, so that what was
// read still counts; nothing is thrown.
import { dayMs } from '@tradeport/domain'
import type { Instant } from '@tradeport/domain'
import { pageSize } from '../client.ts'
import type { HistoryPage } from '../client.ts'
import { bounded } from '../connection.ts'
import type { Connection } from '../connection.ts'
import type { Bounded } from '../deadline.ts'
import type { ProviderRoute } from '../failures.ts'
import type { Evidence } from './order-evidence.ts'
import { dealTraceOf, orderTraceOf, positionTraceOf, rowsPageOf } from './order-records.ts'
import type { Records, RowsWrapper } from './order-records.ts'
import type { Target } from '../transport.ts'

/** Some days of records. A provider that fills more pages than these gives the same rows for ever. */
const maxPages = 42

export interface RecordReader {
  /** With `refresh` as the trading terminal has them, past the provider's copy. */
  readonly positions: (target: Target, refresh: boolean, signal: AbortSignal) => Promise<Evidence['positions']>
  readonly deals: (target: Target, sentAt: Instant, signal: AbortSignal) => Promise<Evidence['deals']>
  /** All four lists at once. */
  readonly all: (target: Target, sentAt: Instant, refresh: boolean, signal: AbortSignal) => Promise<Evidence>
}

/** How a list is read: its rows, and the name it has in the wrapped form. */
interface ListTerms<A> {
  readonly route: ProviderRoute
  readonly wrapper: RowsWrapper
  readonly traceOf: (row: unknown) => A | undefined
}

export const createRecordReader = ({ client, clock, deadlines }: Connection): RecordReader => {
  const page = async <A>(
    terms: ListTerms<A>,
    fetchPage: Bounded<Uint8Array>,
    signal: AbortSignal,
  ): Promise<Records<A> & { readonly size: number }> => {
    try {
      const read = rowsPageOf(await bounded(terms.route, deadlines.readMs, fetchPage, signal), terms.wrapper)
      if (read === undefined) return missing
      const traces = read.rows.map(terms.traceOf)
      const rows = traces.filter((trace) => trace !== undefined)
      return { rows, isWhole: !read.isLoading && rows.length === traces.length, size: traces.length }
    } catch {
      return missing
    }
  }

  const history = async <A>(
    terms: ListTerms<A>,
    fetchPage: (window: HistoryPage, signal: AbortSignal) => Promise<Uint8Array>,
    sentAt: Instant,
    signal: AbortSignal,
  ): Promise<Records<A>> => {
    // A day more at both ends: an order is found by its client id, however wrong our clock is or was. Fixed before the first page, so that deals made
    // meanwhile move nothing.
    const window = { start: sentAt - dayMs, end: Math.max(sentAt, clock.now()) + dayMs, limit: pageSize }
    const rows: A[] = []
    let areWhole = true
    for (let index = 0; index < maxPages; index += 1) {
      const one = await page(terms, (end) => fetchPage({ ...window, offset: index * pageSize }, end), signal)
      rows.push(...one.rows)
      areWhole &&= one.isWhole
      if (one.size < pageSize) return { rows, isWhole: areWhole }
    }
    return { rows, isWhole: false }
  }

  const positions: RecordReader['positions'] = (target, refresh, signal) =>
    page(positionTerms, (end) => client.positions(target, refresh, end), signal)

  const deals: RecordReader['deals'] = (target, sentAt, signal) =>
    history(dealTerms, (window, end) => client.historyDeals(target, window, end), sentAt, signal)

  const all: RecordReader['all'] = async (target, sentAt, refresh, signal) => {
    const [held, orders, historyOrders, dealt] = await Promise.all([
      positions(target, refresh, signal),
      page(orderTerms, (end) => client.orders(target, refresh, end), signal),
      history(historyOrderTerms, (window, end) => client.historyOrders(target, window, end), sentAt, signal),
      deals(target, sentAt, signal),
    ])
    return { positions: held, orders, historyOrders, deals: dealt }
  }

  return { positions, deals, all }
}

const missing = { rows: [], isWhole: false, size: 0 }

const positionTerms = { route: 'positions', wrapper: 'positions', traceOf: positionTraceOf } as const
const orderTerms = { route: 'orders', wrapper: 'orders', traceOf: orderTraceOf } as const
const historyOrderTerms = { route: 'history-orders', wrapper: 'historyOrders', traceOf: orderTraceOf } as const
const dealTerms = { route: 'history-deals', wrapper: 'deals', traceOf: dealTraceOf } as const
