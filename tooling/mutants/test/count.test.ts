// What of a run's results is counted, and how a mutant is known again on the page of equivalents.
import { describe, expect, it } from 'vitest'
import { countRoom, diffOf, percentOf, tableOf } from '../src/count.ts'
import { readEquivalents } from '../src/equivalents.ts'
import { withoutSurvivors } from '../src/forget-survivors.ts'
import { mutantOf } from '../src/mutant.ts'
import type { MutantResult } from '../src/mutant.ts'

const source = `const a = 1
const isMore = (x: number): boolean => {
  return x > a
}
`
const at = (line: number, from: number, to: number, endLine = line) => ({
  location: { start: { line, column: from }, end: { line: endLine, column: to } },
  fileName: '/anywhere/packages/domain/src/trades/more.ts',
})
const result = (status: MutantResult['status'], replacement: string, place = at(3, 10, 15)): MutantResult => ({
  id: replacement,
  mutatorName: 'Some',
  status,
  replacement,
  ...place,
})

const page = `# Mutants

Words, and a table.

## \`trades/more.ts\`

Why it is the same:

\`\`\`diff
- return x > a
+ return x >= a
+ return !(x <= a)
\`\`\`

## \`trades/other.ts\`

\`\`\`diff
- return x > a
+ return true
\`\`\`
`

describe('a mutant', () => {
  it('is the line before and after', () => {
    expect(mutantOf(result('Survived', 'x >= a'), source)).toEqual({
      file: 'trades/more.ts',
      line: 3,
      before: 'return x > a',
      after: 'return x >= a',
    })
  })

  it('of several lines is written on one', () => {
    expect(mutantOf(result('Survived', '{}', at(2, 40, 2, 4)), source)).toMatchObject({
      line: 2,
      before: 'const isMore = (x: number): boolean => { return x > a }',
      after: 'const isMore = (x: number): boolean => {}',
    })
  })
})

describe('the next run', () => {
  it('knows the mutants that were found and those that are equivalent, and tries all others again', () => {
    const mutants = [
      result('Killed', 'x < a'),
      result('Timeout', 'x'),
      result('Survived', 'x >= a'),
      result('Survived', 'true'),
      result('NoCoverage', 'false'),
    ]
    const report = { config: { some: 1 }, files: { 'src/trades/more.ts': { source, mutants } } }
    const { config, files } = withoutSurvivors(report, readEquivalents(page))
    expect(config).toEqual({ some: 1 })
    expect(files['src/trades/more.ts']?.source).toBe(source)
    expect(files['src/trades/more.ts']?.mutants.map(({ replacement }) => replacement)).toEqual(['x < a', 'x', 'x >= a'])
  })
})

describe('a room', () => {
  const results = [
    result('Killed', 'x < a'),
    result('Timeout', 'x'),
    result('Survived', 'x >= a'),
    result('Survived', 'true'),
    result('NoCoverage', 'false'),
    result('CompileError', 'y'),
    result('Ignored', 'z'),
  ]
  const count = countRoom('trades', results, readEquivalents(page), () => source)

  it('counts mutants that run, and takes out what the page lists of that very file and line', () => {
    expect(count).toMatchObject({ room: 'trades', mutants: 5, killed: 2, equivalent: 1 })
    expect(count.survived.map(diffOf)).toEqual([
      'trades/more.ts:3\n- return x > a\n+ return true',
      'trades/more.ts:3\n- return x > a\n+ return false',
    ])
  })

  it('is told as a row: killed over all that can be told from the code', () => {
    expect(percentOf(count)).toBe(50)
    expect(tableOf([count]).split('\n').at(-1)).toBe('| trades | 5 | 2 | 2 | 1 | 50.0 |')
    expect(percentOf({ ...count, mutants: 1, killed: 0, equivalent: 1 })).toBe(100)
  })
})
