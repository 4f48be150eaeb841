// The fakes of orders keep the contracts that the database and the brokers keep.
import { createFakeAccountStore } from '../src/testing/fake-account-store.ts'
import { createFakeCredentialStore } from '../src/testing/fake-credential-store.ts'
import { createFakeGuardStore } from '../src/testing/fake-guard-store.ts'
import { createFakeIdempotencyStore } from '../src/testing/fake-idempotency-store.ts'
import { createFakeOperatorStore, createFakeProviderTokens } from '../src/testing/fake-operator-store.ts'
import { createFakeOrderStore } from '../src/testing/fake-order-store.ts'
import { createFakeRecords } from '../src/testing/fake-records.ts'
import { guardStoreContract } from '../src/testing/guard-store-contract.ts'
import { idempotencyContract } from '../src/testing/idempotency-contract.ts'
import { orderListContract } from '../src/testing/order-list-contract.ts'
import { orderStoreContract } from '../src/testing/order-store-contract.ts'
import { orderJobsContract } from '../src/testing/order-jobs-contract.ts'
import { newAccountId } from '../src/testing/stored-records.ts'
import { describeTradingContract } from '../src/testing/trading-contract.ts'
import type { TradeTrouble } from '../src/testing/trading-contract.ts'
import type { TenantId, UserId } from '../src/primitives/ids.ts'
import { createFakeTrading } from '../src/testing/fake-trading.ts'
import type { FakePlacement } from '../src/testing/fake-trading.ts'
import type { OpenOrderPorts } from '../src/testing/stored-orders.ts'

const openFakes: OpenOrderPorts = async () => {
  const records = createFakeRecords()
  let now = 0
  const clock = { now: () => now }
  const orders = createFakeOrderStore(clock, records)
  const idempotency = createFakeIdempotencyStore(records)
  return {
    ports: {
      accounts: createFakeAccountStore(records),
      credentials: createFakeCredentialStore(records),
      operator: createFakeOperatorStore(records),
      providerTokens: createFakeProviderTokens(records),
      orders,
      elsewhere: orders,
      idempotency,
      idempotencyElsewhere: idempotency,
      guards: createFakeGuardStore(records, orders.all, clock),
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
orderListContract('in memory', openFakes)
idempotencyContract('in memory', openFakes)
orderJobsContract('in memory', openFakes)
guardStoreContract('in memory', openFakes)

const troubles: Record<TradeTrouble, FakePlacement> = {
  answer_lost: 'fill_and_lose_the_answer',
  request_lost: 'lose_the_request',
  refused: 'refuse',
  rate_limited: { notSentForMs: 1_000 },
  half_filled: 'fill_partly',
  held: 'accept',
}

describeTradingContract('the fake', async () => {
  const trading = createFakeTrading()
  return {
    trading,
    account: {
      accountId: newAccountId(),
      owner: { tenantId: 't' as TenantId, userId: 'u' as UserId },
      platform: 'mt5',
      providerAccountId: 'p',
      region: null,
    },
    now: () => 0,
    troubleNext: async (trouble) => trading.next(troubles[trouble]),
    release: async () => trading.execute(),
    passTime: async () => undefined,
    closePosition: async () => undefined,
    makeReadable: async (isReadable) => trading.hide(!isReadable),
    executedLots: (clientId) => trading.executions(clientId).reduce((lots, { volume = 0 }) => lots + volume, 0),
    close: async () => undefined,
  }
})
