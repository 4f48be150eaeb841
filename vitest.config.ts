// The vitest settings of every package. Tests read the sources of the workspace's packages, so that
// a test run needs no build before it.
import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

// For tests of pages. It stays unset where none is installed, and the tests are left out.
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
)
if (chromium !== undefined) process.env['CHROMIUM_PATH'] ??= chromium

const conditions = ['@tradeport/source', 'module', 'node']

/**
 * @param folder a package's own: what it makes once before its tests, and does around each of them,
 * stands in its test/support
 */
export const settingsOf = (folder: string) => {
  const support = (name: string, of = folder): string[] =>
    [resolve(of, 'test/support', name)].filter((path) => existsSync(path))
  return defineConfig({
    root: folder,
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      include: ['test/**/*.test.ts'],
      globalSetup: [
        ...support('global-setup.ts'),
        // Services of apps start from the empty database of that package's tests.
        ...(basename(dirname(folder)) === 'apps'
          ? support('global-setup.ts', resolve(folder, '../../packages/postgres'))
          : []),
      ],
      setupFiles: support('setup.ts'),
      pool: 'forks',
      // Where files load much compared with what they test, a worker loads it once for all.
      isolate: !['domain', 'http', 'memory', 'client', 'postgres', 'api'].includes(
        basename(folder),
      ),
      // One more than a small machine has cores, since many tests wait most of their time.
      maxWorkers: 3,
      maxConcurrency: 20,
      // Against hanging, not against slowness: a busy machine may take many times what a quiet one
      // does.
      testTimeout: 240_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 60_000 } },
    },
  })
}

export default settingsOf(process.cwd())
