// What reads of an account do not show yet: the positions and open orders after a trade, or its
// closing deals.
import type { Lasting } from './faults.ts'
import type { Entry, OrderRow, PositionRow } from './rows.ts'

/** Something that shows only after a number of reads, or after a time. */
export type Wait = {
  /** Reads that still do not show it; null if reads do not matter. */
  readsLeft: number | null
  /** Epoch milliseconds; null if time does not matter. */
  readonly until: number | null
}

export const waitFor = ({ reads, ms }: Lasting, at: number): Wait => ({
  readsLeft: reads ?? (ms === undefined ? 1 : null),
  until: ms === undefined ? null : at + ms,
})

export const isOver = (wait: Wait, at: number): boolean =>
  (wait.readsLeft !== null && wait.readsLeft <= 0) || (wait.until !== null && at >= wait.until)

/** Counts a read that does not show it yet; true when this read does show it. */
export const readShows = (wait: Wait, at: number): boolean => {
  if (isOver(wait, at)) return true
  if (wait.readsLeft !== null) wait.readsLeft--
  return false
}

/** Compared by identity. */
type Deal = { readonly id: string }

type ListLag<Row> = { readonly rows: readonly Row[]; readonly wait: Wait }

export type Lags = {
  positions: ListLag<PositionRow> | undefined
  orders: ListLag<OrderRow> | undefined
  deals: { readonly hidden: ReadonlySet<Deal>; readonly wait: Wait }[]
}

export const noLags = (): Lags => ({ positions: undefined, orders: undefined, deals: [] })

/** A list that is shown as it was. A second trade within the lag does not show the first one. */
export const lagBehind = <Row>(
  lag: ListLag<Row> | undefined,
  rows: readonly Row[],
  lasting: Lasting,
  at: number,
): ListLag<Row> => ({
  rows: lag !== undefined && !isOver(lag.wait, at) ? lag.rows : rows,
  wait: waitFor(lasting, at),
})

export const hideDeals = (
  lags: Lags,
  rows: readonly Deal[],
  lasting: Lasting,
  at: number,
): void => {
  lags.deals.push({ hidden: new Set(rows), wait: waitFor(lasting, at) })
}

/** The rows of a list that a read shows. Counts as a read. */
export const shownRows = <Row>(
  lag: ListLag<Row> | undefined,
  rows: readonly Row[],
  at: number,
): readonly Row[] => (lag === undefined || readShows(lag.wait, at) ? rows : lag.rows)

/** The deals that a read shows. Counts as a read. */
export const shownDeals = <Row extends Deal>(
  lags: Lags,
  deals: readonly Entry<Row>[],
  at: number,
): readonly Entry<Row>[] => {
  lags.deals = lags.deals.filter(({ wait }) => !readShows(wait, at))
  return deals.filter(({ row }) => lags.deals.every(({ hidden }) => !hidden.has(row)))
}
