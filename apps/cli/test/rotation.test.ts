// Changing the secrets key: the service is started under a new one beside the old, all secrets are
// sealed anew, and the old one is dropped.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { call, startService } from './service.ts'
import type { Called, StartedService } from './service.ts'

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64')
const token = 'operator-token-for-tests'

let folder: string
let service: StartedService | undefined

const restart = async (keys: Readonly<Record<string, string>>): Promise<void> => {
  await service?.stop()
  service = await startService({ OPERATOR_TOKEN: token, BROKER: 'metaapi', ...keys }, folder)
}
const operator = (words: readonly string[], input = ''): Promise<Called> =>
  call(words, {
    environment: { OPERATOR_URL: service?.operatorUrl ?? '', OPERATOR_TOKEN: token },
    input,
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-rotation-'))
  await restart({ SECRETS_KEY: keyOf(1) })
})
afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

it('loses no secret, names one that no key opens, and can be called again', async () => {
  const tenants = ['a', 'b'].map((id) => ({
    id,
    name: id,
    providerToken: `provider-secret-of-${id}`,
  }))
  expect((await operator(['apply', '-'], JSON.stringify({ tenants }))).exit).toBe(0)

  // Without the old key nothing opens, and that is told by name.
  await restart({ SECRETS_KEY: keyOf(2) })
  const without = await operator(['secrets', 'rotate'])
  expect(without).toMatchObject({
    exit: 1,
    out: '0 secrets were sealed anew under the current key.\n',
  })
  expect(without.err).toContain(
    '2 cannot be opened by any key that the service was given, and stay as they are:\n',
  )
  expect(without.err).toContain('  the provider token of the tenant a: no key opens it\n')
  expect(without.err).toContain(
    'Start the service with the key that sealed them in SECRETS_KEY_PREVIOUS and call again.',
  )

  await restart({ SECRETS_KEY: keyOf(2), SECRETS_KEY_PREVIOUS: `${keyOf(3)},${keyOf(1)}` })
  const rotated = await operator(['secrets', 'rotate'])
  expect(rotated).toEqual({
    exit: 0,
    err: '',
    out: '2 secrets were sealed anew under the current key.\nNothing is left under another key: SECRETS_KEY_PREVIOUS can be dropped at the next start of each instance.\n',
  })
  expect(JSON.parse((await operator(['secrets', 'rotate', '--json'])).out)).toEqual({
    resealed: 0,
    unreadable: [],
  })

  await restart({ SECRETS_KEY: keyOf(2) })
  expect(JSON.parse((await operator(['secrets', 'rotate', '--json'])).out)).toEqual({
    resealed: 0,
    unreadable: [],
  })
})
