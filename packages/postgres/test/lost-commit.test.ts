// The connection breaks or falls silent around a commit: whether the order, the operator's document or the webhook was recorded is unknown, and its caller must not
// be told that it was not.
import {
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
} from '@tradeport/domain/testing'
import type { DeliveryId } from '@tradeport/domain'
import { createTcpProxy } from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { createCipher, createWebhookStore, openDatabase } from '../src/index.ts'
import { createServerDatabase, serverTitle, serverUrl, storesOn, testKey } from './open-stores.ts'
import { createTestClock, eventPortsOf, startEvents } from './event-ports.ts'
import { startInstance } from './order-ports.ts'

type Fault = 'closed before' | 'closed after' | 'lost before' | 'lost after'

/** A database that is reached through a proxy, which can fail before a commit arrives at the server or after it. */
const openThroughProxy = async () => {
  const { url, drop } = await createServerDatabase()
  let fault: Fault | undefined
  let isCommitting = false
  const fail = (): void => {
    if (fault?.startsWith('lost') === true) proxy.blackHole()
    else void proxy.refuse()
  }
  const proxy = await createTcpProxy({
    target: url,
    onChunk: (from, chunk) => {
      if (from === 'client') isCommitting = fault !== undefined && /commit/i.test(chunk.toString('latin1'))
      if (isCommitting && fault?.endsWith(from === 'client' ? 'before' : 'after') === true) fail()
    },
  })
  const database = await openDatabase({ url: proxy.url, statementTimeoutMs: 1_000 })
  return {
    database,
    proxy,
    failAtCommit: (next: Fault) => {
      fault = next
    },
    mend: async () => {
      fault = undefined
      isCommitting = false
      await proxy.resume()
    },
    close: async () => {
      await database.close()
      await proxy.close()
      await drop()
    },
  }
}

const outcomes: readonly (readonly [Fault, boolean])[] = [
  ['closed before', false],
  ['closed after', true],
  ['lost before', false],
  ['lost after', true],
]

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  it.each(outcomes)('an order whose connection is %s the commit may stand, and stands: %s', async (fault, isRecorded) => {
    const { database, failAtCommit, mend, close } = await openThroughProxy()
    const { ports, stop } = await startInstance(database)
    const account = await storedAccount(ports.operator)
    const order = newOrderOn(account, Date.now())
    const keep = { claim: newClaim(), reply: newReply() }
    await rightOf(ports.idempotency.claim(order.owner, keep.claim, Date.now()))
    failAtCommit(fault)
    expect(await ports.orders.record(order.owner, toRecord(order, { keep }))()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    await mend()
    expect(O.isSome(await rightOf(ports.orders.find(order.owner, order.id)))).toBe(isRecorded)
    const later = { ...keep.claim, id: newClaim().id }
    const claimed = isRecorded ? { kind: 'replied', reply: keep.reply } : { kind: 'claimed' }
    // Until the server ends the transaction that it heard nothing more of, the key's row is locked.
    await expect
      .poll(() => ports.idempotency.claim(order.owner, later, Date.now() + 10_000)(), { timeout: 40_000 })
      .toStrictEqual(E.right(claimed))
    await stop()
    await close()
  })

  it.each(outcomes)("an operator's document whose connection is %s the commit may stand, and stands: %s", async (fault, isRecorded) => {
    const { database, failAtCommit, mend, close } = await openThroughProxy()
    const { operator } = storesOn(database)
    const tenant = newTenant()
    await rightOf(operator.apply(noKeys, () => E.right({ changes: noChanges })))
    failAtCommit(fault)
    const document = { changes: { ...noChanges, tenants: puts(tenant) } }
    expect(await operator.apply(noKeys, () => E.right(document))()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    await mend()
    expect(await database.knex('tenants').where({ id: tenant.id }).select('id')).toHaveLength(isRecorded ? 1 : 0)
    await close()
  })

  it('a webhook whose commit has no answer is told as one that may stand, since its secret is told this once', async () => {
    const { database, failAtCommit, mend, close } = await openThroughProxy()
    const webhook = newWebhook(await storedOwner(storesOn(database).operator), 0)
    const webhooks = createWebhookStore({ knex: database.knex, cipher: createCipher(testKey) })
    failAtCommit('closed after')
    expect(await webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' })()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    await mend()
    expect(await rightOf(webhooks.list(webhook.owner))).toHaveLength(1)
    await close()
  })

  it('a replay whose commit has no answer is reported as one that may be sent, so that it is not made again', async () => {
    const { database, failAtCommit, mend, close } = await openThroughProxy()
    const clock = createTestClock()
    const instance = await startEvents(database, clock)
    const { operator, webhooks, record, deliveries } = await eventPortsOf(database, instance, instance, clock)
    const webhook = newWebhook(await storedOwner(operator), 0)
    await rightOf(webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' }))
    await record(webhook.owner, [{ type: 'trade.closed', key: 'one', data: {}, at: clock.now() }])
    const log = () => rightOf(deliveries.list(webhook.owner, webhook.id, { page: 1, limit: 9 }))
    const id = (await log()).items[0]?.id as DeliveryId
    await instance.jobs.stop()
    failAtCommit('closed after')
    const replay = { id: '0e000000-0000-4000-8000-000000000001' as DeliveryId, at: clock.now() }
    expect(await deliveries.replay(webhook.owner, webhook.id, id, replay)()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    await mend()
    expect((await log()).total).toBe(2)
    await close()
  })

  it('an order that was not recorded at all is refused for certain', async () => {
    const { database, proxy, close } = await openThroughProxy()
    const { ports, stop } = await startInstance(database)
    const account = await storedAccount(ports.operator)
    await stop()
    await proxy.refuse()
    const order = newOrderOn(account, Date.now())
    const refused = await ports.orders.record(order.owner, toRecord(order))()
    expect(refused).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
    expect(refused).not.toHaveProperty('left.outcome')
    await close()
  })
})
