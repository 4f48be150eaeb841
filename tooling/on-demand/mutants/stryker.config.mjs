// Mutation testing of the domain with the tests of the changed folders. Run from packages/domain.
import { fileURLToPath } from 'node:url'

const own = (path) => fileURLToPath(new URL(path, import.meta.url))

export default {
  plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner'))],
  testRunner: 'vitest',
  vitest: { configFile: own('domain-tests.ts'), related: false },
  mutate: ['src/{trades,statistics,orders,positions,webhooks,access}/**/*.ts'],
  coverageAnalysis: 'perTest',
  concurrency: 2,
  incremental: true,
  incrementalFile: own('.reports/stryker.json'),
  tempDirName: own('.reports/sandbox'),
  ignorePatterns: ['dist', '.reports', '.turbo'],
  reporters: ['progress-append-only', 'clear-text'],
  thresholds: { high: 95, low: 90, break: 90 },
  warnings: false,
}
