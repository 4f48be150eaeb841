// Works on the jobs of a queue whose attempts pg-boss counts: takes out what is due, a few at once, and says of each how it ended. A job
// that failed comes again after its pause until its attempts are used up. One that nobody said anything of counts as failed when its time is over.
import { setTimeout } from 'node:timers/promises'
import type { JobWithMetadata, PgBoss } from 'pg-boss'
import type { Log } from './log.ts'
import type { Pulse } from './pulse.ts'
import { repeating, tellingOnce } from './repeating.ts'

export interface QueueWorkerOptions {
  /** How many jobs are under way at once. */
  readonly concurrency: number
  /** How often the queue is looked at. */
  readonly pollMs: number
}

interface Parts<Job> extends QueueWorkerOptions {
  readonly boss: PgBoss
  readonly log: Log
  readonly pulse: Pulse
  readonly queue: string
  /** What its troubles are called in the log begins with this. */
  readonly event: string
  /** @throws UndecodableRow for data that this version cannot read */
  readonly decode: (id: string, data: unknown) => Job
  /** A rejection is a failed attempt. */
  readonly handle: (job: Job) => Promise<void>
}

export interface QueueWorker {
  /** Looks at the queue now. */
  readonly wake: () => void
  /** Takes nothing more and waits for what is under way. */
  readonly stop: () => Promise<void>
}

/** For how long the end of a job is held on to while the database is away; then the job comes again. */
const endAttempts = 60
const endPauseMs = 1_000

export const startQueueWorker = <Job>(parts: Parts<Job>): QueueWorker => {
  const { boss, log, pulse, queue, event, decode, handle, concurrency, pollMs } = parts
  const attempts = tellingOnce(`${event}_failed`, log)
  const ends = tellingOnce(`${event}_end`, log)
  const running = new Set<Promise<void>>()
  let isStopping = false
  /** Whether the queue may hold more that is due than was taken. */
  let isMoreWaiting = false

  const attempt = async ({ id, data }: JobWithMetadata): Promise<boolean> => {
    try {
      await handle(decode(id, data))
      attempts.forget()
      return true
    } catch (error) {
      attempts.tell(error)
      return false
    }
  }

  const end = async (id: string, isDone: boolean): Promise<void> => {
    for (let count = 1; count <= endAttempts; count++) {
      const isEnded = await (isDone ? boss.complete(queue, id) : boss.fail(queue, id)).then(
        () => true,
        (error: unknown) => {
          ends.tell(error)
          return false
        },
      )
      if (isEnded) return ends.forget()
      if (isStopping) return
      await setTimeout(endPauseMs)
    }
  }

  const run = async (job: JobWithMetadata): Promise<void> => {
    const { id, retryCount, retryLimit } = job
    const isDone = await attempt(job)
    const isGivenUp = !isDone && retryCount >= retryLimit
    if (isGivenUp) log.warn({ event: `${event}_given_up`, reason: `${id} failed ${retryCount + 1} times` })
    await end(id, isDone)
  }

  const begin = (job: JobWithMetadata): void => {
    const one = run(job).finally(() => {
      running.delete(one)
      if (isMoreWaiting) poll.again()
    })
    running.add(one)
  }

  pulse.beat(queue)
  const poll = repeating(pollMs, `${event}_queue`, log, async () => {
    const free = concurrency - running.size
    isMoreWaiting = free <= 0
    if (isMoreWaiting) return pulse.beat(queue)
    const jobs = await boss.fetch<object>(queue, { batchSize: free, includeMetadata: true })
    pulse.beat(queue)
    isMoreWaiting = jobs.length === free
    for (const job of jobs) begin(job)
  })

  return {
    wake: poll.again,
    stop: async () => {
      isStopping = true
      await poll.stop()
      pulse.end(queue)
      await Promise.all(running)
    },
  }
}
