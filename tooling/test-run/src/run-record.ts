// Turbo's own record of a run (`--summarize`): how each package's tests ended, whatever their report says.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

interface RunRecord {
  readonly tasks: readonly { readonly package: string; readonly task: string; readonly execution?: { readonly exitCode: number } }[]
}

/** Names of the packages whose test task ended with another exit code than 0 in the one run since the records were removed. */
export const packagesThatEndedWithError = (root: string): ReadonlySet<string> => {
  const folder = recordsFolder(root)
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : []
  const records = files.map((file): RunRecord => JSON.parse(readFileSync(join(folder, file), 'utf8')))
  const tests = records.flatMap(({ tasks }) => tasks).filter(({ task }) => task === 'test')
  return new Set(tests.filter(({ execution }) => execution !== undefined && execution.exitCode !== 0).map((test) => test.package))
}

export const removeRunRecords = (root: string): void => rmSync(recordsFolder(root), { recursive: true, force: true })

const recordsFolder = (root: string): string => join(root, '.turbo', 'runs')
