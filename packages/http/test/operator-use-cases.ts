// The use cases of the operator API over records in memory.
import {
  createOperatorDocuments,
  createOperatorHealth,
  createOperatorRecords,
  createOrdersUnderWay,
} from '@tradeport/domain/use-cases'
import type { CredentialHash } from '@tradeport/domain/access'
import type { Durability } from '@tradeport/domain/operator'
import type { Secrets } from '@tradeport/domain/ports'
import {
  createFakeOperatorOrders,
  createFakeOperatorStore,
  createFakeRecords,
  createFakeSealedSecrets,
  createFakeTenantRecords,
} from '@tradeport/domain/testing'
import type { FakeOperatorOrders, FakeRecords } from '@tradeport/domain/testing'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { OperatorUseCases } from '../src/index.ts'
import { now } from './fakes.ts'

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

export const operatorUseCases = (
  tables: FakeRecords = createFakeRecords(),
  secrets: Secrets = testSecrets,
  orders: FakeOperatorOrders = createFakeOperatorOrders(),
): OperatorUseCases => {
  const ports: Parameters<typeof createOperatorHealth>[0] &
    Parameters<typeof createOperatorDocuments>[0] &
    Parameters<typeof createOperatorRecords>[0] &
    Parameters<typeof createOrdersUnderWay>[0] = {
    operator: createFakeOperatorStore(tables),
    records: createFakeTenantRecords(tables),
    operatorOrders: orders,
    orders,
    sealedSecrets: createFakeSealedSecrets(tables),
    secrets,
    clock: { now: () => now },
    database: { now: TE.right(now), isMigrated: TE.right(true), durability: TE.right(durability) },
    brokerHealth: { sendsRealOrders: true },
    limiterHealth: { standing: T.of('alone') },
    journalHealth: { disagreeing: TE.right([]) },
    providerProbe: { probe: () => T.of({ kind: 'refused', status: 401 }) },
  }
  return {
    ...createOperatorDocuments(ports),
    ...createOperatorHealth(ports),
    ...createOperatorRecords(ports),
    ...createOrdersUnderWay(ports),
  }
}
