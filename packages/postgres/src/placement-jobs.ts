// Hands placement jobs to the settler: those recorded by this process straight away, all others as the queue gives them out.
import type { PlacementJobs } from '@tradeport/domain'
import type { Jobs } from './jobs.ts'
import { createPlacementQueue, sendJobs } from './placement-queue.ts'
import type { PlacementQueue } from './placement-queue.ts'
import { startWorker } from './placement-worker.ts'
import type { PlacementWorker, WorkerOptions } from './placement-worker.ts'

export interface OpenedPlacementJobs extends PlacementJobs {
  /** What the order store writes its jobs to. */
  readonly queue: PlacementQueue
}

/** @throws when the database cannot be used; the message is for the operator and holds no secret */
export const openPlacementJobs = async ({ knex, boss, log, pulse }: Jobs, options: WorkerOptions = {}): Promise<OpenedPlacementJobs> => {
  await createPlacementQueue(boss)
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
      const worker = startWorker({ knex, boss, log, pulse, settle, ...options })
      workers.add(worker)
      return {
        stop: async () => {
          workers.delete(worker)
          await worker.stop()
        },
      }
    },
  }
}
