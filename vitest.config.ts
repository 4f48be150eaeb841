// One vitest setting for every package. Tests read the sources of the workspace's packages, so that a test run needs no build before it.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

const conditions = ['@tradeport/source', 'module', 'node']

// Where a package has one: what it makes once, before the first of its tests.
const globalSetup = resolve('test/support/global-setup.ts')

// And what it does around each of them.
const setup = resolve('test/support/setup.ts')

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: existsSync(globalSetup) ? [globalSetup] : [],
    setupFiles: existsSync(setup) ? [setup] : [],
    // A package may have no tests yet; the whole run may not: tooling/test-run counts.
    passWithNoTests: true,
    pool: 'forks',
    maxWorkers: 2,
    // Against hanging, not against slowness: a busy machine may take many times what a quiet one does.
    testTimeout: 240_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', ['json', { outputFile: '.reports/vitest.json' }]],
  },
})
