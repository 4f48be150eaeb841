// The queue of notices in memory, as a fake of its ports; it passes the same contract as the database. Jobs are handed out when the test says so,
// by the test's clock.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { noticeKey } from '../notices/owner-notice.ts'
import type { Clock } from '../ports/clock.ts'
import type { OwnerNoticeJob, OwnerNoticeJobs, OwnerNotices } from '../ports/owner-notices.ts'
import { minuteMs, secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'

export interface FakeOwnerNotices extends OwnerNotices {
  readonly jobs: OwnerNoticeJobs
  /** Every notice that was told, once each, in the order of telling. */
  readonly told: () => readonly OwnerNoticeJob[]
  /** Starts every job that is due by the clock. */
  readonly handOut: () => void
}

interface Waiting {
  readonly job: OwnerNoticeJob
  readonly attempts: number
  /** null once it was sent. */
  readonly dueAt: Instant | null
}

const firstPauseMs = 5 * secondMs
const longestPauseMs = 15 * minuteMs
const leaseMs = 5 * minuteMs

export const createFakeOwnerNotices = (clock: Clock): FakeOwnerNotices => {
  const waiting = new Map<string, Waiting>()
  const workers = new Set<(waiting: Waiting) => void>()

  const attempt = async (send: (job: OwnerNoticeJob) => Promise<void>, { job, attempts }: Waiting): Promise<void> => {
    waiting.set(job.id, { job, attempts: attempts + 1, dueAt: clock.now() + leaseMs })
    const isSent = await send(job).then(
      () => true,
      () => false,
    )
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** attempts)
    waiting.set(job.id, { job, attempts: attempts + 1, dueAt: isSent ? null : clock.now() + pauseMs })
  }

  return {
    tell: (owner, notice) =>
      TE.fromIO(() => {
        const key = noticeKey(owner, notice)
        const id = [...new TextEncoder().encode(key)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
        if (!waiting.has(id)) waiting.set(id, { job: { id, owner, notice }, attempts: 0, dueAt: clock.now() })
      }),
    jobs: {
      work: async (send) => {
        const underWay = new Set<Promise<void>>()
        const worker = (due: Waiting): void => {
          const run = attempt(send, due)
          underWay.add(run)
          void run.finally(() => underWay.delete(run))
        }
        workers.add(worker)
        return {
          stop: async () => {
            workers.delete(worker)
            await Promise.all(underWay)
          },
        }
      },
    },
    told: () => [...waiting.values()].map(({ job }) => job),
    handOut: () => {
      const [worker] = workers
      const due = [...waiting.values()].filter(({ dueAt }) => dueAt !== null && dueAt <= clock.now())
      if (worker !== undefined) for (const one of due) worker(one)
    },
  }
}
