// Connections that break or fall silent, also around a commit: what waits on one fails in bounded
// time, the connection is replaced, and a write that may stand is reported as such.
import { setTimeout } from 'node:timers/promises'
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { DeliveryId, Owner, WebhookId } from '@tradeport/domain/primitives'
import type { Webhook } from '@tradeport/domain/webhooks'
import {
  createTcpProxy,
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
  storedOwner,
  times,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it, type TestContext } from 'vitest'
import { openDatabase, startPeerNotices, type Database } from '../src/index.ts'
import {
  createServerDatabase,
  filled,
  placementOf,
  poll,
  serverTitle,
  serverUrl,
  startInstance,
  storedAccount,
  toRecord,
  type Instance,
  webhookSecret,
} from './harness.ts'

/** A connection that has been idle for so long is validated before it is used. */
const idleMs = 3_000
const outageMs = 3_000

type Fault = 'closed before' | 'closed after' | 'lost before' | 'lost after'

/** A write that must not be reported as failed while it may stand. */
interface Write {
  readonly write: TE.TaskEither<ServiceUnavailable | object, unknown>
  /** How often it stands. */
  readonly count: () => Promise<number>
}

const documentOf = async ({ operator, knex }: Instance) => {
  const tenant = newTenant()
  return {
    write: operator.apply(noKeys, () =>
      E.right({ changes: { ...noChanges, tenants: puts(tenant) } }),
    ),
    count: async () => (await knex('tenants').where({ id: tenant.id })).length,
  }
}
const rotation = { secret: 'another secret', overlapHours: 0 }
/** A write to a stored webhook, which stands where the webhook is found like that. */
const toWebhook =
  (
    writeTo: (ports: Instance, owner: Owner, id: WebhookId) => Write['write'],
    isWritten: (
      found: { readonly webhook: Webhook; readonly secret: string } | undefined,
    ) => boolean,
  ) =>
  async (ports: Instance): Promise<Write> => {
    const { owner, id } = await ports.storedWebhook(await storedOwner(ports.operator))
    return {
      write: writeTo(ports, owner, id),
      count: async () =>
        Number(isWritten(O.toUndefined(await rightOf(ports.webhooks.findWithSecret(owner, id))))),
    }
  }
const toHalts =
  (isLifted: boolean) =>
  async ({ operator, halts }: Instance): Promise<Write> => {
    const { owner, id } = await storedAccount(operator)
    const halt = halts.halt(owner, id, { since: 0, reason: null, cancelOrders: false })
    if (isLifted) await rightOf(halt)
    return {
      write: isLifted ? halts.lift(owner, id) : halt,
      count: async () => Number(O.isSome(await rightOf(halts.find(owner, id))) !== isLifted),
    }
  }
const writes: Record<string, (ports: Instance) => Promise<Write>> = {
  'an order with its reply': async ({ operator, idempotency, orders }) => {
    const order = newOrderOn(await storedAccount(operator), Date.now())
    const { owner } = order
    const replyToStore = { claim: newClaim(), reply: newReply() }
    await rightOf(idempotency.claim(owner, replyToStore.claim))
    return {
      write: orders.record(owner, toRecord(order, { replyToStore })),
      count: async () => {
        const isRecorded = O.isSome(await rightOf(orders.find(owner, order.id)))
        const another = { ...replyToStore.claim, id: newClaim().id }
        // Until the server ends the transaction of which it received nothing more, the key's row is
        // locked.
        await poll(() => idempotency.claim(owner, another)()).toStrictEqual(
          isRecorded
            ? E.right({ kind: 'replied', reply: replyToStore.reply })
            : E.left({ _tag: 'IdempotencyInProgress' }),
        )
        return Number(isRecorded)
      },
    }
  },
  "an operator's document": documentOf,
  'a webhook, whose secret is shown once': async ({ operator, webhooks }) => {
    const webhook = newWebhook(await storedOwner(operator), 0)
    return {
      write: webhooks.create(webhook.owner, { webhook, secret: webhookSecret }),
      count: async () => (await rightOf(webhooks.list(webhook.owner))).length,
    }
  },
  'a rotated secret, which is shown once': toWebhook(
    ({ webhooks }, ...of) => webhooks.rotateSecret(...of, rotation, 0),
    (found) => found?.secret === rotation.secret,
  ),
  'a changed webhook': toWebhook(
    ({ webhooks }, ...of) => webhooks.change(...of, { enabled: false }, 0),
    (found) => found?.webhook.enabled === false,
  ),
  'a removed webhook': toWebhook(
    ({ webhooks }, ...of) => webhooks.remove(...of),
    (found) => found === undefined,
  ),
  'a halt': toHalts(false),
  'a lifted halt': toHalts(true),
  'an order that the operator ends': async ({ operator, orders, recordOrder }) => {
    const order = await recordOrder(newOrderOn(await storedAccount(operator), Date.now()))
    const { owner, id } = order
    const step = { ...filled, finish: { by: 'ops', reason: 'The broker confirmed it.' } }
    return {
      write: orders.advance(owner, placementOf(order), step, Date.now()),
      count: async () => {
        const found = O.toUndefined(await rightOf(orders.find(owner, id)))
        return Number(found?.status === 'filled')
      },
    }
  },
  'a replay, which must not be made twice': async ({
    operator,
    storedWebhook,
    deliveries,
    record,
  }) => {
    const webhook = await storedWebhook(await storedOwner(operator))
    const { owner } = webhook
    await record(owner, [
      { type: 'trade.closed', key: 'one', data: { account_id: newAccountId() } },
    ])
    const log = () => rightOf(deliveries.list(owner, webhook.id, { page: 1, limit: 9 }))
    const replay = '0e000000-0000-4000-8000-000000000001' as DeliveryId
    const [first] = (await log()).data
    return {
      write: deliveries.replay(owner, webhook.id, first?.id as DeliveryId, replay),
      count: async () => (await log()).pagination.total - 1,
    }
  },
}

type Finished = Pick<TestContext, 'onTestFinished'>

/** A database of the test's own, behind a proxy that loses connections. */
const openBehindProxy = async (
  { onTestFinished }: Finished,
  poolSize = 10,
  log?: Parameters<typeof openDatabase>[1],
) => {
  const empty = await createServerDatabase()
  let fault: Fault | undefined
  let isCommitting = false
  const proxy = await createTcpProxy({
    target: empty.url,
    onChunk: (from, chunk) => {
      if (from === 'client')
        isCommitting = fault !== undefined && /\bcommit\b/i.test(chunk.toString('latin1'))
      if (!isCommitting || fault?.endsWith(from === 'client' ? 'before' : 'after') !== true) return
      if (fault.startsWith('lost')) proxy.blackHole()
      else void proxy.refuse()
    },
  })
  const open = () => openDatabase({ url: proxy.url, poolSize, statementTimeoutMs: 1_000 }, log)
  let opened: Database | undefined
  onTestFinished(async () => {
    await proxy.resume()
    await opened?.close()
    await proxy.close()
    await empty.drop()
  })
  return {
    url: empty.url,
    proxy,
    open: async () => (opened = await open()),
    failAt: (at?: Fault) => {
      fault = at
      isCommitting = false
    },
    loseConnections: async () => {
      proxy.blackHole()
      await proxy.resume()
    },
  }
}

const sleeps = (database: Database, count: number) =>
  times(count, () => database.knex.raw('select pg_sleep(0.5)'))

// At once, because most of their time they wait.
describe.skipIf(serverUrl === undefined)(serverTitle, { concurrent: true }, () => {
  const faults: readonly Fault[] = ['closed before', 'closed after', 'lost before', 'lost after']
  it.for([
    ...faults.map((at) => ['an order with its reply', at] as const),
    ...Object.keys(writes)
      .slice(1)
      .map((name) => [name, 'closed after'] as const),
  ])(
    '%s whose connection is %s its commit is reported as one that may stand',
    async ([name, at], context) => {
      const { open, failAt, proxy } = await openBehindProxy(context)
      const ports = startInstance(await open())
      const { write, count } = await (writes[name] as (typeof writes)[string])(ports)
      failAt(at)
      expect(await write()).toMatchObject({
        left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
      })
      failAt()
      await proxy.resume()
      expect(await count()).toBe(at.endsWith('after') ? 1 : 0)
    },
  )

  it('a write that did not reach the server is refused for certain', async (context) => {
    const { open, proxy } = await openBehindProxy(context)
    const ports = startInstance(await open())
    const { write } = await documentOf(ports)
    await proxy.refuse()
    const refused = await write()
    expect(refused).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
    expect(refused).not.toHaveProperty('left.outcome')
  })

  it.for<[string, (database: Database, lose: () => Promise<void>) => Promise<unknown>]>([
    ['a statement', (database, lose) => lose().then(() => Promise.all(sleeps(database, 1)))],
    [
      'a transaction',
      ({ knex }, lose) =>
        knex.transaction(async (trx) => {
          await trx.raw('create table written (id int)')
          await lose()
          await trx.raw('insert into written values (1)')
        }),
    ],
  ])(
    '%s without an answer is rejected, and the next one has another connection',
    async ([, use], context) => {
      const { open, loseConnections } = await openBehindProxy(context, 1)
      const database = await open()
      await database.ping()
      await expect(use(database, loseConnections)).rejects.toThrow(
        /Query read timeout|not queryable/,
      )
      expect(await database.knex.schema.hasTable('written')).toBe(false)
      await poll(database.pool).toMatchObject({ inUse: 0, idle: 1 })
    },
  )

  it('a server that became read-only does not answer a ping, which replaces the connection', async (context) => {
    const { open } = await openBehindProxy(context, 1)
    const { knex, ping } = await open()
    await knex.raw('set default_transaction_read_only = on')
    const reason = expect.stringContaining('must lead to the primary')
    expect(await ping()).toMatchObject({ left: { reason } })
    expect(await ping()).toMatchObject({ _tag: 'Right' })
  })

  it('idle connections that died are all replaced by the first statement that meets one', async (context) => {
    const { open, loseConnections } = await openBehindProxy(context)
    const database = await open()
    await Promise.all(sleeps(database, 10))
    expect(database.pool().idle).toBe(10)
    await loseConnections()
    await setTimeout(idleMs)
    expect(await database.ping()).toMatchObject({ _tag: 'Right' })
  })

  it('the database is used again once the network is back, and closed although its connections are lost', async (context) => {
    const { open, proxy } = await openBehindProxy(context, 5)
    const database = await open()
    const statements = sleeps(database, 5)
    proxy.blackHole()
    const pings = times(20, () => database.ping())
    const results = await Promise.allSettled([...statements, ...pings])
    expect(results.slice(0, 5).every(({ status }) => status === 'rejected')).toBe(true)
    await proxy.resume()
    await poll(database.ping).toMatchObject({ _tag: 'Right' })
    proxy.blackHole()
    await database.close()
  })

  it('the connection for peer notices is replaced, and what may have been missed is reported', async (context) => {
    const { open, url, loseConnections } = await openBehindProxy(context, 2)
    const [database, other] = [await open(), await openDatabase({ url })]
    const clock = { now: () => performance.now() }
    const [near, far] = [
      startPeerNotices({ database, clock }),
      startPeerNotices({ database: other, clock }),
    ]
    const received: string[] = []
    near.subscribe((notice) => received.push(notice.kind))
    await poll(() => Math.min(near.confirmedAt(), far.confirmedAt())).toBeGreaterThan(0)
    await loseConnections()
    const missed = ['notices_missed', 'notices_missed']
    await poll(() => received).toEqual(missed)
    far.notify({ kind: 'account_changed', accountId: newAccountId() })
    await poll(() => received).toEqual([...missed, 'account_changed'])
    await Promise.all([near.stop(), far.stop()])
    await other.close()
  })

  it('a migration has as long as it needs', async (context) => {
    const { open, url } = await openBehindProxy(context, 1)
    const blocking = await openDatabase({ url })
    const lock = await blocking.knex.transaction()
    await lock.raw(`select pg_advisory_xact_lock(hashtextextended('tradeport.migrate', 0))`)
    const opening = open()
    // Longer than any statement of the opened database may take.
    await setTimeout(4_000)
    await lock.rollback()
    expect(await (await opening).isMigrated()).toMatchObject({ right: true })
    await blocking.close()
  })

  it('an order whose step could not be written is given out again once the database is back, and few failures are logged', async (context) => {
    const warnings: string[] = []
    const warn = ({ event }: { readonly event: string }) => void warnings.push(event)
    const { open, proxy } = await openBehindProxy(context, 10, { warn })
    const ports = startInstance(await open(), { warn })
    const account = await storedAccount(ports.operator)
    let attempts = 0
    const worker = await ports.orderJobs.work(async (job) => {
      if ((attempts += 1) === 1) {
        await proxy.refuse()
        void setTimeout(outageMs).then(proxy.resume)
      }
      await rightOf(ports.orders.advance(account.owner, job, filled, Date.now()))
    })
    const order = await ports.recordOrder(newOrderOn(account, Date.now()))
    await poll(ports.orders.find(order.owner, order.id)).toMatchObject({
      right: { value: { status: 'filled' } },
    })
    expect(attempts).toBeGreaterThan(1)
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.length).toBeLessThan(20)
    await worker.stop()
  })
})
