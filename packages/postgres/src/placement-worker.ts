// Works on placement jobs, several at once: takes what is offered while it has a hand free, looks into the queue for the rest, and sweeps.
import type { PlacementJob } from '@tradeport/domain'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import { purgeKeys } from './idempotency.ts'
import { inBatches } from './in-batches.ts'
import type { Log } from './log.ts'
import { purgeOrderLists } from './order-list.ts'
import { fetchJobs, keyOf, placementQueueName, removeJobs } from './placement-queue.ts'
import type { QueuedJob } from './placement-queue.ts'
import type { Pulse } from './pulse.ts'
import { repeating, tellingOnce } from './repeating.ts'
import { sweepPlacements } from './sweep-placements.ts'

export interface WorkerOptions {
  /** How many orders are settled at once; 20 when left out. */
  readonly concurrency?: number
  /** How often the queue is looked at while there is something to do; 500 when left out. */
  readonly pollMs?: number
  /** How often while there has been nothing for a minute; four times as seldom when left out. */
  readonly idlePollMs?: number
  /** How often orders are looked for that are due and forgotten; 2,000 when left out. */
  readonly sweepMs?: number
  /** For how long an order must be due to count as forgotten; 3,000 when left out. */
  readonly forgottenAfterMs?: number
}

interface Parts extends WorkerOptions {
  readonly knex: Knex
  readonly boss: PgBoss
  readonly log: Log
  readonly pulse: Pulse
  readonly settle: (job: PlacementJob) => Promise<void>
}

export interface PlacementWorker {
  /** Begins the job at once if a hand is free; otherwise it is left to the queue. */
  readonly offer: (job: QueuedJob) => void
  /** Takes nothing more and waits for what is under way. */
  readonly stop: () => Promise<void>
}

const purgeMs = 60 * 60 * 1_000
const busyForMs = 70_000
const removing = { lanes: 1, maxSize: 500 }

export const startWorker = ({ knex, boss, log, pulse, settle, ...options }: Parts): PlacementWorker => {
  const { concurrency = 20, pollMs = 500, sweepMs = 2_000, forgottenAfterMs = 3_000 } = options
  const { idlePollMs = 4 * pollMs } = options
  const settling = tellingOnce('placement_settling', log)
  const removal = tellingOnce('placement_removal', log)
  const running = new Map<string, Promise<void>>()
  let isStopping = false
  /** Whether the queue may hold more that is due than was taken. */
  let isMoreWaiting = false
  let lastBegunAt = -Infinity

  const remove = inBatches(removing, async (ids: readonly string[]) => {
    await removeJobs(boss, ids)
    return ids
  })

  // Only what has ended is let go of, or the queue might give it out once more.
  const letGo = async (key: string, id: string): Promise<void> => {
    await remove(id).then(removal.forget, removal.tell)
    running.delete(key)
    if (isMoreWaiting) queue.again()
  }

  // Whatever became of it: an order that is still due is handed out again by the sweep.
  const run = async (job: QueuedJob): Promise<void> => {
    const { id, owner, orderId, version } = job
    await settle({ owner, orderId, version }).then(settling.forget, settling.tell)
    await letGo(keyOf(job), id)
  }

  const begin = (job: QueuedJob): void => {
    const key = keyOf(job)
    lastBegunAt = performance.now()
    // A second job of what is under way here says nothing new.
    if (running.has(key)) running.set(job.id, letGo(job.id, job.id))
    else running.set(key, run(job))
  }

  // What is recorded here is begun at once, and an order in question is looked up within a minute: whoever has had no order for longer than that
  // waits for those that others left, which may take a moment.
  const queuePauseMs = (): number => (running.size > 0 || performance.now() - lastBegunAt < busyForMs ? pollMs : idlePollMs)

  pulse.beat(placementQueueName)
  const queue = repeating(queuePauseMs, 'placement_queue', log, async () => {
    const free = concurrency - running.size
    isMoreWaiting = free <= 0
    if (isMoreWaiting) return pulse.beat(placementQueueName)
    const jobs = await fetchJobs(boss, free)
    pulse.beat(placementQueueName)
    isMoreWaiting = jobs.length === free
    for (const job of jobs) begin(job)
  })
  const sweep = repeating(sweepMs, 'placement_sweep', log, async () => {
    if ((await sweepPlacements(knex, boss, forgottenAfterMs)) > 0) queue.again()
  })
  const purges = [
    repeating(purgeMs, 'idempotency_purge', log, () => purgeKeys(knex)),
    repeating(purgeMs, 'order_list_purge', log, () => purgeOrderLists(knex)),
  ]

  return {
    offer: (job) => {
      if (isStopping) return
      if (running.size < concurrency) begin(job)
      else isMoreWaiting = true
    },
    stop: async () => {
      isStopping = true
      await Promise.all([queue, sweep, ...purges].map(({ stop }) => stop()))
      pulse.end(placementQueueName)
      await Promise.all(running.values())
    },
  }
}
