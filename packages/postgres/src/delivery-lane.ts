// The lease on a webhook's deliveries: whoever holds it sends them, one after another. Every time in it is the database's, so that the clocks of the
// instances do not matter.
import type { Knex } from 'knex'
import type { Lane } from './delivery-queue.ts'

/** False where somebody else holds the lane, or the webhook is gone. */
export const enterLane = async (knex: Knex, { webhookId }: Lane, holder: string, leaseMs: number): Promise<boolean> => {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `insert into delivery_lanes (webhook_id, holder, expires_at)
     select id, ?::uuid, now() + ? * interval '1 ms' from webhooks where id = ?
     on conflict (webhook_id)
       do update set holder = excluded.holder, expires_at = excluded.expires_at where delivery_lanes.expires_at < now()
     returning true`,
    [holder, leaseMs, webhookId],
  )
  return rows.length > 0
}

/** All lanes of the holder that have not lapsed meanwhile. */
export const renewLanes = async (knex: Knex, holder: string, leaseMs: number): Promise<void> => {
  await knex('delivery_lanes')
    .where({ holder })
    .update({ expires_at: knex.raw(`now() + ? * interval '1 ms'`, [leaseMs]) })
}

export const leaveLane = async (knex: Knex, { webhookId }: Lane, holder: string): Promise<void> => {
  await knex('delivery_lanes').where({ webhook_id: webhookId, holder }).delete()
}
