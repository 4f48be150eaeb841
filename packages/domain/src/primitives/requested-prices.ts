// Whether prices that were read after a change are those that were requested. Brokers round a price
// to the symbol's digits.
import { compareDecimals, decimalOf, multiplyDecimals, subtractDecimals } from './decimal.ts'

/**
 * A price that moved counts as requested within half a unit of the last decimal that the broker
 * shows; one that did not move proves nothing, however near it is.
 */
export const hasRequestedPrices = <Name extends string>(
  names: readonly Name[],
  after: Prices<Name>,
  requested: Prices<Name>,
  before: Prices<Name>,
): boolean => {
  const decimals = shownDecimals(names.flatMap((name) => [after[name] ?? 0, before[name] ?? 0]))
  return names.every((name) => {
    if (after[name] === requested[name]) return true
    return after[name] !== before[name] && isRounded(after[name], requested[name], decimals)
  })
}

type Prices<Name extends string> = { readonly [Price in Name]?: number | undefined }

/** No symbol has prices of more; beyond them is binary residue. */
const mostDecimals = 8

// The entry price of a netting position is an average, of more decimals than its symbol has.
const shownDecimals = (prices: readonly number[]): number =>
  Math.min(mostDecimals, Math.max(...prices.map((price) => decimalOf(price).scale)))

const isRounded = (
  shown: number | undefined,
  requested: number | undefined,
  decimals: number,
): boolean => {
  if (shown === undefined || requested === undefined) return false
  const [low, high] = [Math.min(shown, requested), Math.max(shown, requested)]
  const distance = subtractDecimals(decimalOf(high), decimalOf(low))
  return (
    compareDecimals(multiplyDecimals(decimalOf(2), distance), { units: 1n, scale: decimals }) <= 0
  )
}
