// Notices to owners in pg-boss. The id of a job is a hash of its notice, and the job is kept for a
// week after it was sent, so that the primary key rejects a notice that is queued again.
import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { noticeKey, type OwnerNotice } from '@tradeport/domain/notices'
import type { OwnerNoticeJob, OwnerNoticeJobs, OwnerNotices } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { fromKnex, type JobWithMetadata } from 'pg-boss'
import { decodeRow, ids, instant, oneOf, nullable } from '../connection/columns.ts'
import { databasePort } from '../connection/failures.ts'
import type { Jobs } from '../connection/jobs.ts'
import { createFailureLog } from '../connection/repeating.ts'

export interface OwnedNotice {
  readonly owner: Owner
  readonly notice: OwnerNotice
}

export interface OpenedOwnerNotices extends OwnerNotices, OwnerNoticeJobs {
  /**
   * Queues notices within the transaction, for stores whose writes make them necessary. They are
   * sent once it is committed.
   */
  readonly enqueueWithin: (trx: Knex.Transaction, notices: readonly OwnedNotice[]) => Promise<void>
}

interface NoticeOptions {
  /**
   * The pause after the first failed attempt, from which the others follow; 5 by default.
   */
  readonly pauseSeconds?: number
  /** How often the queue is read; 2 by default. */
  readonly pollSeconds?: number
}

export const noticeQueue = 'owner-notices'
const concurrency = 4
const daySeconds = 24 * 60 * 60

const jobOptions = {
  // The pauses double, and make three days in all.
  retryLimit: 300,
  retryBackoff: true,
  retryDelayMax: 15 * 60,
  // A mailer answers long before; a process that still has a job by then is considered dead.
  expireInSeconds: 5 * 60,
  deleteAfterSeconds: 7 * daySeconds,
}

/** How often a process tries to record that a notice was sent; then it is sent again. */
const completeAttempts = 60
const completePauseMs = 1_000

/** @throws when the database cannot be used */
export const openOwnerNotices = async (
  { boss, log }: Jobs,
  { pauseSeconds = 5, pollSeconds = 2 }: NoticeOptions = {},
): Promise<OpenedOwnerNotices> => {
  await boss.createQueue(noticeQueue, { policy: 'standard' })
  // So that pg-boss reads the queue's settings now. Within a transaction it would need a second
  // connection, which may not be available.
  await boss.insert(noticeQueue, [])
  const workers = new Set<string>()
  const wake = (): void => {
    for (const id of workers) boss.notifyWorker(id)
  }

  const insert = async (notices: readonly OwnedNotice[], trx?: Knex.Transaction): Promise<void> => {
    const jobs = new Map(notices.map((owned) => [noticeId(owned), owned]))
    if (jobs.size === 0) return
    await boss.insert(
      noticeQueue,
      [...jobs].map(([id, { owner, notice }]) => ({
        id,
        data: { tenant_id: owner.tenantId, user_id: owner.userId, notice },
        retryDelay: pauseSeconds,
        ...jobOptions,
      })),
      trx === undefined ? {} : { db: fromKnex(trx) },
    )
  }

  return {
    ...databasePort<OwnerNotices>('notices', {
      enqueue: async (owner, notice) => {
        await insert([{ owner, notice }])
        wake()
      },
    }),
    enqueueWithin: (trx, notices) => insert(notices, trx),
    work: async (send) => {
      const failures = createFailureLog('owner_notice_failed', log)
      const completions = createFailureLog('owner_notice_end', log)
      const ending = new AbortController()

      /** What pg-boss does after the handler, repeated until it succeeds. */
      const complete = async (id: string): Promise<void> => {
        for (let count = 1; count <= completeAttempts && !ending.signal.aborted; count++) {
          try {
            await boss.complete(noticeQueue, id)
            return completions.reset()
          } catch (error) {
            completions.report(error)
            await setTimeout(completePauseMs)
          }
        }
      }

      const handle = async ({
        id,
        data,
        retryCount,
        retryLimit,
      }: JobWithMetadata<unknown>): Promise<void> => {
        const isSent = await Promise.resolve()
          .then(() => send(jobOf(id, data)))
          .then(
            () => true,
            (error: unknown) => {
              failures.report(error)
              return false
            },
          )
        if (!isSent && retryCount >= retryLimit)
          log.warn({
            event: 'owner_notice_given_up',
            reason: `${id} failed ${retryCount + 1} times`,
          })
        // Without its cause, since pg-boss stores it with the job.
        if (!isSent) throw new Error('the notice was not sent')
        failures.reset()
        await complete(id)
        wake()
      }

      const options = { pollingIntervalSeconds: pollSeconds, includeMetadata: true } as const
      const begin = () =>
        boss.work(noticeQueue, options, async ([job]) => {
          if (job !== undefined) await handle(job)
        })
      const ids = await Promise.all(Array.from({ length: concurrency }, begin))
      for (const id of ids) workers.add(id)
      return {
        stop: async () => {
          ending.abort()
          for (const id of ids) workers.delete(id)
          await Promise.all(ids.map((id) => boss.offWork(noticeQueue, { id, wait: true })))
        },
      }
    },
  }
}

// A UUID of version 8, the version for custom ids.
const noticeId = ({ owner, notice }: OwnedNotice): string => {
  const hash = createHash('sha256').update(noticeKey(owner, notice)).digest().subarray(0, 16)
  hash[6] = (hash.readUInt8(6) & 0x0f) | 0x80
  hash[8] = (hash.readUInt8(8) & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const jobData = t.strict({
  tenant_id: ids.tenant,
  user_id: ids.user,
  notice: t.union([
    t.strict({
      kind: t.literal('suspended'),
      credential: t.strict({
        kind: oneOf('credential kind', ['api_key', 'access_token'] as const),
        id: t.string,
        applicationId: nullable(t.string),
      }),
      since: instant,
      until: instant,
    }),
    t.strict({
      kind: t.literal('webhook_disabled'),
      webhookId: t.string,
      url: t.string,
      at: instant,
      because: oneOf('cause', ['failures', 'gone'] as const),
    }),
  ]),
})

const decodeJob = decodeRow('owner notices', jobData)

const jobOf = (id: string, data: unknown): OwnerNoticeJob => {
  const { tenant_id: tenantId, user_id: userId, notice } = decodeJob(data)
  return { id, owner: { tenantId, userId }, notice }
}
