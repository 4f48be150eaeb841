// What is in the tarballs, and what the two linters of packages say of them.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, describe, expect, it } from 'vitest'
import { manifestOf, pack, publishedFolders, root } from '../src/pack.ts'

it('finds the published packages', () => {
  expect(publishedFolders()).toEqual(['packages/client', 'packages/domain'])
})

describe.each(publishedFolders())('the tarball of %s', async (folder) => {
  const packed = await pack(folder)
  afterAll(() => rm(dirname(packed.tarball), { recursive: true }))

  it('holds its manifest, its README, the license and what was built, and nothing else', () => {
    const beside = packed.files.filter((file) => !file.startsWith('dist/'))
    expect(beside).toEqual(['LICENSE', 'README.md', 'package.json'])
  })

  it('holds nothing that was built from a source that is gone', () => {
    const built = packed.files.filter((file) => file.startsWith('dist/'))
    const leftOver = built.filter((file) => !existsSync(join(root, folder, sourceOf(file))))
    expect(built.length).toBeGreaterThan(0)
    expect(leftOver, 'remove dist and build again').toEqual([])
  })

  it('satisfies publint', async () => {
    const { messages, pkg } = await publint({ pack: { tarball: packed.bytes }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  it('has types that are found and right wherever ES modules are (attw, profile esm-only)', async () => {
    const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(packed.bytes)))
    if (checked.types === false) throw new Error('no types were found')
    const problems = checked.problems.filter(
      (problem) => !('resolutionKind' in problem) || !ignored.includes(problem.resolutionKind),
    )
    expect(Object.keys(checked.entrypoints)).toEqual(
      expect.arrayContaining(Object.keys(manifestOf(folder).exports)),
    )
    expect(problems).toEqual([])
  })

  it('names no source that is not in it', () => {
    expect(JSON.stringify(checkedManifest(packed.bytes))).not.toMatch(
      /src\/|workspace:|@tradeport\/source/,
    )
  })
})

it('has one version for all', () => {
  expect([...new Set(publishedFolders().map((folder) => manifestOf(folder).version))]).toEqual([
    '1.0.0',
  ])
})

const ignored: readonly string[] = ['node10', 'node16-cjs']

// dist/trades/deal.js, .js.map and .d.ts are made from src/trades/deal.ts.
const sourceOf = (file: string): string =>
  file.replace(/^dist\//, 'src/').replace(/\.(js|js\.map|d\.ts)$/, '.ts')

const checkedManifest = (bytes: ArrayBuffer): unknown => {
  const content = createPackageFromTarballData(new Uint8Array(bytes))
  return JSON.parse(content.readFile(`/node_modules/${content.packageName}/package.json`))
}
