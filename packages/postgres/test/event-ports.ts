// Opens what the contract suite of events needs: an instance here and one elsewhere, on one clock.
import { createWebhookStore, openDatabase, openEvents, openOwnerNotices, openOrders, startJobs } from '../src/index.ts'
import type { Database, Jobs, Log, OpenedEvents } from '../src/index.ts'
import type { WebhookDisabledNotice } from '@tradeport/domain'
import type { EventPorts, OpenEventPorts } from '@tradeport/domain/testing'
import { createServerDatabase, openEmbedded, storesOn, testCipher } from './open-stores.ts'
import { stopwatch } from './order-ports.ts'

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

type Options = Parameters<typeof openEvents>[1]

export interface EventInstance {
  readonly jobs: Jobs
  readonly events: OpenedEvents
}

/** An instance of the service as far as events are concerned. */
export const startEvents = async ({ knex }: Database, clock: TestClock, options: Options = {}, log?: Log): Promise<EventInstance> => {
  const jobs = await startJobs({ knex, ...(log === undefined ? {} : { log }) })
  const notices = await openOwnerNotices(jobs)
  return { jobs, events: openEvents({ jobs, cipher: testCipher, notices, clock }, { pollMs: 100, ...options }) }
}

export const eventPortsOf = async (
  database: Database,
  { jobs, events }: EventInstance,
  elsewhere: EventInstance,
  clock: TestClock,
): Promise<EventPorts> => {
  const { knex } = database
  return {
    operator: storesOn(database).operator,
    webhooks: createWebhookStore({ knex, cipher: testCipher }),
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
      const rows: { readonly data: { readonly notice: WebhookDisabledNotice } }[] = await knex('pgboss.job')
        .where({ name: 'owner-notices' })
        .whereRaw(`data->>'user_id' = ?`, [userId])
        .select('data')
      return rows.map(({ data }) => data.notice)
    },
  }
}

export const openEventsEmbedded: OpenEventPorts = async () => {
  const { database, close } = await openEmbedded()
  const clock = createTestClock()
  const instance = await startEvents(database, clock)
  return {
    ports: await eventPortsOf(database, instance, instance, clock),
    close: async () => {
      await instance.jobs.stop()
      await close()
    },
  }
}

/** Two instances with pools of their own on one server. */
export const openEventsOnServer: OpenEventPorts = async () => {
  const { url, drop } = await createServerDatabase()
  const [here, there] = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  const clock = createTestClock()
  const [first, second] = [await startEvents(here, clock), await startEvents(there, clock)]
  return {
    ports: await eventPortsOf(here, first, second, clock),
    close: async () => {
      await Promise.all([first.jobs.stop(), second.jobs.stop()])
      await Promise.all([here.close(), there.close()])
      await drop()
    },
  }
}
