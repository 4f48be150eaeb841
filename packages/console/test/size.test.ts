// The files of the console: how much a first visit loads, and that nothing is inline.
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

await import('../build-page.ts')

/** Of what a first visit loads, and of everything. */
const [maxFirstBytes, maxBytes] = [50_000, 250_000]

const built = resolve(import.meta.dirname, '../dist/page')
const html = readFileSync(resolve(built, 'index.html'), 'utf8')
const files = new Map(
  readdirSync(resolve(built, 'assets')).map((name) => [
    `/console/assets/${name}`,
    readFileSync(resolve(built, 'assets', name)),
  ]),
)
const bytesOf = (contents: Iterable<string | Buffer>) =>
  [...contents].reduce((total, content) => total + gzipSync(content).length, 0)

it('is small at first load, and needs no inline script or style', async ({ annotate }) => {
  const named = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)
  const loaded = named.map((url) => files.get(url) ?? expect.fail(`there is no ${url}`))
  const first = bytesOf([html, ...loaded])
  const all = bytesOf([html, ...files.values()])
  await annotate(`${first} bytes gzipped at first load, ${all} in ${files.size + 1} files`)
  expect([first < maxFirstBytes, all < maxBytes]).toEqual([true, true])
  expect(html).toMatch(/<script type="module" src="\/console\/assets\/main-\w+\.js"><\/script>/)
  expect(html).not.toMatch(/<style|<script(?! type="module" src=)| style=|data:/)
})

it('loads with the page all that its script imports', () => {
  const script = /src="([^"]+)"/.exec(html)?.[1] ?? ''
  const imported = [...(files.get(script)?.toString() ?? '').matchAll(/from"\.\/([^"]+)"/g)].map(
    ([, name]) => `/console/assets/${name}`,
  )
  expect(imported.length).toBeGreaterThan(0)
  for (const url of imported) expect(html).toContain(`<link rel="modulepreload" href="${url}" />`)
})
