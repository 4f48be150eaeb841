// The fakes of events and deliveries keep the contract that the database keeps.
import type { WebhookDisabledNotice } from '../src/notices/owner-notice.ts'
import { eventsContract } from '../src/testing/events-contract.ts'
import { createFakeEvents } from '../src/testing/fake-events.ts'
import { createFakeOperatorStore } from '../src/testing/fake-operator-store.ts'
import { createFakeOrderStore } from '../src/testing/fake-order-store.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { createFakeWebhookStore } from '../src/testing/fake-webhook-store.ts'

eventsContract('in memory', async () => {
  const records = createFakeRecords()
  let now = Date.parse('2026-11-02T12:00:00.123Z')
  const clock = { now: () => now }
  const events = createFakeEvents(records, clock)
  return {
    ports: {
      operator: createFakeOperatorStore(records),
      webhooks: createFakeWebhookStore(records),
      orders: createFakeOrderStore(clock, records, events.happened),
      record: async (owner, list) => events.happened(owner, list),
      deliveries: events.deliveries,
      jobs: events.jobs,
      elsewhere: events.jobs,
      now: clock.now,
      elapse: (ms) => {
        now += ms
        events.handOut()
      },
      toldTo: async ({ userId }): Promise<readonly WebhookDisabledNotice[]> =>
        events.told().flatMap(({ owner, notice }) => (owner.userId === userId ? [notice] : [])),
    },
    close: async () => undefined,
  }
})
