// Exact decimals for money, prices and volumes: the sandbox's books must add up to the cent.
import { Big } from 'big.js'

/** An exact decimal. */
export type Decimal = Big

const Exact = Big()
Exact.DP = 16

export const decimal = (value: number | string | Decimal): Decimal => new Exact(value)

export const zero: Decimal = decimal(0)

/** An amount of money, rounded half up to the currency's smallest unit. */
export const toCents = (amount: Decimal, currencyDigits: number): Decimal =>
  amount.round(currencyDigits)

/** The double nearest to an exact decimal, as JSON carries it. */
export const toNumber = (value: Decimal): number => Number(value.toString())

export const sum = (values: Iterable<Decimal>): Decimal => {
  let total = zero
  for (const value of values) total = total.plus(value)
  return total
}

/** The part of `whole` that falls to `part` of `total`, in cents. All of it once `part` is all. */
export const shareOf = (
  whole: Decimal,
  part: Decimal,
  total: Decimal,
  currencyDigits: number,
): Decimal => toCents(whole.times(part).div(total), currencyDigits)
