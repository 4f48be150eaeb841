// Faults of a history: rows out of order, twice, without their volume, or not all there.
import { spanOf, type Entry, type Span } from '../books/ledger.ts'
import { createRandom } from '../numbers/random.ts'
import type { Fired } from './fault-set.ts'

type Row = { readonly id: string; readonly [field: string]: unknown }

/** The rows that a faulty history holds in a range, before they are cut into pages. */
export const bendSpan = <R extends Row>(span: Span<R>, fired: Fired, seed: number): Span<R> => {
  const synchronizing = fired.find('synchronizing')
  const last = fired.find('last-rows')
  const shuffled = fired.find('shuffled')
  const withoutVolume = fired.find('missing-volume')
  if ([synchronizing, last, shuffled, withoutVolume].every((fault) => fault === undefined))
    return span
  let rows = span.slice(0, span.size)
  if (synchronizing !== undefined)
    rows = rows.slice(0, Math.floor(rows.length * (synchronizing.share ?? 0)))
  if (last !== undefined) rows = rows.slice(Math.max(0, rows.length - (last.rows ?? 5_000)))
  if (withoutVolume !== undefined)
    rows = removeVolumes(rows, withoutVolume.entry ?? 'out', withoutVolume.every ?? 1)
  return spanOf(shuffled === undefined ? rows : shuffle(rows, seed))
}

/** With repeated rows, each page starts that many rows early. */
export const bendOffset = (offset: number, limit: number, fired: Fired): number => {
  const duplicates = fired.find('duplicates')
  if (duplicates === undefined) return offset
  const repeated = Math.min(duplicates.rows ?? 1, limit - 1)
  return offset - repeated * Math.floor(offset / limit)
}

const removeVolumes = <R extends Row>(
  rows: readonly Entry<R>[],
  entry: 'in' | 'out' | 'all',
  every: number,
): Entry<R>[] => {
  const wanted = {
    in: ['DEAL_ENTRY_IN'],
    out: ['DEAL_ENTRY_OUT', 'DEAL_ENTRY_OUT_BY'],
    all: undefined,
  }[entry]
  let met = 0
  return rows.map((one) => {
    const isWanted =
      wanted === undefined ? 'volume' in one.row : wanted.includes(String(one.row['entryType']))
    if (!isWanted || met++ % every !== 0) return one
    const { volume: _volume, ...row } = one.row
    return { at: one.at, row: row as unknown as R }
  })
}

/** Always the same order for the same rows, so that pages fit together. */
const shuffle = <R>(rows: readonly Entry<R>[], seed: number): Entry<R>[] => {
  const random = createRandom(seed, 'shuffled')
  const keyed = rows.map((row) => ({ row, key: random.fraction() }))
  return keyed.toSorted((a, b) => a.key - b.key).map(({ row }) => row)
}
