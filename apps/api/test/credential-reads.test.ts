// How often credentials are read from the database: once for a key in use, never for a made-up one, and in few reads for many unknown ones.
import { applyOperatorDocument, emptyDocument, identifyCaller, unauthorized } from '@tradeport/domain'
import type { Credential, OperatorDocument, Refusal, TenantId, UserId } from '@tradeport/domain'
import { cachedCredentials, createAddressLimits } from '@tradeport/memory'
import { createCipher, createCredentialStore, createOperatorStore, openDatabase, startPeerNotices } from '@tradeport/postgres'
import type { Database } from '@tradeport/postgres'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSecrets } from '../src/secrets.ts'
import { createServerDatabase, serverTitle, serverUrl } from './support/server-database.ts'
import { createTestClock } from './support/test-clock.ts'

const key = 'tp_live_only_for_automated_tests_counted'
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

const thousand = <A>(make: (index: number) => A): readonly A[] => Array.from({ length: 1_000 }, (_, index) => make(index))
const madeUp = (index: number): string => `tp_live_${String(index).padStart(40, 'x')}`

describe('many unknown credentials at once, each from an address of its own', () => {
  let database: Database
  beforeAll(async () => {
    database = await openDatabase({ inMemory: true })
  })
  afterAll(() => database.close())

  // The composition of the service, with nothing known yet.
  const present = async (sent: readonly { readonly apiKey?: string; readonly accessToken?: string }[]) => {
    const clock = createTestClock('2026-03-06T12:00:00.000Z')
    const credentials = cachedCredentials(createCredentialStore(database), { clock, notices: { confirmedAt: clock.now } })
    const identify = identifyCaller({ credentials, addressLimits: createAddressLimits(), secrets, clock })
    let reads = 0
    const count = (): void => void (reads += 1)
    database.knex.on('query', count)
    const attempts = sent.map((one, index) =>
      identify({ apiKey: undefined, accessToken: undefined, address: `10.0.${index >> 8}.${index & 255}`, ...one })(),
    )
    const outcomes: readonly E.Either<Refusal, Credential>[] = await Promise.all(attempts)
    database.knex.removeListener('query', count)
    expect(outcomes.every((outcome) => E.isLeft(outcome) && outcome.left === unauthorized)).toBe(true)
    return reads
  }

  it('cost no read where they are keys without the right checksum', async () => {
    expect(await present(thousand((index) => ({ apiKey: madeUp(index) })))).toBe(0)
  })

  it('cost one read where they are keys that an operator could have chosen', async () => {
    expect(await present(thousand((index) => ({ apiKey: `tp_live_unknown-key-of-nobody-${index}` })))).toBe(1)
  })

  it('cost one read where they are stored tokens', async () => {
    expect(await present(thousand((index) => ({ accessToken: `token-${index}` })))).toBe(1)
  })

  it('cost one read for each thousand', async () => {
    const keys = Array.from({ length: 2_500 }, (_, index) => ({ apiKey: `tp_live_unknown-key-of-nobody-${index}` }))
    expect(await present(keys)).toBe(3)
  })
})
