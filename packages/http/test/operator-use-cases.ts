// The use cases of the operator API over records in memory.
import {
  applyOperatorDocument,
  checkService,
  checkTenant,
  finishOrder,
  getOperatorOrder,
  getTenant,
  listOrdersUnderWay,
  listTenantAccessTokens,
  listTenantAccounts,
  listTenantApiKeys,
  listTenantDesks,
  listTenants,
  listTenantUsers,
  planOperatorDocument,
  rotateSecrets,
} from '@tradeport/domain'
import type { CredentialHash, Durability, Secrets } from '@tradeport/domain'
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

type Ports = Parameters<typeof applyOperatorDocument>[0] &
  Parameters<typeof checkService>[0] &
  Parameters<typeof checkTenant>[0] &
  Parameters<typeof rotateSecrets>[0] &
  Parameters<typeof finishOrder>[0] &
  Parameters<typeof planOperatorDocument>[0] &
  Parameters<typeof getTenant>[0] & { readonly records: ReturnType<typeof createFakeTenantRecords> }

let generated = 0
export const testSecrets: Secrets = {
  newApiKey: () => `tp_live_generated-by-the-test-${(generated += 1)}`,
  newAccessToken: () => `generated-token-${(generated += 1)}`,
  hash: (secret) => Buffer.from(secret).toString('hex').padEnd(64, '0').slice(0, 64) as CredentialHash,
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
  const ports: Ports = {
    operator: createFakeOperatorStore(tables),
    records: createFakeTenantRecords(tables),
    operatorOrders: orders,
    orders,
    // The stores seal under key 0, and key 1 is the current one.
    sealedSecrets: createFakeSealedSecrets(tables, 1, [0]),
    secrets,
    clock: { now: () => now },
    database: { now: TE.right(now), isMigrated: TE.right(true), durability: TE.right(durability) },
    brokerHealth: { sendsRealOrders: true },
    limiterHealth: { standing: T.of('alone') },
    journalHealth: { disagreeing: TE.right([]) },
    providerProbe: { probe: () => T.of({ kind: 'refused', status: 401 }) },
  }
  return {
    applyOperatorDocument: applyOperatorDocument(ports),
    planOperatorDocument: planOperatorDocument(ports),
    listOrdersUnderWay: listOrdersUnderWay(ports),
    getOperatorOrder: getOperatorOrder(ports),
    finishOrder: finishOrder(ports),
    listTenants: listTenants(ports),
    getTenant: getTenant(ports),
    listTenantUsers: listTenantUsers(ports),
    listTenantAccounts: listTenantAccounts(ports),
    listTenantApiKeys: listTenantApiKeys(ports),
    listTenantAccessTokens: listTenantAccessTokens(ports),
    listTenantDesks: listTenantDesks(ports),
    rotateSecrets: rotateSecrets(ports),
    checkService: checkService(ports),
    checkTenant: checkTenant(ports),
  }
}
