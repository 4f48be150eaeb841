// Everything that orders need, in memory: stored orders, limits, a provider token, a broker that
// executes, and a clock that tests turn.
import type { Account, BrokerAccount } from '../../src/accounts/account.ts'
import type { Order, OrderId, OrderRequest } from '../../src/orders/order.ts'
import type { OrderJob } from '../../src/ports/order-store.ts'
import type { AcquireSlot } from '../../src/ports/trade-slots.ts'
import { placementWindowMs } from '../../src/orders/placement.ts'
import { createFakeGuardStore } from '../../src/testing/fake-guard-store.ts'
import { createFakeProviderTokens } from '../../src/testing/fake-operator-store.ts'
import { createFakeIdempotencyStore } from '../../src/testing/fake-idempotency-store.ts'
import { createFakeOrderStore } from '../../src/testing/fake-order-store.ts'
import { createFakeTrading } from '../../src/testing/fake-trading.ts'
import { newOrderId } from '../../src/testing/stored-orders.ts'
import { placeOrder } from '../../src/use-cases/orders.ts'
import { processOrder } from '../../src/use-cases/process-order.ts'
import type { ProcessedOrder } from '../../src/use-cases/process-order.ts'
import { createTestDesk, owner, rightOf } from './desk.ts'

export const noon = Date.UTC(2026, 10, 21, 12)

export const requestOn = (
  accountId: Account['id'],
  fields: Partial<OrderRequest> = {},
): OrderRequest => ({
  accountId,
  symbol: 'EURUSD',
  side: 'buy',
  volume: 0.3,
  ...fields,
})

export const createOrderDesk = () => {
  let now = noon
  let stalledMs = 0
  let heldSlots = 0
  const slot: AcquireSlot = () => async () => {
    heldSlots += 1
    return () => void (heldSlots -= 1)
  }
  const clock = { now: () => now }
  const desk = createTestDesk(clock)
  const { records, broker } = desk
  const orders = createFakeOrderStore(clock, records)
  const changedAccounts: string[] = []
  const ports = {
    ...desk,
    providerTokens: createFakeProviderTokens(records),
    guards: createFakeGuardStore(records, orders.all, clock),
    positionDesk: { freshPositions: broker.positions },
    slots: { forSend: slot, forLookup: slot },
    accountChanged: ({ accountId }: BrokerAccount) => void changedAccounts.push(accountId),
    orders,
    idempotency: createFakeIdempotencyStore(records),
    orderIds: { newOrderId: (): OrderId => newOrderId() },
    stopwatch: { elapsedMs: () => now + stalledMs },
    trading: createFakeTrading(),
    pause: (ms: number) => async () => {
      now += ms
    },
  }
  records.tables.tenants.set(owner.tenantId, {
    id: owner.tenantId,
    name: 'Acme',
    providerToken: 'token',
  })
  return {
    ...ports,
    tables: records.tables,
    changedAccounts,
    heldSlots: () => heldSlots,
    wait: (ms: number) => {
      now += ms
    },
    /** Time passes that the clock, set back meanwhile, does not show. */
    stall: (ms: number) => {
      stalledMs += ms
    },
    place: ({ id }: Account, fields: Partial<OrderRequest> = {}) =>
      placeOrder(ports)({ owner }, { request: requestOn(id, fields) }),
    /** Processes what is due, as the workers do, and waits until it is done. */
    processDue: async (isOwn = true): Promise<readonly ProcessedOrder[]> => {
      const ends: ProcessedOrder[] = []
      const worker = await orders.jobs.work(async (job) => {
        const processed = await rightOf(processOrder(ports)(job))
        ends.push(processed)
        return processed.retry
      })
      await Promise.all(orders.jobs.handOut(isOwn))
      await worker.stop()
      return ends
    },
    process: (job: OrderJob) => processOrder(ports)(job),
    jobOf: async (order: Order, isOwn = true): Promise<OrderJob> => {
      const found = await rightOf(orders.placement(owner, order.id))
      if (found._tag === 'None') throw new Error('the order is not stored')
      return { ...found.value, isOwn, sendUntilMs: order.createdAt + placementWindowMs }
    },
  }
}

export type OrderDesk = ReturnType<typeof createOrderDesk>
