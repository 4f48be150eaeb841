// The fakes of the stores keep the contracts that the database keeps.
import { createFakeAccountStore } from '../src/testing/fake-account-store.ts'
import { createFakeCredentialStore } from '../src/testing/fake-credential-store.ts'
import { createFakeOperatorStore, createFakeProviderTokens } from '../src/testing/fake-operator-store.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { createFakeIdempotencyStore } from '../src/testing/fake-idempotency-store.ts'
import { createFakeSealedSecrets } from '../src/testing/fake-sealed-secrets.ts'
import { createFakeTenantRecords } from '../src/testing/fake-tenant-records.ts'
import { createFakeWebhookStore } from '../src/testing/fake-webhook-store.ts'
import { accountStoreContract } from '../src/testing/account-store-contract.ts'
import { credentialStoreContract } from '../src/testing/credential-store-contract.ts'
import { operatorReadsContract } from '../src/testing/operator-reads-contract.ts'
import { operatorStoreContract } from '../src/testing/operator-store-contract.ts'
import { providerTokensContract } from '../src/testing/provider-tokens-contract.ts'
import { sealedSecretsContract } from '../src/testing/sealed-secrets-contract.ts'
import type { OpenStores } from '../src/testing/stored-records.ts'
import type { OpenWebhookPorts } from '../src/testing/stored-webhooks.ts'
import { tenantRecordsContract } from '../src/testing/tenant-records-contract.ts'
import type { OpenTenantRecords } from '../src/testing/tenant-records-contract.ts'
import { webhookStoreContract } from '../src/testing/webhook-store-contract.ts'

const openFakes: OpenStores = async () => {
  const records = createFakeRecords()
  return {
    stores: {
      accounts: createFakeAccountStore(records),
      credentials: createFakeCredentialStore(records),
      operator: createFakeOperatorStore(records),
      providerTokens: createFakeProviderTokens(records),
    },
    close: async () => undefined,
  }
}

const openFakeWebhooks: OpenWebhookPorts = async () => {
  const records = createFakeRecords()
  const webhooks = createFakeWebhookStore(records)
  return { ports: { operator: createFakeOperatorStore(records), webhooks, elsewhere: webhooks }, close: async () => undefined }
}

const openFakeTenantRecords: OpenTenantRecords = async () => {
  const records = createFakeRecords()
  return { ports: { operator: createFakeOperatorStore(records), records: createFakeTenantRecords(records) }, close: async () => undefined }
}

accountStoreContract('in memory', openFakes)
credentialStoreContract('in memory', openFakes)
operatorReadsContract('in memory', openFakes)
operatorStoreContract('in memory', openFakes)
providerTokensContract('in memory', openFakes)
webhookStoreContract('in memory', openFakeWebhooks)
tenantRecordsContract('in memory', openFakeTenantRecords)
sealedSecretsContract('in memory', async () => {
  const records = createFakeRecords()
  return {
    under: (current, previous) => ({
      operator: createFakeOperatorStore(records, current),
      providerTokens: createFakeProviderTokens(records),
      webhooks: createFakeWebhookStore(records, current),
      idempotency: createFakeIdempotencyStore(records, current),
      sealedSecrets: createFakeSealedSecrets(records, current, previous),
    }),
    empty: async () => {
      records.tables = createFakeRecords().tables
      records.idempotencyKeys.clear()
    },
    close: async () => undefined,
  }
})
