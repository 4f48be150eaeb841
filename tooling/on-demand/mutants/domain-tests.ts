// The vitest settings under which tests are run against a mutant: the tables before the laws, which
// take longer, and the laws with the few cases of few-runs.ts.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const conditions = ['@tradeport/source', 'module', 'node']
const fewRuns = fileURLToPath(new URL('few-runs.ts', import.meta.url))

const isLaw = ({ moduleId }: TestSpecification): number => Number(moduleId.includes('.laws.'))

class TablesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => isLaw(a) - isLaw(b) || a.moduleId.localeCompare(b.moduleId))
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  plugins: [
    {
      name: 'few-runs',
      enforce: 'pre',
      resolveId: (id, importer) =>
        id === 'fast-check' && importer !== fewRuns ? fewRuns : undefined,
    },
  ],
  test: {
    include: [
      'test/{trades,statistics,orders,positions,webhooks,access}/**/*.test.ts',
      // The checks and terms of orders are seen where orders are placed and changed.
      'test/use-cases/{orders,open-orders}.test.ts',
    ],
    // Takes a minute, and fails for no mutant that the tables do not notice.
    testNamePattern: /^(?!.*contain the truth)/,
    sequence: { sequencer: TablesFirst },
    isolate: false,
    testTimeout: 60_000,
    reporters: [],
  },
})
