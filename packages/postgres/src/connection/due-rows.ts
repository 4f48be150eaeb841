// Work on due rows: rows with a time at which work on them is due. The row itself is the job: a
// process claims it by moving that time ahead or by a lease, and one that dies leaves it due again.
import { setTimeout } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { Log } from './failures.ts'
import { createFailureLog, repeat, type Stoppable } from './repeating.ts'
import { sql, type Sql } from './sql.ts'

/**
 * Whether somebody holds a lease that ends then. One that ends over a minute after a new one would
 * does not count: it was made before the database's clock was set back. A minute, because a
 * statement that waits for the row's lock has the time at which it began.
 */
export const isLeaseHeld = (leasedUntil: Sql, newLeaseEnd: Sql): Sql =>
  sql`coalesce(${leasedUntil} between now() and ${newLeaseEnd} + interval '1 minute', false)`

/**
 * Shows which queues are not read any more. A worker beats after every successful read of its
 * queue, and also while all of its slots are in use, when it need not read.
 */
export interface Heartbeats {
  /** Work on the queue begins, or it was read. */
  readonly beat: (queue: string) => void
  /** Nobody works on the queue here any longer. */
  readonly end: (queue: string) => void
  /** The queues that have not been read for so long. */
  readonly silentFor: (ms: number) => readonly string[]
}

export const createHeartbeats = (): Heartbeats => {
  const beats = new Map<string, number>()
  return {
    beat: (queue) => void beats.set(queue, performance.now()),
    end: (queue) => void beats.delete(queue),
    silentFor: (ms) =>
      [...beats].filter(([, at]) => performance.now() - at >= ms).map(([queue]) => queue),
  }
}

/** What the stores with due rows need. */
export interface WorkerDependencies {
  readonly knex: Knex
  readonly log: Log
  readonly heartbeats: Heartbeats
  /** In tests: how often each queue is read, however long nothing was due. */
  readonly pollMs?: number
}

export interface ClaimRequest {
  /** How many rows to claim at most. */
  readonly limit: number
  /** The keys of the rows that this process works on. */
  readonly inProgress: readonly string[]
  /** How many of them count to each share; `maxPerShare` at most. */
  readonly shares: readonly { readonly name: string; readonly count: number }[]
  /** The shares that have `maxPerShare`. */
  readonly fullShares: readonly string[]
}

export interface DueQueue<Job> {
  /** In the heartbeat. */
  readonly name: string
  /** The `event` of log lines about failures: of the poll, and of the work on a row. */
  readonly logNames: { readonly poll: string; readonly work: string }
  /** @param idleMs for how long nothing was begun; 0 while something is in progress */
  readonly pollMs: (idleMs: number) => number
  readonly maxInProgress: number
  /** So that a tenant or user whose rows hang leaves slots for others. */
  readonly maxPerShare: number
  readonly maxPerClaim: number
  readonly keyOf: (job: Job) => string
  /** The tenant or the user to whose share of the slots a job counts. */
  readonly shareOf: (job: Job) => string
  /**
   * Claims due rows, none of a full share. Each is read by a function of its own: a row that
   * cannot be read is logged and delays no other.
   */
  readonly claim: (request: ClaimRequest) => Promise<readonly (() => Job)[]>
  /** Processes one row; may return a job to repeat here after `inMs`. A rejection is logged. */
  readonly work: (job: Job) => Promise<{ readonly job: Job; readonly inMs: number } | undefined>
}

/** Once it is stopped, a repetition is dropped: its row falls due again. */
export interface DueRowsWorker<Job> extends Stoppable {
  /** Begins work on a row that this process has claimed already, unless it is stopped. */
  readonly workOn: (job: Job) => void
  /** Claims due rows now. */
  readonly wake: () => void
}

export const workOnDueRows = <Job>(
  { log, heartbeats, pollMs }: WorkerDependencies,
  queue: DueQueue<Job>,
): DueRowsWorker<Job> => {
  const { name, logNames, maxPerShare } = queue
  const failures = createFailureLog(logNames.work, log)
  /** Never reset: each row that cannot be read is logged once. */
  const unreadable = createFailureLog(logNames.work, log)
  const inProgress = new Map<string, { readonly share: string; done: Promise<void> }>()
  const stopping = new AbortController()
  let lastBegunAt = -Infinity
  /** More may be due than there were slots for: the table is read whenever a job ends. */
  let isSaturated = false

  const run = async (key: string, job: Job, inMs?: number) => {
    try {
      if (inMs !== undefined && inMs > 0)
        await setTimeout(inMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      const isDropped = inMs !== undefined && stopping.signal.aborted
      const retry = isDropped ? undefined : await queue.work(job)
      failures.reset()
      inProgress.delete(key)
      if (retry !== undefined) workOn(retry.job, retry.inMs)
    } catch (error) {
      failures.report(error)
      inProgress.delete(key)
    }
    if (isSaturated) poll.runNow()
  }

  const workOn = (job: Job, inMs?: number) => {
    const key = queue.keyOf(job)
    lastBegunAt = performance.now()
    // Already in progress here: a claim of its row has only moved its due time ahead.
    if (inProgress.has(key)) return
    // Entered before it runs, since it may end at once.
    const entry = { share: queue.shareOf(job), done: Promise.resolve() }
    inProgress.set(key, entry)
    entry.done = run(key, job, inMs)
  }

  heartbeats.beat(name)
  const pauseMs = (): number =>
    pollMs ?? queue.pollMs(inProgress.size > 0 ? 0 : performance.now() - lastBegunAt)
  // Jobs that are begun beyond a share do not count against the slots of others.
  const sharesInUse = (): ClaimRequest['shares'] =>
    [...Map.groupBy(inProgress.values(), ({ share }) => share)].map(([name, { length }]) => ({
      name,
      count: Math.min(length, maxPerShare),
    }))
  const slotsLeft = (shares: ClaimRequest['shares']): number =>
    queue.maxInProgress - shares.reduce((sum, { count }) => sum + count, 0)
  const fullOf = (shares: ClaimRequest['shares']): readonly string[] =>
    shares.filter(({ count }) => count === maxPerShare).map(({ name }) => name)
  const poll = repeat(pauseMs, logNames.poll, log, async () => {
    const shares = sharesInUse()
    const freeSlots = Math.min(queue.maxPerClaim, slotsLeft(shares))
    const request = {
      limit: freeSlots,
      inProgress: [...inProgress.keys()],
      shares,
      fullShares: fullOf(shares),
    }
    const claimed = freeSlots > 0 ? await queue.claim(request) : []
    heartbeats.beat(name)
    for (const read of claimed)
      try {
        workOn(read())
      } catch (error) {
        unreadable.report(error)
      }
    const after = sharesInUse()
    const full = fullOf(after).length
    isSaturated = slotsLeft(after) <= 0 || full > 0
    // Rows of a share that has become full may have hidden those of others.
    const mayHaveMore = claimed.length === freeSlots || full > request.fullShares.length
    if (freeSlots > 0 && mayHaveMore) poll.runNow()
  })

  return {
    workOn: (job) => {
      if (!stopping.signal.aborted) workOn(job)
    },
    wake: poll.runNow,
    stop: async () => {
      stopping.abort()
      await poll.stop()
      heartbeats.end(name)
      // A job that ends may add its retry, which ends at once while stopping; hence the loop.
      while (inProgress.size > 0)
        await Promise.all([...inProgress.values()].map(({ done }) => done))
    },
  }
}
