// The queue of notices to owners, and the hands that take them out of it.
import type { OwnerNoticeJobs, OwnerNotices } from '@tradeport/domain'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { toServiceUnavailable } from './failures.ts'
import type { Jobs } from './jobs.ts'
import { createNoticeQueue, firstPauseSeconds, noticeJobOf, noticeQueueName, tellNotices } from './notice-queue.ts'
import type { ToldNotice } from './notice-queue.ts'
import { startQueueWorker } from './queue-worker.ts'
import type { QueueWorker, QueueWorkerOptions } from './queue-worker.ts'

export interface OpenedOwnerNotices extends OwnerNotices, OwnerNoticeJobs {
  /** Tells notices within the transaction, for stores whose writes make them necessary. They are sent once it is committed. */
  readonly tellWithin: (trx: Knex.Transaction, notices: readonly ToldNotice[]) => Promise<void>
}

interface NoticeOptions extends Partial<QueueWorkerOptions> {
  /** The pause after the first attempt that failed, which the others are made from; 5 when left out. */
  readonly pauseSeconds?: number
}

/** @throws when the database cannot be used; the message is for the operator and holds no secret */
export const openOwnerNotices = async ({ boss, log, pulse }: Jobs, options: NoticeOptions = {}): Promise<OpenedOwnerNotices> => {
  const { pauseSeconds = firstPauseSeconds, concurrency = 4, pollMs = 2_000 } = options
  await createNoticeQueue(boss)
  const workers = new Set<QueueWorker>()
  const wakeOne = (): void => [...workers][0]?.wake()
  return {
    tell: (owner, notice) =>
      TE.tryCatch(async () => {
        await tellNotices(boss, [{ owner, notice }], { pauseSeconds })
        wakeOne()
      }, toServiceUnavailable('notices.tell')),
    tellWithin: (trx, notices) => tellNotices(boss, notices, { trx, pauseSeconds }),
    work: async (send) => {
      const worker = startQueueWorker({
        boss,
        log,
        pulse,
        queue: noticeQueueName,
        event: 'owner_notice',
        decode: noticeJobOf,
        handle: send,
        concurrency,
        pollMs,
      })
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
