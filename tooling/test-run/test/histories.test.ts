// A change of the histories must reach the cache's key; a folder that is not there must not look as if it were.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { historiesEnvironment } from '../src/histories.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'histories-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const digest = () => historiesEnvironment(folder)['TEST_HISTORIES_DIGEST']

it('names the folder', () => {
  expect(historiesEnvironment(folder)['TEST_HISTORIES']).toBe(folder)
})

it('has another digest when a file changes, comes or is renamed, and the same when nothing does', () => {
  writeFileSync(join(folder, 'a.json'), '[]')
  const first = digest()
  expect(digest()).toBe(first)
  writeFileSync(join(folder, 'a.json'), '[1]')
  const changed = digest()
  writeFileSync(join(folder, 'b.json'), '[]')
  expect(new Set([first, changed, digest()]).size).toBe(3)
})

it.each([undefined, '', '/there/is/no/such/folder'])('is nothing for %j', (path) => {
  expect(historiesEnvironment(path)).toEqual({})
})
