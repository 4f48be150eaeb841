// A process that is killed while it seals secrets under a new key has lost none of them, and the next one seals what is left.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { newTenant, puts, rightOf, write } from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCipher, createOperatorStore, createProviderTokens, createSealedSecrets, openDatabase } from '../src/index.ts'

const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const count = 300
const log = { warn: () => undefined }

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tradeport-sealed-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('is killed in the middle of it, and everything opens, before and after the rest is sealed', async () => {
  const tenants = Array.from({ length: count }, () => newTenant())
  const before = await openDatabase({ folder })
  const operator = createOperatorStore({ knex: before.knex, cipher: createCipher(first) })
  await write(operator, { tenants: puts(...tenants.map((tenant) => ({ ...tenant, providerToken: `secret of ${tenant.id}` }))) })
  await before.close()

  const program = [
    '--experimental-strip-types',
    '--no-warnings',
    '--conditions=@tradeport/source',
    join(import.meta.dirname, 'reseal-until-killed.ts'),
  ]
  const sealer = spawn(process.execPath, [...program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(sealer.stdout)
  lines.on('line', (line) => {
    if (line === '20') sealer.kill('SIGKILL')
  })
  await once(sealer, 'close')

  const { knex, close } = await openDatabase({ folder })
  const expectOpenUnder = async (current: Uint8Array, previous: readonly Uint8Array[]) => {
    const tokens = createProviderTokens({ knex, cipher: createCipher(current, previous), log })
    for (const { id } of tenants) expect(await rightOf(tokens.find(id))).toStrictEqual(O.some(`secret of ${id}`))
  }
  const secrets = createSealedSecrets({ knex, cipher: createCipher(second, [first]) })
  const { current, others } = await rightOf(secrets.census)
  expect(current).toBeGreaterThanOrEqual(20)
  expect(others).toBe(count - current)
  expect(others).toBeGreaterThan(0)
  await expectOpenUnder(second, [first])
  expect(await rightOf(secrets.reseal({ after: undefined, limit: 1_000 }))).toStrictEqual({
    resealed: others,
    unreadable: [],
    last: undefined,
  })
  await expectOpenUnder(second, [])
  await close()
})
