// Closes that are to be told of: their records, and the hands that look after each until it was told.
import { minuteMs } from '@tradeport/domain'
import type { CloseId, CloseJob, CloseJobs, CloseRecords, TenantId, UserId } from '@tradeport/domain'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import { closeJobOf, closeQueueName, createCloseQueue, sendCloseJobs } from './close-queue.ts'
import { createCloseRecords } from './close-records.ts'
import { bringForward } from './jobs.ts'
import type { Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import { startQueueWorker } from './queue-worker.ts'
import type { QueueWorker } from './queue-worker.ts'
import type { EventRecorder } from './record-events.ts'
import { repeating } from './repeating.ts'

export interface CloseOptions {
  /** How many closes are looked after at once; 20 when left out. */
  readonly concurrency?: number
  /** How often the queue is looked at; 500 when left out. */
  readonly pollMs?: number
  /** How often closes are looked for that are due and forgotten; 5,000 when left out. */
  readonly sweepMs?: number
  /** For how long a close must be due to count as forgotten; 60,000 when left out, which is longer than a look at the broker. */
  readonly forgottenAfterMs?: number
}

export interface OpenedCloses {
  readonly records: CloseRecords
  readonly jobs: CloseJobs
}

const closesPerSweep = 500
/** No close waits for longer than a quarter of an hour; what seems to was written before the database's clock was set back. */
const tooFarMs = 20 * minuteMs
const purgeMs = 60 * 60 * 1_000
/** As long as events are kept: what is not known by then is news to nobody. */
const keptDays = 30

/** @throws when the database cannot be used; the message is for the operator and holds no secret */
export const openCloses = async (
  { knex, boss, log, pulse }: Jobs,
  recorder: EventRecorder,
  options: CloseOptions = {},
): Promise<OpenedCloses> => {
  const { concurrency = 20, pollMs = 500, sweepMs = 5_000, forgottenAfterMs = 60_000 } = options
  await createCloseQueue(boss)
  const workers = new Set<QueueWorker>()
  return {
    records: createCloseRecords({ knex, boss, recorder, handOver: () => [...workers][0]?.wake() }),
    jobs: {
      work: async (settle) => {
        const worker = startQueueWorker({
          boss,
          log,
          pulse,
          queue: closeQueueName,
          event: 'position_close',
          takenUpBy: 'sweep',
          decode: closeJobOf,
          handle: settle,
          concurrency,
          pollMs,
        })
        workers.add(worker)
        const upkeep = [
          repeating(sweepMs, 'position_close_sweep', log, () => sweepCloses(knex, boss, forgottenAfterMs)),
          repeating(purgeMs, 'position_close_purge', log, () => purgeCloses(knex, log)),
        ]
        return {
          stop: async () => {
            workers.delete(worker)
            await Promise.all(upkeep.map(({ stop }) => stop()))
            await worker.stop()
          },
        }
      },
    },
  }
}

interface DueRow {
  readonly tenantId: TenantId
  readonly userId: UserId
  readonly closeId: CloseId
  readonly version: number
}

/** Several instances may sweep at once: each takes what the others have not. The close is due anew, so that it is not found again at once. */
const sweepCloses = (knex: Knex, boss: PgBoss, forgottenAfterMs: number): Promise<void> =>
  knex.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: DueRow[] }>(
      `update position_closes set due_at = now() where id in (
         select id from position_closes where due_at < now() - ? * interval '1 ms' or due_at > now() + ? * interval '1 ms'
         order by due_at limit ? for update skip locked)
       returning tenant_id as "tenantId", user_id as "userId", id as "closeId", version`,
      [forgottenAfterMs, tooFarMs, closesPerSweep],
    )
    if (rows.length > 0) await bringForward(trx, closeQueueName, tooFarMs)
    const jobs = rows.map(({ tenantId, userId, closeId, version }): CloseJob => ({ owner: { tenantId, userId }, closeId, version }))
    await sendCloseJobs(boss, trx, jobs, 0)
  })

const purgeCloses = async (knex: Knex, log: Log): Promise<void> => {
  const { rows } = await knex.raw<{ rows: { untold: number }[] }>(
    `with gone as (delete from position_closes where recorded_at < now() - ? * interval '1 day' returning step)
     select count(*)::int as untold from gone where step <> 'ended'`,
    [keptDays],
  )
  const untold = rows[0]?.untold ?? 0
  if (untold > 0) log.warn({ event: 'position_close_given_up', reason: `${untold} could not be settled in ${keptDays} days` })
}
