// Opens what the contract suite of the journal needs: an instance here and one elsewhere.
import type { JournalPorts, OpenJournalPorts } from '@tradeport/domain/testing'
import { createWebhookStore, openDatabase, openJournal } from '../src/index.ts'
import type { Database } from '../src/index.ts'
import { createTestClock, startEvents } from './event-ports.ts'
import { createServerDatabase, openEmbedded, storesOn, testCipher } from './open-stores.ts'

const log = { warn: () => undefined }

const portsOn = async (
  database: Database,
  elsewhere: Database,
): Promise<{ readonly ports: JournalPorts; readonly stop: () => Promise<void> }> => {
  const { knex } = database
  const { jobs, events } = await startEvents(database, createTestClock())
  const { journal, records, jobs: journalJobs } = openJournal({ knex, log, recorder: events.recorder }, { pollMs: 50 })
  const ports: JournalPorts = {
    operator: storesOn(database).operator,
    webhooks: createWebhookStore({ knex, cipher: testCipher }),
    deliveries: events.deliveries,
    journal,
    elsewhere: openJournal({ knex: elsewhere.knex, log }).journal,
    records,
    jobs: journalJobs,
    now: Date.now,
    // Claims and jobs go by the database's own clock.
    elapse: async (ms) => {
      const times = ['leased_until', 'paused_until', 'wanted_at', 'reread_at']
      await knex.raw(`update journals set ${times.map((time) => `${time} = ${time} - ${ms} * interval '1 ms'`).join()}`)
    },
  }
  return { ports, stop: jobs.stop }
}

export const openJournalEmbedded: OpenJournalPorts = async () => {
  const { database, close } = await openEmbedded()
  const { ports, stop } = await portsOn(database, database)
  return { ports, close: () => stop().then(close) }
}

/** Two instances with pools of their own on one server. */
export const openJournalOnServer: OpenJournalPorts = async () => {
  const { url, drop } = await createServerDatabase()
  const [here, there] = await Promise.all([openDatabase({ url }), openDatabase({ url })])
  const { ports, stop } = await portsOn(here, there)
  return {
    ports,
    close: async () => {
      await stop()
      await Promise.all([here.close(), there.close()])
      await drop()
    },
  }
}
