// The words that end a test run: a line for each package, what failed, what was not run and why, and the count alone on the last line.
import type { PackageResult, TestName } from './package-result.ts'

/** Something outside the repository that tests need, named by the variable that says where it is. */
export interface Want {
  readonly variable: string
  readonly what: string
  readonly isThere: boolean
}

export interface Summary {
  readonly lines: readonly string[]
  readonly passed: number
  readonly failed: number
}

/**
 * `runnerFailed` says that the task runner ended with an error. `sourceOf` gives a test file's text: a skipped test is put down to the want that
 * its name or, failing that, its file mentions.
 */
export const summarise = (
  results: readonly PackageResult[],
  wants: readonly Want[],
  runnerFailed: boolean,
  sourceOf: (packageName: string, file: string) => string,
): Summary => {
  const passed = results.reduce((sum, { passed: count }) => sum + count, 0)
  const failures = results.flatMap(({ packageName, failures: names }) => names.map((name) => nameLine(packageName, name)))
  const doubts = failures.length > 0 ? [] : runDoubts(passed, runnerFailed)
  const failed = failures.length + doubts.length
  const skipped = skippedTests(results, wants, sourceOf)
  return {
    lines: [
      ...results.map(packageLine),
      ...section('Failed:', [...failures, ...doubts]),
      ...wants.filter(({ isThere }) => !isThere).flatMap((want) => wantLines(want, skipped)),
      ...section(
        'Skipped in the test itself:',
        skipped.filter(({ variable }) => variable === undefined).map(({ line }) => line),
      ),
      '',
      `${passed} passed, ${failed} failed`,
    ],
    passed,
    failed,
  }
}

interface SkippedTest {
  readonly variable: string | undefined
  readonly line: string
}

const skippedTests = (
  results: readonly PackageResult[],
  wants: readonly Want[],
  sourceOf: (packageName: string, file: string) => string,
): readonly SkippedTest[] => {
  const missing = wants.filter(({ isThere }) => !isThere).map(({ variable }) => variable)
  const mentionedIn = (text: string) => missing.find((variable) => text.includes(variable))
  return results.flatMap(({ packageName, skipped }) =>
    skipped.map((test) => ({
      variable: mentionedIn(test.name) ?? mentionedIn(sourceOf(packageName, test.file)),
      line: nameLine(packageName, test),
    })),
  )
}

// A run that failed outside every test, or that ran nothing, must not read as a success.
const runDoubts = (passed: number, runnerFailed: boolean): readonly string[] => {
  if (runnerFailed) return ['  the run ended with an error although no test failed; its words are above']
  if (passed === 0) return ['  no test was run']
  return []
}

const wantLines = ({ variable, what }: Want, skipped: readonly SkippedTest[]): readonly string[] => {
  const lines = skipped.filter((test) => test.variable === variable).map(({ line }) => line)
  return section(`Not run for want of ${what} (${variable} is not set): ${lines.length}`, lines, true)
}

const section = (title: string, lines: readonly string[], isAlwaysShown = false): readonly string[] =>
  lines.length > 0 || isAlwaysShown ? ['', title, ...lines] : []

const packageLine = ({ packageName, passed, failures, skipped }: PackageResult): string => {
  if (passed + failures.length + skipped.length === 0) return `${packageName}: no tests`
  const notRun = skipped.length > 0 ? `, ${skipped.length} not run` : ''
  return `${packageName}: ${passed} passed, ${failures.length} failed${notRun}`
}

const nameLine = (packageName: string, { file, name }: TestName): string => `  ${[packageName, file, name].filter(Boolean).join('  ')}`
