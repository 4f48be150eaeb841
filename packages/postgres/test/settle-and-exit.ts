// A process that records an order, settles it and stops: started by a test, which sees that nothing keeps it alive.
import { newOrder, rightOf, storedOwner } from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import { createOrderStore, openDatabase, openPlacementJobs, startJobs } from '../src/index.ts'
import { storesOn } from './open-stores.ts'

const database = await openDatabase({ inMemory: true })
const jobs = await startJobs(database)
const placements = await openPlacementJobs(jobs)
const orders = createOrderStore({ knex: database.knex, queue: placements.queue })
const owner = await storedOwner(storesOn(database).operator)
const { promise: settled, resolve } = Promise.withResolvers<void>()
const worker = await placements.work(async ({ orderId, version }) => {
  const settlement = { kind: 'filled', fill: {} } as const
  await rightOf(orders.advance(owner, orderId, version, { placement: { step: 'settled', settlement }, continueInMs: null }, Date.now()))
  resolve()
})
const { id } = await rightOf(orders.record(owner, newOrder(owner, Date.now()), undefined))
await settled
process.stdout.write(`${O.toUndefined(await rightOf(orders.find(owner, id)))?.status}\n`)
await worker.stop()
await jobs.stop()
await database.close()
