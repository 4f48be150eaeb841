// The stores keep the contracts, on the embedded database and on a server.
import {
  accountStoreContract,
  credentialStoreContract,
  operatorReadsContract,
  operatorStoreContract,
  providerTokensContract,
  sealedSecretsContract,
  tenantRecordsContract,
} from '@tradeport/domain/testing'
import type { OpenStores } from '@tradeport/domain/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import {
  createCipher,
  createIdempotencyStore,
  createOperatorStore,
  createProviderTokens,
  createSealedSecrets,
  createTenantRecords,
  createWebhookStore,
} from '../src/index.ts'
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
  operatorReadsContract(title, share)
  operatorStoreContract(title, share)
  providerTokensContract(title, share)
  tenantRecordsContract(title, async () => {
    const records = createTenantRecords(opened.database)
    return { ports: { operator: storesOn(opened.database).operator, records }, close: async () => undefined }
  })
}

const keyOf = (number: number): Uint8Array => new Uint8Array(32).fill(number + 1)

// A database of its own, which it empties.
const sealedSecretsOn = (title: string, open: () => Promise<OpenedDatabase>): void =>
  sealedSecretsContract(title, async () => {
    const { database, close } = await open()
    const { knex } = database
    return {
      under: (current, previous) => {
        const parts = { knex, cipher: createCipher(keyOf(current), previous.map(keyOf)), log: { warn: () => undefined } }
        return {
          operator: createOperatorStore(parts),
          providerTokens: createProviderTokens(parts),
          webhooks: createWebhookStore(parts),
          idempotency: createIdempotencyStore(parts),
          sealedSecrets: createSealedSecrets(parts),
        }
      },
      empty: async () => {
        await knex('tenants').delete()
      },
      close,
    }
  })

describe('on the embedded database', () => {
  contractsOn('embedded', openEmbedded)
  sealedSecretsOn('embedded', openEmbedded)
})
describe.skipIf(serverUrl === undefined)(serverTitle, () => {
  contractsOn('server', openServer)
  sealedSecretsOn('server', openServer)
})
