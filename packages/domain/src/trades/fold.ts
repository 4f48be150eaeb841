// The fold of a broker's deals into closed trades (docs/behaviour.md#skipped-positions).
import { addDecimals, decimalOf, divideDecimals, multiplyDecimals } from '../primitives/decimal.ts'
import { ExactSum, exactSumOf } from '../primitives/exact-sum.ts'
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

/** Why the deals of a closed position make no trade. */
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
  /** Weighted by volume, like exitPrice. */
  readonly entryPrice: number
  readonly exitPrice: number
  /** Summed over all deals of the position, like commission and swap. */
  readonly profit: number
  readonly commission: number
  readonly swap: number
  /** profit + commission + swap, added exactly and rounded once. */
  readonly netProfit: number
  /** The time of the first opening deal. */
  readonly openedAt: number
  /** The time of the last closing deal. */
  readonly closedAt: number
  /**
   * Whole seconds from openedAt to closedAt, rounded down; negative where the broker's closedAt is
   * earlier.
   */
  readonly holdingTime: number
  /** Present where a closing deal reported no volume. */
  readonly volumeEstimated?: true
}

/** A position that could not be folded. */
export interface SkippedPosition {
  readonly positionId: string
  readonly reason: SkipReason
}

/** A position that could not be folded, with its account. */
export interface SkippedOnAccount extends SkippedPosition {
  readonly accountId: AccountId
}

/**
 * `open` where less was closed than opened and every closing deal reported its volume;
 * `closingDealId` is the last deal that closed it.
 */
export type FoldedPosition =
  | { readonly status: 'closed'; readonly trade: FoldedTrade; readonly closingDealId: string }
  | { readonly status: 'open' }
  | { readonly status: 'skipped'; readonly reason: SkipReason }

/**
 * Folds deals into closed trades, one for each position whose whole volume is closed, in closing
 * order: close time, the id of the last closing deal, position id. Positions still open are left out;
 * positions that cannot be folded are in `skipped` with the first reason that applies, by position
 * id. Ids are ordered shorter first, then by text.
 *
 * Deals may come in any order; the result does not depend on it. Deals without a side, and deals
 * without a position (id absent, empty or "0"), belong to none. Every deal counts: remove a
 * provider's repeated rows first. Money is summed as exact decimals and rounded once, volumes
 * compare exactly, and weighted prices are the doubles nearest to the exact quotients.
 *
 * Invalid numbers: a volume that is not a finite number above 0 was not reported; a price that is
 * 0 or not finite is missing; a time outside the range of dates (|time| above 8.64e15, infinite, NaN) is
 * invalid. Throws a RangeError for money that is not finite.
 */
export const foldDeals = (
  deals: readonly Deal[],
): { trades: readonly FoldedTrade[]; skipped: readonly SkippedPosition[] } => {
  const closed: Extract<FoldedPosition, { status: 'closed' }>[] = []
  const skipped: SkippedPosition[] = []
  for (const [positionId, inOrder] of groupByPosition(deals.toSorted(compareDealOrder))) {
    const folded = foldInOrder(positionId, inOrder)
    if (folded.status === 'closed') closed.push(folded)
    else if (folded.status === 'skipped') skipped.push({ positionId, reason: folded.reason })
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
export const foldPosition = (positionId: string, deals: readonly Deal[]): FoldedPosition =>
  foldInOrder(positionId, deals.toSorted(compareDealOrder))

// One loop, for speed: further ones over the few deals of each position cost two thirds more.
const foldInOrder = (positionId: string, deals: readonly Deal[]): FoldedPosition => {
  let firstOpening: Deal | undefined
  let lastClosing: Deal | undefined
  let symbol = ''
  const opened = new Fills()
  const closed = new Fills()
  /** Lots that were opened, less those that closing deals report. */
  const unclosed = new ExactSum()
  /** Prices of the closing deals that report no volume. */
  const unreported: number[] = []
  const profit = new ExactSum()
  const commission = new ExactSum()
  const swap = new ExactSum()
  const netProfit = new ExactSum()
  let hasOtherEntry = false
  let hasInvalidTime = false
  let lacksTime = false
  let lacksPrice = false
  for (const deal of deals) {
    const volume = volumeOf(deal)
    const price = priceOf(deal)
    if (deal.entry === 'in') {
      firstOpening ??= deal
      opened.add(volume, price)
      unclosed.add(volume)
    } else if (deal.entry === 'out') {
      lastClosing = deal
      closed.add(volume, price)
      unclosed.add(-volume)
      if (volume === 0) unreported.push(price)
    } else hasOtherEntry = true
    profit.add(deal.profit)
    commission.add(deal.commission)
    swap.add(deal.swap)
    netProfit.add(deal.profit)
    netProfit.add(deal.commission)
    netProfit.add(deal.swap)
    if (symbol === '') symbol = deal.symbol ?? ''
    if (deal.time === undefined) lacksTime = true
    else if (!isReadableTime(deal.time)) hasInvalidTime = true
    if (price === 0) lacksPrice = true
  }
  const openLots = unclosed.value()
  if (hasOtherEntry) return skippedFor('unsupported_deal_entry_type')
  if (firstOpening === undefined) return skippedFor('no_open_deal')
  if (opened.lots.value() === 0) return skippedFor('zero_open_volume')
  if (openLots < 0) return skippedFor('closed_exceeds_opened')
  if (lastClosing === undefined || (openLots > 0 && unreported.length === 0))
    return { status: 'open' }
  if (hasInvalidTime) return skippedFor('invalid_timestamp')
  if (lacksTime || symbol === '') return skippedFor('missing_symbol_or_times')
  if (lacksPrice) return skippedFor('missing_price')
  const openedAt = firstOpening.time as number
  const closedAt = lastClosing.time as number
  return {
    status: 'closed',
    trade: {
      positionId,
      symbol,
      side: firstOpening.side as Side,
      volume: opened.lots.value(),
      entryPrice: opened.averagePrice(),
      exitPrice:
        unreported.length === 0
          ? closed.averagePrice()
          : averageWithUnreported(opened, closed, unclosed, unreported),
      profit: profit.value(),
      commission: commission.value(),
      swap: swap.value(),
      netProfit: netProfit.value(),
      openedAt,
      closedAt,
      holdingTime: Math.floor((closedAt - openedAt) / 1000),
      ...(unreported.length > 0 && { volumeEstimated: true }),
    },
    closingDealId: lastClosing.id,
  }
}

const skippedFor = (reason: SkipReason): FoldedPosition => ({ status: 'skipped', reason })

/**
 * The exit price if n closing deals lack a volume; each gets an equal share of what is unclosed:
 * (sum of the others' volume × price + unclosed / n × sum of their prices) / opened.
 */
const averageWithUnreported = (
  opened: Fills,
  closed: Fills,
  unclosed: ExactSum,
  unreported: readonly number[],
): number => {
  const count = decimalOf(unreported.length)
  const weight = addDecimals(
    multiplyDecimals(count, closed.weight.toDecimal()),
    multiplyDecimals(unclosed.toDecimal(), exactSumOf(unreported).toDecimal()),
  )
  return divideDecimals(weight, multiplyDecimals(count, opened.lots.toDecimal()))
}

/** Lots that were opened, or closed, each at its price. */
class Fills {
  readonly lots = new ExactSum()
  /** The sum of volume times price. */
  readonly weight = new ExactSum()
  /** The price of all fills; undefined before the first, NaN once two differ. */
  private price: number | undefined = undefined

  add(volume: number, price: number) {
    this.price = this.price === undefined || this.price === price ? price : Number.NaN
    this.lots.add(volume)
    this.weight.addProduct(volume, price)
  }

  // Most positions have one price, which is its own average. Where some decimals have more than
  // eight places, the division takes as long as all the rest of the fold.
  averagePrice(): number {
    const { price = Number.NaN } = this
    return Number.isNaN(price) ? this.weight.ratioTo(this.lots) : price
  }
}
