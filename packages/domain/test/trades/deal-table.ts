// Deals as a plain-text table, so that a test shows a history the way a statement does.
import type { Deal } from '../../src/trades/index.ts'

const columns = [
  'id',
  'positionId',
  'entry',
  'side',
  'symbol',
  'volume',
  'price',
  'profit',
  'commission',
  'swap',
  'time',
]

/**
 * Reads one deal a line: id, position, entry, side, symbol, volume, price, profit, commission, swap
 * and time, parted by spaces. `-` leaves a field out. The time is HH:MM:SS of 5 January 2026, any
 * other date-time, or `?` for one that could not be read. Empty lines, and lines that begin with
 * `#`, say nothing. Throws when a line has another number of fields.
 */
export const dealTable = (text: string): readonly Deal[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readLine)

const readLine = (line: string): Deal => {
  const cells = line.split(/\s+/)
  if (cells.length !== columns.length)
    throw new Error(`A deal has ${columns.length} fields (${columns.join(', ')}), not: ${line}`)
  const shown = columns.flatMap((column, index) => {
    const text = cells[index] ?? '-'
    return text === '-' ? [] : [[column, readers[column]?.(text) ?? text] as const]
  })
  return { id: '', profit: 0, commission: 0, swap: 0, ...Object.fromEntries(shown) }
}

const readTime = (text: string) => {
  if (text === '?') return Number.NaN
  return Date.parse(/^\d\d:\d\d:\d\d$/.test(text) ? `2026-01-05T${text}Z` : text)
}

/** Of the columns that are no text. */
const readers: Partial<Record<string, (text: string) => number>> = {
  volume: Number,
  price: Number,
  profit: Number,
  commission: Number,
  swap: Number,
  time: readTime,
}
