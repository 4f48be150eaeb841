// Connections that break or fall silent, also around a commit: what waits on one fails in bounded
// time, the connection is replaced, and a write that may stand is reported as such.
import { setTimeout } from 'node:timers/promises'
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { DeliveryId } from '@tradeport/domain/primitives'
import {
  newAccountId,
  newClaim,
  newOrderOn,
  newReply,
  newTenant,
  newWebhook,
  noChanges,
  noKeys,
  puts,
  rightOf,
  storedAccount,
  storedOwner,
  toRecord,
  createTcpProxy,
  type TcpProxy,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, startJobs, startPeerNotices, type Database } from '../src/index.ts'
import { createTestClock, startEvents } from './event-ports.ts'
import {
  createServerDatabase,
  serverTitle,
  serverUrl,
  storesOn,
  webhooksOn,
  type EmptyServerDatabase,
} from './open-stores.ts'
import { startInstance } from './order-ports.ts'

/** A connection that has been idle for so long is validated before it is used. */
const idleMs = 3_000
const outageMs = 5_000

type Fault = 'closed before' | 'closed after' | 'lost before' | 'lost after'

/** A write that must not be reported as failed while it may stand. */
interface Write {
  readonly write: TE.TaskEither<ServiceUnavailable | object, unknown>
  /** How often it stands. */
  readonly count: () => Promise<number>
}

const writes: Record<string, (database: Database) => Promise<Write>> = {
  'an order with its reply': async (database) => {
    const { ports, stop } = await startInstance(database)
    await stop()
    const order = newOrderOn(await storedAccount(ports.operator), Date.now())
    const keep = { claim: newClaim(), reply: newReply() }
    await rightOf(ports.idempotency.claim(order.owner, keep.claim, Date.now()))
    return {
      write: ports.orders.record(order.owner, toRecord(order, { keep })),
      count: async () => {
        const isRecorded = O.isSome(await rightOf(ports.orders.find(order.owner, order.id)))
        // Until the server ends the transaction of which it received nothing more, the key's row is
        // locked.
        await expect
          .poll(
            () =>
              ports.idempotency.claim(
                order.owner,
                { ...keep.claim, id: newClaim().id },
                Date.now() + 10_000,
              )(),
            {
              timeout: 40_000,
            },
          )
          .toStrictEqual(
            E.right(isRecorded ? { kind: 'replied', reply: keep.reply } : { kind: 'claimed' }),
          )
        return isRecorded ? 1 : 0
      },
    }
  },
  "an operator's document": async (database) => {
    const tenant = newTenant()
    return {
      write: storesOn(database).operator.apply(noKeys, () =>
        E.right({ changes: { ...noChanges, tenants: puts(tenant) } }),
      ),
      count: async () =>
        (await database.knex('tenants').where({ id: tenant.id }).select('id')).length,
    }
  },
  'a webhook, whose secret is shown once': async (database) => {
    const webhook = newWebhook(await storedOwner(storesOn(database).operator), 0)
    return {
      write: webhooksOn(database).create(webhook.owner, {
        webhook,
        secret: 'a secret of some length',
      }),
      count: async () => (await rightOf(webhooksOn(database).list(webhook.owner))).length,
    }
  },
  'a rotated secret, which is shown once': async (database) => {
    const webhook = newWebhook(await storedOwner(storesOn(database).operator), 0)
    const store = webhooksOn(database)
    await rightOf(store.create(webhook.owner, { webhook, secret: 'a secret of some length' }))
    const rotation = { secret: 'another secret', overlapHours: 0 }
    return {
      write: store.rotateSecret(webhook.owner, webhook.id, rotation, 0),
      count: async () => {
        const found = await rightOf(store.findWithSecret(webhook.owner, webhook.id))
        return O.isSome(found) && found.value.secret === rotation.secret ? 1 : 0
      },
    }
  },
  'a replay, which must not be made twice': async (database) => {
    const clock = createTestClock()
    const { operator, webhooks, record, deliveries, stop } = await startEvents(database, clock)
    await stop()
    const webhook = newWebhook(await storedOwner(operator), 0)
    await rightOf(webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' }))
    const data = { account_id: newAccountId() }
    await record(webhook.owner, [{ type: 'trade.closed', key: 'one', data, at: clock.now() }])
    const log = () => rightOf(deliveries.list(webhook.owner, webhook.id, { page: 1, limit: 9 }))
    const id = (await log()).items[0]?.id as DeliveryId
    const replay = { id: '0e000000-0000-4000-8000-000000000001' as DeliveryId, at: clock.now() }
    return {
      write: deliveries.replay(webhook.owner, webhook.id, id, replay),
      count: async () => (await log()).total - 1,
    }
  },
}

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  let empty: EmptyServerDatabase
  let proxy: TcpProxy
  let database: Database
  let fault: Fault | undefined
  let isCommitting = false
  const fail = (): void => {
    if (fault?.startsWith('lost') === true) proxy.blackHole()
    else void proxy.refuse()
  }
  const open = async (
    poolSize: number,
    log?: Parameters<typeof openDatabase>[1],
  ): Promise<void> => {
    database = await openDatabase({ url: proxy.url, poolSize, statementTimeoutMs: 1_000 }, log)
  }
  beforeEach(async () => {
    fault = undefined
    isCommitting = false
    empty = await createServerDatabase()
    proxy = await createTcpProxy({
      target: empty.url,
      onChunk: (from, chunk) => {
        if (from === 'client')
          isCommitting = fault !== undefined && /\bcommit\b/i.test(chunk.toString('latin1'))
        if (isCommitting && fault?.endsWith(from === 'client' ? 'before' : 'after') === true) fail()
      },
    })
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
  const sleep = (): Promise<unknown> => database.knex.raw('select pg_sleep(0.5)')

  it.each<[string, Fault]>([
    ['an order with its reply', 'closed before'],
    ['an order with its reply', 'closed after'],
    ['an order with its reply', 'lost before'],
    ['an order with its reply', 'lost after'],
    ["an operator's document", 'closed before'],
    ["an operator's document", 'lost after'],
    ['a webhook, whose secret is shown once', 'closed after'],
    ['a rotated secret, which is shown once', 'closed after'],
    ['a replay, which must not be made twice', 'closed after'],
  ])('%s whose connection is %s its commit is reported as one that may stand', async (name, at) => {
    await open(10)
    const { write, count } = await (writes[name] as (typeof writes)[string])(database)
    fault = at
    expect(await write()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    fault = undefined
    isCommitting = false
    await proxy.resume()
    expect(await count()).toBe(at.endsWith('after') ? 1 : 0)
  })

  it('a write that did not reach the server is refused for certain', async () => {
    await open(10)
    const { write } = await (writes["an operator's document"] as (typeof writes)[string])(database)
    await proxy.refuse()
    const refused = await write()
    expect(refused).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
    expect(refused).not.toHaveProperty('left.outcome')
  })

  it.each<[string, (lose: () => Promise<void>) => Promise<unknown>]>([
    [
      'a statement',
      async (lose) => {
        await lose()
        await sleep()
      },
    ],
    [
      'a transaction',
      (lose) =>
        database.knex.transaction(async (trx) => {
          await trx.raw('create table written (id int)')
          await lose()
          await trx.raw('insert into written values (1)')
        }),
    ],
    [
      'a statement of pg-boss',
      async (lose) => {
        const jobs = await startJobs({ knex: database.knex })
        await Promise.all([jobs.boss.getQueues(), lose()]).finally(() => void jobs.stop())
      },
    ],
  ])(
    '%s without an answer is rejected, and the next one has another connection',
    async (_, use) => {
      await open(1)
      await database.ping()
      await expect(use(loseExistingConnections)).rejects.toThrow(/Query read timeout|not queryable/)
      expect(await database.knex.schema.hasTable('written')).toBe(false)
      await expect.poll(() => database.pool()).toMatchObject({ inUse: 0, idle: 1 })
    },
  )

  it('idle connections that died are all replaced by the first statement that meets one', async () => {
    await open(10)
    await Promise.all(Array.from({ length: 10 }, sleep))
    expect(database.pool().idle).toBe(10)
    await loseExistingConnections()
    await setTimeout(idleMs)
    expect(await database.ping()).toMatchObject({ _tag: 'Right' })
  })

  it('the database is used again once the network is back, and closed although its connections are lost', async () => {
    await open(5)
    const statements = Array.from({ length: 5 }, sleep)
    proxy.blackHole()
    const results = await Promise.allSettled([
      ...statements,
      ...Array.from({ length: 20 }, () => database.ping()),
    ])
    expect(results.slice(0, 5).map(({ status }) => status)).toEqual(
      Array.from({ length: 5 }, () => 'rejected'),
    )
    await proxy.resume()
    await expect.poll(() => database.ping()).toMatchObject({ _tag: 'Right' })
    proxy.blackHole()
    await database.close()
  })

  it('the connection for peer notices is replaced, and what may have been missed is reported', async () => {
    await open(2)
    const other = await openDatabase({ url: empty.url })
    const clock = { now: () => performance.now() }
    const [near, far] = [
      startPeerNotices({ database, clock }),
      startPeerNotices({ database: other, clock }),
    ]
    const received: string[] = []
    near.subscribe((notice) => received.push(notice.kind))
    await expect.poll(() => Math.min(near.confirmedAt(), far.confirmedAt())).toBeGreaterThan(0)
    await loseExistingConnections()
    await expect.poll(() => received).toEqual(['notices_missed', 'notices_missed'])
    far.notifyAccountChanged(newAccountId())
    await expect
      .poll(() => received)
      .toEqual(['notices_missed', 'notices_missed', 'account_changed'])
    await Promise.all([near.stop(), far.stop()])
    await other.close()
  })

  it('a migration has as long as it needs', async () => {
    const blocking = await openDatabase({ url: empty.url })
    const lock = await blocking.knex.transaction()
    await lock.raw(`select pg_advisory_xact_lock(hashtextextended('tradeport.migrate', 0))`)
    const opening = open(1)
    // Longer than any statement of the opened database may take.
    await setTimeout(4_000)
    await lock.rollback()
    await opening
    expect(await database.isMigrated()).toMatchObject({ right: true })
    await blocking.close()
  })

  it('an order whose step could not be written is given out again once the database is back, and few failures are logged', async () => {
    const warnings: string[] = []
    const log = { warn: ({ event }: { readonly event: string }) => void warnings.push(event) }
    await open(10, log)
    const { ports, stop } = await startInstance(database, log)
    const account = await storedAccount(ports.operator)
    let attempts = 0
    const worker = await ports.jobs.work(async (job) => {
      if ((attempts += 1) === 1) {
        await proxy.refuse()
        void setTimeout(outageMs).then(proxy.resume)
      }
      const step = {
        placement: { step: 'ended' },
        outcome: { kind: 'filled', fill: {} },
        continueInMs: null,
      } as const
      await rightOf(ports.orders.advance(account.owner, job, step, Date.now()))
    })
    const order = newOrderOn(account, Date.now())
    await rightOf(ports.orders.record(order.owner, toRecord(order)))
    const status = async () =>
      O.toUndefined(E.getOrElseW(() => O.none)(await ports.orders.find(order.owner, order.id)()))
        ?.status
    await expect.poll(status, { interval: 200 }).toBe('filled')
    expect(attempts).toBeGreaterThan(1)
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.length).toBeLessThan(20)
    await worker.stop()
    await stop()
  })
})
