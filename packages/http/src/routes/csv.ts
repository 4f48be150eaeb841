// One row of CSV (RFC 4180). Text that a spreadsheet would run is escaped; numbers are never touched.

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

/** The shortest digits that read back as the same number, without an exponent; empty for what is no number. */
export const plainDecimal = (value: number): string => {
  if (!Number.isFinite(value)) return ''
  const shortest = String(value)
  const mark = shortest.indexOf('e')
  return mark < 0 ? shortest : spellOut(shortest.slice(0, mark), Number(shortest.slice(mark + 1)))
}

// Moves the point of `-1.25` and an exponent to where it belongs.
const spellOut = (mantissa: string, exponent: number): string => {
  const sign = mantissa.startsWith('-') ? '-' : ''
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - whole.length)}${whole}${fraction}`
  return `${sign}${whole}${fraction.padEnd(exponent, '0')}`
}
