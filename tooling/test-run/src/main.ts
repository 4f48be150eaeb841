// `pnpm test`: runs every package's tests through turbo, then says from their reports what passed, what failed and what was not run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { historiesEnvironment } from './histories.ts'
import { packageResult, parseReport } from './package-result.ts'
import { packagesThatEndedWithError, removeRunRecords } from './run-record.ts'
import { summarise } from './summary.ts'
import type { Want } from './summary.ts'
import { readReport, removeReport, testedPackages } from './workspace.ts'

const root = resolve(import.meta.dirname, '../../..')

const run = async (): Promise<number> => {
  const histories = historiesEnvironment(process.env['TEST_HISTORIES'] ?? resolve(root, '../shared/data'))
  const packages = testedPackages(root)
  for (const tested of packages) removeReport(tested)
  removeRunRecords(root)
  const runnerFailed = (await runTurbo(histories)) !== 0
  const broken = packagesThatEndedWithError(root)
  const results = packages.map((tested) => packageResult(tested, parseReport(readReport(tested)), broken.has(tested.name)))
  const { lines, failed } = summarise(results, wants(histories), runnerFailed, (packageName, file) => {
    const path = join(packages.find(({ name }) => name === packageName)?.folder ?? root, file)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  })
  process.stdout.write(`\n${lines.join('\n')}\n`)
  return failed === 0 ? 0 : 1
}

const wants = (histories: Readonly<Record<string, string>>): readonly Want[] => [
  { variable: 'TEST_DATABASE_URL', what: 'a PostgreSQL server', isThere: isSet(process.env['TEST_DATABASE_URL']) },
  { variable: 'TEST_REDIS_URL', what: 'a Redis server', isThere: isSet(process.env['TEST_REDIS_URL']) },
  { variable: 'TEST_HISTORIES', what: 'the folder of broker histories ../shared/data', isThere: isSet(histories['TEST_HISTORIES']) },
]

/** Its exit code. Packages whose dependencies failed to build are left out, and are missed afterwards by their reports. */
const runTurbo = async (histories: Readonly<Record<string, string>>): Promise<number> => {
  const turbo = join(root, 'node_modules', '.bin', 'turbo')
  const tasks = ['run', 'test', '--continue=dependencies-successful', `--concurrency=${availableParallelism()}`]
  const quiet = ['--output-logs=errors-only', '--log-order=grouped', '--ui=stream', '--summarize']
  const child = spawn(turbo, [...tasks, ...quiet], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TEST_HISTORIES: undefined, ...histories },
  })
  try {
    const [code] = await once(child, 'exit')
    return typeof code === 'number' ? code : 1
  } catch (error) {
    process.stdout.write(`turbo did not start: ${String(error)}\n`)
    return 1
  }
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== ''

process.exitCode = await run()
