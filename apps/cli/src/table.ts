// What people see of records: tables and lines.
import stringWidth from 'string-width'

export type Row = Readonly<Record<string, unknown>>

/** The field of each column, by the column's title: `limits.maxOpenLots` is a field of a field. */
export type Columns = Readonly<Record<string, string>>

/** Control characters in a name must not move the cursor or break the line. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')

/** @param field the path of the field that has the value */
export const valueText = (value: unknown, field: string): string => {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value))
    return oneLine(value.join(' ')) || (field === 'ipAllowlist' ? 'everywhere' : 'none')
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value))
  // An expired key stays enabled.
  return field === 'expiresAt' && text <= new Date().toJSON() ? `${text} (past)` : text
}

const fieldOf = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => Object(value)[name], row)

/** Aligned by the width that a terminal gives to each character. */
export const tableOf = (columns: Columns, rows: readonly Row[]): readonly string[] => {
  const lines = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((path) => valueText(fieldOf(row, path), path))),
  ]
  const widths = Object.keys(columns).map((_, at) =>
    Math.max(...lines.map((line) => stringWidth(line[at] ?? ''))),
  )
  return lines.map((line) =>
    line
      .map((text, at) => text + ' '.repeat((widths[at] ?? 0) - stringWidth(text)))
      .join('  ')
      .trimEnd(),
  )
}

/** A line for each field that is set, fields of fields included. */
export const linesOf = (record: object, prefix = ''): readonly string[] =>
  Object.entries(record).flatMap(([name, value]: [string, unknown]) => {
    if (value === null) return []
    if (typeof value === 'object' && !Array.isArray(value))
      return linesOf(value, `${prefix}${name}.`)
    return [`${`${prefix}${name}`.padEnd(32)}${valueText(value, name)}`]
  })
