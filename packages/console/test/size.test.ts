// The files of the console: how much a first visit loads, and that nothing is inline.
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { expect, it } from 'vitest'
import config from '../vite.config.ts'

const maxBytes = 110_000

it('is small at first load, with the chart, and needs no inline script or style', async ({
  annotate,
}) => {
  const built = await build({
    ...config,
    configFile: false,
    build: { ...config.build, write: false },
  })
  if (!('output' in built)) throw new Error('vite did not build once')
  const contents = built.output.map((file) =>
    file.type === 'chunk' ? file.code : Buffer.from(file.source).toString(),
  )
  const zipped = contents.reduce((sum, content) => sum + gzipSync(content).length, 0)
  await annotate(`${zipped} bytes gzipped in ${contents.length} files`)
  expect(zipped).toBeLessThan(maxBytes)
  const page = built.output.find(({ fileName }) => fileName === 'index.html')
  const html = page?.type === 'asset' ? page.source.toString() : ''
  expect(html).toMatch(
    /<script type="module" crossorigin src="\/console\/assets\/[\w-]+\.js"><\/script>/,
  )
  expect(html).not.toMatch(/<style|<script(?! type="module" crossorigin src=)| style=|data:/)
})
