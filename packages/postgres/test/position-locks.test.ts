// Position locks keep their contract on the embedded database and between two instances on a server, and stop what must not be sent when the database is
// away, slow, or says that another change holds the lock.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createLiveAccounts, formatPositionId, internalTimeout, maxChangesPerAccount, moveStopLoss } from '@tradeport/domain'
import type { BrokerAccount, MaySend, PositionLocks, Ticket } from '@tradeport/domain'
import {
  createFakeAccountStore,
  createFakeBroker,
  createFakePositionDesk,
  createFakeRecords,
  heldWork,
  newAccount,
  newBrokerAccount,
  openPosition,
  positionLocksContract,
} from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPositionLocks } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { openLocksEmbedded, openLocksOnServer } from './lock-ports.ts'
import type { OpenedLocks } from './lock-ports.ts'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const ticket = '46648037' as Ticket
const never = 2_000_000_000
const done = () => TE.right('done')

const rowsOf = async ({ knex }: Database, { providerAccountId }: BrokerAccount): Promise<readonly { holder: string; expires_at: Date }[]> =>
  knex('position_locks').where({ provider_account_id: providerAccountId })

const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isReached())) await setTimeout(20)
}

const pause = () => async () => undefined

/** Moves the stop loss of an open position of the account, at a broker in memory. */
const changeOf = (account: BrokerAccount, positionLocks: PositionLocks) => {
  const clock = { now: () => 0 }
  const records = createFakeRecords()
  const { accountId: id, owner, providerAccountId, region } = account
  const linked = newAccount(owner, { id, tradeMode: 'demo', provider: { providerAccountId, region } })
  records.tables.accounts.set(id, linked)
  const accounts = createFakeAccountStore(records)
  const broker = createFakeBroker(clock)
  const positionDesk = createFakePositionDesk(clock)
  positionDesk.put(id, [openPosition({ ticket })])
  const ports = { accounts, broker, positionDesk, positionLocks, pause, liveAccounts: createLiveAccounts({ accounts, broker, clock }) }
  return { positionDesk, change: moveStopLoss(ports)({ owner }, formatPositionId(id, ticket), 1.05) }
}

/** Occupies every connection, so that statements wait until the function that it returns is called. */
const stall = async ({ knex, pool }: Database): Promise<() => Promise<void>> => {
  const transactions = await Promise.all(Array.from({ length: pool().size }, () => knex.transaction()))
  return async () => {
    await Promise.all(transactions.map((transaction) => transaction.rollback()))
  }
}

const locksOn = (title: string, openLocks: () => Promise<OpenedLocks>, openDatabase: () => Promise<OpenedDatabase>): void => {
  let opened: OpenedLocks
  beforeAll(async () => {
    opened = await openLocks()
  })
  afterAll(() => opened.close())
  positionLocksContract(title, async () => ({ ports: opened.ports, close: async () => undefined }))

  describe(`position locks and their rows, ${title}`, () => {
    let database: Database
    const warnings: string[] = []
    const log = { warn: ({ event }: { event: string }) => void warnings.push(event) }
    beforeAll(() => {
      ;({ database } = opened)
    })

    it('keeps a row for as long as the work runs, renews it, and leaves none', async () => {
      const account = newBrokerAccount()
      const { holding } = createPositionLocks({ knex: database.knex, leaseMs: 60_000, renewMs: 20 })
      const work = (): TE.TaskEither<never, string> => async () => {
        const [first] = await rowsOf(database, account)
        await until(async () => {
          const [now] = await rowsOf(database, account)
          return now !== undefined && first !== undefined && now.expires_at > first.expires_at && now.holder === first.holder
        })
        return E.right('done')
      }
      expect(await holding(account, ticket)(work)()).toStrictEqual(E.right('done'))
      await until(async () => (await rowsOf(database, account)).length === 0)
    })

    it('may send for longer than one lease while the lock is renewed', async () => {
      const leaseMs = 1_000
      const { holding } = createPositionLocks({ knex: database.knex, leaseMs, renewMs: 20 })
      const startedAt = performance.now()
      const work = (maySend: MaySend) => TE.fromTask(() => until(() => performance.now() - startedAt > 2 * leaseMs && maySend()))
      expect(await holding(newBrokerAccount(), ticket)(work)()).toStrictEqual(E.right(undefined))
    })

    it('holds no connection while brokers hang: with as many changes of one account as there may be, another account’s is made', async () => {
      const { holding } = createPositionLocks({ knex: database.knex, renewMs: 200 })
      const hung = newBrokerAccount()
      const held = heldWork()
      let begun = 0
      const hanging = (maySend: MaySend) => {
        begun += 1
        return held.work(maySend)
      }
      const changes = Array.from({ length: maxChangesPerAccount }, (_, index) => holding(hung, String(index) as Ticket)(hanging)())
      await until(() => begun === maxChangesPerAccount)
      await until(() => database.pool().inUse === 0)
      expect(await holding(newBrokerAccount(), ticket)(done)()).toStrictEqual(E.right('done'))
      held.end()
      expect(await Promise.all(changes)).toStrictEqual(changes.map(() => E.right('held')))
    })

    it('does not send a change once the database has stalled for longer than the lease, when another instance may change the position', async () => {
      const account = newBrokerAccount()
      const leaseMs = 400
      const { positionDesk, change } = changeOf(account, createPositionLocks({ knex: database.knex, leaseMs, renewMs: 50 }))
      const resumeBroker = positionDesk.hold()
      const changing = change()
      await until(() => positionDesk.reads() > 0)
      const resumeDatabase = await stall(database)
      await setTimeout(leaseMs)
      const isElsewhere = opened.otherDatabase !== database
      const others = isElsewhere ? await opened.ports.elsewhere.holding(account, ticket)(done)() : E.right('done')
      resumeBroker()
      const changed = await changing
      await resumeDatabase()
      expect(others).toStrictEqual(E.right('done'))
      expect(changed).toMatchObject({ left: { _tag: 'BrokerUnavailable', accountId: account.accountId } })
      expect(positionDesk.sent()).toEqual([])
    })

    it('sends nothing more once another change holds the lock, and leaves that change’s row alone', async () => {
      const account = newBrokerAccount()
      const { holding } = createPositionLocks({ knex: database.knex, log, leaseMs: 60_000, renewMs: 20, patienceMs: 2_000 })
      const held = heldWork()
      const losing = holding(account, ticket)(held.work)()
      const maySend = await held.begun
      expect(maySend()).toBe(true)
      const rows = database.knex('position_locks').where({ provider_account_id: account.providerAccountId })
      await rows.update({ holder: randomUUID() })
      await until(() => warnings.includes('position_lock_lost'))
      expect(maySend()).toBe(false)
      held.end()
      await losing
      // The next change of this instance waits for the release of the lost lock, and then finds the position held by the other change.
      expect(await holding(account, ticket)(done)()).toStrictEqual(E.left(internalTimeout))
    })

    it('removes rows an hour after they expired, and none that still counts', async () => {
      const [old, young] = [newBrokerAccount(), newBrokerAccount()]
      const dying = createPositionLocks({ knex: database.knex, leaseMs: 60_000, renewMs: never })
      const held = heldWork()
      const works = [old, young].map((account) => dying.holding(account, ticket)(held.work)())
      await until(async () => (await rowsOf(database, old)).length + (await rowsOf(database, young)).length === 2)
      await database
        .knex('position_locks')
        .where({ provider_account_id: old.providerAccountId })
        .update({ expires_at: database.knex.raw(`now() - interval '61 minutes'`) })
      await createPositionLocks({ knex: database.knex }).holding(newBrokerAccount(), ticket)(done)()
      await until(async () => (await rowsOf(database, old)).length === 0)
      expect(await rowsOf(database, young)).toHaveLength(1)
      held.end()
      await Promise.all(works)
    })

    it('refuses without beginning the work when the database is away, and returns what was done although it went away meanwhile', async () => {
      const { database: gone, close } = await openDatabase()
      const { holding } = createPositionLocks({ knex: gone.knex, log, renewMs: 20 })
      const work = (): TE.TaskEither<never, string> => async () => {
        await close()
        await until(() => warnings.includes('position_lock_renewal'))
        return E.right('done')
      }
      expect(await holding(newBrokerAccount(), ticket)(work)()).toStrictEqual(E.right('done'))
      await until(() => warnings.includes('position_lock_release'))
      let works = 0
      const count = () => TE.fromIO(() => (works += 1))
      expect(await holding(newBrokerAccount(), ticket)(count)()).toMatchObject({ _tag: 'Left', left: { _tag: 'ServiceUnavailable' } })
      expect(works).toBe(0)
    })
  })
}

describe('on the embedded database', () => {
  locksOn('embedded', openLocksEmbedded, openEmbedded)
})
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  locksOn('server', openLocksOnServer, openServer)
})
