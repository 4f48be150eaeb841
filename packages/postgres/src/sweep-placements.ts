// Finds orders that nobody would go on with, and sends them new jobs: those that have been due for a while, because the process that had the job died or
// failed, and those that are due long after any order is, because the database's clock was set back.
import { minuteMs } from '@tradeport/domain'
import type { OrderId, PlacementJob, TenantId, UserId } from '@tradeport/domain'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import { bringForward } from './jobs.ts'
import { placementQueueName, queuedJob, sendJobs } from './placement-queue.ts'

const ordersPerSweep = 500
/** No order waits for longer than a minute. */
const tooFarMs = 5 * minuteMs

/**
 * Several instances may sweep at once: each takes what the others have not. The order is due anew, so that it is not found again at once. Gives how many
 * were found.
 */
export const sweepPlacements = async (knex: Knex, boss: PgBoss, forgottenAfterMs: number): Promise<number> =>
  (await isAnyAstray(knex, forgottenAfterMs)) ? takeAstray(knex, boss, forgottenAfterMs) : 0

/** Of the time at which an order is due: each goes by the index of it, with a bound in milliseconds. */
const forgotten = `due_at < now() - ? * interval '1 ms'`
const tooFar = `due_at > now() + ? * interval '1 ms'`

// Nearly always there is none, and one statement tells.
const isAnyAstray = async (knex: Knex, forgottenAfterMs: number): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `(select 1 from orders where ${forgotten} order by due_at limit 1)
     union all (select 1 from orders where ${tooFar} order by due_at desc limit 1)`,
    [forgottenAfterMs, tooFarMs],
  )
  return rows.length > 0
}

const takeAstray = (knex: Knex, boss: PgBoss, forgottenAfterMs: number): Promise<number> =>
  knex.transaction(async (trx) => {
    const jobs = [...(await makeDue(trx, forgotten, forgottenAfterMs)), ...(await makeDue(trx, tooFar, tooFarMs))]
    // A job that waits stays the only one of its order.
    await bringForward(trx, placementQueueName, tooFarMs)
    await sendJobs(
      boss,
      trx,
      jobs.map((job) => queuedJob(job, 0)),
    )
    return jobs.length
  })

const makeDue = async (trx: Knex.Transaction, astray: string, boundMs: number): Promise<readonly PlacementJob[]> => {
  const { rows } = await trx.raw<{ rows: { tenantId: TenantId; userId: UserId; orderId: OrderId; version: number }[] }>(
    `update orders set due_at = now() where id in (
       select id from orders where ${astray} order by due_at limit ? for update skip locked)
     returning tenant_id as "tenantId", user_id as "userId", id as "orderId", version`,
    [boundMs, ordersPerSweep],
  )
  return rows.map(({ tenantId, userId, orderId, version }) => ({ owner: { tenantId, userId }, orderId, version }))
}
