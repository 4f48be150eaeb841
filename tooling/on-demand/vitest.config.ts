// The vitest settings of the checks. They read the sources of the workspace's packages.
import { defineConfig } from 'vitest/config'

const conditions = ['@tradeport/source', 'module', 'node']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['checks/*.test.ts'], testTimeout: 240_000, hookTimeout: 240_000 },
})
