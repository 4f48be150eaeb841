// What each closing deal did to its position.
import {
  addDecimals,
  compareDecimals,
  decimalOf,
  decimalOfUnits,
  decimalToNumber,
  divideDecimals,
} from '../primitives/decimal.ts'
import { multiplyDecimals, subtractDecimals, zero } from '../primitives/decimal.ts'
import type { Decimal } from '../primitives/decimal.ts'
import { ExactSum } from '../primitives/exact-sum.ts'
import { sortedBy } from '../primitives/sorted.ts'
import { compareDealOrder, priceOf, volumeOf } from '../trades/deal.ts'
import type { BrokerDeal } from './broker-deal.ts'

/** Volumes in lots. What the position's deals do not say is null. */
export interface PositionClose {
  readonly deal: BrokerDeal
  readonly closedVolume: number | null
  readonly remainingVolume: number | null
  /** Volume-weighted over the opening deals before. */
  readonly entryPrice: number | null
}

/** A reversal closes what is open and opens the rest of its volume on the other side. */
const isClosing = ({ entry }: BrokerDeal): boolean =>
  entry === 'out' || entry === 'out_by' || entry === 'inout'

/**
 * The closes of a position, oldest first. Closing deals without a volume share equally what the
 * others left, as in the fold. Where opening deals are missing (more was closed than opened), or
 * some deal does not say what it opened or closed, only the volumes that closing deals report are
 * known.
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

/** Undefined where the deals do not add up. */
const closesOf = (deals: readonly BrokerDeal[]): readonly PositionClose[] | undefined => {
  const { count, left } = unreportedCloses(deals)
  const hasReversal = deals.some(({ entry }) => entry === 'inout')
  if (count > 0 && (hasReversal || compareDecimals(left, zero) < 0)) return undefined
  // All volumes times the number of closing deals that share what is left, so that shares are
  // exact.
  const shares = decimalOfUnits(Math.max(1, count), 0)
  const scaled = (lots: number): Decimal => multiplyDecimals(decimalOf(lots), shares)

  const closes: PositionClose[] = []
  let open = zero
  let entry = newEntry()
  for (const deal of deals) {
    const volume = volumeOf(deal)
    if (deal.entry === 'in') {
      if (volume === 0) return undefined
      open = addDecimals(open, scaled(volume))
      addToEntry(entry, volume, priceOf(deal))
    } else if (deal.entry === 'inout') {
      const opened = subtractDecimals(scaled(volume), open)
      if (compareDecimals(open, zero) <= 0 || compareDecimals(opened, zero) <= 0) return undefined
      closes.push({
        deal,
        closedVolume: decimalToNumber(open),
        remainingVolume: 0,
        entryPrice: priceOfEntry(entry),
      })
      open = opened
      entry = newEntry()
      addToEntry(entry, decimalToNumber(opened), priceOf(deal))
    } else if (isClosing(deal)) {
      const closed = volume === 0 ? left : scaled(volume)
      open = subtractDecimals(open, closed)
      if (compareDecimals(open, zero) < 0 || entry.lots.value() === 0) return undefined
      const [closedVolume, remainingVolume] = [
        divideDecimals(closed, shares),
        divideDecimals(open, shares),
      ]
      closes.push({ deal, closedVolume, remainingVolume, entryPrice: priceOfEntry(entry) })
    } else return undefined
  }
  return closes
}

/** How many closing deals did not report their volume, and how many lots the others left. */
const unreportedCloses = (
  deals: readonly BrokerDeal[],
): { readonly count: number; readonly left: Decimal } => {
  const left = new ExactSum()
  for (const deal of deals) left.add(deal.entry === 'in' ? volumeOf(deal) : -volumeOf(deal))
  return {
    count: deals.filter((deal) => isClosing(deal) && volumeOf(deal) === 0).length,
    left: left.toDecimal(),
  }
}

/** What opened a position so far. */
interface Entry {
  readonly lots: ExactSum
  /** The sum of volume times price. */
  readonly weight: ExactSum
  isPriced: boolean
}

const newEntry = (): Entry => ({ lots: new ExactSum(), weight: new ExactSum(), isPriced: true })

const addToEntry = (entry: Entry, volume: number, price: number): void => {
  entry.lots.add(volume)
  entry.weight.addProduct(volume, price)
  if (price === 0) entry.isPriced = false
}

const priceOfEntry = ({ lots, weight, isPriced }: Entry): number | null =>
  isPriced ? weight.ratioTo(lots) : null

/**
 * What some opening deals opened together: lots, and their volume-weighted price; null what they do
 * not say.
 */
export const entryOf = (
  opening: readonly BrokerDeal[],
): { readonly volume: number | null; readonly price: number | null } => {
  const [first] = opening
  if (opening.some((deal) => volumeOf(deal) === 0))
    return {
      volume: null,
      price: opening.length === 1 && first !== undefined ? priceOf(first) || null : null,
    }
  const entry = newEntry()
  for (const deal of opening) addToEntry(entry, volumeOf(deal), priceOf(deal))
  return { volume: entry.lots.value(), price: priceOfEntry(entry) }
}
