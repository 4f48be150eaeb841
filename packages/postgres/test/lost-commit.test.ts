// The connection breaks between a commit and the word of it: the order, the operator's document or the webhook stands, and whoever sent it must not be told that
// it was refused.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { newOrderOn, newTenant, newWebhook, noChanges, noKeys, puts, rightOf, storedAccount, storedOwner } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { createCipher, createWebhookStore, openDatabase } from '../src/index.ts'
import { createServerDatabase, serverTitle, serverUrl, storesOn, testKey } from './open-stores.ts'
import { startInstance } from './order-ports.ts'

interface Line {
  readonly url: string
  /** From now on no connection brings the word of a commit, or none lets one through. */
  readonly cut: (when: 'before' | 'after' | 'never') => void
  /** Ends every connection and takes no other. */
  readonly hangUp: () => Promise<void>
}

/** Passes everything on, but for what it is told to cut. */
const startLine = async (to: string): Promise<Line> => {
  const target = new URL(to)
  let cutting: 'before' | 'after' | 'never' = 'never'
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname)
    const hangUp = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', hangUp)
      socket.on('close', hangUp)
    }
    let isCommitting = false
    client.on('data', (chunk) => {
      isCommitting = cutting !== 'never' && /commit/i.test(chunk.toString('latin1'))
      if (isCommitting && cutting === 'before') hangUp()
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => (isCommitting ? hangUp() : client.write(chunk)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(to)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cut: (when) => {
      cutting = when
    },
    hangUp: async () => {
      for (const socket of sockets) socket.destroy()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}

/** A database of its own that is reached over a line. */
const openOverLine = async () => {
  const { url, drop } = await createServerDatabase()
  const line = await startLine(url)
  const database = await openDatabase({ url: line.url })
  const close = async (): Promise<void> => {
    await database.close()
    await line.hangUp()
    await drop()
  }
  return { line, database, close }
}

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  it.each([
    ['stands, and is told as one that may', 'after', true],
    ['does not stand, and is told as one that may', 'before', false],
  ] as const)('an order whose commit is cut off %s', async (_, when, isRecorded) => {
    const { line, database, close } = await openOverLine()
    const { ports, stop } = await startInstance(database)
    const account = await storedAccount(ports.operator)
    const order = newOrderOn(account, Date.now())
    line.cut(when)
    expect(await ports.orders.record(order.owner, order, undefined)()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    line.cut('never')
    expect(O.isSome(await rightOf(ports.orders.find(order.owner, order.id)))).toBe(isRecorded)
    await stop()
    await close()
  })

  it.each([
    ['stands, and is told as one that may', 'after', true],
    ['does not stand, and is told as one that may', 'before', false],
  ] as const)("an operator's document whose commit is cut off %s", async (_, when, isRecorded) => {
    const { line, database, close } = await openOverLine()
    const { operator } = storesOn(database)
    const tenant = newTenant()
    await rightOf(operator.apply(noKeys, () => E.right({ changes: noChanges })))
    line.cut(when)
    const document = { changes: { ...noChanges, tenants: puts(tenant) } }
    expect(await operator.apply(noKeys, () => E.right(document))()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    line.cut('never')
    expect(await database.knex('tenants').where({ id: tenant.id }).select('id')).toHaveLength(isRecorded ? 1 : 0)
    await close()
  })

  it('a webhook whose commit has no answer is told as one that may stand, since its secret is told this once', async () => {
    const { line, database, close } = await openOverLine()
    const webhook = newWebhook(await storedOwner(storesOn(database).operator), 0)
    const webhooks = createWebhookStore({ knex: database.knex, cipher: createCipher(testKey) })
    line.cut('after')
    expect(await webhooks.create(webhook.owner, { webhook, secret: 'a secret of some length' })()).toMatchObject({
      left: { _tag: 'ServiceUnavailable', outcome: 'unknown' },
    })
    line.cut('never')
    expect(await rightOf(webhooks.list(webhook.owner))).toHaveLength(1)
    await close()
  })

  it('an order that was not taken down at all is refused for certain', async () => {
    const { line, database, close } = await openOverLine()
    const { ports, stop } = await startInstance(database)
    const account = await storedAccount(ports.operator)
    await stop()
    await line.hangUp()
    const order = newOrderOn(account, Date.now())
    const refused = await ports.orders.record(order.owner, order, undefined)()
    expect(refused).toMatchObject({ left: { _tag: 'ServiceUnavailable' } })
    expect(refused).not.toHaveProperty('left.outcome')
    await close()
  })
})
