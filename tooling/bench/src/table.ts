// The results as a person reads them: one table of every ratio, and below it what each reference
// is.
import { isMet, isNotRun } from './bench.ts'
import type { Outcome, Ratio } from './bench.ts'

export interface BenchResult {
  readonly bench: string
  readonly outcome: Outcome
}

const heads = ['bench', 'what', 'ours', 'reference', 'ratio', 'target', '']

/** Each bench that was left out has a row, too. */
export const tableOf = (results: readonly BenchResult[]): string => {
  const rows = [heads, ...results.flatMap(rowsOf)]
  const widths = heads.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** What each figure was measured against. */
export const detailsOf = (results: readonly BenchResult[]): string =>
  results
    .flatMap(({ bench, outcome }) =>
      isNotRun(outcome)
        ? [`${bench}: ${outcome.notRun}`]
        : outcome.map(({ name, reference }) => `${bench}: ${name}\n  against ${reference}`),
    )
    .join('\n')

const rowsOf = ({ bench, outcome }: BenchResult): readonly (readonly string[])[] =>
  isNotRun(outcome)
    ? [[bench, '(see below)', '', '', '', '', 'not run']]
    : outcome.map((ratio) => [
        bench,
        ratio.name,
        ...figuresOf(ratio),
        ratio.ratio.toFixed(3),
        ...(ratio.target === undefined
          ? ['none', '']
          : [`<= ${ratio.target.toFixed(2)}`, isMet(ratio) ? 'met' : 'MISSED']),
      ])

const figuresOf = (ratio: Ratio): readonly string[] =>
  'oursMs' in ratio
    ? [ratio.oursMs, ratio.referenceMs].map((ms) => `${ms.toFixed(ms < 10 ? 3 : 1)} ms`)
    : [ratio.oursMegabytes, ratio.referenceMegabytes].map(
        (megabytes) => `${megabytes.toFixed(1)} MB`,
      )
