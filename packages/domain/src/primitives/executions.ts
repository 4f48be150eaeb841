// What several executions make together: one order may be filled in parts, at different prices.
import {
  addDecimals,
  decimalOf,
  decimalToNumber,
  divideDecimals,
  multiplyDecimals,
  zero,
} from './decimal.ts'
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
export const fillOfExecutions = (executions: readonly [Execution, ...Execution[]]): Execution => {
  const volume = executions.map((one) => decimalOf(one.volume)).reduce(addDecimals, zero)
  const worth = executions
    .map((one) => multiplyDecimals(decimalOf(one.volume), decimalOf(one.price)))
    .reduce(addDecimals, zero)
  return {
    volume: decimalToNumber(volume),
    price: divideDecimals(worth, volume),
    at: Math.max(...executions.map(({ at }) => at)),
  }
}
