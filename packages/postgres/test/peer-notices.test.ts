// What instances on one database tell each other: all that was committed and nothing else, in order, and that it may have been missed when a
// connection was cut (decision 11).
import type { AccountId, PeerNotice, UserId } from '@tradeport/domain'
import { newAccountId, newApiKey, newUser, noChanges, noKeys, puts, removes, storedOwner, write } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, startPeerNotices } from '../src/index.ts'
import type { Database, StartedPeerNotices } from '../src/index.ts'
import { readPayload, writePayload } from '../src/peer-notices/payload.ts'
import { createServerDatabase, openEmbedded, serverTitle, serverUrl, storesOn } from './open-stores.ts'
import type { EmptyServerDatabase } from './open-stores.ts'

const account = newAccountId()
const missed: PeerNotice = { kind: 'notices_missed' }
const told = (accountId: AccountId): PeerNotice => ({ kind: 'account_changed', accountId })

/** Ids that take as much room as ids can. */
const users = (count: number): readonly UserId[] => Array.from({ length: count }, (_, n) => `"${'\\'.repeat(100)}${n}` as UserId)

interface Instance {
  readonly notices: StartedPeerNotices
  readonly heard: readonly PeerNotice[]
  readonly warnings: readonly string[]
  /** Once everything has arrived that is committed by now. */
  readonly confirmed: () => Promise<void>
}

const startInstance = (database: Pick<Database, 'knex' | 'server'>): Instance => {
  const heard: PeerNotice[] = []
  const warnings: string[] = []
  const log = { warn: ({ event, reason }: { event: string; reason: string }) => void warnings.push(`${event}: ${reason}`) }
  const notices = startPeerNotices({ database, clock: { now: () => performance.now() }, log })
  notices.subscribe((notice) => heard.push(notice))
  return {
    notices,
    heard,
    warnings,
    confirmed: async () => {
      const now = performance.now()
      await expect.poll(() => notices.confirmedAt(), { timeout: 60_000, interval: 10 }).toBeGreaterThan(now)
    },
  }
}

describe('on an embedded database, which is one process’s', () => {
  it('everything is confirmed at any time, and there is nothing to hear', async () => {
    const { database, close } = await openEmbedded()
    const { notices, heard } = startInstance(database)
    const before = performance.now()
    expect(notices.confirmedAt()).toBeGreaterThanOrEqual(before)
    notices.tellAccountChanged(account)
    await write(storesOn(database).operator, { tenants: removes('nobody' as never) })
    await notices.stop()
    await close()
    expect(heard).toStrictEqual([])
  })
})

describe('a payload', () => {
  it('names as many users as the server takes in one, and everyone beyond', () => {
    expect(readPayload(writePayload({ kind: 'credentials_changed', users: users(30) }))).toMatchObject({ users: users(30) })
    expect(readPayload(writePayload({ kind: 'credentials_changed', users: users(40) }))).toMatchObject({ users: 'everyone' })
  })

  it.each(['', 'garbage', '{}', '[]', '{"kind":"later"}', '{"kind":"account_changed","account":"x","from":"y"}'])(
    'that cannot be read could mean anything: %s',
    (text) => {
      expect(readPayload(text)).toStrictEqual(missed)
    },
  )
})

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let empty: EmptyServerDatabase
  let database: Database
  const started: Instance[] = []
  const start = async (on: Pick<Database, 'knex' | 'server'> = database): Promise<Instance> => {
    const instance = startInstance(on)
    started.push(instance)
    await instance.confirmed()
    return instance
  }
  const heardBy = async ({ heard, confirmed }: Instance, from = 0): Promise<readonly PeerNotice[]> => {
    await confirmed()
    return heard.slice(from)
  }
  const cut = (): Promise<unknown> =>
    database.knex.raw(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tradeport peer notices' and datname = current_database()`,
    )
  beforeAll(async () => {
    empty = await createServerDatabase()
    database = await openDatabase({ url: empty.url })
  })
  afterEach(async () => {
    await Promise.all(started.splice(0).map(({ notices }) => notices.stop()))
  })
  afterAll(async () => {
    await database.close()
    await empty.drop()
  })

  it('begins with what may have been missed', async () => {
    expect((await start()).heard).toStrictEqual([missed])
  })

  it('every instance hears whose credentials a document changed, the one that wrote it too', async () => {
    const [one, two] = [await start(), await start()]
    const { operator } = storesOn(database)
    const owner = await storedOwner(operator)
    const key = newApiKey(owner.userId)
    await write(operator, { apiKeys: puts(key) })
    await write(operator, { apiKeys: removes(key.id) })
    const expected = [
      missed,
      { kind: 'credentials_changed', users: [owner.userId] },
      { kind: 'credentials_changed', users: [owner.userId] },
      { kind: 'credentials_changed', users: 'everyone' },
    ]
    expect([await heardBy(one), await heardBy(two)]).toStrictEqual([expected, expected])
  })

  it('nobody hears of a document that was not written, or that changed nobody’s credentials', async () => {
    const one = await start()
    const { operator } = storesOn(database)
    const ofNobody = newUser('no-such-tenant' as never)
    expect(await operator.apply(noKeys, () => E.left({ _tag: 'ValidationError', issues: [] }))()).toMatchObject({ _tag: 'Left' })
    expect(await operator.apply(noKeys, () => E.right({ changes: { ...noChanges, users: puts(ofNobody) } }))()).toMatchObject({
      _tag: 'Left',
    })
    await write(operator, { tenants: puts({ id: 'acme' as never, name: 'Acme' }) })
    expect(await heardBy(one)).toStrictEqual([missed])
  })

  it('what was committed before a confirmed moment has been heard by then', async () => {
    const one = await start()
    const { operator } = storesOn(database)
    for (let round = 1; round <= 10; round += 1) {
      await storedOwner(operator)
      await one.confirmed()
      expect(one.heard).toHaveLength(1 + round)
    }
  })

  it('the others hear of a change on an account, once for all who tell it at the same time', async () => {
    const [one, two] = [await start(), await start()]
    const other = newAccountId()
    for (const changed of [account, other, account, account]) one.notices.tellAccountChanged(changed)
    await one.notices.stop()
    expect(await heardBy(two)).toStrictEqual([missed, told(account), told(other)])
    expect(one.heard).toStrictEqual([missed])
  })

  it('a connection that is cut is made again, and what was told meanwhile counts as missed', async () => {
    const one = await start()
    for (let round = 1; round <= 3; round += 1) {
      await cut()
      await storedOwner(storesOn(database).operator)
      await one.confirmed()
      expect(one.heard.filter(({ kind }) => kind === 'notices_missed').length).toBeGreaterThan(round)
    }
    expect(one.warnings).toContainEqual(expect.stringMatching(/^peer_notices: /))
    const { length } = one.heard
    const owner = await storedOwner(storesOn(database).operator)
    expect(await heardBy(one, length)).toStrictEqual([{ kind: 'credentials_changed', users: [owner.userId] }])
  })

  it('what cannot be read counts as missed', async () => {
    const one = await start()
    await database.knex.raw(`select pg_notify('tradeport_peer_notices', 'from a later version')`)
    expect(await heardBy(one)).toStrictEqual([missed, missed])
  })

  it('says so, and confirms nothing, where notices do not arrive', async () => {
    const elsewhere = await createServerDatabase()
    const apart = await openDatabase({ url: elsewhere.url })
    const deaf = startInstance({ knex: apart.knex, server: database.server })
    await expect
      .poll(() => deaf.warnings, { timeout: 60_000 })
      .toStrictEqual([expect.stringMatching(/^peer_notices: notices do not arrive: DATABASE_URL must/)])
    expect([deaf.notices.confirmedAt(), deaf.heard]).toStrictEqual([-Infinity, []])
    await deaf.notices.stop()
    await apart.close()
    await elsewhere.drop()
  })

  it('confirms nothing while the server is away, says so once, and stops all the same', async () => {
    const away = startInstance({ knex: database.knex, server: { url: 'postgres://someone:pass-secret@127.0.0.1:1/none' } })
    await expect.poll(() => away.warnings).toStrictEqual(['peer_notices: ECONNREFUSED'])
    expect(away.notices.confirmedAt()).toBe(-Infinity)
    await away.notices.stop()
    expect(away.warnings).toHaveLength(1)
  })
})
