// One row of CSV (RFC 4180). Text that a spreadsheet would run is escaped; numbers are never
// touched.

export type Cell = string | number | boolean

const needsQuotes = /[",\r\n]/
const runsInSpreadsheets = /^[=+\-@\t\r\n]/

/** A row with its line end. */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`

const csvCell = (cell: Cell): string => {
  if (typeof cell === 'number') return plainDecimal(cell)
  if (typeof cell === 'boolean') return String(cell)
  const text = runsInSpreadsheets.test(cell) ? `'${cell}` : cell
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

// 100 decimal places are the most that it can write.
const withoutExponent = new Intl.NumberFormat('en-US', {
  useGrouping: false,
  maximumFractionDigits: 100,
})

/**
 * The shortest digits that read back as the same number, without an exponent; empty for what is no
 * number.
 */
export const plainDecimal = (value: number): string => {
  if (!Number.isFinite(value)) return ''
  const shortest = String(value)
  return shortest.includes('e') ? withoutExponent.format(value) : shortest
}
