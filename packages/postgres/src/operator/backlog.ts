// The unfinished work of all instances, which shows an operator when something is stuck.
import type { AsyncResult } from '@tradeport/domain/errors'
import { maxListedAccounts } from '@tradeport/domain/operator'
import type { Backlog, HealthReads } from '@tradeport/domain/ports'
import { minuteMs, type AccountId } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { databaseTask } from '../connection/failures.ts'
import { Sql, query, queryOne, sql } from '../connection/sql.ts'
import { noticeQueue } from '../events/owner-notices.ts'
import { dueOrdersQueue } from '../orders/due-orders.ts'

/**
 * Reads partial indexes of unfinished work, however much is finished, and all risk thresholds.
 * @param watchMs between two rounds of the watch
 */
export const readBacklog = (knex: Knex, watchMs: number): AsyncResult<Backlog> =>
  databaseTask('database.backlog', async () => {
    const [{ due, oldestDueMs, ...orders }, notices, journals, deliveries] = await Promise.all([
      queryOne<Backlog['orders'] & { readonly due: number; readonly oldestDueMs: number }>(
        knex,
        // Every order that is not at its end has a due time, but for those that the broker holds.
        sql`select (count(*) filter (where status = 'pending'))::int as pending,
            count(${unknownSince})::int as unknown, ${ageMs(`min(${unknownSince.text})`)} as "oldestUnknownMs",
            (count(*) filter (where due_at <= now()))::int as due, ${ageMs('min(due_at)')} as "oldestDueMs"
          from orders where due_at is not null`,
      ),
      queryOne<{ readonly waiting: number; readonly oldestMs: number }>(
        knex,
        sql`select count(*)::int as waiting, ${ageMs('min(due_at)')} as "oldestMs"
          from owner_notices where due_at <= now()`,
      ),
      queryOne<Backlog['journals']>(
        knex,
        sql`select (select count(*)::int ${disagreeing}) as disagreeing,
            count(watch_at)::int as watched, (count(watch_at) filter (where failures > 0))::int as "watchedFailing",
            ${ageMs('min(watch_at) filter (where failures = 0)')} as "watchLagMs",
            (select count(distinct account_id)::int ${unchecked(watchMs)}) as unchecked
          from journals where due_at is not null`,
      ),
      queryOne<Backlog['deliveries']>(
        knex,
        sql`select count(*)::int as pending, (count(*) filter (where next_attempt_at <= now()))::int as due,
            ${ageMs('min(next_attempt_at)')} as "oldestDueMs"
          from webhook_deliveries where status = 'pending'`,
      ),
    ])
    const queues = [
      { queue: dueOrdersQueue, waiting: due, oldestMs: oldestDueMs },
      { queue: noticeQueue, ...notices },
    ]
    return { queues, orders, journals, deliveries }
  })

const unknownSince = sql`case status when 'pending' then sent_at when 'open' then absent_at end`

const ageMs = (since: string): Sql =>
  new Sql(`greatest(0, coalesce(extract(epoch from now() - ${since}) * 1000, 0))::float8`)

/** Not those that are no longer linked as they were read. */
const disagreeing = sql`from journals join accounts on accounts.tenant_id = journals.tenant_id
    and accounts.id = account_id and accounts.provider_account_id = journals.provider_account_id
  where disagreements > 0 and difference <> 0`

/** Not checked for three rounds and the minute within which a check is stored. */
const unchecked = (watchMs: number): Sql => sql`from risk_thresholds
  where coalesce(checked_at, '-infinity') < now() - ${3 * watchMs + minuteMs} * interval '1 ms'`

/** Accounts whose thresholds are not checked, or later than they should be. */
export const readUncheckedThresholds = (
  knex: Knex,
  watchMs: number,
): HealthReads['uncheckedThresholds'] =>
  databaseTask('riskThresholds.unchecked', async () => {
    const rows = await query<{ readonly accountId: AccountId }>(
      knex,
      sql`select account_id as "accountId" ${unchecked(watchMs)}
        group by account_id order by min(coalesce(checked_at, '-infinity')), account_id limit ${maxListedAccounts}`,
    )
    return rows.map(({ accountId }) => accountId)
  })

/** Accounts whose deals do not add up to their balance. */
export const readDisagreeingJournals = (knex: Knex): HealthReads['disagreeingJournals'] =>
  databaseTask('journal.disagreeing', () =>
    query<{ readonly accountId: AccountId; readonly difference: number }>(
      knex,
      sql`select account_id as "accountId", difference::float8 ${disagreeing} order by checked_at limit ${maxListedAccounts}`,
    ),
  )
