// A process that records an order, writes how it ended and stops: started by a test, which sees that nothing keeps it alive.
import { newOrder, rightOf, storedOwner, toRecord } from '@tradeport/domain/testing'
import * as O from 'fp-ts/lib/Option.js'
import { openOrders, startJobs } from '../src/index.ts'
import { stopwatch } from './order-ports.ts'
import { openEmbedded, storesOn, testCipher } from './open-stores.ts'

const { database, close } = await openEmbedded()
const jobs = await startJobs(database)
const { store, jobs: orderJobs } = openOrders({ jobs, cipher: testCipher, stopwatch })
const owner = await storedOwner(storesOn(database).operator)
const { promise: settled, resolve } = Promise.withResolvers<void>()
const worker = await orderJobs.work(async (job) => {
  const outcome = { kind: 'filled', fill: {} } as const
  await rightOf(store.advance(owner, job, { placement: { step: 'settled' }, outcome, continueInMs: null }, Date.now()))
  resolve()
})
const { id } = await rightOf(store.record(owner, toRecord(newOrder(owner, Date.now()))))
await settled
process.stdout.write(`${O.toUndefined(await rightOf(store.find(owner, id)))?.status}\n`)
await worker.stop()
await jobs.stop()
await close()
