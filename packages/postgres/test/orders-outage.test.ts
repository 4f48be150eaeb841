// The database goes away for ten seconds while an order is with the broker: what the broker said is written afterwards, nothing is sent twice, and
// the queue goes on by itself.
import { setTimeout } from 'node:timers/promises'
import { brokerClientId, createLiveAccounts, processOrder } from '@tradeport/domain'
import type { Trading } from '@tradeport/domain'
import { createFakeBroker, createFakeTrading, newOrderOn, rightOf, storedAccount, toRecord } from '@tradeport/domain/testing'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../src/index.ts'
import { createServerDatabase, serverTitle, serverUrl } from './open-stores.ts'
import { startInstance, stopwatch } from './order-ports.ts'

const outageMs = 10_000

const slot = () => async () => () => undefined

/** Ends every connection to the database and lets none in, until it is called with true. */
const allowConnections = async (name: string, isAllowed: boolean): Promise<void> => {
  const client = new Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`alter database ${name} allow_connections ${isAllowed}`)
  if (!isAllowed) await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  await client.end()
}

describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  it('a settlement is applied although the database is down for ten seconds in the middle', async () => {
    const { url, drop } = await createServerDatabase()
    const name = new URL(url).pathname.slice(1)
    const warnings: string[] = []
    const log = { warn: ({ event, reason }: { event: string; reason: string }) => void warnings.push(`${event}: ${reason}`) }
    const database = await openDatabase({ url }, log)
    const { ports, stop } = await startInstance(database, log)
    const account = await storedAccount(ports.operator, { tradeMode: 'demo' })
    const trading = createFakeTrading()
    const { promise: away, resolve: isAway } = Promise.withResolvers<void>()
    const { promise: back, resolve: isBack } = Promise.withResolvers<void>()
    const outage = async (): Promise<void> => {
      await allowConnections(name, false)
      isAway()
      void setTimeout(outageMs)
        .then(() => allowConnections(name, true))
        .then(isBack)
    }
    const cutOff: Trading = {
      ...trading,
      placeOrder:
        (...order) =>
        async () => {
          const answer = await trading.placeOrder(...order)()
          await outage()
          return answer
        },
    }
    const clock = { now: Date.now }
    const process = processOrder({
      orders: ports.orders,
      accounts: ports.accounts,
      liveAccounts: createLiveAccounts({ accounts: ports.accounts, broker: createFakeBroker(clock), clock }),
      trading: cutOff,
      slots: { forSend: slot, forLookup: slot },
      clock,
      stopwatch,
      accountChanged: () => undefined,
      pause: (ms) => () => setTimeout(ms),
    })
    const worker = await ports.jobs.work(async (job) => {
      const processed = await process(job)()
      if (E.isLeft(processed)) throw new Error(processed.left.reason)
    })
    const order = newOrderOn(account, Date.now())
    await rightOf(ports.orders.record(order.owner, toRecord(order)))
    await expect.poll(() => trading.sent().length, { timeout: 60_000 }).toBe(1)
    await away
    expect(await ports.orders.record(order.owner, toRecord(newOrderOn(account, Date.now())))()).toMatchObject({
      left: { _tag: 'ServiceUnavailable' },
    })
    await back
    const statusOf = async () => O.toUndefined(E.getOrElseW(() => O.none)(await ports.orders.find(order.owner, order.id)()))?.status
    await expect.poll(statusOf, { timeout: 60_000, interval: 200 }).toBe('filled')
    expect(trading.executions(brokerClientId(order.id))).toHaveLength(1)
    expect(warnings.length).toBeGreaterThan(0)
    expect(warnings.length).toBeLessThan(20)

    // The queue works again for the next order, without a restart.
    trading.next('refuse')
    await worker.stop()
    const next = newOrderOn(account, Date.now())
    await rightOf(ports.orders.record(next.owner, toRecord(next)))
    const seen: string[] = []
    const again = await ports.jobs.work(async ({ order: { id } }) => void seen.push(id))
    await expect.poll(() => seen.includes(next.id), { timeout: 60_000 }).toBe(true)
    await again.stop()
    await stop()
    await database.close()
    await drop()
  })
})
