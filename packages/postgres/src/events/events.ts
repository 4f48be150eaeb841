// The capability `events`: what happened is recorded with the deliveries that it causes, in the
// transaction of the write that caused it, and delivered to the webhooks that asked for it.
import { retrySchedule } from '@tradeport/domain/webhooks'
import type { ServiceEvent } from '@tradeport/domain/events'
import type { Clock, DeliveryJobs, WebhookDeliveries } from '@tradeport/domain/ports'
import type { Instant, Owner } from '@tradeport/domain/primitives'
import type { RetrySchedule } from '@tradeport/domain/webhooks'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import type { Jobs } from '../connection/jobs.ts'
import type { Cipher } from '../credentials/cipher.ts'
import { createWebhookDeliveries } from '../webhooks/deliveries.ts'
import { startDeliveryWorker } from '../webhooks/delivery-worker.ts'
import type { DeliveryWorker, DeliveryWorkerOptions } from '../webhooks/delivery-worker.ts'
import type { OpenedOwnerNotices } from './owner-notices.ts'

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

interface Parts {
  readonly jobs: Jobs
  readonly cipher: Cipher
  readonly notices: Pick<OpenedOwnerNotices, 'tellWithin'>
  readonly clock: Clock
}

interface EventOptions extends DeliveryWorkerOptions {
  /** The pauses between attempts; those of the domain by default. */
  readonly schedule?: RetrySchedule
}

export interface OpenedEvents {
  readonly recorder: EventRecorder
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
}

export const openEvents = (
  { jobs, cipher, notices, clock }: Parts,
  options: EventOptions = {},
): OpenedEvents => {
  const { schedule = retrySchedule, ...workerOptions } = options
  const workers = new Set<DeliveryWorker>()
  const handOver = (): void => [...workers][0]?.wake()
  return {
    recorder: { recordWithin: (trx, events) => recordEvents(trx, events, clock.now()), handOver },
    deliveries: createWebhookDeliveries(jobs.knex, handOver),
    jobs: {
      work: async (attempt) => {
        const worker = startDeliveryWorker({
          ...jobs,
          cipher,
          schedule,
          tellWithin: notices.tellWithin,
          clock,
          attempt,
          ...workerOptions,
        })
        workers.add(worker)
        return {
          stop: async () => {
            workers.delete(worker)
            await worker.stop()
          },
        }
      },
    },
  }
}

/** A user who was removed meanwhile has no events. */
export const recordEvents = async (
  trx: Knex.Transaction,
  events: readonly OwnedEvent[],
  now: Instant,
): Promise<void> => {
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
     insert into webhook_deliveries (tenant_id, id, webhook_id, event_sequence, status, attempts, created_at, next_attempt_at)
     select tenant_id, gen_random_uuid(), webhooks.id, recorded.sequence, 'pending', 0, ?::timestamptz, ?::timestamptz
     from recorded join webhooks using (tenant_id, user_id)
     where webhooks.enabled and recorded.type = any(webhooks.event_types)
     order by recorded.sequence, webhooks.sequence`,
    [JSON.stringify(events.map(rowOf)), toTimestamptz(now), toTimestamptz(now)],
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
