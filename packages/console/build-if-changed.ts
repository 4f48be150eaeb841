// `pnpm start` runs the service from its sources, and the page has to be built: here, in about half a
// second, unless the built page is newer than everything that it is made from.
import { globSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = import.meta.dirname
const sources = ['page/**', '*.{ts,json}', '../client/src/**']

const changedAt = (path: string): number =>
  statSync(resolve(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

const newestSource = Math.max(...globSync(sources, { cwd: folder }).map(changedAt))
if (changedAt('dist/page/index.html') < newestSource)
  try {
    const { build } = await import('vite')
    await build({ configFile: resolve(folder, 'vite.config.ts') })
  } catch (error) {
    // The service starts without it, and says so.
    process.stderr.write(`the console cannot be built: ${String(error)}\n`)
  }
