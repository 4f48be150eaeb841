// Notices to owners in pg-boss. A notice's job has an id of its own making, and stays for a week after it was sent, so that the same notice told
// again is dropped by the primary key.
import { createHash } from 'node:crypto'
import { noticeKey } from '@tradeport/domain'
import type { Owner, OwnerNotice, OwnerNoticeJob } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import type { JobInsert, PgBoss } from 'pg-boss'
import * as column from './columns.ts'
import { decodeRow } from './columns.ts'
import { openQueue, withinTransaction } from './jobs.ts'

export interface ToldNotice {
  readonly owner: Owner
  readonly notice: OwnerNotice
}

export const noticeQueueName = 'owner-notices'

/** How often and after how long a notice that could not be sent is tried again: the pauses double, and make three days in all. */
const retryLimit = 300
const retryDelayMax = 15 * 60
export const firstPauseSeconds = 5

const daySeconds = 24 * 60 * 60

/** A mailer answers long before; a process that has not let go of a job by then is taken for dead. */
const expireInSeconds = 5 * 60
const deleteAfterSeconds = 7 * daySeconds

/** What a job is told of its queue is written with the job, so that what an older version wrote for the queue does not matter. */
export const createNoticeQueue = (boss: PgBoss): Promise<void> => openQueue(boss, noticeQueueName, { policy: 'standard' })

/** Told within the transaction where one is given. A notice that was told before is left as it is. */
export const tellNotices = async (
  boss: PgBoss,
  notices: readonly ToldNotice[],
  { trx, pauseSeconds }: { readonly trx?: Knex.Transaction; readonly pauseSeconds: number },
): Promise<void> => {
  const inserts = new Map(notices.map((told) => [noticeId(told), { ...insertOf(told), retryDelay: pauseSeconds }]))
  if (inserts.size === 0) return
  await boss.insert(noticeQueueName, [...inserts.values()], trx === undefined ? {} : { db: withinTransaction(trx) })
}

// A UUID of version 8, which is for ids of one's own making.
const noticeId = ({ owner, notice }: ToldNotice): string => {
  const hex = createHash('sha256').update(noticeKey(owner, notice)).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const noticeCodec: t.Type<OwnerNotice> = t.union([
  t.strict({
    kind: t.literal('suspended'),
    credential: t.strict({
      kind: column.oneOf('credential kind', ['api_key', 'access_token'] as const),
      id: t.string,
      applicationId: column.orAbsent(t.string),
    }),
    since: column.instant,
    until: column.instant,
  }),
  t.strict({
    kind: t.literal('webhook_disabled'),
    webhookId: t.string,
    url: t.string,
    at: column.instant,
    because: column.oneOf('cause', ['failures', 'gone'] as const),
  }),
])

const jobData = t.strict({ tenant_id: column.tenantId, user_id: column.userId, notice: noticeCodec })

const insertOf = ({ owner, notice }: ToldNotice): JobInsert<t.OutputOf<typeof jobData>> => ({
  id: noticeId({ owner, notice }),
  data: jobData.encode({ tenant_id: owner.tenantId, user_id: owner.userId, notice }),
  retryLimit,
  retryBackoff: true,
  retryDelayMax,
  expireInSeconds,
  deleteAfterSeconds,
})

const decodeJob = decodeRow('owner notices', jobData)

export const noticeJobOf = (id: string, data: unknown): OwnerNoticeJob => {
  const { tenant_id: tenantId, user_id: userId, notice } = decodeJob(data)
  return { id, owner: { tenantId, userId }, notice }
}
