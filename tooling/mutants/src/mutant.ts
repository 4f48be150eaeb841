// A mutant as a reader compares it: whole lines before and after, without their indentation, so that it is known again when lines move.
import type { Stryker } from '@stryker-mutator/core'

export type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

export interface Mutant {
  /** From the domain's src: `trades/deal.ts`. */
  readonly file: string
  readonly line: number
  readonly before: string
  readonly after: string
}

/** @param source the file's text; the result's lines and columns count from 1 */
export const mutantOf = ({ fileName, location, replacement }: Located, source: string): Mutant => {
  const { start, end } = location
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const head = (lines[0] ?? '').slice(0, start.column - 1)
  const tail = (lines.at(-1) ?? '').slice(end.column - 1)
  return {
    file: fileName.replaceAll('\\', '/').split('/src/').at(-1) ?? fileName,
    line: start.line,
    before: onOneLine(lines.join('\n')),
    after: onOneLine(`${head}${replacement ?? ''}${tail}`),
  }
}

type Located = Pick<MutantResult, 'fileName' | 'location'> & { readonly replacement: string | undefined }

export const isSameMutant = (a: Omit<Mutant, 'line'>, b: Omit<Mutant, 'line'>): boolean =>
  a.file === b.file && a.before === b.before && a.after === b.after

export const onOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
