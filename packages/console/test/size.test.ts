// The files of the console: how much a first visit loads, and that nothing is inline.
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { expect, it } from 'vitest'
import config from '../vite.config.ts'

/** Of what a first visit loads, and of everything. */
const [maxFirstBytes, maxBytes] = [50_000, 250_000]

it('is small at first load, and needs no inline script or style', async ({ annotate }) => {
  const built = await build({
    ...config,
    configFile: false,
    build: { ...config.build, write: false },
  })
  if (!('output' in built)) throw new Error('vite did not build once')
  const sizes = new Map(
    built.output.map((file) => {
      const content = file.type === 'chunk' ? file.code : Buffer.from(file.source).toString()
      return [file.fileName, gzipSync(content).length]
    }),
  )
  const sum = (names: Iterable<string>): number =>
    [...names].reduce((total, name) => total + (sizes.get(name) ?? 0), 0)
  const entry = built.output.find((file) => file.type === 'chunk' && file.isEntry)
  if (entry?.type !== 'chunk') throw new Error('there is no entry')
  const styles = [...(entry.viteMetadata?.importedCss ?? [])]
  const first = sum(['index.html', entry.fileName, ...entry.imports, ...styles])
  const all = sum(sizes.keys())
  await annotate(`${first} bytes gzipped at first load, ${all} in ${sizes.size} files`)
  expect([first < maxFirstBytes, all < maxBytes]).toEqual([true, true])
  const page = built.output.find(({ fileName }) => fileName === 'index.html')
  const html = page?.type === 'asset' ? page.source.toString() : ''
  expect(html).toMatch(
    /<script type="module" crossorigin src="\/console\/assets\/[\w-]+\.js"><\/script>/,
  )
  expect(html).not.toMatch(/<style|<script(?! type="module" crossorigin src=)| style=|data:/)
})
