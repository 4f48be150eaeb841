// What reads of an account do not show yet: the positions after a trade, or its closing deals.
import { type Entry, isOver, readShows, type Span, spanOf, type Wait, waitFor } from './account.ts'
import type { PositionRow } from './rows.ts'

/** Compared by identity. */
type Deal = { readonly id: string }

export type Lags = {
  positions: { readonly rows: readonly PositionRow[]; readonly wait: Wait } | undefined
  deals: { readonly hidden: ReadonlySet<Deal>; readonly wait: Wait }[]
}

type Terms = { readonly reads?: number; readonly ms?: number }

export const noLags = (): Lags => ({ positions: undefined, deals: [] })

export const lagPositions = (
  lags: Lags,
  rows: readonly PositionRow[],
  terms: Terms,
  at: number,
): void => {
  // A second trade within the lag does not show the first one.
  const shown =
    lags.positions !== undefined && !isOver(lags.positions.wait, at) ? lags.positions.rows : rows
  lags.positions = { rows: shown, wait: waitFor(terms, at) }
}

export const hideDeals = (lags: Lags, rows: readonly Deal[], terms: Terms, at: number): void => {
  lags.deals.push({ hidden: new Set(rows), wait: waitFor(terms, at) })
}

/** The positions that a read shows. Counts as a read. */
export const shownPositions = (
  lags: Lags,
  rows: readonly PositionRow[],
  at: number,
): readonly PositionRow[] => {
  if (lags.positions === undefined) return rows
  if (!readShows(lags.positions.wait, at)) return lags.positions.rows
  lags.positions = undefined
  return rows
}

/** The deals that a read shows. Counts as a read. */
export const shownDeals = <Row extends Deal>(
  lags: Lags,
  span: Span<Row>,
  at: number,
): Span<Row> => {
  if (lags.deals.length === 0) return span
  lags.deals = lags.deals.filter(({ wait }) => !readShows(wait, at))
  if (lags.deals.length === 0) return span
  const isShown = (entry: Entry<Row>): boolean =>
    lags.deals.every(({ hidden }) => !hidden.has(entry.row))
  return spanOf(span.slice(0, span.size).filter(isShown))
}
