// The fill that several deals make together.
import type { BrokerAccount } from '../accounts/account.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { Instant } from '../primitives/instant.ts'
import { averagePrice } from '../primitives/lots.ts'
import { isReadableTime, priceOf, volumeOf } from '../trades/deal.ts'
import type { BrokerDeal } from './broker-deal.ts'

/**
 * The lots of some deals together, and their price weighted by volume. Null where a volume or, for
 * the price, any price is missing; one deal needs no volume for its price.
 */
export const totalOf = (
  deals: readonly BrokerDeal[],
): { readonly volume: number | null; readonly price: number | null } => {
  const parts = deals.map((deal) => ({ volume: volumeOf(deal), price: priceOf(deal) }))
  const volume = parts.some((part) => part.volume === 0)
    ? null
    : sumExactly(parts.map((part) => part.volume))
  const [first, another] = parts
  if (first === undefined || parts.some(({ price }) => price === 0)) return { volume, price: null }
  if (another === undefined) return { volume, price: first.price }
  return { volume, price: volume === null ? null : averagePrice(parts) }
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
