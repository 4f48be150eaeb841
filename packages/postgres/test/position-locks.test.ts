// Locks of positions keep the contract on the embedded database and between two instances on a server; and what only a database can do to them:
// be away, be slow, and keep the rows of the dead.
import { setTimeout } from 'node:timers/promises'
import { positionLocksContract, newAccountId } from '@tradeport/domain/testing'
import type { Owner, PositionId, TenantId, Ticket, UserId } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPositionLocks } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { openLocksEmbedded, openLocksOnServer } from './lock-ports.ts'
import type { OpenedLocks } from './lock-ports.ts'
import { openEmbedded, openServer, serverTitle, serverUrl } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const owner: Owner = { tenantId: 'tenant-1' as TenantId, userId: 'user-1' as UserId }
const newPosition = (): PositionId => ({ accountId: newAccountId(), ticket: '46648037' as Ticket })
const never = 2_000_000_000

const rowsOf = async ({ knex }: Database, { accountId }: PositionId): Promise<readonly { holder: string; expires_at: Date }[]> =>
  knex('position_locks').where({ account_id: accountId })

const until = async (isReached: () => Promise<boolean>): Promise<void> => {
  while (!(await isReached())) await setTimeout(20)
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

    it('keeps a row for as long as the work takes, renews it, and leaves none', async () => {
      const id = newPosition()
      const { holding } = createPositionLocks({ knex: database.knex, leaseMs: 60_000, renewMs: 20 })
      const work: TE.TaskEither<never, string> = async () => {
        const [first] = await rowsOf(database, id)
        await until(async () => {
          const [now] = await rowsOf(database, id)
          return now !== undefined && first !== undefined && now.expires_at > first.expires_at && now.holder === first.holder
        })
        return E.right('done')
      }
      expect(await holding(owner, id)(work)()).toStrictEqual(E.right('done'))
      await until(async () => (await rowsOf(database, id)).length === 0)
    })

    it('holds no connection while the work goes on: more works are under way than there are connections', async () => {
      const { holding } = createPositionLocks({ knex: database.knex })
      const all = Promise.withResolvers<void>()
      let begun = 0
      const work: TE.TaskEither<never, void> = async () => {
        begun += 1
        if (begun === 30) all.resolve()
        await all.promise
        return E.right(undefined)
      }
      const works = Array.from({ length: 30 }, () => holding(owner, newPosition())(work)())
      expect(await Promise.all(works)).toStrictEqual(works.map(() => E.right(undefined)))
    })

    it('says so when another took what it held, does its work to the end, and leaves the other’s row alone', async () => {
      const id = newPosition()
      const slow = createPositionLocks({ knex: database.knex, log, leaseMs: 1, renewMs: 500 })
      const other = createPositionLocks({ knex: database.knex, log, pollMs: 5 })
      const begun = Promise.withResolvers<void>()
      const lostWork: TE.TaskEither<never, string> = async () => {
        begun.resolve()
        await until(async () => warnings.includes('position_lock_lost'))
        return E.right('done all the same')
      }
      const losing = slow.holding(owner, id)(lostWork)()
      await begun.promise
      const othersWork: TE.TaskEither<never, string> = async () => {
        expect(await losing).toStrictEqual(E.right('done all the same'))
        // Longer than the loser's release takes: that must not touch this row.
        await setTimeout(50)
        return E.right(String((await rowsOf(database, id)).length))
      }
      expect(await other.holding(owner, id)(othersWork)()).toStrictEqual(E.right('1'))
    })

    it('removes the rows of the dead, an hour after they lapsed, and none that still counts', async () => {
      const [old, young] = [newPosition(), newPosition()]
      const dying = createPositionLocks({ knex: database.knex, leaseMs: 60_000, renewMs: never })
      const ended = Promise.withResolvers<void>()
      const works = [old, young].map(async (id) => {
        await dying.holding(owner, id)(TE.fromTask(() => ended.promise))()
      })
      await until(async () => (await rowsOf(database, old)).length + (await rowsOf(database, young)).length === 2)
      await database
        .knex('position_locks')
        .where({ account_id: old.accountId })
        .update({ expires_at: database.knex.raw(`now() - interval '61 minutes'`) })
      await createPositionLocks({ knex: database.knex }).holding(owner, newPosition())(TE.right(undefined))()
      await until(async () => (await rowsOf(database, old)).length === 0)
      expect(await rowsOf(database, young)).toHaveLength(1)
      ended.resolve()
      await Promise.all(works)
    })

    it('refuses without beginning the work when the database is away, and gives what was done although it went away meanwhile', async () => {
      const { database: gone, close } = await openDatabase()
      const { holding } = createPositionLocks({ knex: gone.knex, log, renewMs: 20 })
      const work: TE.TaskEither<never, string> = async () => {
        await close()
        await until(async () => warnings.includes('position_lock_renewal'))
        return E.right('done')
      }
      expect(await holding(owner, newPosition())(work)()).toStrictEqual(E.right('done'))
      await until(async () => warnings.includes('position_lock_release'))
      let works = 0
      const count = TE.fromIO(() => (works += 1))
      expect(await holding(owner, newPosition())(count)()).toMatchObject({ _tag: 'Left', left: { _tag: 'ServiceUnavailable' } })
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
