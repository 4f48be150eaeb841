// The capability `events`: what happened is recorded with the deliveries that it causes, in the
// transaction of the write that caused it, and delivered to the webhooks that asked for it.
import { retrySchedule, type RetrySchedule } from '@tradeport/domain/webhooks'
import type { ServiceEvent } from '@tradeport/domain/events'
import type {
  Clock,
  DeliveryJobs,
  EventLog,
  PeerNotices,
  WebhookDeliveries,
} from '@tradeport/domain/ports'
import type { Instant, Owner } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { toTimestamptz } from '../connection/columns.ts'
import type { WorkerDependencies } from '../connection/due-rows.ts'
import { lockUsers, query, sql } from '../connection/sql.ts'
import type { Cipher } from '../credentials/cipher.ts'
import { createWebhookDeliveries, type DueDeliveriesDependencies } from '../webhooks/deliveries.ts'
import {
  startDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerOptions,
} from '../webhooks/delivery-worker.ts'
import { createEventLog } from './event-log.ts'

export interface OwnedEvent {
  readonly owner: Owner
  readonly event: ServiceEvent
}

/** For stores whose writes are events. */
export interface EventRecorder {
  /**
   * Once the transaction has committed, deliveries are sent at once instead of at the next poll, and
   * readers of the log are told.
   */
  readonly recordWithin: (trx: Knex.Transaction, events: readonly OwnedEvent[]) => Promise<void>
}

/** What a store whose writes are events needs. */
export interface RecordingDependencies {
  readonly knex: Knex
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

interface Dependencies extends WorkerDependencies {
  readonly cipher: Cipher
  readonly clock: Clock
  readonly peerNotices: Pick<PeerNotices, 'subscribe' | 'notify'>
  /** After a webhook was disabled by failures in a row. It must not throw. */
  readonly onDisabled: DueDeliveriesDependencies['onDisabled']
}

interface EventOptions extends DeliveryWorkerOptions {
  /** The pauses between attempts; those of the domain by default. */
  readonly schedule?: RetrySchedule
}

export interface OpenedEvents {
  readonly recorder: EventRecorder
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
  readonly log: EventLog
}

export const openEvents = (
  dependencies: Dependencies,
  options: EventOptions = {},
): OpenedEvents => {
  const { knex, clock, peerNotices } = dependencies
  const { schedule = retrySchedule, ...workerOptions } = options
  let worker: DeliveryWorker | undefined
  const receivers = new Set<Parameters<EventLog['onRecorded']>[0]>()
  const notifyReceivers = (whose: Owner | 'anyone'): void => {
    for (const receive of receivers) receive(whose)
  }
  peerNotices.subscribe((notice) => {
    if (notice.kind === 'events_recorded') notifyReceivers(notice.owner)
    else if (notice.kind === 'notices_missed') notifyReceivers('anyone')
  })
  const wakeWorker = (): void => worker?.wake()
  return {
    log: createEventLog(knex, (receive) => {
      receivers.add(receive)
      return () => receivers.delete(receive)
    }),
    recorder: {
      recordWithin: async (trx, events) => {
        await recordEvents(trx, events, clock.now())
        const announce = (): void => {
          for (const { owner } of events) {
            wakeWorker()
            notifyReceivers(owner)
            peerNotices.notify({ kind: 'events_recorded', owner })
          }
        }
        // A rejection is the writer's to handle.
        trx.executionPromise.then(announce, () => undefined)
      },
    },
    deliveries: createWebhookDeliveries(knex, wakeWorker),
    jobs: {
      work: async (attempt) => {
        worker = startDeliveryWorker({ ...dependencies, schedule, attempt, ...workerOptions })
        return worker
      },
    },
  }
}

/**
 * Events of a user who was removed meanwhile are not recorded. The user is locked until the
 * transaction ends, so that the events of a user are numbered in the order in which they become
 * visible, and each has a delivery for every webhook that was enabled before.
 */
const recordEvents = async (
  trx: Knex.Transaction,
  events: readonly OwnedEvent[],
  now: Instant,
): Promise<void> => {
  if (events.length === 0) return
  const at = toTimestamptz(now)
  await lockUsers(
    trx,
    events.map(({ owner }) => owner),
  )
  await query(
    trx,
    sql`with new as (
        select * from json_to_recordset(${JSON.stringify(events.map(rowOf))}::json)
          as new (place int, tenant_id text, user_id text, key text, type text, account_id uuid, data text)),
      numbered as (
        select new.*, own.*, last_event_number + row_number() over (partition by user_row order by place) as number from new
        -- One by one: the planner expects a hundred rows of JSON and would read all users for them.
        cross join lateral (
          select ctid as user_row, event_id_suffix, last_event_number from users
          where users.tenant_id = new.tenant_id and users.id = new.user_id limit 1) as own),
      recorded as (
        insert into events (tenant_id, id, user_id, key, type, account_id, data)
        select tenant_id, 'evt_' || lpad(number::text, 12, '0') || event_id_suffix, user_id, key, type, account_id, data from numbered
        on conflict (tenant_id, user_id, key) do nothing
        returning id, tenant_id, user_id, type),
      counted as (
        update users set last_event_number = (select max(number) from numbered where user_row = users.ctid)
        where ctid = any(array(select user_row from numbered)))
      insert into webhook_deliveries (tenant_id, id, webhook_id, event_id, status, attempts, created_at, next_attempt_at)
      select tenant_id, gen_random_uuid(), webhooks.id, recorded.id, 'pending', 0, ${at}::timestamptz, ${at}::timestamptz
      from recorded join webhooks using (tenant_id, user_id)
      where webhooks.enabled and recorded.type = any(webhooks.event_types)
      order by recorded.id, webhooks.sequence
      for key share of webhooks`,
  )
}

const rowOf = ({ owner, event }: OwnedEvent, place: number) => ({
  place,
  tenant_id: owner.tenantId,
  user_id: owner.userId,
  key: event.key,
  type: event.type,
  account_id: event.data['account_id'],
  data: JSON.stringify(event.data),
})
