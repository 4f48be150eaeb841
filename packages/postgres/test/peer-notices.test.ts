// Notices between instances on one database: all that was committed and nothing else, in order. What
// is reported where a connection is lost is in lost-database.test.ts.
import type { PeerNotice } from '@tradeport/domain/ports'
import type { AccountId, Owner, UserId } from '@tradeport/domain/primitives'
import {
  newAccountId,
  newApiKey,
  newUser,
  noChanges,
  noKeys,
  puts,
  removes,
  storedOwner,
  write,
  times,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, expect, it } from 'vitest'
import {
  openDatabase,
  startPeerNotices,
  type Database,
  type StartedPeerNotices,
} from '../src/index.ts'
import { sendCredentialsChanged } from '../src/connection/peer-notices.ts'
import { createServerDatabase, onEachDatabase, poll } from './harness.ts'

const missed: PeerNotice = { kind: 'notices_missed' }
const changed = (accountId: AccountId) => ({ kind: 'account_changed', accountId }) as const
const credentialsOf = (users: readonly UserId[] | 'everyone'): PeerNotice => ({
  kind: 'credentials_changed',
  users,
})

const someone = { tenantId: 'acme', userId: 'u-1' } as Owner

// Ids that take as much room as ids can.
const users = (count: number) => times(count, (n) => `"${'\\'.repeat(100)}${n}` as UserId)

interface Instance {
  readonly notices: StartedPeerNotices
  readonly received: readonly PeerNotice[]
  readonly warnings: readonly string[]
  /** Once everything has arrived that is committed by now. */
  readonly confirmed: () => Promise<void>
}

const startInstance = (database: Pick<Database, 'knex' | 'server'>): Instance => {
  const received: PeerNotice[] = []
  const warnings: string[] = []
  const log = {
    warn: ({ event, reason }: { event: string; reason: string }) =>
      void warnings.push(`${event}: ${reason}`),
  }
  const notices = startPeerNotices({ database, clock: { now: () => performance.now() }, log })
  notices.subscribe((notice) => received.push(notice))
  return {
    notices,
    received,
    warnings,
    confirmed: async () => {
      const now = performance.now()
      await poll(() => notices.confirmedAt(), { interval: 10 }).toBeGreaterThan(now)
    },
  }
}

onEachDatabase('peer notices', (here, _, kind) => {
  it.runIf(kind === 'embedded')(
    'on an embedded database, which is one process’s, everything is confirmed at any time, and nothing is received',
    async () => {
      const { notices, received } = startInstance(here.database)
      const before = performance.now()
      expect(notices.confirmedAt()).toBeGreaterThanOrEqual(before)
      notices.notify(changed(newAccountId()))
      await write(here.operator, { tenants: removes('nobody' as never) })
      await notices.stop()
      expect(received).toStrictEqual([])
    },
  )
  if (kind === 'embedded') return

  const started: Instance[] = []
  const start = async () => {
    const instance = startInstance(here.database)
    started.push(instance)
    await instance.confirmed()
    expect(instance.received).toStrictEqual([missed])
    return instance
  }
  const receivedBy = async ({ received, confirmed }: Instance) => {
    await confirmed()
    return received.slice(1)
  }
  afterEach(async () => {
    await Promise.all(started.splice(0).map(({ notices }) => notices.stop()))
  })

  it('every instance receives whose credentials a document changed, the one that wrote it too', async () => {
    const [one, two] = [await start(), await start()]
    const owner = await storedOwner(here.operator)
    const key = newApiKey(owner.userId)
    await write(here.operator, { apiKeys: puts(key) })
    await write(here.operator, { apiKeys: removes(key.id) })
    const expected = [
      credentialsOf([owner.userId]),
      credentialsOf([owner.userId]),
      credentialsOf('everyone'),
    ]
    expect([await receivedBy(one), await receivedBy(two)]).toStrictEqual([expected, expected])
  })

  it('no notice is sent of a document that was not written, or that changed nobody’s credentials', async () => {
    const one = await start()
    const ofNobody = { changes: { ...noChanges, users: puts(newUser('no-such-tenant' as never)) } }
    for (const decision of [
      E.left({ _tag: 'ValidationError', issues: [] } as const),
      E.right(ofNobody),
    ])
      expect(await here.operator.apply(noKeys, () => decision)()).toMatchObject({ _tag: 'Left' })
    await write(here.operator, { tenants: puts({ id: 'acme' as never, name: 'Acme' }) })
    expect(await receivedBy(one)).toStrictEqual([])
  })

  it('more users than a notice has room for are everyone, and what cannot be read may mean anything', async () => {
    const one = await start()
    for (const count of [30, 40])
      await here.knex.transaction((trx) => sendCredentialsChanged(trx, users(count)))
    const unreadable = [
      '',
      'garbage',
      '{}',
      '[]',
      '{"kind":"later"}',
      '{"from":"y","notice":{"kind":"account_changed","accountId":"x"}}',
    ]
    for (const text of unreadable)
      await here.knex.raw(`select pg_notify('tradeport_peer_notices', ?)`, [text])
    expect(await receivedBy(one)).toStrictEqual([
      credentialsOf(users(30)),
      credentialsOf('everyone'),
      ...unreadable.map(() => missed),
    ])
  })

  it('the other instances are notified of changed accounts and recorded events, once for all simultaneous notices', async () => {
    const [one, two] = [await start(), await start()]
    const [account, other] = [newAccountId(), newAccountId()]
    const recorded = { kind: 'events_recorded', owner: someone } as const
    for (const id of [account, other, account, account]) one.notices.notify(changed(id))
    for (const notice of [recorded, recorded]) one.notices.notify(notice)
    await one.notices.stop()
    expect(await receivedBy(two)).toStrictEqual([changed(account), changed(other), recorded])
    expect(one.received).toStrictEqual([missed])
  })

  it('nothing is confirmed where notices do not arrive or the server is unreachable or read-only, which is logged once', async () => {
    const elsewhere = await createServerDatabase()
    const apart = await openDatabase({ url: elsewhere.url })
    const deaf = startInstance({ knex: apart.knex, server: here.database.server })
    const unreachable = startInstance({
      knex: here.knex,
      server: { url: 'postgres://someone:pass-secret@127.0.0.1:1/none' },
    })
    const url = new URL(here.database.server?.url ?? '')
    url.searchParams.set('options', '-c default_transaction_read_only=on')
    const readOnly = startInstance({ knex: here.knex, server: { url: url.href } })
    const replaced = 'the PostgreSQL server is read-only: DATABASE_URL must lead to the primary'
    await poll(() => readOnly.warnings).toStrictEqual([`peer_notices: ${replaced}`])
    await expect(openDatabase({ url: url.href })).rejects.toThrow(replaced)
    await poll(() => deaf.warnings).toStrictEqual([
      expect.stringMatching(/^peer_notices: notices do not arrive: DATABASE_URL must/),
    ])
    await poll(() => unreachable.warnings).toStrictEqual(['peer_notices: ECONNREFUSED'])
    for (const { notices, received, warnings } of [deaf, unreachable, readOnly]) {
      expect([notices.confirmedAt(), received]).toStrictEqual([-Infinity, []])
      await notices.stop()
      expect(warnings).toHaveLength(1)
    }
    await apart.close()
    await elsewhere.drop()
  })
})
