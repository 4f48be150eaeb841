// Compares the service's orders with the broker's book: each is executed at most once, as its
// status says, and in time.
import { brokerClientId, placementWindowMs } from '@tradeport/domain/orders'
import type { OrderId } from '@tradeport/domain/orders'

/** An order as the API answers it. */
export interface CheckedOrder {
  readonly id: string
  readonly status: string
  readonly volume: number
  readonly filledVolume?: number
  /** The caller's own reference. */
  readonly clientId?: string
  readonly userId?: string
  readonly createdAt: string
}

/** A deal of the broker that opened or added to a position. */
export interface OpeningDeal {
  readonly clientId: string | undefined
  readonly orderId: string | undefined
  readonly volume: number
  /** By the broker's clock, ISO 8601. */
  readonly time: string
}

export interface BookReport {
  readonly filled: number
  readonly partiallyFilled: number
  readonly rejected: number
  /** Sentences, each a broken promise; empty when all was kept. */
  readonly broken: readonly string[]
}

/** @param orders every order that the service has, each once */
export const checkBook = (
  orders: readonly CheckedOrder[],
  deals: readonly OpeningDeal[],
): BookReport => {
  const broken: string[] = []
  const executions = new Map<string, OpeningDeal[]>()
  for (const deal of deals) {
    const key = deal.clientId ?? 'none'
    executions.set(key, [...(executions.get(key) ?? []), deal])
  }
  const known = new Set(orders.map(({ id }) => brokerClientId(id as OrderId)))
  for (const [clientId, made] of executions)
    if (!known.has(clientId))
      broken.push(`the broker executed ${clientId}, which is no order (${made.length} deals)`)
  for (const order of orders)
    broken.push(...faultsOf(order, executions.get(brokerClientId(order.id as OrderId)) ?? []))
  const count = (status: string): number => orders.filter((order) => order.status === status).length
  return {
    filled: count('filled'),
    partiallyFilled: count('partially_filled'),
    rejected: count('rejected'),
    broken,
  }
}

/** For the way to the broker, and for a busy machine. */
const transitMs = 5_000

/**
 * Nothing may reach the broker later than 30 seconds after its order was made. For runs in which
 * service and broker have the same clock.
 */
export const checkTimes = (
  orders: readonly CheckedOrder[],
  deals: readonly OpeningDeal[],
): readonly string[] => {
  const createdAt = new Map(
    orders.map((order) => [brokerClientId(order.id as OrderId), Date.parse(order.createdAt)]),
  )
  return deals.flatMap(({ clientId = '', time }) => {
    const lateMs = Date.parse(time) - (createdAt.get(clientId) ?? Infinity)
    return lateMs <= placementWindowMs + transitMs
      ? []
      : [`the broker executed ${clientId} ${Math.round(lateMs / 1_000)} s after it was ordered`]
  })
}

const faultsOf = (
  { id, status, volume, filledVolume }: CheckedOrder,
  made: readonly OpeningDeal[],
): readonly string[] => {
  const brokerOrders = new Set(made.map(({ orderId }) => orderId))
  const executed = Math.round(made.reduce((sum, deal) => sum + deal.volume, 0) * 1e8) / 1e8
  if (brokerOrders.size > 1) return [`order ${id} was executed ${brokerOrders.size} times`]
  switch (status) {
    case 'filled':
      return executed === volume
        ? []
        : [`order ${id} says filled with ${volume} lots, the broker executed ${executed}`]
    case 'partially_filled':
      return executed > 0 &&
        executed < volume &&
        (filledVolume === undefined || filledVolume === executed)
        ? []
        : [
            `order ${id} says partially filled with ${filledVolume} of ${volume} lots, the broker executed ${executed}`,
          ]
    case 'rejected':
      return executed === 0
        ? []
        : [`order ${id} says rejected, the broker executed ${executed} lots`]
    default:
      return [`order ${id} is still ${status}`]
  }
}
