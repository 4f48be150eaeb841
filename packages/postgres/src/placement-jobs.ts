// Starts the queue of placement jobs and hands its jobs to the settler: those recorded by this process straight away, all others as the queue
// gives them out.
import type { PlacementJobs } from '@tradeport/domain'
import { createBoss } from './boss.ts'
import type { Database } from './database.ts'
import { describeFailure } from './failures.ts'
import { silentLog } from './log.ts'
import type { Log } from './log.ts'
import { createQueue, sendJobs } from './placement-queue.ts'
import type { PlacementQueue } from './placement-queue.ts'
import { startWorker } from './placement-worker.ts'
import type { PlacementWorker, WorkerOptions } from './placement-worker.ts'

export interface StartedPlacementJobs extends PlacementJobs {
  /** What the order store writes its jobs to. */
  readonly queue: PlacementQueue
  /** Ends the queue's upkeep. Workers are stopped before, the database is closed after it. */
  readonly stop: () => Promise<void>
}

interface Parts extends Pick<Database, 'knex'>, WorkerOptions {
  readonly log?: Log
}

/**
 * Brings the queue's tables up to date, which lie in the schema `pgboss`, and begins their upkeep.
 * @throws when the database cannot be used; the message is for the operator and holds no secret
 */
export const startPlacementJobs = async ({ knex, log = silentLog, ...options }: Parts): Promise<StartedPlacementJobs> => {
  const boss = createBoss(knex, log)
  const stop = (): Promise<void> => boss.stop({ graceful: false })
  try {
    await boss.start()
    await createQueue(boss)
  } catch (error) {
    await stop()
    throw new Error(`the job queue cannot be started: ${describeFailure(error)}`, { cause: error })
  }
  const workers = new Set<PlacementWorker>()
  return {
    queue: {
      send: (trx, jobs) => sendJobs(boss, trx, jobs),
      handOver: (jobs) => {
        const [worker] = workers
        for (const job of jobs) worker?.offer(job)
      },
    },
    work: async (settle) => {
      const worker = startWorker({ knex, boss, log, settle, ...options })
      workers.add(worker)
      return {
        stop: async () => {
          workers.delete(worker)
          await worker.stop()
        },
      }
    },
    stop,
  }
}
