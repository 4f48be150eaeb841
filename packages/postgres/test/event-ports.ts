// An instance of the service as far as events and deliveries are concerned, on a clock that tests
// turn.
import type { ServiceEvent } from '@tradeport/domain/events'
import type { WebhookDisabledNotice } from '@tradeport/domain/notices'
import type {
  DeliveryJobs,
  OperatorStore,
  OrderStore,
  WebhookDeliveries,
  WebhookStore,
} from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import { openEvents, openOwnerNotices, openOrders, startJobs } from '../src/index.ts'
import type { Database, Jobs, Log, OpenedEvents } from '../src/index.ts'
import { silent, stopwatch, storesOn, testCipher, webhooksOn } from './open-stores.ts'

export interface EventPorts {
  readonly operator: OperatorStore
  readonly webhooks: WebhookStore
  /** Records what happens to orders. */
  readonly orders: OrderStore
  readonly record: (owner: Owner, events: readonly ServiceEvent[]) => Promise<void>
  readonly deliveries: WebhookDeliveries
  readonly jobs: DeliveryJobs
  /** The same deliveries as another instance of the service sends them. */
  readonly elsewhere: DeliveryJobs
  readonly now: () => number
  /** Lets so much time pass for the deliveries. */
  readonly elapse: (ms: number) => void
  /** What the owner was told so far. */
  readonly toldTo: (owner: Owner) => Promise<readonly WebhookDisabledNotice[]>
}

export interface TestClock {
  readonly now: () => number
  readonly elapse: (ms: number) => void
}

export const createTestClock = (): TestClock => {
  let at = Date.parse('2026-11-02T12:00:00.123Z')
  return {
    now: () => at,
    elapse: (ms) => {
      at += ms
    },
  }
}

export interface EventInstance {
  readonly jobs: Jobs
  readonly events: OpenedEvents
}

export type EventOptions = Parameters<typeof openEvents>[1]

/** An instance of the service as far as events are concerned. */
export const startEvents = async (
  { knex }: Pick<Database, 'knex'>,
  clock: TestClock,
  options: EventOptions = {},
  log: Log = silent,
): Promise<EventInstance> => {
  const jobs = await startJobs({ knex, log })
  const notices = await openOwnerNotices(jobs)
  return {
    jobs,
    events: openEvents({ jobs, cipher: testCipher, notices, clock }, { pollMs: 100, ...options }),
  }
}

export const eventPortsOf = (
  { jobs, events }: EventInstance,
  elsewhere: EventInstance,
  clock: TestClock,
): EventPorts => {
  const { knex } = jobs
  return {
    operator: storesOn(jobs).operator,
    webhooks: webhooksOn(jobs),
    orders: openOrders({ jobs, cipher: testCipher, stopwatch, events: events.recorder }).store,
    record: async (owner, happened) => {
      const owned = happened.map((event) => ({ owner, event }))
      await knex.transaction((trx) => events.recorder.recordWithin(trx, owned))
      events.recorder.handOver()
    },
    deliveries: events.deliveries,
    jobs: events.jobs,
    elsewhere: elsewhere.events.jobs,
    now: clock.now,
    elapse: clock.elapse,
    toldTo: async ({ userId }) => {
      const rows: { readonly data: { readonly notice: WebhookDisabledNotice } }[] = await knex(
        'pgboss.job',
      )
        .where({ name: 'owner-notices' })
        .whereRaw(`data->>'user_id' = ?`, [userId])
        .select('data')
      return rows.map(({ data }) => data.notice)
    },
  }
}
