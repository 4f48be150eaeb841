// Rows kept in the order of time, so that a page of a long history is a binary search and a slice.

export type Entry<Row> = {
  /** Epoch milliseconds; NaN where the row's time could not be read. */
  readonly at: number
  readonly row: Row
  /** The row as JSON text, written once. */
  text?: string
}

export type Ledger<Row> = {
  readonly add: (entry: Entry<Row>) => void
  /**
   * Rows with start <= time < end; rows without a readable time belong to every range and come
   * last.
   */
  readonly between: (start: number, end: number) => Span<Row>
  readonly all: () => readonly Entry<Row>[]
}

/** A range of a ledger, of which only pages are copied. */
export type Span<Row> = {
  readonly size: number
  readonly slice: (offset: number, limit: number) => readonly Entry<Row>[]
}

export const createLedger = <Row>(initial: readonly Entry<Row>[]): Ledger<Row> => {
  const timed = initial.filter((entry) => !Number.isNaN(entry.at)).toSorted((a, b) => a.at - b.at)
  const timeless = initial.filter((entry) => Number.isNaN(entry.at))

  return {
    add: (entry) => {
      if (Number.isNaN(entry.at)) timeless.push(entry)
      else timed.splice(firstFrom(timed, entry.at, true), 0, entry)
    },
    between: (start, end) => {
      const first = firstFrom(timed, start, false)
      const beyond = Math.max(first, firstFrom(timed, end, false))
      const count = beyond - first
      return {
        size: count + timeless.length,
        slice: (offset, limit) => {
          const rows = timed.slice(
            first + Math.min(offset, count),
            first + Math.min(offset + limit, count),
          )
          const left = limit - rows.length
          const skipped = Math.max(0, offset - count)
          return left > 0 && timeless.length > 0
            ? [...rows, ...timeless.slice(skipped, skipped + left)]
            : rows
        },
      }
    },
    all: () => [...timed, ...timeless],
  }
}

/** A span over rows that were selected or reordered before. */
export const spanOf = <Row>(entries: readonly Entry<Row>[]): Span<Row> => ({
  size: entries.length,
  slice: (offset, limit) => entries.slice(offset, offset + limit),
})

/**
 * The place of the first row at a time or later, or, with `past`, of the first row later than it.
 */
const firstFrom = (rows: readonly { readonly at: number }[], at: number, past: boolean): number => {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const time = rows[middle]?.at ?? Infinity
    if (time < at || (past && time === at)) low = middle + 1
    else high = middle
  }
  return low
}
