// Which browser is started, and with what.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findChromium, withPage } from '../src/chromium.ts'

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tradeport-chromium-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

it.each(['CHROMIUM_PATH', 'PATH'])('Edge is found by %s', async (variable) => {
  const folder = await newFolder()
  const program = join(folder, 'microsoft-edge')
  await writeFile(program, '', { mode: 0o700 })
  const env = { [variable]: variable === 'PATH' ? `/not-there:${folder}` : 'microsoft-edge' }
  expect(await findChromium(env, folder)).toBe(program)
})

it('Chromium gets no secret of the environment', async () => {
  const folder = await newFolder()
  const program = join(folder, 'chromium')
  await writeFile(program, `#!/bin/sh\nenv > '${join(folder, 'env')}'\nexit 1\n`)
  await chmod(program, 0o700)
  const secrets = {
    OPERATOR_TOKEN: 'hush',
    SECRETS_KEY: 'hush',
    DATABASE_URL: 'postgres://u:hush@h/d',
    AWS_SECRET_ACCESS_KEY: 'hush',
  }
  const env = { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C', TZ: 'UTC', ...secrets }
  await expect(withPage(program, env, async () => undefined)).rejects.toThrow('cannot be started')
  const seen = await readFile(join(folder, 'env'), 'utf8')
  expect(seen).not.toContain('hush')
  for (const line of [`HOME=${folder}`, 'LC_ALL=C', 'TZ=UTC']) expect(seen).toContain(line)
})
