// What waits to be done, over all instances, so that an operator sees when something is stuck.
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Knex } from 'knex'
import { attempt } from '../connection/failures.ts'
import { noticeQueue } from '../events/owner-notices.ts'
import { dueOrdersQueue } from '../orders/due-orders.ts'

/** Ages in milliseconds by the clock of the database; 0 where there is nothing. */
export interface Backlog {
  /** Jobs that are due and that no process has claimed. */
  readonly queues: readonly {
    readonly queue: string
    readonly waiting: number
    readonly oldestMs: number
  }[]
  /** Unknown: pending, and may have been sent. Their age is since they were sent. */
  readonly orders: {
    readonly pending: number
    readonly unknown: number
    readonly oldestUnknownMs: number
  }
  /** Accounts whose kept deals do not add up to their balance. */
  readonly journals: { readonly disagreeing: number }
  readonly deliveries: {
    readonly pending: number
    readonly due: number
    readonly oldestDueMs: number
  }
}

/** Reads indices of what is not done, however much there is that is. */
export const readBacklog = (knex: Knex): TE.TaskEither<ServiceUnavailable, Backlog> =>
  attempt('database.backlog', async () => {
    const [{ due, oldestDueMs, ...orders }, notices, journals, deliveries] = await Promise.all([
      only<Backlog['orders'] & { readonly due: number; readonly oldestDueMs: number }>(
        knex,
        ordersUnderWay,
      ),
      only<{ readonly waiting: number; readonly oldestMs: number }>(knex, noticesWaiting),
      only<Backlog['journals']>(knex, journalsDisagreeing),
      only<Backlog['deliveries']>(knex, deliveriesPending),
    ])
    const queues = [
      { queue: dueOrdersQueue, waiting: due, oldestMs: oldestDueMs },
      { queue: noticeQueue, ...notices },
    ]
    return { queues, orders, journals, deliveries }
  })

const only = async <A>(knex: Knex, sql: string): Promise<A> =>
  (await knex.raw<{ rows: [A] }>(sql)).rows[0]

const ageMs = (since: string, filter = 'true'): string =>
  `greatest(0, coalesce(extract(epoch from now() - min(${since}) filter (where ${filter})) * 1000, 0))::float8`

const noticesWaiting = `
  select count(*)::int as waiting, ${ageMs('start_after')} as "oldestMs"
  from pgboss.job where name = '${noticeQueue}' and state < 'active' and start_after <= now()`

const isPending = `status = 'pending'`

// Every order that is not at its end has a due time.
const ordersUnderWay = `
  select (count(*) filter (where ${isPending}))::int as pending, (count(sent_at) filter (where ${isPending}))::int as unknown,
    ${ageMs('sent_at', isPending)} as "oldestUnknownMs", (count(*) filter (where due_at <= now()))::int as due, ${ageMs('due_at')} as "oldestDueMs"
  from orders where due_at is not null`

const journalsDisagreeing = `select count(*)::int as disagreeing from journals where disagreements > 0 and difference <> 0`

const deliveriesPending = `
  select count(*)::int as pending, (count(*) filter (where next_attempt_at <= now()))::int as due, ${ageMs('next_attempt_at')} as "oldestDueMs"
  from webhook_deliveries where status = 'pending'`
