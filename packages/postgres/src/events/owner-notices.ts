// Notices to owners. A notice's row is the job: it is due until it is sent or given up. Its id is a
// hash of its `noticeKey`, and the row stays for at least a week after that, so that a notice that
// is recorded again is the same row.
import { createHash } from 'node:crypto'
import { noticeKey, type OwnerNotice } from '@tradeport/domain/notices'
import type { OwnerNoticeJobs, OwnerNotices } from '@tradeport/domain/ports'
import { hourMs, minuteMs, secondMs, type Owner } from '@tradeport/domain/primitives'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import { ids, instant, nullable, oneOf, tableOf, withOwner } from '../connection/columns.ts'
import {
  workOnDueRows,
  type DueRowsWorker,
  type WorkerDependencies,
} from '../connection/due-rows.ts'
import { databasePort } from '../connection/failures.ts'
import { createFailureLog, deleteSome, startUpkeep, together } from '../connection/repeating.ts'
import { isUser, query, sql } from '../connection/sql.ts'

export const noticeQueue = 'owner-notices'

/** A mailer answers long before; a process that still has a notice by then is considered dead. */
const claimMs = 5 * minuteMs
/** The pauses after failed attempts double up to the longest. */
const firstPauseMs = 5 * secondMs
const longestPauseMs = 15 * minuteMs
/** After this a notice is not sent any more: it would no longer be true. */
const maxAge = sql`interval '3 days'`
/** How often a process tries to record that it has sent a notice. */
const recordPauseMs = secondMs

interface DueNotice {
  readonly tenant_id: string
  readonly user_id: string
  readonly id: string
  /** The number of this attempt. */
  readonly attempts: number
  readonly is_too_old: boolean
  /** Sent by this process, which could not record it yet. */
  readonly isSent?: true
}

export const openOwnerNotices = (
  dependencies: WorkerDependencies,
): OwnerNotices & OwnerNoticeJobs => {
  const { knex, log } = dependencies
  let worker: DueRowsWorker<DueNotice> | undefined
  return {
    ...databasePort<OwnerNotices>('notices', {
      enqueue: async (owner, notice) => {
        await recordNotice(knex, owner, notice)
        worker?.wake()
      },
    }),
    work: async (send) => {
      const failures = createFailureLog('owner_notice_failed', log)
      const unrecorded = createFailureLog('owner_notice_end', log)
      /** Whether it was sent. */
      const trySend = async (due: DueNotice): Promise<boolean> => {
        try {
          await send(withOwner(notices.read(due)))
          failures.reset()
          return true
        } catch (error) {
          failures.report(error)
          return false
        }
      }
      worker = workOnDueRows<DueNotice>(dependencies, {
        name: noticeQueue,
        logNames: { poll: 'owner_notice_poll', work: 'owner_notice_end' },
        pollMs: () => 2 * secondMs,
        maxInProgress: 4,
        maxPerShare: 2,
        // One claim could otherwise give a tenant more.
        maxPerClaim: 1,
        keyOf: ({ id }) => id,
        shareOf: ({ tenant_id: tenant }) => tenant,
        claim: async ({ fullShares, limit }) => {
          const rows = await query<DueNotice>(
            knex,
            sql`update owner_notices set attempts = attempts + 1, due_at = now() + ${claimMs} * interval '1 ms'
              where ctid = any(array(
                select ctid from owner_notices where due_at <= now() and tenant_id <> all(${fullShares}::text[])
                order by due_at limit ${limit} for update skip locked))
              returning *, created_at < now() - ${maxAge} as is_too_old`,
          )
          return rows.map((row) => () => row)
        },
        work: async (due) => {
          const isGivenUp = due.isSent !== true && due.is_too_old
          if (isGivenUp)
            log.warn({
              event: 'owner_notice_given_up',
              reason: `${due.id} was not sent within three days`,
            })
          else if (due.isSent !== true && !(await trySend(due))) {
            await scheduleNext(knex, due)
            return undefined
          }
          try {
            await query(knex, sql`update owner_notices set due_at = null where ${isNotice(due)}`)
            unrecorded.reset()
            return undefined
          } catch (error) {
            unrecorded.report(error)
            return isGivenUp ? undefined : { job: { ...due, isSent: true }, inMs: recordPauseMs }
          }
        },
      })
      const upkeep = startUpkeep(knex, log, [
        { logName: 'owner_notice_purge', everyMs: hourMs, statements: () => [purgeNotices] },
      ])
      return together(worker, upkeep)
    },
  }
}

/** To one user, of each kind, so that nobody's mailbox is flooded. */
const maxNoticesPerDay = 20

/**
 * Records the notice, unless it is recorded already, its user was removed, or has had as many of
 * the kind within a day as are sent.
 */
export const recordNotice = async (
  knex: Knex,
  owner: Owner,
  notice: OwnerNotice,
): Promise<void> => {
  const id = createHash('sha256').update(noticeKey(owner, notice)).digest('hex')
  await query(
    knex,
    sql`insert into owner_notices (tenant_id, user_id, id, notice, due_at)
      select tenant_id, id, ${id}, ${JSON.stringify(notice)}, now() from users
      where ${isUser(owner)} and ${maxNoticesPerDay} > (
        select count(*) from owner_notices where tenant_id = ${owner.tenantId} and user_id = ${owner.userId}
          and notice ->> 'kind' = ${notice.kind} and created_at > now() - interval '1 day')
      on conflict do nothing`,
  )
}

/** Unless another process has begun another attempt since. */
const scheduleNext = (knex: Knex, due: DueNotice): Promise<unknown> => {
  const pauseMs = Math.min(firstPauseMs * 2 ** (due.attempts - 1), longestPauseMs)
  return query(
    knex,
    sql`update owner_notices set due_at = now() + ${pauseMs} * interval '1 ms'
      where ${isNotice(due)} and attempts = ${due.attempts}`,
  )
}

const isNotice = ({ tenant_id: tenantId, user_id: userId, id }: DueNotice) =>
  sql`tenant_id = ${tenantId} and user_id = ${userId} and id = ${id}`

const purgeNotices = deleteSome(
  'owner_notices',
  sql`due_at is null and created_at < now() - interval '10 days'`,
)

const notices = tableOf('owner_notices', {
  tenantId: ids.tenant,
  userId: ids.user,
  id: t.string,
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
      recoverSince: instant,
    }),
  ]),
})
