// The doctor against the demo and against a service with much wrong with it, and a change of the
// secrets key.
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { spawnProgram } from '@tradeport/testkit/programs'
import { call, newFolder, startService, token, type StartedService } from './service.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')

let folder: string
let service: StartedService | undefined
/** No provider answers, and no Redis. */
const restart = async (keys: NodeJS.ProcessEnv) => {
  await service?.stop()
  service = await startService({
    DATA_DIR: folder,
    OPERATOR_TOKEN: token,
    BROKER: 'metaapi',
    METAAPI_PROVISIONING_URL: 'http://127.0.0.1:2',
    REDIS_URL: 'redis://127.0.0.1:2',
    ...keys,
  })
}
const environment = () => service?.environment ?? {}
const operator = (words: string, input?: string) => call(words, environment(), input)
/** Its exit code where nobody reads what it prints. */
const exitOfUnread = (...words: readonly string[]) => {
  const program = spawnProgram('apps/cli/src/main.ts', environment(), words)
  program.process.stdout.destroy()
  return program.exited
}

beforeAll(async () => {
  folder = await newFolder()
  await restart({ SECRETS_KEY: keyOf(1) })
})
afterAll(async () => {
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
})

it('the doctor finds the demo in good health, by the token that the demo keeps', async () => {
  const demo = await startService()
  const { OPERATOR_URL } = demo.environment
  const { exit, out, err } = await call('doctor', { OPERATOR_URL, DATA_DIR: demo.folder })
  await demo.stop()
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(
    out
      .replaceAll(/^ok +/gm, '')
      .split('\n')
      .map((line) => line.split(': ')[0]),
  ).toEqual([
    'service',
    'database',
    'database clock',
    'database writes',
    'tables',
    'fsync',
    'limits',
    'peer notices',
    'secrets',
    'orders',
    'journals',
    'halts',
    'risk thresholds',
    'market data feed',
    'provider token of demo',
    'provider clock of demo',
    '',
  ])
})

it('the doctor says what is wrong and what to do, and ends with 1 where something failed', async () => {
  const tenants = [
    { id: 'a', name: 'A', providerToken: 'provider-secret-of-a' },
    { id: 'b', name: 'B' },
  ]
  expect((await operator('apply -', JSON.stringify({ tenants }))).exit).toBe(0)
  const { exit, out, err } = await operator('doctor')
  expect([exit, err]).toEqual([1, '1 of 15 checks failed.\nWhat to do is below each.\n'])
  expect(out).toMatch(/^warn {2}limits: Redis .*\n {6}\w/m)
  expect(out).toMatch(/^warn {2}provider token of a: .*ECONNREFUSED.*\n {6}\w/m)
  expect(out).toMatch(/^fail {2}provider token of b: It is not set.*\n {6}\w/m)
  expect(out).not.toContain('provider-secret-of-a')
  expect(await exitOfUnread('doctor')).toBe(1)
  expect(await exitOfUnread('doctor', '--tenant', 'a')).toBe(0)
  expect((await operator('doctor --tenant nobody')).err).toContain('no such tenant')
})

it('a change of the secrets key loses no secret, names those that no key decrypts, and can be repeated', async () => {
  const tenants = [{ id: 'b', providerToken: 'provider-secret-of-b' }]
  await operator('apply -', JSON.stringify({ tenants }))
  await restart({ SECRETS_KEY: keyOf(2) })
  expect((await operator('doctor')).out).toMatch(/^fail {2}secrets: 2 of 2 cannot be decrypted /m)
  const without = await operator('secrets rotate')
  expect([without.exit, without.out]).toEqual([
    1,
    '0 secrets were encrypted with the current key.\n',
  ])
  expect(without.err).toMatch(/^2 cannot be decrypted .*\n {2}the provider token of the tenant a: /)
  await restart({ SECRETS_KEY: keyOf(2), SECRETS_KEY_PREVIOUS: `${keyOf(3)},${keyOf(1)}` })
  expect((await operator('secrets rotate')).out).toMatch(
    /^2 secrets .*\nNo secret is encrypted with another key/,
  )
  await restart({ SECRETS_KEY: keyOf(2) })
  const again = await operator('secrets rotate --json')
  expect(JSON.parse(again.out)).toEqual({ resealed: 0, unreadable: [] })
})
