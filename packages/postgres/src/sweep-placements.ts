// Finds orders that are due and that nobody has gone on with, because the process that had the job died or failed, and sends them new jobs.
import type { OrderId, PlacementJob, TenantId, UserId } from '@tradeport/domain'
import type { Knex } from 'knex'
import type { PgBoss } from 'pg-boss'
import { queuedJob, sendJobs } from './placement-queue.ts'

const ordersPerSweep = 500

/**
 * Several instances may sweep at once: each takes what the others have not. The order is due anew, so that it is not found again at once. Gives how many
 * were found.
 */
export const sweepPlacements = async (knex: Knex, boss: PgBoss, forgottenAfterMs: number): Promise<number> =>
  (await isAnyForgotten(knex, forgottenAfterMs)) ? takeForgotten(knex, boss, forgottenAfterMs) : 0

// Nearly always there is none, and one statement tells.
const isAnyForgotten = async (knex: Knex, forgottenAfterMs: number): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `select 1 from orders where due_at < now() - ? * interval '1 ms' order by due_at limit 1`,
    [forgottenAfterMs],
  )
  return rows.length > 0
}

const takeForgotten = (knex: Knex, boss: PgBoss, forgottenAfterMs: number): Promise<number> =>
  knex.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { tenantId: string; userId: string; orderId: string; version: number }[] }>(
      `update orders set due_at = now() where id in (
         select id from orders where due_at < now() - ? * interval '1 ms' order by due_at limit ? for update skip locked)
       returning tenant_id as "tenantId", user_id as "userId", id as "orderId", version`,
      [forgottenAfterMs, ordersPerSweep],
    )
    await sendJobs(
      boss,
      trx,
      rows.map(({ tenantId, userId, orderId, version }) => {
        const job: PlacementJob = {
          owner: { tenantId: tenantId as TenantId, userId: userId as UserId },
          orderId: orderId as OrderId,
          version,
        }
        return queuedJob(job, 0)
      }),
    )
    return rows.length
  })
