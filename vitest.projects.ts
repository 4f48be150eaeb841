// `pnpm test`: every package's tests in one run, in which vitest begins with the files that took
// longest the last time. The last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import type { Reporter, TestModule } from 'vitest/node'
import { settingsOf } from './vitest.config.ts'

const needs = ['TEST_DATABASE_URL', 'TEST_REDIS_URL', 'TEST_HISTORIES', 'CHROMIUM_PATH']

const countTests = (
  modules: readonly TestModule[],
  state: 'passed' | 'failed' | 'skipped',
): number => modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0)

const count: Reporter = {
  onTestRunEnd: (modules, errors, reason) => {
    const passed = countTests(modules, 'passed')
    // A file that did not load, or whose hook failed, has no failed test and is a failure all the
    // same.
    const brokenFiles = modules.filter(
      (module) => module.state() === 'failed' && countTests([module], 'failed') === 0,
    )
    const failed = countTests(modules, 'failed') + brokenFiles.length + errors.length
    const missing = needs.filter((name) => (process.env[name] ?? '') === '')
    if (spawnSync('python3', ['--version']).status !== 0) missing.push('python3')
    const skipped = countTests(modules, 'skipped')
    const files = modules
      .filter((module) => countTests([module], 'skipped') > 0)
      .map(({ moduleId }) => relative(import.meta.dirname, moduleId))
    if (skipped > 0)
      process.stdout.write(
        `${skipped} not run in ${files.join(', ')}${missing.length > 0 ? ` (missing: ${missing.join(', ')})` : ''}\n`,
      )
    // Stopped, or nothing was run: silence is no success.
    const isDoubtful = failed === 0 && (reason !== 'passed' || passed === 0)
    if (isDoubtful) process.exitCode = 1
    process.stdout.write(`\n${passed} passed, ${isDoubtful ? 1 : failed} failed\n`)
  },
}

export default defineConfig({
  test: {
    projects: globSync('{packages,apps,tooling}/*/test')
      .map(dirname)
      .map((folder) => {
        const { test, ...rest } = settingsOf(resolve(folder))
        return { ...rest, test: { ...test, name: folder } }
      }),
    maxWorkers: 3,
    fsModuleCache: true,
    reporters: ['default', count],
  },
})
