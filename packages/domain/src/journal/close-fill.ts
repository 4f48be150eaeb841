// The fill that several deals make together.
import type { BrokerAccount } from '../accounts/account.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { Instant } from '../primitives/instant.ts'
import { averagePrice } from '../primitives/lots.ts'
import { isReadableTime, priceOf, volumeOf } from '../trades/deal.ts'
import type { BrokerDeal } from './broker-deal.ts'

/** Volume in lots; a volume or price of 0 was not reported. */
interface Part {
  readonly volume: number
  readonly price: number
}

/** Weighted by volume; null where a price is missing or, of several parts, a volume. */
const reportedPrice = (parts: readonly Part[]): number | null => {
  const [first, ...others] = parts
  if (first === undefined || parts.some(({ price }) => price === 0)) return null
  if (others.length === 0) return first.price
  return parts.some(({ volume }) => volume === 0) ? null : averagePrice(parts)
}

/** The lots of some deals together, and their average price; null where not reported. */
export const totalOf = (
  deals: readonly BrokerDeal[],
): { readonly volume: number | null; readonly price: number | null } => {
  const parts = deals.map((deal) => ({ volume: volumeOf(deal), price: priceOf(deal) }))
  const volumes = parts.map(({ volume }) => volume)
  return {
    volume: volumes.includes(0) ? null : sumExactly(volumes),
    price: reportedPrice(parts),
  }
}

/** The fill of a close: lots, price weighted by volume, profit before commission and swap. */
export interface CloseFill {
  readonly volume: number | null
  readonly price: number | null
  readonly profit: number
  readonly at: Instant | null
}

/**
 * Undefined until the deals have at least `leastLots`: some may not have arrived yet. On MT4 a close
 * is one deal and has the number of its position, so that several deals, or more lots, may include
 * another close: undefined.
 * @param deals the closing deals of one order
 */
export const closeFillOf = (
  deals: readonly BrokerDeal[],
  leastLots: number,
  platform: BrokerAccount['platform'],
): CloseFill | undefined => {
  const { volume, price } = totalOf(deals)
  if (platform === 'mt4' && (deals.length > 1 || (volume ?? 0) > leastLots)) return undefined
  // A deal without a volume is the whole close where it is alone.
  const isWhole = volume === null ? deals.length === 1 : volume >= leastLots
  if (!isWhole || deals.length === 0) return undefined
  const times = deals.map(({ time }) => time).filter(isReadableTime)
  return {
    volume,
    price,
    profit: sumExactly(deals.map(({ profit }) => profit)),
    at: times.length === 0 ? null : Math.max(...times),
  }
}
