// Position locks beside their contract: what must not be sent is stopped when the database is away,
// slow, or says that another change holds the lock.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { internalTimeout } from '@tradeport/domain/errors'
import { maxChangesPerAccount } from '@tradeport/domain/ports'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { MaySend } from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPositionLocks } from '../src/index.ts'
import type { PositionLocksOptions } from '../src/index.ts'
import { heldWork, lockPortsOn, never, newBrokerAccount } from './lock-ports.ts'
import { onEachDatabase } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const ticket = '46648037' as Ticket
const done = () => TE.right('done')

const until = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isReached())) await setTimeout(20)
}

onEachDatabase((open) => {
  const warnings: string[] = []
  let opened: OpenedDatabase
  let knex: Knex
  beforeAll(async () => {
    opened = await open()
    knex = opened.database.knex
  })
  afterAll(() => opened.close())

  const locksWith = (options: PositionLocksOptions) =>
    createPositionLocks({
      knex,
      log: { warn: ({ event }) => void warnings.push(event) },
      ...options,
    })
  const rowsOf = ({ providerAccountId }: BrokerAccount) =>
    knex('position_locks').where({ provider_account_id: providerAccountId })

  it('a row is kept and renewed for as long as the work runs, which may send for longer than one lease, and none is left', async () => {
    const account = newBrokerAccount()
    const leaseMs = 1_000
    const startedAt = performance.now()
    let holders: readonly string[] = []
    const work = (maySend: MaySend) =>
      TE.fromTask(async () => {
        await until(() => performance.now() - startedAt > 2 * leaseMs && maySend())
        holders = await rowsOf(account).pluck('holder')
      })
    expect(
      await locksWith({ leaseMs, renewMs: 20 }).holding(account, ticket)(work)(),
    ).toStrictEqual(E.right(undefined))
    expect(holders).toHaveLength(1)
    await until(async () => (await rowsOf(account)).length === 0)
  })

  it('no connection is held while brokers hang: with as many changes of one account as there may be, another account’s is made', async () => {
    const { holding } = locksWith({ renewMs: 200 })
    const hung = newBrokerAccount()
    const held = heldWork()
    let begun = 0
    const hanging = (maySend: MaySend) => {
      begun += 1
      return held.work(maySend)
    }
    const changes = Array.from({ length: maxChangesPerAccount }, (_, index) =>
      holding(hung, String(index) as Ticket)(hanging)(),
    )
    await until(() => begun === maxChangesPerAccount && opened.database.pool().inUse === 0)
    expect(await holding(newBrokerAccount(), ticket)(done)()).toStrictEqual(E.right('done'))
    held.end()
    expect(await Promise.all(changes)).toStrictEqual(changes.map(() => E.right('held')))
  })

  it('a change may not be sent once the database has stalled for longer than the lease, when another instance may change the position', async () => {
    const account = newBrokerAccount()
    const leaseMs = 400
    const held = heldWork()
    const changing = locksWith({ leaseMs, renewMs: 50 }).holding(account, ticket)(held.work)()
    const maySend = await held.begun
    // Every connection is occupied.
    const stalled = await Promise.all(
      Array.from({ length: opened.database.pool().size }, () => knex.transaction()),
    )
    await setTimeout(leaseMs)
    const isElsewhere = opened.elsewhere !== opened.database
    const others = isElsewhere
      ? await lockPortsOn(opened).elsewhere.holding(account, ticket)(done)()
      : E.right('done')
    expect(maySend()).toBe(false)
    held.end()
    await changing
    await Promise.all(stalled.map((transaction) => transaction.rollback()))
    expect(others).toStrictEqual(E.right('done'))
  })

  it('nothing more may be sent once another change holds the lock, whose row is left alone', async () => {
    const account = newBrokerAccount()
    const { holding } = locksWith({ leaseMs: 60_000, renewMs: 20, patienceMs: 2_000 })
    const held = heldWork()
    const losing = holding(account, ticket)(held.work)()
    const maySend = await held.begun
    expect(maySend()).toBe(true)
    await rowsOf(account).update({ holder: randomUUID() })
    await until(() => warnings.includes('position_lock_lost'))
    expect(maySend()).toBe(false)
    held.end()
    await losing
    // The next change of this instance waits for the release of the lost lock, and then finds the
    // position held by the other change.
    expect(await holding(account, ticket)(done)()).toStrictEqual(E.left(internalTimeout))
  })

  it('rows are removed an hour after they expired, and none that still counts', async () => {
    const [old, young] = [newBrokerAccount(), newBrokerAccount()]
    const dying = locksWith({ leaseMs: 60_000, renewMs: never })
    const held = heldWork()
    const works = [old, young].map((account) => dying.holding(account, ticket)(held.work)())
    await until(async () => (await rowsOf(old)).length + (await rowsOf(young)).length === 2)
    await rowsOf(old).update({ expires_at: knex.raw(`now() - interval '61 minutes'`) })
    await locksWith({}).holding(newBrokerAccount(), ticket)(done)()
    await until(async () => (await rowsOf(old)).length === 0)
    expect(await rowsOf(young)).toHaveLength(1)
    held.end()
    await Promise.all(works)
  })

  it('work is refused when the database is away, and what was done is returned although it went away meanwhile', async () => {
    const gone = await open()
    const { holding } = createPositionLocks({
      knex: gone.database.knex,
      log: { warn: ({ event }) => void warnings.push(event) },
      renewMs: 20,
    })
    const work = (): TE.TaskEither<never, string> => async () => {
      await gone.close()
      await until(() => warnings.includes('position_lock_renewal'))
      return E.right('done')
    }
    expect(await holding(newBrokerAccount(), ticket)(work)()).toStrictEqual(E.right('done'))
    await until(() => warnings.includes('position_lock_release'))
    expect(await holding(newBrokerAccount(), ticket)(() => TE.left('begun'))()).toMatchObject({
      left: { _tag: 'ServiceUnavailable' },
    })
  })
})
