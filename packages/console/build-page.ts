// Builds the page into files with hashes in their names, which the API serves below /console. `pnpm
// start` runs it too: it does nothing while the built page is newer than everything it is made
// from.
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'

const folder = import.meta.dirname
const page = resolve(folder, 'page')
const built = resolve(folder, 'dist/page')
const sources = ['page/**', '*.{ts,json}', '../client/src/**']

const changedAt = (path: string): number =>
  statSync(resolve(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

const urlOf = (path: string): string => `/console/assets/${basename(path)}`

const buildPage = async (): Promise<void> => {
  const { build } = await import('esbuild')
  rmSync(built, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: page,
    entryPoints: ['main.tsx', 'index.css', 'icon.svg'],
    outdir: resolve(built, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    splitting: true,
    format: 'esm',
    // The first with light-dark() in styles.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    // The client from its sources, so that the page needs no build of it.
    conditions: ['@tradeport/source', 'module'],
    metafile: true,
  })
  let html = readFileSync(resolve(page, 'index.html'), 'utf8')
  for (const [path, { entryPoint, imports }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined) html = html.replace(`"./${entryPoint}"`, `"${urlOf(path)}"`)
    if (entryPoint !== 'main.tsx') continue
    // The browser loads these beside the script, not after it.
    const preloads = imports
      .filter(({ kind }) => kind === 'import-statement')
      .map((chunk) => `    <link rel="modulepreload" href="${urlOf(chunk.path)}" />\n`)
    html = html.replace('  </head>', `${preloads.join('')}  </head>`)
  }
  writeFileSync(resolve(built, 'index.html'), html)
}

const newestSource = Math.max(...globSync(sources, { cwd: folder }).map(changedAt))
if (changedAt('dist/page/index.html') < newestSource) await buildPage()
