// Decision 11, counted in the database: a key in use costs one read, however many requests come with it.
import { applyOperatorDocument, emptyDocument } from '@tradeport/domain'
import type { OperatorDocument, TenantId, UserId } from '@tradeport/domain'
import { cachedCredentials } from '@tradeport/memory'
import { createCipher, createCredentialStore, createOperatorStore, openDatabase, startPeerNotices } from '@tradeport/postgres'
import type { Database } from '@tradeport/postgres'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { createSecrets } from '../src/secrets.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import { createTestClock } from './support/test-clock.ts'

const key = 'tp_live_counted'
const secrets = createSecrets()

const user: OperatorDocument = {
  ...emptyDocument,
  tenants: [{ id: 'acme' as TenantId, name: 'Acme' }],
  users: [{ id: 'u-1' as UserId, tenantId: 'acme' as TenantId, email: 'owner@example.com' }],
  apiKeys: [{ id: 'k-1', userId: 'u-1' as UserId, key }],
}

/** How many statements look for credentials during 200 requests over ten seconds, and as many again after the key was revoked. */
const countReads = async (database: Database): Promise<readonly [good: number, revoked: number]> => {
  const clock = createTestClock('2026-03-06T12:00:00.000Z')
  const operator = createOperatorStore({ knex: database.knex, cipher: createCipher(new Uint8Array(32)) })
  const apply = async (document: OperatorDocument): Promise<void> => {
    expect(await applyOperatorDocument({ operator, secrets, clock })(document)()).toMatchObject({ _tag: 'Right' })
  }
  await apply(user)
  const notices = startPeerNotices({ database, clock })
  const credentials = cachedCredentials(createCredentialStore(database), { clock, notices })
  notices.subscribe((notice) => {
    if (notice.kind !== 'account_changed') credentials.forget(notice.kind === 'credentials_changed' ? notice.users : 'everyone')
  })
  let reads = 0
  database.knex.on('query', ({ sql }: { readonly sql: string }) => {
    if (sql.includes('"api_keys"')) reads += 1
  })
  const ask200 = async (isEnabled: boolean): Promise<number> => {
    reads = 0
    for (let asked = 0; asked < 200; asked += 1) {
      // As the clock stands still meanwhile, this takes as many questions on the listening connection as ten seconds would.
      if (asked % 10 === 0) await expect.poll(notices.confirmedAt, { timeout: 60_000, interval: 5 }).toBe(clock.now())
      expect(await credentials.findApiKey(secrets.hash(key))()).toMatchObject({ right: O.some({ enabled: isEnabled }) })
      clock.advance(50)
    }
    return reads
  }
  const good = await ask200(true)
  await apply({ ...user, apiKeys: [{ id: 'k-1', enabled: false }] })
  // What the composition does on the instance that applied it.
  credentials.forget('everyone')
  const revoked = await ask200(false)
  await notices.stop()
  return [good, revoked]
}

describe('200 requests with one key over ten seconds', () => {
  it('read the embedded database once, and once more when the key was revoked', async () => {
    const database = await openDatabase({ inMemory: true })
    expect(await countReads(database)).toStrictEqual([1, 1])
    await database.close()
  })

  it.skipIf(serverUrl === undefined)(`read once ${serverTitle}, and once more when the key was revoked`, async () => {
    const { url, drop } = await createServerDatabase()
    const database = await openDatabase({ url })
    expect(await countReads(database)).toStrictEqual([1, 1])
    await database.close()
    await drop()
  })
})
