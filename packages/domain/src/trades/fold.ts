// The fold of a broker's deals into closed trades (docs/behaviour.md#skipped-positions).
import { addDecimals, decimalOf, divideDecimals, multiplyDecimals } from '../primitives/decimal.ts'
import { ExactSum } from '../primitives/exact-sum.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { Side } from '../primitives/prices.ts'
import { compareTickets } from '../primitives/tickets.ts'
import {
  compareDealOrder,
  isReadableTime,
  positionIdOf,
  priceOf,
  volumeOf,
  type Deal,
} from './deal.ts'

/**
 * Why a position is neither a trade nor open, in the order in which the reasons are checked; the
 * first that applies is reported.
 */
export const skipReasons = [
  'unsupported_deal_entry_type',
  'no_open_deal',
  'zero_open_volume',
  'closed_exceeds_opened',
  'invalid_timestamp',
  'missing_symbol_or_times',
  'missing_price',
] as const

export type SkipReason = (typeof skipReasons)[number]

/**
 * A position whose whole volume is closed. Times are epoch milliseconds, volume lots, money the
 * account's currency.
 */
export interface FoldedTrade {
  readonly positionId: string
  readonly symbol: string
  /** The side of the first opening deal. */
  readonly side: Side
  /** The volume opened, which is the volume closed. */
  readonly volume: number
  /** Weighted by volume, as exitPrice. */
  readonly entryPrice: number
  readonly exitPrice: number
  /** Summed over all deals of the position, as commission and swap. */
  readonly profit: number
  readonly commission: number
  readonly swap: number
  /** profit + commission + swap, added exactly and rounded once. */
  readonly netProfit: number
  /** The first opening deal. */
  readonly openedAt: number
  /** The last closing deal. */
  readonly closedAt: number
  /**
   * Whole seconds from openedAt to closedAt, rounded down; negative where the broker's times are
   * in that order.
   */
  readonly holdingTime: number
  /** Present where a closing deal reported no volume. */
  readonly volumeEstimated?: true
}

export interface SkippedPosition {
  readonly positionId: string
  readonly reason: SkipReason
}

/** A position that could not be folded, with its account. */
export interface SkippedOnAccount extends SkippedPosition {
  readonly accountId: AccountId
}

/** `open` where less was closed than opened; `closingDealId` is the last deal that closed it. */
export type FoldedPosition =
  | { readonly status: 'closed'; readonly trade: FoldedTrade; readonly closingDealId: string }
  | { readonly status: 'open' }
  | { readonly status: 'skipped'; readonly position: SkippedPosition }

/**
 * Folds deals into closed trades, one for each position whose whole volume is closed, in closing
 * order: close time, then the id of the last closing deal (shorter first, then by text). Positions
 * still open are left out; positions that cannot be folded are in `skipped` with the first reason
 * that applies, by position id (shorter first, then by text).
 *
 * Deals may come in any order; the result does not depend on it. Deals without a side, and deals
 * without a position (id absent, empty or "0"), belong to none. Every deal counts: remove the rows
 * that a provider repeats before. Money is summed as exact decimals and rounded once, volumes
 * compare exactly, and weighted prices are the doubles nearest to the exact quotients.
 *
 * Invalid numbers: a volume that is not a finite number above 0 was not reported; a price that is
 * not finite is missing; a time outside the range of dates (|time| above 8.64e15, infinite, NaN) is
 * invalid. Throws a RangeError for money that is not finite.
 */
export const foldDeals = (
  deals: readonly Deal[],
): { trades: readonly FoldedTrade[]; skipped: readonly SkippedPosition[] } => {
  const positions = new Map<string, PositionFold>()
  for (const deal of deals.toSorted(compareDealOrder)) {
    const positionId = positionIdOf(deal)
    if (positionId === undefined) continue
    let position = positions.get(positionId)
    if (position === undefined) positions.set(positionId, (position = new PositionFold(positionId)))
    position.add(deal)
  }
  const closed: Extract<FoldedPosition, { status: 'closed' }>[] = []
  const skipped: SkippedPosition[] = []
  for (const position of positions.values()) {
    const folded = position.result()
    if (folded.status === 'closed') closed.push(folded)
    else if (folded.status === 'skipped') skipped.push(folded.position)
  }
  closed.sort(
    (a, b) =>
      a.trade.closedAt - b.trade.closedAt ||
      compareTickets(a.closingDealId, b.closingDealId) ||
      compareTickets(a.trade.positionId, b.trade.positionId),
  )
  skipped.sort((a, b) => compareTickets(a.positionId, b.positionId))
  return { trades: closed.map(({ trade }) => trade), skipped }
}

/** The deals of each position, in the given order; those that belong to none are left out. */
export const groupByPosition = <D extends Deal>(
  deals: readonly D[],
): ReadonlyMap<string, readonly D[]> => {
  const groups = Map.groupBy(deals, positionIdOf)
  groups.delete(undefined)
  return groups as ReadonlyMap<string, readonly D[]>
}

/** @param deals all deals that `positionIdOf` assigns to the position, each once, in any order */
export const foldPosition = (positionId: string, deals: readonly Deal[]): FoldedPosition => {
  const fold = new PositionFold(positionId)
  for (const deal of deals.toSorted(compareDealOrder)) fold.add(deal)
  return fold.result()
}

/**
 * Adds up the deals of one position, which must come in the order of `compareDealOrder`. A class
 * that is fed deal by deal needs half the time of a function over the deals of each position.
 */
class PositionFold {
  private readonly positionId: string
  private firstOpening: Deal | undefined = undefined
  private lastClosing: Deal | undefined = undefined
  private symbol = ''
  private readonly openings = new Fills()
  private readonly closings = new Fills()
  /** Lots that were opened, less those that closing deals report. */
  private readonly unclosed = new ExactSum()
  // Closing deals that reported no volume, and the sum of their prices.
  private unreportedCloses = 0
  private unreportedPrices: ExactSum | undefined = undefined
  private readonly profit = new ExactSum()
  private readonly commission = new ExactSum()
  private readonly swap = new ExactSum()
  private readonly netProfit = new ExactSum()
  private hasOtherEntry = false
  private hasUnreadableTime = false
  private hasMissingTime = false
  private hasMissingPrice = false

  constructor(positionId: string) {
    this.positionId = positionId
  }

  add(deal: Deal) {
    const volume = volumeOf(deal)
    const price = priceOf(deal)
    if (deal.entry === 'in') {
      this.firstOpening ??= deal
      this.openings.add(volume, price)
      this.unclosed.add(volume)
    } else if (deal.entry === 'out') {
      this.lastClosing = deal
      this.closings.add(volume, price)
      this.unclosed.add(-volume)
      if (volume === 0) {
        this.unreportedCloses += 1
        this.unreportedPrices ??= new ExactSum()
        this.unreportedPrices.add(price)
      }
    } else this.hasOtherEntry = true
    this.profit.add(deal.profit)
    this.netProfit.add(deal.profit)
    this.commission.add(deal.commission)
    this.netProfit.add(deal.commission)
    this.swap.add(deal.swap)
    this.netProfit.add(deal.swap)
    if (this.symbol === '') this.symbol = deal.symbol ?? ''
    if (deal.time === undefined) this.hasMissingTime = true
    else if (!isReadableTime(deal.time)) this.hasUnreadableTime = true
    if (price === 0) this.hasMissingPrice = true
  }

  result(): FoldedPosition {
    const { positionId, firstOpening, lastClosing } = this
    const unclosed = this.unclosed.value()
    const skipped = (reason: SkipReason): FoldedPosition => ({
      status: 'skipped',
      position: { positionId, reason },
    })
    if (this.hasOtherEntry) return skipped('unsupported_deal_entry_type')
    if (firstOpening === undefined) return skipped('no_open_deal')
    if (this.openings.lots.value() === 0) return skipped('zero_open_volume')
    if (unclosed < 0) return skipped('closed_exceeds_opened')
    if (lastClosing === undefined || (unclosed > 0 && this.unreportedCloses === 0)) {
      return { status: 'open' }
    }
    if (this.hasUnreadableTime) return skipped('invalid_timestamp')
    if (this.hasMissingTime || this.symbol === '') return skipped('missing_symbol_or_times')
    if (this.hasMissingPrice) return skipped('missing_price')
    return {
      status: 'closed',
      trade: this.trade(firstOpening, lastClosing),
      closingDealId: lastClosing.id,
    }
  }

  private trade(first: Deal, last: Deal): FoldedTrade {
    const openedAt = first.time as number
    const closedAt = last.time as number
    const trade = {
      positionId: this.positionId,
      symbol: this.symbol,
      side: first.side as Side,
      volume: this.openings.lots.value(),
      entryPrice: this.openings.averagePrice(),
      exitPrice: this.exitPrice(),
      profit: this.profit.value(),
      commission: this.commission.value(),
      swap: this.swap.value(),
      netProfit: this.netProfit.value(),
      openedAt,
      closedAt,
      holdingTime: Math.floor((closedAt - openedAt) / 1000),
    }
    return this.unreportedCloses === 0 ? trade : { ...trade, volumeEstimated: true }
  }

  // The n closing deals without a volume split the unclosed volume equally:
  // (sum of the others' volume × price + unclosed / n × sum of their prices) / opened.
  private exitPrice(): number {
    const { closings, unreportedCloses, unreportedPrices } = this
    if (unreportedPrices === undefined) return closings.averagePrice()
    const opened = this.openings.lots.toDecimal()
    const count = decimalOf(unreportedCloses)
    const weight = addDecimals(
      multiplyDecimals(count, closings.weight.toDecimal()),
      multiplyDecimals(this.unclosed.toDecimal(), unreportedPrices.toDecimal()),
    )
    return divideDecimals(weight, multiplyDecimals(count, opened))
  }
}

/** Lots that were opened, or closed, each at its price. */
class Fills {
  readonly lots = new ExactSum()
  /** The sum of volume times price. */
  readonly weight = new ExactSum()
  private price: number | undefined = undefined

  add(volume: number, price: number) {
    this.price = this.price === undefined || this.price === price ? price : Number.NaN
    this.lots.add(volume)
    this.weight.addProduct(volume, price)
  }

  // Most positions have one price, which is its own average: a division of decimals of which some
  // have more than eight places takes as long as all the rest of the fold.
  averagePrice(): number {
    const { price = Number.NaN } = this
    return Number.isNaN(price) ? this.weight.ratioTo(this.lots) : price
  }
}
