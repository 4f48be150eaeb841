// Records events and the deliveries that they make, in the transaction of the write that causes them. A user who was removed meanwhile has no events.
import type { Instant, Owner, ServiceEvent } from '@tradeport/domain'
import type { Knex } from 'knex'
import { toTimestamptz } from './columns.ts'

export interface OwnedEvent {
  readonly owner: Owner
  readonly event: ServiceEvent
}

/** For stores whose writes are events. */
export interface EventRecorder {
  readonly recordWithin: (trx: Knex.Transaction, events: readonly OwnedEvent[]) => Promise<void>
  /** After the commit: has deliveries sent at once instead of at the next poll. */
  readonly handOver: () => void
}

export const recordEvents = async (trx: Knex.Transaction, events: readonly OwnedEvent[], now: Instant): Promise<void> => {
  if (events.length === 0) return
  await trx.raw(
    `with recorded as (
       insert into events (tenant_id, user_id, key, type, data, occurred_at)
       select new.tenant_id, new.user_id, key, type, data, occurred_at from json_to_recordset(?::json)
         as new (place int, tenant_id text, user_id text, key text, type text, data text, occurred_at timestamptz)
       join users on users.tenant_id = new.tenant_id and users.id = new.user_id
       order by place
       on conflict (tenant_id, user_id, key) do nothing
       returning sequence, tenant_id, user_id, type)
     insert into webhook_deliveries (id, webhook_id, event_sequence, status, attempts, created_at, next_attempt_at)
     select gen_random_uuid(), webhooks.id, recorded.sequence, 'pending', 0, ?::timestamptz, ?::timestamptz
     from recorded join webhooks using (tenant_id, user_id)
     where webhooks.enabled and recorded.type = any(webhooks.event_types)
     order by recorded.sequence, webhooks.sequence`,
    [JSON.stringify(events.map(rowOf)), toTimestamptz(now), toTimestamptz(now)],
  )
}

const keptDays = 30

/** Deletes old events with their deliveries. An event with a replay is kept until the replay has ended, and for as long again. */
export const purgeEvents = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `delete from events where recorded_at < now() - ? * interval '1 day' and not exists (
       select from webhook_deliveries where event_sequence = events.sequence and replay_of is not null
         and (status = 'pending' or created_at >= now() - ? * interval '1 day'))`,
    [keptDays, keptDays],
  )
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
