// That a run works, on the smallest file; and that the page of equivalents still speaks of the code as it is.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readEquivalents } from '../src/equivalents.ts'
import { onOneLine } from '../src/mutant.ts'
import { domain } from '../src/run-room.ts'

const main = resolve(import.meta.dirname, '../src/main.ts')
const mutants = (...options: readonly string[]) =>
  spawnSync(process.execPath, ['--experimental-strip-types', main, ...options], { encoding: 'utf8' })

it('finds the mutants of a file with the tests of its room', { timeout: 600_000 }, () => {
  const { status, stdout, stderr } = mutants('statistics/sharpe-ratio.ts', '--afresh', '--concurrency', '1')
  expect({ status, stdout, stderr }).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('| statistics/sharpe-ratio.ts | 5 | 5 | 0 | 0 | 100.0 |'),
  })
})

it('names the rooms to whoever asks for another', () => {
  const { status, stdout } = mutants('tradse')
  expect({ status, stdout }).toEqual({ status: 2, stdout: expect.stringMatching(/^"tradse" is not one of the rooms trades, statistics, /) })
})

it('lists equivalent mutants of lines that are there', () => {
  const page = join(domain, 'mutants.md')
  const listed = existsSync(page) ? readEquivalents(readFileSync(page, 'utf8')) : []
  const gone = listed.filter(({ file, before }) => {
    const path = join(domain, 'src', file)
    return !existsSync(path) || !onOneLine(readFileSync(path, 'utf8')).includes(before)
  })
  expect(gone).toEqual([])
})
