// The fakes of orders keep the contracts that the database keeps.
import { createFakeAccountStore } from '../src/testing/fake-account-store.ts'
import { createFakeCredentialStore } from '../src/testing/fake-credential-store.ts'
import { createFakeGuardStore } from '../src/testing/fake-guard-store.ts'
import { createFakeOperatorStore, createFakeProviderTokens } from '../src/testing/fake-operator-store.ts'
import { createFakeOrderStore } from '../src/testing/fake-order-store.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { guardStoreContract } from '../src/testing/guard-store-contract.ts'
import { idempotencyContract } from '../src/testing/idempotency-contract.ts'
import { orderStoreContract } from '../src/testing/order-store-contract.ts'
import { placementJobsContract } from '../src/testing/placement-jobs-contract.ts'
import type { OpenOrderPorts } from '../src/testing/stored-orders.ts'

const openFakes: OpenOrderPorts = async () => {
  const records = createFakeRecords()
  let now = 0
  const orders = createFakeOrderStore({ now: () => now })
  return {
    ports: {
      accounts: createFakeAccountStore(records),
      credentials: createFakeCredentialStore(records),
      operator: createFakeOperatorStore(records),
      providerTokens: createFakeProviderTokens(records),
      orders,
      elsewhere: orders,
      guards: createFakeGuardStore(records, orders.all),
      jobs: orders.jobs,
      elapse: async (ms) => {
        now += ms
        void orders.jobs.handOut()
        await new Promise(setImmediate)
      },
    },
    close: async () => undefined,
  }
}

orderStoreContract('in memory', openFakes)
idempotencyContract('in memory', openFakes)
placementJobsContract('in memory', openFakes)
guardStoreContract('in memory', openFakes)
