// The jobs that take orders to the broker, in pg-boss: written within the transaction that makes them necessary, and at most one waiting for
// each version of a placement.
import { randomUUID } from 'node:crypto'
import type { PlacementJob } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { JobInsert, PgBoss } from 'pg-boss'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import { openQueue, withinTransaction } from './jobs.ts'

/** A job with its id in the queue. */
export interface QueuedJob extends PlacementJob {
  readonly id: string
  readonly afterMs: number
}

export interface PlacementQueue {
  /** Writes jobs within the transaction. One that already waits for the same version of the same order stays the only one. */
  readonly send: (trx: Knex.Transaction, jobs: readonly QueuedJob[]) => Promise<void>
  /** After the commit: begins at once with what may be begun here, without waiting for the queue to be looked at. */
  readonly handOver: (jobs: readonly QueuedJob[]) => void
}

export const queuedJob = (job: PlacementJob, afterMs: number): QueuedJob => ({ ...job, id: randomUUID(), afterMs })

export const placementQueueName = 'placements'

/** What is left of a process that died in the middle of its jobs is cleared away after these. */
const expireInSeconds = 15 * 60
const deleteAfterSeconds = 60 * 60

/** A job is never tried again by the queue: an order that is due has another one sent, whatever became of the first. */
export const createPlacementQueue = (boss: PgBoss): Promise<void> =>
  openQueue(boss, placementQueueName, { policy: 'short', retryLimit: 0, expireInSeconds, deleteAfterSeconds })

export const sendJobs = async (boss: PgBoss, trx: Knex.Transaction, jobs: readonly QueuedJob[]): Promise<void> => {
  if (jobs.length > 0) await boss.insert(placementQueueName, jobs.map(insertOf), { db: withinTransaction(trx) })
}

const jobData = t.strict({
  tenant_id: column.tenantId,
  user_id: column.userId,
  order_id: column.orderId,
  version: t.Int,
})

const insertOf = ({ id, owner, orderId, version, afterMs }: QueuedJob): JobInsert<t.OutputOf<typeof jobData>> => ({
  id,
  data: { tenant_id: owner.tenantId, user_id: owner.userId, order_id: orderId, version },
  singletonKey: keyOf({ orderId, version }),
  startAfter: afterMs / 1_000,
})

/** What tells the jobs apart: the order and the version. */
export const keyOf = ({ orderId, version }: Pick<PlacementJob, 'orderId' | 'version'>): string => `${orderId}:${version}`

const decodeJob = decodeRow('placement jobs', jobData)

/** Takes due jobs out of the queue, for this process alone. */
export const fetchJobs = async (boss: PgBoss, limit: number): Promise<readonly QueuedJob[]> => {
  const jobs = await boss.fetch<object>(placementQueueName, { batchSize: limit })
  return jobs.map(({ id, data }) => {
    const { tenant_id: tenantId, user_id: userId, order_id: orderId, version } = decodeJob(data)
    return { id, owner: { tenantId, userId }, orderId, version, afterMs: 0 }
  })
}

/** Removes jobs that have been done, wherever they stand. */
export const removeJobs = async (boss: PgBoss, ids: readonly string[]): Promise<void> => {
  await boss.deleteJob(placementQueueName, [...ids])
}
