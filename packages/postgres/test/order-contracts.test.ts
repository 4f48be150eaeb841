// Orders, their keys, jobs and guards keep the contracts, on the embedded database and on a server with two instances.
import {
  guardStoreContract,
  idempotencyContract,
  orderListContract,
  orderStoreContract,
  orderJobsContract,
} from '@tradeport/domain/testing'
import type { OpenOrderPorts } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { serverTitle, serverUrl } from './open-stores.ts'
import { openOrdersEmbedded, openOrdersOnServer } from './order-ports.ts'

const contractsOn = (title: string, open: OpenOrderPorts): void => {
  let opened: Awaited<ReturnType<OpenOrderPorts>>
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.close())
  // One database for those that only write; the jobs have one of their own, where nothing is due but what their tests record.
  const share: OpenOrderPorts = async () => ({ ports: opened.ports, close: async () => undefined })
  orderStoreContract(title, share)
  orderListContract(title, share)
  idempotencyContract(title, share)
  guardStoreContract(title, share)
  orderJobsContract(title, open)
}

describe('on the embedded database', () => {
  contractsOn('embedded', openOrdersEmbedded)
})
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  contractsOn('server', openOrdersOnServer)
})
