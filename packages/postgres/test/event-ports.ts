// An instance of the service as far as events and deliveries are concerned, on a clock that tests
// set.
import type { ServiceEvent } from '@tradeport/domain/events'
import type { Owner, WebhookId } from '@tradeport/domain/primitives'
import {
  openEvents,
  openOrders,
  openOwnerNotices,
  startJobs,
  type Database,
  type Log,
} from '../src/index.ts'
import { silent, stopwatch, storesOn, testCipher, webhooksOn } from './open-stores.ts'

export const createTestClock = () => {
  let at = Date.parse('2026-11-02T12:00:00.123Z')
  return {
    now: () => at,
    elapse: (ms: number): void => {
      at += ms
    },
  }
}

export type EventOptions = Parameters<typeof openEvents>[1]
export type EventInstance = Awaited<ReturnType<typeof startEvents>>

export const startEvents = async (
  { knex }: Pick<Database, 'knex'>,
  clock: ReturnType<typeof createTestClock>,
  options: EventOptions = {},
  log: Log = silent,
) => {
  const jobs = await startJobs({ knex, log })
  const notices = await openOwnerNotices(jobs)
  const disabled: { readonly id: WebhookId; readonly because: string }[] = []
  const {
    recorder,
    deliveries,
    jobs: deliveryJobs,
    log: eventLog,
  } = openEvents(
    {
      jobs,
      cipher: testCipher,
      notices,
      clock,
      peerNotices: { subscribe: () => undefined },
      isEmbedded: true,
      onDisabled: ({ id }, because) => void disabled.push({ id, because }),
    },
    { pollMs: 100, ...options },
  )
  return {
    operator: storesOn({ knex }).operator,
    webhooks: webhooksOn({ knex }),
    orders: openOrders({ jobs, cipher: testCipher, stopwatch, events: recorder }).store,
    recorder,
    deliveries,
    disabled,
    eventLog,
    work: deliveryJobs.work,
    record: async (owner: Owner, events: readonly ServiceEvent[]): Promise<void> => {
      const owned = events.map((event) => ({ owner, event }))
      await knex.transaction((trx) => recorder.recordWithin(trx, owned))
      recorder.handOver()
    },
    stop: jobs.stop,
  }
}
