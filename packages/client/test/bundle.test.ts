import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'

const maxBytes = 8_200

it('the bundle for browsers is small, and needs neither Node nor another package', async ({
  annotate,
}) => {
  const bundle = await rolldown({
    input: join(import.meta.dirname, '../src/index.ts'),
    platform: 'browser',
    tsconfig: false,
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  const [{ code, imports, dynamicImports }] = output
  const zipped = gzipSync(code).length
  await annotate(`${code.length} bytes, ${zipped} bytes gzipped`)
  expect(output).toHaveLength(1)
  expect([...imports, ...dynamicImports]).toEqual([])
  expect(code).not.toMatch(/\b(require|process|Buffer|__dirname)\b/)
  expect(zipped).toBeLessThan(maxBytes)
})
