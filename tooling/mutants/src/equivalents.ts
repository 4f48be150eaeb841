// The page of mutants that nobody can tell from the code (packages/domain/mutants.md), as the run reads it: a file a heading, then blocks of a
// changed line (-) and what mutants make of it (+).
import type { Mutant } from './mutant.ts'
import { onOneLine } from './mutant.ts'

export type Equivalent = Omit<Mutant, 'line'>

export const readEquivalents = (page: string): readonly Equivalent[] => {
  const found: Equivalent[] = []
  let [file, before, isInside] = ['', '', false]
  for (const line of page.split('\n')) {
    const heading = /^#+ `?([a-z-]+\/[a-z-]+\.ts)`?$/.exec(line)
    if (heading?.[1] !== undefined) file = heading[1]
    else if (line === '```diff') isInside = true
    else if (line === '```') isInside = false
    else if (isInside && line.startsWith('-')) before = onOneLine(line.slice(1))
    else if (isInside && line.startsWith('+')) found.push({ file, before, after: onOneLine(line.slice(1)) })
  }
  return found
}
