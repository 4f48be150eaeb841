// What each closing deal did to its position.
import {
  addDecimals,
  decimalOf,
  divideDecimals,
  multiplyDecimals,
  subtractDecimals,
  zero,
  type Decimal,
} from '../primitives/decimal.ts'
import { exactSumOf } from '../primitives/exact-sum.ts'
import { compareDealOrder, priceOf, volumeOf } from '../trades/deal.ts'
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
  /** What a reversal opened on the other side; null of every other close. */
  readonly openedVolume: number | null
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
  const inOrder = deals.toSorted(compareDealOrder)
  return closesOf(inOrder) ?? inOrder.filter(isClosing).map(reportedClose)
}

const reportedClose = (deal: BrokerDeal): PositionClose => ({
  deal,
  closedVolume: deal.entry === 'inout' ? null : volumeOf(deal) || null,
  remainingVolume: null,
  entryPrice: null,
  openedVolume: null,
})

/** Undefined where the deals do not say how many lots each closed. */
const closesOf = (deals: readonly BrokerDeal[]): readonly PositionClose[] | undefined => {
  // The closing deals that did not report their volume, and the opened lots that the others left.
  const unreportedCount = deals.filter((deal) => isClosing(deal) && volumeOf(deal) === 0).length
  const unclosedLots = exactSumOf(
    deals.map((deal) => (deal.entry === 'in' ? volumeOf(deal) : -volumeOf(deal))),
  ).toDecimal()
  const hasReversal = deals.some(({ entry }) => entry === 'inout')
  if (unreportedCount > 0 && (hasReversal || unclosedLots.units < 0n)) return undefined
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
    if (!isClosing(deal) || open.units === 0n) return undefined
    const isReversal = deal.entry === 'inout'
    const closed = isReversal ? open : volume.units === 0n ? unclosedLots : volume
    const rest = subtractDecimals(open, closed)
    if (rest.units < 0n) return undefined
    const newOpen = subtractDecimals(volume, open)
    if (isReversal && newOpen.units <= 0n) return undefined
    const entryPrice = openWeight && divideDecimals(openWeight, open)
    closes.push({
      deal,
      closedVolume: divideDecimals(closed, scale),
      remainingVolume: divideDecimals(rest, scale),
      entryPrice,
      openedVolume: isReversal ? divideDecimals(newOpen, scale) : null,
    })
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
