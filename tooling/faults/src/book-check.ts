// Holds what the service says of its orders against what stands in the broker's book (decision 23): the promise of the whole issue in one place.
import { brokerClientId } from '@tradeport/domain'
import type { OrderId } from '@tradeport/domain'

/** An order as the API tells it. */
export interface ToldOrder {
  readonly id: string
  readonly status: string
  readonly volume: number
  readonly filledVolume?: number
  /** The caller's own reference. */
  readonly clientId?: string
  readonly userId?: string
}

/** A deal of the broker that opened or added to a position. */
export interface OpeningDeal {
  readonly clientId: string | undefined
  readonly orderId: string | undefined
  readonly volume: number
}

export interface BookReport {
  readonly filled: number
  readonly partiallyFilled: number
  readonly rejected: number
  /** Sentences, each a broken promise; empty when all was kept. */
  readonly broken: readonly string[]
}

/** @param orders every order that the service has, each once */
export const checkBook = (orders: readonly ToldOrder[], deals: readonly OpeningDeal[]): BookReport => {
  const broken: string[] = []
  const executions = new Map<string, OpeningDeal[]>()
  for (const deal of deals) {
    const key = deal.clientId ?? 'none'
    executions.set(key, [...(executions.get(key) ?? []), deal])
  }
  const known = new Set(orders.map(({ id }) => brokerClientId(id as OrderId)))
  for (const [clientId, made] of executions)
    if (!known.has(clientId)) broken.push(`the broker executed ${clientId}, which is no order (${made.length} deals)`)
  for (const order of orders) broken.push(...faultsOf(order, executions.get(brokerClientId(order.id as OrderId)) ?? []))
  const count = (status: string): number => orders.filter((order) => order.status === status).length
  return { filled: count('filled'), partiallyFilled: count('partially_filled'), rejected: count('rejected'), broken }
}

const faultsOf = ({ id, status, volume, filledVolume }: ToldOrder, made: readonly OpeningDeal[]): readonly string[] => {
  const brokerOrders = new Set(made.map(({ orderId }) => orderId))
  const executed = Math.round(made.reduce((sum, deal) => sum + deal.volume, 0) * 1e8) / 1e8
  if (brokerOrders.size > 1) return [`order ${id} was executed ${brokerOrders.size} times`]
  switch (status) {
    case 'filled':
      return executed === volume ? [] : [`order ${id} says filled with ${volume} lots, the broker executed ${executed}`]
    case 'partially_filled':
      return executed > 0 && executed < volume && (filledVolume === undefined || filledVolume === executed)
        ? []
        : [`order ${id} says partially filled with ${filledVolume} of ${volume} lots, the broker executed ${executed}`]
    case 'rejected':
      return executed === 0 ? [] : [`order ${id} says rejected, the broker executed ${executed} lots`]
    default:
      return [`order ${id} is still ${status}`]
  }
}
