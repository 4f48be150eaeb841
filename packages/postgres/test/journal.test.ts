// The journal keeps its contracts on the embedded database and on a server with two instances.
import { journalContract, journalJobsContract, tradeRecordsContract } from '@tradeport/domain/testing'
import type { OpenJournalPorts } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { openJournalEmbedded, openJournalOnServer } from './journal-ports.ts'
import { serverTitle, serverUrl } from './open-stores.ts'

const contractsOn = (title: string, open: OpenJournalPorts): void => {
  let opened: Awaited<ReturnType<OpenJournalPorts>>
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.close())
  const share: OpenJournalPorts = async () => ({ ports: opened.ports, close: async () => undefined })
  journalContract(title, share)
  tradeRecordsContract(title, share)
  journalJobsContract(title, share)
}

describe('on the embedded database', () => {
  contractsOn('embedded', openJournalEmbedded)
})
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  contractsOn('server', openJournalOnServer)
})
