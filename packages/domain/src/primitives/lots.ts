// The parts in which an order is executed, at different prices.
import { ExactSum, sumExactly } from './exact-sum.ts'
import type { Instant } from './instant.ts'

/** A part of an order, executed at one price. Volume in lots, above 0. */
export interface Execution {
  readonly volume: number
  readonly price: number
  readonly at: Instant
}

/**
 * The volume is the exact sum, the price weighted by volume and rounded once, the time that of the
 * last. At least one execution.
 */
export const fillOfExecutions = (executions: readonly [Execution, ...Execution[]]): Execution => ({
  volume: sumExactly(executions.map(({ volume }) => volume)),
  price: averagePrice(executions),
  at: Math.max(...executions.map(({ at }) => at)),
})

/** Weighted by volume, rounded once. At least one part. */
export const averagePrice = (parts: readonly Pick<Execution, 'volume' | 'price'>[]): number => {
  const [lots, weight] = [new ExactSum(), new ExactSum()]
  for (const { volume, price } of parts) {
    lots.add(volume)
    weight.addProduct(volume, price)
  }
  return weight.ratioTo(lots)
}
