// Decision 11 between two instances on one database: what is changed through one takes effect on the other within a second, also when the
// connection over which it would hear of it was cut just before.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSandbox } from '@tradeport/sandbox-broker'
import type { Sandbox } from '@tradeport/sandbox-broker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Service } from '../src/service.ts'
import { applyDocument, providerToken, request } from './support/running-service.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import type { ServerDatabase } from './support/server-database.ts'
import { environmentOf, startFrom } from './support/start-service.ts'
import { linkDocument } from './support/trading-user.ts'

const boundMs = 1_000
/** For how long after a change the other instance is watched. */
const watchMs = 1_500
const warmUps = 20

// Each request comes from an address of its own, because refused keys are limited per address.
let lastAddress = 0
const statusAt = async (service: Service | undefined, path: string, key: string): Promise<number> => {
  lastAddress += 1
  const headers = { 'X-API-Key': key, 'X-Forwarded-For': `10.0.${lastAddress >> 8}.${lastAddress & 255}` }
  return (await request(`${service?.apiUrl}/api/v1${path}`, { headers })).status
}

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let folder: string
  let database: ServerDatabase
  let sandbox: Sandbox
  let [one, two]: Service[] = []
  let lastUser = 0

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    database = await createServerDatabase()
    sandbox = await startSandbox({ seed: 7, tokens: [providerToken], accounts: [] })
    const secretsKey = Buffer.alloc(32, 7).toString('base64')
    const servers = { DATABASE_URL: database.url, SECRETS_KEY: secretsKey, TRUST_PROXY: '127.0.0.0/8' }
    const environment = { ...environmentOf(folder, sandbox.url), ...servers }
    one = await startFrom(environment)
    two = await startFrom(environment)
  })
  afterAll(async () => {
    await sandbox?.close()
    await one?.close()
    await two?.close()
    await database?.drop()
    await rm(folder, { recursive: true, force: true })
  })

  const apply = async (document: object): Promise<void> => {
    const { status, body } = await applyDocument(one?.operatorUrl ?? '', document)
    if (status !== 200) throw new Error(`the operator API answered ${status}: ${JSON.stringify(body)}`)
  }
  const cutListeners = (): Promise<unknown> =>
    database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tradeport peer notices' and datname = current_database()`,
    )

  /** A user with a key that the second instance has in use. */
  const newUser = async (): Promise<{ readonly id: string; readonly key: string }> => {
    lastUser += 1
    const [id, key] = [`u-${lastUser}`, `tp_live_only_for_automated_tests_revocation_${lastUser}`]
    await apply(linkDocument({ tenant: 'acme', user: id, key, providerToken }, []))
    for (let warmUp = 0; warmUp < warmUps; warmUp += 1) await statusAt(two, '/accounts', key)
    expect(await statusAt(two, '/accounts', key)).toBe(200)
    return { id, key }
  }

  /** When the last request began that was answered as before a change, in milliseconds after it. A request counts from when it was sent. */
  const lastSeenAfter = async (path: string, key: string, before: number, after: number, change: object): Promise<number> => {
    await apply(change)
    const changedAt = performance.now()
    let lastMs = 0
    for (let beganMs = 0; beganMs < watchMs; beganMs = performance.now() - changedAt) {
      const status = await statusAt(two, path, key)
      if (status === before) lastMs = beganMs
      else expect(status).toBe(after)
    }
    return lastMs
  }

  describe.each([
    ['that hears of it', async () => undefined],
    ['whose listening connection was cut just before', cutListeners],
  ])('an instance %s', (_, prepare) => {
    it('refuses a key within a second of its revocation', async () => {
      const { id, key } = await newUser()
      await prepare()
      expect(await lastSeenAfter('/accounts', key, 200, 401, { apiKeys: [{ id: `${id}-key`, enabled: false }] })).toBeLessThan(boundMs)
      expect(await statusAt(one, '/accounts', key)).toBe(401)
    })

    it('refuses the keys of a user within a second of its removal', async () => {
      const { id, key } = await newUser()
      await prepare()
      expect(await lastSeenAfter('/accounts', key, 200, 401, { users: [{ id, removed: true }] })).toBeLessThan(boundMs)
    })

    it('knows a new scope within a second', async () => {
      const { id, key } = await newUser()
      await prepare()
      const change = { apiKeys: [{ id: `${id}-key`, scopes: ['accounts:read', 'webhooks:read'] }] }
      expect(await lastSeenAfter('/positions', key, 200, 403, change)).toBeLessThan(boundMs)
    })

    it('takes a new key within a second, also one that it had just refused', async () => {
      const { id } = await newUser()
      const key = `tp_live_only_for_automated_tests_new_${id}`
      expect(await statusAt(two, '/accounts', key)).toBe(401)
      await prepare()
      expect(await lastSeenAfter('/accounts', key, 401, 200, { apiKeys: [{ id: `${id}-new`, userId: id, key }] })).toBeLessThan(boundMs)
      expect(await statusAt(one, '/accounts', key)).toBe(200)
    })
  })
})
