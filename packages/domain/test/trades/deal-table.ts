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
] as const

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
  const cell = (column: (typeof columns)[number]): string | undefined => {
    const text = cells[columns.indexOf(column)]
    return text === '-' ? undefined : text
  }
  const [volume, price, time] = [cell('volume'), cell('price'), cell('time')]
  return {
    id: cell('id') ?? '',
    ...present('positionId', cell('positionId')),
    ...present('entry', cell('entry') as Deal['entry']),
    ...present('side', cell('side') as Deal['side']),
    ...present('symbol', cell('symbol')),
    ...present('volume', volume === undefined ? undefined : Number(volume)),
    ...present('price', price === undefined ? undefined : Number(price)),
    profit: Number(cell('profit') ?? 0),
    commission: Number(cell('commission') ?? 0),
    swap: Number(cell('swap') ?? 0),
    ...present('time', time === undefined ? undefined : readTime(time)),
  }
}

const present = <K extends keyof Deal>(key: K, value: Deal[K] | undefined): Partial<Deal> =>
  value === undefined ? {} : { [key]: value }

const readTime = (text: string) => {
  if (text === '?') return Number.NaN
  return Date.parse(/^\d\d:\d\d:\d\d$/.test(text) ? `2026-01-05T${text}Z` : text)
}
