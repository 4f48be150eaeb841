// One change of a position at a time on all instances, and nothing sent once the lock is lost.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import { maxChangesPerAccount, type MaySend, type PositionLocks } from '@tradeport/domain/ports'
import type { TenantId, Ticket, UserId } from '@tradeport/domain/primitives'
import { newAccountId } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPositionLocks, type PositionLocksOptions } from '../src/index.ts'
import { never, onEachDatabase, type OpenedDatabase } from './open-stores.ts'

const ticket = '46648037' as Ticket
const done = () => TE.right('done')

/** A new account at the provider, and a link to it. */
const newBrokerAccount = (): BrokerAccount => {
  const accountId = newAccountId()
  return {
    accountId,
    owner: { tenantId: 'tenant-1' as TenantId, userId: 'user-1' as UserId },
    platform: 'mt5',
    providerAccountId: `provider-${accountId}`,
    region: null,
  }
}

/** Makes a change that lasts until `end` is called. */
const begin = async ({ holding }: PositionLocks, account: BrokerAccount, position = ticket) => {
  const [begun, ended] = [Promise.withResolvers<MaySend>(), Promise.withResolvers<void>()]
  const result = holding(
    account,
    position,
  )((maySend): TE.TaskEither<never, string> => async () => {
    begun.resolve(maySend)
    await ended.promise
    return E.right('done')
  })()
  const maySend = await begun.promise
  const end = () => {
    ended.resolve()
    return result
  }
  return { maySend, end }
}

onEachDatabase((open) => {
  const warnings: string[] = []
  let opened: OpenedDatabase
  let knex: Knex
  /** Two instances of the service, and one whose callers give up soon. */
  let here: PositionLocks
  let elsewhere: PositionLocks
  let impatient: PositionLocks
  const locksWith = (options: PositionLocksOptions, on = knex) =>
    createPositionLocks({
      knex: on,
      log: { warn: ({ event }) => void warnings.push(event) },
      pollMs: 20,
      ...options,
    })
  beforeAll(async () => {
    opened = await open()
    knex = opened.database.knex
    here = locksWith({})
    elsewhere = locksWith({}, opened.elsewhere.knex)
    impatient = locksWith({ patienceMs: 1_000 })
  })
  afterAll(() => opened.close())
  const rowsOf = ({ providerAccountId }: BrokerAccount) =>
    knex('position_locks').where({ provider_account_id: providerAccountId })

  it('the work may send until it ends, its result is returned or thrown, and the lock is released', async () => {
    const account = newBrokerAccount()
    for (const locks of [here, elsewhere]) {
      expect(
        await locks.holding(account, ticket)(() => TE.left(refuse('PositionNotFound')))(),
      ).toStrictEqual(E.left(refuse('PositionNotFound')))
      const failing = locks.holding(account, ticket)(() => () => Promise.reject(new Error('fails')))
      await expect(failing()).rejects.toThrow('fails')
      const { maySend, end } = await begin(locks, account)
      expect(maySend()).toBe(true)
      expect(await end()).toStrictEqual(E.right('done'))
      expect(maySend()).toBe(false)
    }
  })

  it('one of many changes runs at a time on all instances, at each in the order in which they came', async () => {
    const account = newBrokerAccount()
    const order: number[] = []
    let [running, most] = [0, 0]
    const work = (index: number) => (): TE.TaskEither<never, void> => async () => {
      most = Math.max(most, (running += 1))
      order.push(index)
      await setTimeout(1)
      running -= 1
      return E.right(undefined)
    }
    const changes = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? here : elsewhere).holding(account, ticket)(work(index))(),
    )
    await Promise.all(changes)
    expect(most).toBe(1)
    for (const rest of [0, 1]) {
      const own = order.filter((index) => index % 2 === rest)
      expect(own).toStrictEqual(own.toSorted((a, b) => a - b))
    }
  })

  it('a change waits for every link to the same account until its patience ends, and for no other position, account or tenant', async () => {
    const account = newBrokerAccount()
    const { owner, providerAccountId } = account
    for (const locks of [impatient, elsewhere]) {
      const { end } = await begin(locks, account)
      for (const [other, position] of [
        [account, '46648038' as Ticket],
        [{ ...account, providerAccountId: `${providerAccountId}-2` }, ticket],
        [{ ...account, owner: { ...owner, tenantId: 'tenant-2' as TenantId } }, ticket],
      ] as const)
        expect(await here.holding(other, position)(done)()).toStrictEqual(E.right('done'))
      const userId = 'user-2' as UserId
      const link = { ...account, accountId: newAccountId(), owner: { ...owner, userId } }
      for (const refused of [account, link].map((one) => impatient.holding(one, ticket)(done)()))
        expect(await refused).toStrictEqual(E.left(refuse('InternalTimeout')))
      await end()
    }
  })

  it('a position is free once its process has died, which may send nothing by then', async () => {
    const account = newBrokerAccount()
    const dying = locksWith({ leaseMs: 500, renewMs: never }, opened.elsewhere.knex)
    const { maySend, end } = await begin(dying, account)
    const waiting = [here, elsewhere].map(({ holding }) =>
      holding(account, ticket)(() => TE.fromIO(maySend))(),
    )
    expect(await Promise.all(waiting)).toStrictEqual([E.right(false), E.right(false)])
    await end()
  })

  it('as many changes of one account as are allowed hold no connection and delay no other account, and one more is refused', async () => {
    const account = newBrokerAccount()
    const running = await Promise.all(
      Array.from({ length: maxChangesPerAccount }, (_, index) =>
        begin(here, account, String(index) as Ticket),
      ),
    )
    await expect.poll(() => opened.database.pool().inUse).toBe(0)
    expect(await here.holding(account, ticket)(done)()).toMatchObject({
      left: { _tag: 'BrokerUnavailable', accountId: account.accountId },
    })
    expect(await here.holding(newBrokerAccount(), ticket)(done)()).toStrictEqual(E.right('done'))
    await Promise.all(running.map(({ end }) => end()))
    expect(await here.holding(account, ticket)(done)()).toStrictEqual(E.right('done'))
  })

  it('the lock is renewed while the work runs, which may send for longer than one lease', async () => {
    const account = newBrokerAccount()
    const { maySend, end } = await begin(locksWith({ leaseMs: 1_000, renewMs: 20 }), account)
    await setTimeout(2_000)
    await expect.poll(maySend).toBe(true)
    expect(await rowsOf(account)).toHaveLength(1)
    await end()
    await expect.poll(() => rowsOf(account)).toHaveLength(0)
  })

  it('nothing may be sent once the database has stalled for longer than the lease, when another instance may change the position', async () => {
    const account = newBrokerAccount()
    const leaseMs = 400
    const { maySend, end } = await begin(locksWith({ leaseMs, renewMs: 50 }), account)
    // Every connection is occupied.
    const stalled = await Promise.all(
      Array.from({ length: opened.database.pool().size }, () => knex.transaction()),
    )
    await setTimeout(leaseMs)
    const others =
      opened.elsewhere === opened.database
        ? E.right('done')
        : await elsewhere.holding(account, ticket)(done)()
    expect(maySend()).toBe(false)
    await Promise.all(stalled.map((transaction) => transaction.rollback()))
    await end()
    expect(others).toStrictEqual(E.right('done'))
  })

  it('nothing may be sent once another change holds the lock, whose row is left alone', async () => {
    const account = newBrokerAccount()
    const locks = locksWith({ leaseMs: 60_000, renewMs: 20, patienceMs: 2_000 })
    const { maySend, end } = await begin(locks, account)
    await rowsOf(account).update({ holder: randomUUID() })
    await expect.poll(maySend).toBe(false)
    expect(warnings).toContain('position_lock_lost')
    await end()
    // The next change waits for the release of the lost lock, and then for the other change.
    expect(await locks.holding(account, ticket)(done)()).toStrictEqual(
      E.left(refuse('InternalTimeout')),
    )
  })

  it('rows are removed an hour after they expired, and none that still counts', async () => {
    const [old, young] = [newBrokerAccount(), newBrokerAccount()]
    const dying = locksWith({ leaseMs: 60_000, renewMs: never })
    const held = await Promise.all([old, young].map((account) => begin(dying, account)))
    await rowsOf(old).update({ expires_at: knex.raw(`now() - interval '61 minutes'`) })
    await here.holding(newBrokerAccount(), ticket)(done)()
    await expect.poll(() => rowsOf(old)).toHaveLength(0)
    expect(await rowsOf(young)).toHaveLength(1)
    await Promise.all(held.map(({ end }) => end()))
  })

  it('work is refused when the database is unavailable, and its result is returned although the database became unavailable meanwhile', async () => {
    const gone = await open()
    const { holding } = locksWith({ renewMs: 20 }, gone.database.knex)
    const work = (): TE.TaskEither<never, string> => async () => {
      await gone.close()
      await expect.poll(() => warnings).toContain('position_lock_renewal')
      return E.right('done')
    }
    expect(await holding(newBrokerAccount(), ticket)(work)()).toStrictEqual(E.right('done'))
    await expect.poll(() => warnings).toContain('position_lock_release')
    expect(await holding(newBrokerAccount(), ticket)(() => TE.left('begun'))()).toMatchObject({
      left: { _tag: 'ServiceUnavailable' },
    })
  })
})
