// Secrets that the service makes once: kept as they are, and refused where something else lies in
// their place.
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadOrCreateSecret } from '../src/data-folder.ts'
import { keyType, tokenType } from '../src/config.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-secrets-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

let made = 0
const token = {
  name: 'operator-token',
  make: () => `a token of many characters ${(made += 1)}`.replaceAll(' ', '-'),
  type: tokenType,
}
const key = {
  name: 'secrets-key',
  make: () => Buffer.alloc(32, 7).toString('base64'),
  type: keyType,
}

describe('a kept secret', () => {
  it('is made once, also by two starts at once, for its user alone', async () => {
    let one: unknown
    const make = async () => {
      one = await loadOrCreateSecret(folder, token)
      return token.make()
    }
    const two = await loadOrCreateSecret(folder, { ...token, make })
    expect([two, await loadOrCreateSecret(folder, token)]).toEqual([one, one])
    const path = join(folder, token.name)
    expect([await readdir(folder), await readFile(path, 'utf8')]).toEqual([[token.name], one])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('may end with a line feed, as an editor leaves it, and is then for its user alone', async () => {
    const path = join(folder, token.name)
    await writeFile(path, 'a-token-written-by-hand\n')
    expect(await loadOrCreateSecret(folder, token)).toBe('a-token-written-by-hand')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await writeFile(join(folder, key.name), `${key.make()}\n`)
    expect(await loadOrCreateSecret(folder, key)).toEqual(new Uint8Array(32).fill(7))
  })

  it.each([
    [token, ''],
    [token, 'short'],
    [key, 'not a key'],
  ])('is refused where its file holds something else: %o %j', async (secret, text) => {
    const path = join(folder, secret.name)
    await writeFile(path, text)
    await expect(loadOrCreateSecret<unknown>(folder, secret)).rejects.toThrow(
      `${path} must hold ${secret.type.description}, and holds something else`,
    )
    expect(await readFile(path, 'utf8')).toBe(text)
  })
})
