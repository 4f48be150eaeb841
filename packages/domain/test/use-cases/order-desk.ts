// A desk that takes orders: the test desk with stored orders, guards, a provider token, a broker that executes, and a clock that tests turn.
import type { Account } from '../../src/accounts/account.ts'
import type { OrderId, OrderRequest } from '../../src/orders/order.ts'
import type { PlacementJob } from '../../src/ports/order-store.ts'
import { createFakeAccountStore } from '../../src/testing/fake-account-store.ts'
import { createFakeBroker } from '../../src/testing/fake-broker.ts'
import { createFakeGuardStore } from '../../src/testing/fake-guard-store.ts'
import { createFakeProviderTokens } from '../../src/testing/fake-operator-store.ts'
import { createFakeOrderStore } from '../../src/testing/fake-order-store.ts'
import { createFakeRecords } from '../../src/testing/fake-records.ts'
import { createFakeTrading } from '../../src/testing/fake-trading.ts'
import { newOrderId } from '../../src/testing/stored-orders.ts'
import { newAccount } from '../../src/testing/stored-records.ts'
import { placeOrder } from '../../src/use-cases/place-order.ts'
import type { PlacedOrder } from '../../src/use-cases/place-order.ts'
import { settleOrder } from '../../src/use-cases/settle-order.ts'
import { owner, rightOf } from './desk.ts'

export const noon = Date.UTC(2026, 10, 21, 12)

export const requestOn = (accountId: Account['id'], fields: Partial<OrderRequest> = {}): OrderRequest => ({
  accountId,
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.3,
  ...fields,
})

export const createOrderDesk = () => {
  const records = createFakeRecords()
  let now = noon
  const clock = { now: () => now }
  const orders = createFakeOrderStore(clock)
  const broker = createFakeBroker(clock)
  const trading = createFakeTrading()
  const ports = {
    accounts: createFakeAccountStore(records),
    providerTokens: createFakeProviderTokens(records),
    guards: createFakeGuardStore(records, orders.all),
    broker,
    orders,
    orderIds: { newOrderId: (): OrderId => newOrderId() },
    clock,
    trading,
    pause: (ms: number) => async () => {
      now += ms
    },
  }
  records.tables.tenants.set(owner.tenantId, { id: owner.tenantId, name: 'Acme', providerToken: 'token' })
  return {
    ...ports,
    tables: records.tables,
    wait: (ms: number) => {
      now += ms
    },
    link: (fields: Partial<Account> = {}): Account => {
      const account = newAccount(owner, fields)
      records.tables.accounts.set(account.id, account)
      broker.put(account.id)
      return account
    },
    place: ({ id }: Account, fields: Partial<OrderRequest> = {}) => placeOrder(ports)({ owner }, { request: requestOn(id, fields) }),
    /** Hands out what is due, as the workers do, and waits until it is done. */
    settleDue: async (): Promise<void> => {
      const worker = await orders.jobs.work(async (job) => {
        await rightOf(settleOrder(ports)(job))
      })
      await Promise.all(orders.jobs.handOut())
      await worker.stop()
    },
    settle: (job: PlacementJob) => settleOrder(ports)(job),
    jobOf: ({ order }: PlacedOrder, version = 1): PlacementJob => ({ owner, orderId: order.id, version }),
  }
}

export type OrderDesk = ReturnType<typeof createOrderDesk>
