// The stores keep the contracts, on the embedded database and on a server.
import { accountStoreContract, credentialStoreContract, operatorStoreContract, providerTokensContract } from '@tradeport/domain/testing'
import type { OpenStores } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import { openEmbedded, openServer, serverTitle, serverUrl, storesOn } from './open-stores.ts'
import type { OpenedDatabase } from './open-stores.ts'

const contractsOn = (title: string, open: () => Promise<OpenedDatabase>): void => {
  let opened: OpenedDatabase
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.close())
  // One database for all of them: each test has owners of its own.
  const share: OpenStores = async () => ({ stores: storesOn(opened.database), close: async () => undefined })
  accountStoreContract(title, share)
  credentialStoreContract(title, share)
  operatorStoreContract(title, share)
  providerTokensContract(title, share)
}

describe('on the embedded database', () => {
  contractsOn('embedded', openEmbedded)
})
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  contractsOn('server', openServer)
})
