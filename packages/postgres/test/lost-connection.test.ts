// Connections that die without a word: what waits on one fails in bounded time, the connection is destroyed, and the pool goes on with new ones.
import { setTimeout } from 'node:timers/promises'
import { newAccountId } from '@tradeport/domain/testing'
import { createTcpProxy } from '@tradeport/testkit'
import type { TcpProxy } from '@tradeport/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, startJobs, startPeerNotices } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { createServerDatabase, serverTitle, serverUrl } from './open-stores.ts'
import type { EmptyServerDatabase } from './open-stores.ts'

/** A connection that has been idle for so long is validated before it is used. */
const idleMs = 3_000

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let empty: EmptyServerDatabase
  let proxy: TcpProxy
  let database: Database
  const open = async (poolSize: number): Promise<void> => {
    database = await openDatabase({ url: proxy.url, poolSize, statementTimeoutMs: 1_000 })
  }
  beforeEach(async () => {
    empty = await createServerDatabase()
    proxy = await createTcpProxy({ target: empty.url })
  })
  afterEach(async () => {
    await proxy.resume()
    await database.close()
    await proxy.close()
    await empty.drop()
  })

  const loseExistingConnections = async (): Promise<void> => {
    proxy.blackHole()
    await proxy.resume()
  }
  const backendPid = async (): Promise<number> => {
    const { rows } = await database.knex.raw<{ rows: { pid: number }[] }>('select pg_backend_pid() as pid')
    return rows[0]?.pid ?? 0
  }
  const sleep = (): Promise<unknown> => database.knex.raw('select pg_sleep(0.5)')

  it('a statement without an answer is rejected, and the next one has another connection', async () => {
    await open(1)
    const pid = await backendPid()
    const statement = sleep()
    await loseExistingConnections()
    await expect(statement).rejects.toThrow('Query read timeout')
    expect(await backendPid()).not.toBe(pid)
    expect(database.pool()).toMatchObject({ inUse: 0, idle: 1 })
  })

  it('so is a transaction, whatever it was doing', async () => {
    await open(1)
    const transaction = database.knex.transaction(async (trx) => {
      await trx.raw('create table written (id int)')
      await loseExistingConnections()
      await trx.raw('insert into written values (1)')
    })
    await expect(transaction).rejects.toThrow(/Query read timeout|not queryable/)
    expect(await database.knex.schema.hasTable('written')).toBe(false)
  })

  it('so is a statement of pg-boss', async () => {
    await open(1)
    const jobs = await startJobs({ knex: database.knex })
    const statement = jobs.boss.getQueues()
    await loseExistingConnections()
    await expect(statement).rejects.toThrow('Query read timeout')
    expect(await jobs.boss.getQueues()).toEqual([])
    await jobs.stop()
  })

  it('idle connections that died are all replaced by the first statement that meets one', async () => {
    await open(10)
    await Promise.all(Array.from({ length: 10 }, sleep))
    expect(database.pool().idle).toBe(10)
    await loseExistingConnections()
    await setTimeout(idleMs)
    expect(await backendPid()).toBeGreaterThan(0)
  })

  it('is used again once the network is back, where new connections were lost too', async () => {
    await open(5)
    const statements = Array.from({ length: 5 }, sleep)
    proxy.blackHole()
    const results = await Promise.allSettled([...statements, ...Array.from({ length: 20 }, () => database.ping())])
    expect(results.slice(0, 5).map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'))
    await proxy.resume()
    await expect.poll(() => database.ping()).toMatchObject({ _tag: 'Right' })
  })

  it('is closed although its connections are lost', async () => {
    await open(2)
    await Promise.all([sleep(), sleep()])
    proxy.blackHole()
    await database.close()
  })

  it('the connection for peer notices is replaced, and what may have been missed is reported', async () => {
    await open(2)
    const other = await openDatabase({ url: empty.url })
    const clock = { now: () => performance.now() }
    const [near, far] = [startPeerNotices({ database, clock }), startPeerNotices({ database: other, clock })]
    const heard: string[] = []
    near.subscribe((notice) => heard.push(notice.kind))
    await expect.poll(() => Math.min(near.confirmedAt(), far.confirmedAt())).toBeGreaterThan(0)
    await loseExistingConnections()
    await expect.poll(() => heard).toEqual(['notices_missed', 'notices_missed'])
    far.tellAccountChanged(newAccountId())
    await expect.poll(() => heard).toEqual(['notices_missed', 'notices_missed', 'account_changed'])
    await Promise.all([near.stop(), far.stop()])
    await other.close()
  })

  it('a migration has as long as it needs', async () => {
    const blocking = await openDatabase({ url: empty.url })
    const isReleased = Promise.withResolvers<void>()
    const isLocked = Promise.withResolvers<void>()
    const lock = blocking.knex.transaction(async (trx) => {
      await trx.raw(`select pg_advisory_xact_lock(hashtextextended('tradeport.migrate', 0))`)
      isLocked.resolve()
      await isReleased.promise
    })
    await isLocked.promise
    const opening = open(1)
    // Longer than any statement of the opened database may take.
    await setTimeout(4_000)
    isReleased.resolve()
    await Promise.all([lock, opening])
    expect(await database.isMigrated()).toMatchObject({ right: true })
    await blocking.close()
  })
})
