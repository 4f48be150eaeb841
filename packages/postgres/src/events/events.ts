// The capability `events`: stores events with their deliveries in the transaction of the change that
// they report, and has them sent to the webhooks that asked for their types.
import type { ServiceEvent } from '@tradeport/domain/events'
import type {
  DeliveryJobs,
  EventLog,
  PeerNotices,
  WebhookDeliveries,
} from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import type { Knex } from 'knex'
import { databaseRun, lockUsers, query, sql } from '../connection/sql.ts'
import { createWebhookDeliveries } from '../webhooks/deliveries.ts'
import {
  startDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerDependencies,
} from '../webhooks/delivery-worker.ts'
import { createEventLog } from './event-log.ts'

export interface OwnedEvent {
  readonly owner: Owner
  readonly event: ServiceEvent
}

/** For stores that record an event when they write. */
export interface EventRecorder {
  /**
   * Records the events in the transaction. Once it has committed, their deliveries are sent without
   * waiting for the next poll, and readers of the log are notified.
   */
  readonly recordWithin: (trx: Knex.Transaction, events: readonly OwnedEvent[]) => Promise<void>
}

/** What such a store needs. */
export interface RecordingDependencies {
  readonly knex: Knex
  /** Left out where no events are recorded. */
  readonly recorder?: EventRecorder | undefined
}

interface Dependencies extends Omit<DeliveryWorkerDependencies, 'attempt'> {
  readonly peerNotices: Pick<PeerNotices, 'subscribe' | 'notify'>
}

export interface OpenedEvents {
  readonly recorder: EventRecorder
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
  readonly log: EventLog
}

export const openEvents = (dependencies: Dependencies): OpenedEvents => {
  const { knex, peerNotices } = dependencies
  let worker: DeliveryWorker | undefined
  const listeners = new Set<Parameters<EventLog['onRecorded']>[0]>()
  const notifyListeners = (whose: Owner | 'anyone') => {
    for (const listener of listeners) listener(whose)
  }
  peerNotices.subscribe((notice) => {
    if (notice.kind === 'events_recorded') notifyListeners(notice.owner)
    else if (notice.kind === 'notices_missed') notifyListeners('anyone')
  })
  const wakeWorker = (): void => worker?.wake()
  return {
    log: createEventLog(knex, (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }),
    recorder: {
      recordWithin: async (trx, events) => {
        if (events.length === 0) return
        await recordEvents(trx, events)
        const announce = () => {
          wakeWorker()
          const owners = new Map(events.map(({ owner }) => [JSON.stringify(owner), owner]))
          for (const owner of owners.values()) {
            notifyListeners(owner)
            peerNotices.notify({ kind: 'events_recorded', owner })
          }
        }
        // Where the transaction fails, whoever writes handles it, and there is nothing to announce.
        trx.executionPromise.then(announce, () => undefined)
      },
    },
    deliveries: createWebhookDeliveries(knex, wakeWorker),
    jobs: {
      work: async (attempt) => {
        worker = startDeliveryWorker({ ...dependencies, attempt })
        return worker
      },
    },
  }
}

/**
 * The user is locked until the transaction ends, so that the events of a user are numbered in the
 * order in which they become visible. Each gets a delivery for every webhook that is enabled then
 * and asked for its type. Events of a user who no longer exists are not recorded; one that was
 * recorded before is not recorded again, and its number stays unused.
 */
const recordEvents = async (
  trx: Knex.Transaction,
  events: readonly OwnedEvent[],
): Promise<void> => {
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
          select ctid as user_row, event_id_salt, last_event_number from users
          where users.tenant_id = new.tenant_id and users.id = new.user_id limit 1) as own),
      recorded as (
        insert into events (tenant_id, id, user_id, key, type, account_id, data)
        select tenant_id, 'evt_' || lpad(number::text, 12, '0') || ${eventIdSuffix}, user_id, key, type, account_id, data from numbered
        on conflict (tenant_id, user_id, key) do nothing
        returning id, tenant_id, user_id, type),
      counted as (
        update users set last_event_number = (select max(number) from numbered where user_row = users.ctid)
        where ctid = any(array(select user_row from numbered)))
      insert into webhook_deliveries (tenant_id, webhook_id, event_id)
      select tenant_id, webhooks.id, recorded.id
      from recorded join webhooks using (tenant_id, user_id)
      where webhooks.enabled and recorded.type = any(webhooks.event_types)
      order by recorded.id, webhooks.sequence
      for key share of webhooks`,
  )
}

/**
 * No other user's ids end so. Nor do those of a user after the database was restarted, failed over
 * or restored into other files: its last events may be missing then, and their numbers are given
 * again.
 */
const eventIdSuffix = sql`left(encode(sha256(convert_to(
  concat_ws(' ', event_id_salt, ${databaseRun}, pg_relation_filepath('users')), 'UTF8')), 'hex'), 16)`

const rowOf = ({ owner, event }: OwnedEvent, place: number) => ({
  place,
  tenant_id: owner.tenantId,
  user_id: owner.userId,
  key: event.key,
  type: event.type,
  account_id: event.data['account_id'],
  data: JSON.stringify(event.data),
})
