// One vitest setting for every package. Tests read the sources of the workspace's packages, so that a test run needs no build before it.
import { defineConfig } from 'vitest/config'

const conditions = ['@tradeport/source', 'module', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    reporters: ['default', ['json', { outputFile: '.reports/vitest.json' }]],
  },
})
