// The use cases of the operator API over records in memory.
import {
  createOperatorDocuments,
  createOperatorHealth,
  createOperatorRecords,
  createOrdersUnderWay,
} from '@tradeport/domain/use-cases'
import type { CredentialHash } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import type { Durability, ProviderAccount } from '@tradeport/domain/operator'
import type { Secrets } from '@tradeport/domain/ports'
import type { AccountId } from '@tradeport/domain/primitives'
import {
  createFakeOperatorOrders,
  createFakeOperatorStore,
  createFakeOrderStore,
  createFakeRecords,
  createFakeTenantRecords,
  createFakeUserStore,
  type FakeRecords,
} from '@tradeport/testkit'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { createOperatorApi, type OperatorUseCases } from '../src/index.ts'
import { fakeDependencies, now, run } from './fakes.ts'

let generated = 0
export const testSecrets: Secrets = {
  newApiKey: () => `tp_live_generated-by-the-test-${(generated += 1)}`,
  newAccessToken: () => `generated-token-${(generated += 1)}`,
  hash: (secret) =>
    Buffer.from(secret).toString('hex').padEnd(64, '0').slice(0, 64) as CredentialHash,
}

const durability: Durability = {
  isEmbedded: false,
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: 'on',
  defaultSynchronousCommit: 'off',
  waitsForStandby: true,
  synchronousStandbys: 1,
  asynchronousStandbys: 0,
  unreadableStandbys: 0,
}

export const describedAccount: ProviderAccount = {
  name: 'Main',
  accountNumber: '5012345',
  server: 'Example-Demo',
  brokerType: 'mt5',
  region: 'london',
  broker: 'Example Broker',
  currency: 'USD',
  isDemo: true,
}

const clock = { now: () => now }

export const operatorUseCases = (
  tables: FakeRecords = createFakeRecords(),
  secrets: Secrets = testSecrets,
): OperatorUseCases => {
  const ports: Parameters<typeof createOperatorHealth>[0] &
    Parameters<typeof createOperatorDocuments>[0] &
    Parameters<typeof createOperatorRecords>[0] &
    Parameters<typeof createOrdersUnderWay>[0] = {
    onFinished: () => undefined,
    operator: createFakeOperatorStore(tables),
    records: createFakeTenantRecords(tables),
    users: createFakeUserStore(tables),
    operatorOrders: createFakeOperatorOrders(tables),
    orders: createFakeOrderStore(clock, tables),
    sealedSecrets: {
      counts: TE.right({ current: 0, earlier: 1, unknown: 0 }),
      reseal: () => TE.right({ resealed: 1, unreadable: [], last: undefined }),
    },
    secrets,
    clock,
    health: {
      databaseNow: TE.right(now),
      tryWrite: TE.right(undefined),
      isMigrated: TE.right(true),
      durability: TE.right(durability),
      disagreeingJournals: TE.right([]),
      ignoredHalts: TE.right(0),
      uncheckedThresholds: TE.right([]),
      limiterStanding: T.of({ status: 'alone', reason: 'it does not answer' }),
      noticesConfirmedAt: () => now,
      sendsRealOrders: true,
      probeProvider: () => T.of({ kind: 'refused', status: 401 }),
    },
    providerAccounts: {
      find: (_, id) => {
        const accountId = id as AccountId
        if (id === 'p-1') return TE.right({ ...describedAccount })
        if (id === 'limited')
          return TE.left(refuse('BrokerRateLimited', { accountId, retryAfterSeconds: 5 }))
        if (id === 'down')
          return TE.left(refuse('BrokerUnavailable', { accountId, reason: 'it is down' }))
        const reason = 'it refuses the token'
        return TE.left(refuse('BrokerUnavailable', { accountId, reason, cause: 'token_refused' }))
      },
    },
  }
  return {
    ...createOperatorDocuments(ports),
    ...createOperatorHealth(ports),
    ...createOperatorRecords(ports),
    ...createOrdersUnderWay(ports),
  }
}

export const operatorToken = 'the-operator'

export const runOperatorApi = (useCases = operatorUseCases(), dependencies = fakeDependencies()) =>
  run(createOperatorApi(useCases, { ...dependencies, operatorToken }))
