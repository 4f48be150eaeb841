// Records events and the deliveries that they make, in the transaction of whoever tells of them (section 6).
import type { Instant, Owner, ServiceEvent } from '@tradeport/domain'
import type { Knex } from 'knex'
import { toTimestamptz } from './columns.ts'
import { lanesOfRows } from './delivery-queue.ts'
import type { Lane } from './delivery-queue.ts'

export interface OwnedEvent {
  readonly owner: Owner
  readonly event: ServiceEvent
}

/** For stores whose writes are events. */
export interface EventRecorder {
  readonly recordWithin: (trx: Knex.Transaction, events: readonly OwnedEvent[]) => Promise<void>
  /** After the commit: has what is due sent at once, without waiting for the queue to be looked at. */
  readonly handOver: () => void
}

/** Which webhooks have deliveries now, in the order of their ids. */
export const recordEvents = async (trx: Knex.Transaction, events: readonly OwnedEvent[], now: Instant): Promise<readonly Lane[]> => {
  if (events.length === 0) return []
  const { rows } = await trx.raw<{ rows: unknown[] }>(
    `with recorded as (
       insert into events (tenant_id, user_id, key, type, data, occurred_at)
       select tenant_id, user_id, key, type, data, occurred_at from json_to_recordset(?::json)
         as new (place int, tenant_id text, user_id text, key text, type text, data text, occurred_at timestamptz)
       order by place
       on conflict (tenant_id, user_id, key) do nothing
       returning sequence, tenant_id, user_id, type),
     delivered as (
       insert into webhook_deliveries (id, webhook_id, event_sequence, status, attempts, created_at, next_attempt_at)
       select gen_random_uuid(), webhooks.id, recorded.sequence, 'pending', 0, ?::timestamptz, ?::timestamptz
       from recorded join webhooks using (tenant_id, user_id)
       where webhooks.enabled and recorded.type = any(webhooks.event_types)
       order by recorded.sequence, webhooks.sequence
       returning webhook_id)
     select tenant_id, user_id, id as webhook_id from webhooks where id in (select webhook_id from delivered) order by id`,
    [JSON.stringify(events.map(rowOf)), toTimestamptz(now), toTimestamptz(now)],
  )
  return lanesOfRows(rows)
}

const rowOf = ({ owner, event }: OwnedEvent, place: number) => ({
  place,
  tenant_id: owner.tenantId,
  user_id: owner.userId,
  key: event.key,
  type: event.type,
  data: JSON.stringify(event.data),
  occurred_at: toTimestamptz(event.at),
})
