// The fake of the records of closes keeps the contract that the database keeps.
import { setTimeout as pause } from 'node:timers/promises'
import { closeRecordsContract } from '../src/testing/close-records-contract.ts'
import { createFakeCloseRecords } from '../src/testing/fake-close-records.ts'
import { createFakeEvents } from '../src/testing/fake-events.ts'
import { createFakeOperatorStore } from '../src/testing/fake-operator-store.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { createFakeWebhookStore } from '../src/testing/fake-webhook-store.ts'

closeRecordsContract('in memory', async () => {
  const records = createFakeRecords()
  let now = Date.parse('2026-11-02T12:00:00.123Z')
  const clock = { now: () => now }
  const events = createFakeEvents(records, clock)
  const closes = createFakeCloseRecords(events.happened, clock)
  return {
    ports: {
      operator: createFakeOperatorStore(records),
      webhooks: createFakeWebhookStore(records),
      deliveries: events.deliveries,
      closes: closes.records,
      jobs: closes.jobs,
      elsewhere: closes.jobs,
      elapse: async (ms) => {
        now += ms
        closes.handOut()
        await pause(0)
      },
    },
    close: async () => undefined,
  }
})
