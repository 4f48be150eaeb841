// The jobs that look after recorded closes, in pg-boss: written within the transaction that makes them necessary, and at most one waiting for each version
// of a record.
import { parseCloseId } from '@tradeport/domain'
import type { CloseId, CloseJob } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { JobInsert, PgBoss } from 'pg-boss'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import { openQueue, withinTransaction } from './jobs.ts'

export const closeQueueName = 'position-closes'

/** What is left of a process that died in the middle of its jobs is cleared away after these. */
const expireInSeconds = 15 * 60
const deleteAfterSeconds = 60 * 60

/** A job is never tried again by the queue: a record that is due has another one sent, whatever became of the first. */
export const createCloseQueue = (boss: PgBoss): Promise<void> =>
  openQueue(boss, closeQueueName, { policy: 'short', retryLimit: 0, expireInSeconds, deleteAfterSeconds })

const jobData = t.strict({
  tenant_id: column.tenantId,
  user_id: column.userId,
  close_id: column.parsedText<CloseId>('CloseId', parseCloseId),
  version: t.Int,
})

export const sendCloseJobs = async (boss: PgBoss, trx: Knex.Transaction, jobs: readonly CloseJob[], afterMs: number): Promise<void> => {
  const inserts = jobs.map((job) => insertOf(job, afterMs))
  if (inserts.length > 0) await boss.insert(closeQueueName, inserts, { db: withinTransaction(trx) })
}

const insertOf = ({ owner, closeId, version }: CloseJob, afterMs: number): JobInsert<t.OutputOf<typeof jobData>> => ({
  data: { tenant_id: owner.tenantId, user_id: owner.userId, close_id: closeId, version },
  singletonKey: `${closeId}:${version}`,
  startAfter: afterMs / 1_000,
})

const decodeJob = decodeRow('position close jobs', jobData)

export const closeJobOf = (_id: string, data: unknown): CloseJob => {
  const { tenant_id: tenantId, user_id: userId, close_id: closeId, version } = decodeJob(data)
  return { owner: { tenantId, userId }, closeId, version }
}
