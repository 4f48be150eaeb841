// Tables for people: columns aligned by what a terminal shows of them, and no line longer than the
// terminal where there is one.
import stringWidth from 'string-width'

/** What stands in a column, by its title. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>

export interface TableLook {
  /** Null: nothing is cut. */
  readonly width: number | null
  readonly heading: (text: string) => string
}

const gap = '  '
const narrowest = 6
const ellipsis = '…'

export const tableOf = <Row>(
  columns: Columns<Row>,
  rows: readonly Row[],
  { width, heading }: TableLook,
): string => {
  const titles = Object.keys(columns)
  const cells = rows.map((row) => Object.values(columns).map((textOf) => oneLine(textOf(row))))
  const natural = titles.map((title, index) =>
    Math.max(
      ...[title, ...cells.map((line) => line[index] ?? '')].map((cell) => stringWidth(cell)),
    ),
  )
  const widths =
    width === null ? natural : fitted(natural, width - gap.length * (titles.length - 1))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => padded(text, widths[index] ?? 0))
      .join(gap)
      .trimEnd()
  return [heading(line(titles)), ...cells.map(line)].join('\n')
}

/** The widest columns give way first, none below what still can be read. */
export const fitted = (natural: readonly number[], room: number): readonly number[] => {
  const widths = [...natural]
  for (let excess = sum(widths) - room; excess > 0; excess -= 1) {
    const widest = Math.max(...widths)
    if (widest <= narrowest) break
    widths[widths.indexOf(widest)] = widest - 1
  }
  return widths
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0)

const padded = (text: string, width: number): string => {
  const cut = shortened(text, width)
  return cut + ' '.repeat(Math.max(0, width - stringWidth(cut)))
}

const segmenter = new Intl.Segmenter()

const shortened = (text: string, width: number): string => {
  if (stringWidth(text) <= width) return text
  let kept = ''
  for (const { segment } of segmenter.segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept}${ellipsis}`
}

// What a name holds must not move a terminal's cursor or break the line.
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
