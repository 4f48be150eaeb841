// What each closing deal did to its position.
import {
  addDecimals,
  compareDecimals,
  decimalOf,
  divideDecimals,
  multiplyDecimals,
  subtractDecimals,
  zero,
  type Decimal,
} from '../primitives/decimal.ts'
import { exactSumOf, sumExactly } from '../primitives/exact-sum.ts'
import type { Instant } from '../primitives/instant.ts'
import { averagePrice, compareLots } from '../primitives/lots.ts'
import { sortedBy } from '../primitives/sorted.ts'
import { compareDealOrder, isReadableTime, priceOf, volumeOf } from '../trades/deal.ts'
import type { BrokerDeal } from './broker-deal.ts'

/** Volumes in lots. What the position's deals do not report is null. */
export interface PositionClose {
  readonly deal: BrokerDeal
  readonly closedVolume: number | null
  readonly remainingVolume: number | null
  /**
   * The average of the open lots just before the close: opening deals change it, partial closes do
   * not, as on the platforms.
   */
  readonly entryPrice: number | null
}

/** A reversal closes what is open and opens the rest of its volume on the other side. */
const isClosing = ({ entry }: BrokerDeal): boolean =>
  entry === 'out' || entry === 'out_by' || entry === 'inout'

/**
 * The closes of a position, oldest first. Closing deals without a volume split the unclosed volume
 * equally, as in `foldDeals`. Where opening deals are missing (more was closed than opened), or
 * some deal does not report what it opened or closed, only the volumes that closing deals report
 * are known.
 * @param deals all of one position, in any order
 */
export const positionCloses = (deals: readonly BrokerDeal[]): readonly PositionClose[] => {
  const inOrder = sortedBy(deals, compareDealOrder)
  return closesOf(inOrder) ?? inOrder.filter(isClosing).map(reportedClose)
}

const reportedClose = (deal: BrokerDeal): PositionClose => ({
  deal,
  closedVolume: deal.entry === 'inout' ? null : volumeOf(deal) || null,
  remainingVolume: null,
  entryPrice: null,
})

/** Undefined where the deals do not say how many lots each closed. */
const closesOf = (deals: readonly BrokerDeal[]): readonly PositionClose[] | undefined => {
  // The closing deals that did not report their volume, and the opened lots that the others left.
  const unreportedCount = deals.filter((deal) => isClosing(deal) && volumeOf(deal) === 0).length
  const unclosedLots = exactSumOf(
    deals.map((deal) => (deal.entry === 'in' ? volumeOf(deal) : -volumeOf(deal))),
  ).toDecimal()
  const hasReversal = deals.some(({ entry }) => entry === 'inout')
  if (unreportedCount > 0 && (hasReversal || compareDecimals(unclosedLots, zero) < 0))
    return undefined
  // All volumes below are multiplied by that count, so that an equal share of the unclosed lots is
  // exact: one share, multiplied, is `unclosedLots`.
  const scale = decimalOf(Math.max(1, unreportedCount))
  const scaled = (lots: number): Decimal => multiplyDecimals(decimalOf(lots), scale)

  const closes: PositionClose[] = []
  let open = zero
  // The open lots times their average price; null where an opening deal has no price.
  let openWeight: Decimal | null = zero
  for (const deal of deals) {
    const [volume, price] = [scaled(volumeOf(deal)), priceOf(deal)]
    if (deal.entry === 'in') {
      if (volume.units === 0n) return undefined
      open = addDecimals(open, volume)
      openWeight = addWeight(openWeight, volume, price)
      continue
    }
    if (!isClosing(deal) || compareDecimals(open, zero) === 0) return undefined
    const isReversal = deal.entry === 'inout'
    const closed = isReversal ? open : volume.units === 0n ? unclosedLots : volume
    const rest = subtractDecimals(open, closed)
    if (compareDecimals(rest, zero) < 0) return undefined
    const entryPrice = openWeight && divideDecimals(openWeight, open)
    closes.push({
      deal,
      closedVolume: divideDecimals(closed, scale),
      remainingVolume: divideDecimals(rest, scale),
      entryPrice,
    })
    const newOpen = subtractDecimals(volume, open)
    if (isReversal && compareDecimals(newOpen, zero) <= 0) return undefined
    open = isReversal ? newOpen : rest
    openWeight =
      open.units === 0n ? zero : addWeight(zero, open, isReversal ? price : (entryPrice ?? 0))
  }
  return closes
}

/** Adds lots at a price; null where the price was not reported. */
const addWeight = (weight: Decimal | null, lots: Decimal, price: number): Decimal | null =>
  weight === null || price === 0
    ? null
    : addDecimals(weight, multiplyDecimals(lots, decimalOf(price)))

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
 * Undefined until the deals have at least `leastLots`: some may not have arrived yet.
 * @param deals the closing deals of one order
 */
export const closeFillOf = (
  deals: readonly BrokerDeal[],
  leastLots: number,
): CloseFill | undefined => {
  const { volume, price } = totalOf(deals)
  // A deal without a volume is the whole close where it is alone.
  const isWhole = volume === null ? deals.length === 1 : compareLots(volume, leastLots) >= 0
  if (!isWhole || deals.length === 0) return undefined
  const times = deals.map(({ time }) => time).filter(isReadableTime)
  return {
    volume,
    price,
    profit: sumExactly(deals.map(({ profit }) => profit)),
    at: times.length === 0 ? null : Math.max(...times),
  }
}
