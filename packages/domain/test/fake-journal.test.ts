// The fake of the journal keeps the contract that the database keeps.
import { setTimeout as pause } from 'node:timers/promises'
import { createFakeEvents } from '../src/testing/fake-events.ts'
import { createFakeJournal } from '../src/testing/fake-journal.ts'
import { createFakeOperatorStore } from '../src/testing/fake-operator-store.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { createFakeWebhookStore } from '../src/testing/fake-webhook-store.ts'
import { journalContract } from '../src/testing/journal-contract.ts'
import { journalJobsContract } from '../src/testing/journal-jobs-contract.ts'
import type { OpenJournalPorts } from '../src/testing/stored-journals.ts'
import { tradeRecordsContract } from '../src/testing/trade-records-contract.ts'

const openFake: OpenJournalPorts = async () => {
  const records = createFakeRecords()
  let now = Date.parse('2026-11-02T12:00:00.123Z')
  const clock = { now: () => now }
  const events = createFakeEvents(records, clock)
  const fake = createFakeJournal(records, events.happened, clock)
  return {
    ports: {
      operator: createFakeOperatorStore(records),
      webhooks: createFakeWebhookStore(records),
      deliveries: events.deliveries,
      journal: fake.journal,
      elsewhere: fake.journal,
      records: fake.records,
      jobs: fake.jobs,
      now: clock.now,
      elapse: async (ms) => {
        now += ms
        await pause(0)
        fake.handOut()
      },
    },
    close: async () => undefined,
  }
}

journalContract('in memory', openFake)
tradeRecordsContract('in memory', openFake)
journalJobsContract('in memory', openFake)
