// One change of a position at a time on all instances, and nothing sent once the lock is lost.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import { maxChangesPerAccount, type ChangeLocks } from '@tradeport/domain/ports'
import type { TenantId, Ticket, UserId } from '@tradeport/domain/primitives'
import { newAccount, newAccountId, times } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { beforeAll, expect, it } from 'vitest'
import { createChangeLocks, type Database } from '../src/index.ts'
import { brokerAccountOf, never, onEachDatabase, openDatabases, poll } from './harness.ts'

const ticket = '46648037' as Ticket

/** A new account at the provider, and a link to it. */
const newBrokerAccount = (): BrokerAccount =>
  brokerAccountOf(newAccount({ tenantId: 'tenant-1' as TenantId, userId: 'user-1' as UserId }))

/** How long a change waits for its lock. */
const patienceMs = 30_000

/** Makes a change that lasts until `end` is called. */
const begin = async ({ holding }: ChangeLocks, account: BrokerAccount, position = ticket) => {
  const [begun, ended] = [Promise.withResolvers<() => boolean>(), Promise.withResolvers<void>()]
  const result = holding(
    account,
    position,
    patienceMs,
  )((isHeld): TE.TaskEither<never, string> => async () => {
    begun.resolve(isHeld)
    await ended.promise
    return E.right('done')
  })()
  const isHeld = await begun.promise
  const end = () => {
    ended.resolve()
    return result
  }
  return { isHeld, end }
}

/** Makes a change that is done at once. */
const changes = (
  locks: ChangeLocks,
  account = newBrokerAccount(),
  position = ticket,
  withinMs = patienceMs,
) => locks.holding(account, position, withinMs)(() => TE.right('done'))()
const done = E.right('done')

onEachDatabase('position locks', (here, there, kind) => {
  const warnings: string[] = []
  /** Of two instances of the service. */
  let ours: ChangeLocks
  let theirs: ChangeLocks
  const locksWith = (
    options: Omit<Parameters<typeof createChangeLocks>[0], 'knex'>,
    { knex }: Pick<Database, 'knex'> = here,
  ) =>
    createChangeLocks({
      knex,
      log: { warn: ({ event }) => void warnings.push(event) },
      pollMs: 20,
      ...options,
    })
  beforeAll(() => {
    ours = locksWith({})
    theirs = locksWith({}, there)
  })
  const rowsOf = ({ providerAccountId }: BrokerAccount) =>
    here.knex('change_locks').where({ provider_account_id: providerAccountId })

  it('the work may send until it ends, its result is returned or thrown, and the lock is released', async () => {
    const account = newBrokerAccount()
    for (const { holding } of [ours, theirs]) {
      const notFound = refuse('PositionNotFound')
      expect(await holding(account, ticket, patienceMs)(() => TE.left(notFound))()).toStrictEqual(
        E.left(notFound),
      )
      const failing = holding(
        account,
        ticket,
        patienceMs,
      )(() => () => Promise.reject(new Error('fails')))
      await expect(failing()).rejects.toThrow('fails')
      const { isHeld, end } = await begin({ holding }, account)
      expect(isHeld()).toBe(true)
      expect(await end()).toStrictEqual(done)
      expect(isHeld()).toBe(false)
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
    await Promise.all(
      times(20, (index) =>
        (index % 2 ? ours : theirs).holding(account, ticket, patienceMs)(work(index))(),
      ),
    )
    expect(most).toBe(1)
    for (const rest of [0, 1]) {
      const own = order.filter((index) => index % 2 === rest)
      expect(own).toStrictEqual(own.toSorted((a, b) => a - b))
    }
  })

  it('a change waits for every link to the same account until its patience ends, and for no other position, account or tenant', async () => {
    const account = newBrokerAccount()
    const { owner, providerAccountId } = account
    for (const locks of [ours, theirs]) {
      const { end } = await begin(locks, account)
      for (const [other, position = ticket] of [
        [account, '46648038' as Ticket],
        [{ ...account, providerAccountId: `${providerAccountId}-2` }],
        [{ ...account, owner: { ...owner, tenantId: 'tenant-2' as TenantId } }],
      ] as const)
        expect(await changes(ours, other, position)).toStrictEqual(done)
      const userId = 'user-2' as UserId
      const link = { ...account, accountId: newAccountId(), owner: { ...owner, userId } }
      for (const refused of [account, link].map((one) => changes(ours, one, ticket, 1_000)))
        expect(await refused).toStrictEqual(E.left(refuse('InternalTimeout')))
      await end()
      expect(await changes(ours, account)).toStrictEqual(done)
    }
  })

  it('a position is free once its process has died, which may send nothing by then', async () => {
    const account = newBrokerAccount()
    const { isHeld, end } = await begin(locksWith({ leaseMs: 500, renewMs: never }, there), account)
    const waiting = [ours, theirs].map(({ holding }) =>
      holding(account, ticket, patienceMs)(() => TE.fromIO(isHeld))(),
    )
    expect(await Promise.all(waiting)).toStrictEqual([E.right(false), E.right(false)])
    await end()
  })

  it('a position is free although its process died before the database’s clock was set back', async () => {
    const account = newBrokerAccount()
    const { end } = await begin(locksWith({ renewMs: never }, there), account)
    await rowsOf(account).update({ leased_until: here.knex.raw(`now() + interval '2 minutes'`) })
    expect(await changes(ours, account, ticket, 1_000)).toStrictEqual(done)
    await end()
  })

  it('as many changes of one account as are allowed hold no connection and delay no other account, and one more is refused', async () => {
    const account = newBrokerAccount()
    const running = await Promise.all(
      times(maxChangesPerAccount, (index) => begin(ours, account, String(index) as Ticket)),
    )
    await poll(() => here.database.pool().inUse).toBe(0)
    expect(await changes(ours, account)).toMatchObject({
      left: { _tag: 'BrokerUnavailable', accountId: account.accountId },
    })
    expect(await changes(ours)).toStrictEqual(done)
    await Promise.all(running.map(({ end }) => end()))
    expect(await changes(ours, account)).toStrictEqual(done)
  })

  it('the lock is renewed while the work runs, which may send for longer than one lease', async () => {
    const account = newBrokerAccount()
    const { isHeld, end } = await begin(locksWith({ leaseMs: 1_000, renewMs: 20 }), account)
    await setTimeout(1_500)
    await poll(isHeld).toBe(true)
    expect(await rowsOf(account)).toHaveLength(1)
    await end()
    await poll(() => rowsOf(account)).toHaveLength(0)
  })

  it('nothing may be sent once the database has stalled for longer than the lease, when another instance may change the position', async () => {
    const account = newBrokerAccount()
    const leaseMs = 400
    const { isHeld, end } = await begin(locksWith({ leaseMs, renewMs: 50 }), account)
    // Every connection is occupied.
    const stalled = await Promise.all(
      times(here.database.pool().size, () => here.knex.transaction()),
    )
    await setTimeout(leaseMs)
    if (kind === 'server') expect(await changes(theirs, account)).toStrictEqual(done)
    expect(isHeld()).toBe(false)
    await Promise.all(stalled.map((transaction) => transaction.rollback()))
    await end()
  })

  it('nothing may be sent once another change holds the lock, whose row is left alone', async () => {
    const account = newBrokerAccount()
    const locks = locksWith({ leaseMs: 60_000, renewMs: 20 })
    const { isHeld, end } = await begin(locks, account)
    await rowsOf(account).update({ lease_id: randomUUID() })
    await poll(isHeld).toBe(false)
    expect(warnings).toContain('change_lock_lost')
    await end()
    // The next change waits for the release of the lost lock, and then for the other change.
    expect(await changes(locks, account, ticket, 1_000)).toStrictEqual(
      E.left(refuse('InternalTimeout')),
    )
  })

  it('rows are removed an hour after they expired, and none that still counts', async () => {
    const [old, young] = [newBrokerAccount(), newBrokerAccount()]
    const dying = locksWith({ leaseMs: 60_000, renewMs: never })
    const held = await Promise.all([old, young].map((account) => begin(dying, account)))
    await rowsOf(old).update({ leased_until: here.knex.raw(`now() - interval '61 minutes'`) })
    await changes(ours)
    await poll(() => rowsOf(old)).toHaveLength(0)
    expect(await rowsOf(young)).toHaveLength(1)
    await Promise.all(held.map(({ end }) => end()))
  })

  it('work is refused when the database is unavailable, and its result is returned although the database became unavailable meanwhile', async () => {
    const { database, close } = await openDatabases(kind)
    const locks = locksWith({ renewMs: 20 }, database)
    const { end } = await begin(locks, newBrokerAccount())
    await close()
    await poll(() => warnings).toContain('change_lock_renewal')
    expect(await end()).toStrictEqual(done)
    await poll(() => warnings).toContain('change_lock_release')
    expect(await changes(locks)).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
  })
})
