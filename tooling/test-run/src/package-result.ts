// What one package's test run came to, read from the report that vitest left. A run without a readable report counts as a failure:
// silence is never success.

/** The part of vitest's JSON report that is read here. */
export interface VitestReport {
  readonly testResults: readonly VitestFile[]
}

export interface VitestFile {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly VitestTest[]
}

export interface VitestTest {
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly status: string
}

export interface TestName {
  readonly file: string
  readonly name: string
}

export interface PackageResult {
  readonly packageName: string
  readonly passed: number
  /** Failed tests by name; also files that did not load and runs that left no report. */
  readonly failures: readonly TestName[]
  readonly skipped: readonly TestName[]
}

/** `undefined` where the text is not a report of vitest. */
export const parseReport = (text: string): VitestReport | undefined => {
  try {
    const report: unknown = JSON.parse(text)
    return isReport(report) ? report : undefined
  } catch {
    return undefined
  }
}

/**
 * `folder` is the package's own folder; file names are told relative to it. `endedWithError` says how the run itself ended: an error outside every
 * test (a rejection that nobody awaited, say) is in no report.
 */
export const packageResult = (
  { name: packageName, folder }: { readonly name: string; readonly folder: string },
  report: VitestReport | undefined,
  endedWithError: boolean,
): PackageResult => {
  if (report === undefined) return { packageName, passed: 0, failures: [noReport], skipped: [] }
  const files = report.testResults.map((file) => fileResult(file, relativeName(folder, file.name)))
  const failures = files.flatMap((file) => file.failures)
  return {
    packageName,
    passed: files.reduce((sum, file) => sum + file.passed, 0),
    failures: endedWithError && failures.length === 0 ? [errorOutsideTests] : failures,
    skipped: files.flatMap((file) => file.skipped),
  }
}

const noReport: TestName = { file: '', name: 'the run left no report: it crashed, was stopped, or its build failed' }
const errorOutsideTests: TestName = { file: '', name: 'the run ended with an error outside its tests; its words are above' }

const fileResult = (file: VitestFile, name: string): Omit<PackageResult, 'packageName'> => {
  const named = (tests: readonly VitestTest[]): readonly TestName[] => tests.map((test) => ({ file: name, name: fullName(test) }))
  const skipped = file.assertionResults.filter(({ status }) => status === 'skipped' || status === 'todo')
  const passed = file.assertionResults.filter(({ status }) => status === 'passed')
  // Anything else failed; a test that was still running or waiting when the run ended is among it.
  const failed = file.assertionResults.filter((test) => !skipped.includes(test) && !passed.includes(test))
  const isBrokenFile = file.status !== 'passed' && failed.length === 0
  const failures = isBrokenFile
    ? [{ file: name, name: firstLine(file.message) || 'failed outside its tests: a hook failed, or the file did not finish' }]
    : named(failed)
  return { passed: passed.length, failures, skipped: named(skipped) }
}

const isReport = (value: unknown): value is VitestReport =>
  typeof value === 'object' && value !== null && 'testResults' in value && Array.isArray(value.testResults)

const fullName = ({ ancestorTitles, title }: VitestTest): string => [...ancestorTitles, title].filter((part) => part !== '').join(' > ')

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

const relativeName = (folder: string, file: string): string => (file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file)
