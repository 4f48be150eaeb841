// Folds the deals of one position into what the position is: a closed trade, still open, or
// skipped.
import {
  addDecimals,
  decimalOfUnits,
  decimalToNumber,
  divideDecimals,
  multiplyDecimals,
} from '../primitives/decimal.ts'
import { subtractDecimals } from '../primitives/decimal.ts'
import { ExactSum } from '../primitives/exact-sum.ts'
import { sortedBy } from '../primitives/sorted.ts'
import { compareDealOrder, isReadableTime, priceOf, volumeOf } from './deal.ts'
import type { Deal } from './deal.ts'
import type { FoldedPosition, FoldedTrade, OpenPosition, SkipReason } from './folded-trade.ts'

/**
 * The position of some deals, which are all that `positionIdOf` finds to be of it, each once and in
 * any order.
 */
export const foldPosition = (positionId: string, deals: readonly Deal[]): FoldedPosition => {
  const fold = new PositionFold(positionId)
  for (const deal of sortedBy(deals, compareDealOrder)) fold.add(deal)
  return fold.result()
}

/** Adds up the deals of one position, which must come in the order of `compareDealOrder`. */
export class PositionFold {
  private readonly positionId: string
  private firstOpening: Deal | undefined = undefined
  private lastClosing: Deal | undefined = undefined
  private symbol = ''
  // Lots, and sums of volume times price.
  private readonly opened = new ExactSum()
  private readonly closed = new ExactSum()
  private readonly entryWeight = new ExactSum()
  private readonly exitWeight = new ExactSum()
  // Closing deals that reported no volume, and the sum of their prices.
  private unreportedCloses = 0
  private unreportedPrices: ExactSum | undefined = undefined
  private readonly profit = new ExactSum()
  private readonly commission = new ExactSum()
  private readonly swap = new ExactSum()
  private hasOtherEntry = false
  private hasUnreadableTime = false
  private hasMissingTime = false
  private hasMissingPrice = false
  private hasUnpricedOpening = false

  constructor(positionId: string) {
    this.positionId = positionId
  }

  add(deal: Deal): void {
    const volume = volumeOf(deal)
    const price = priceOf(deal)
    if (deal.entry === 'in') {
      this.firstOpening ??= deal
      this.opened.add(volume)
      this.entryWeight.addProduct(volume, price)
      if (price === 0 && volume > 0) this.hasUnpricedOpening = true
    } else if (deal.entry === 'out') {
      this.lastClosing = deal
      this.closed.add(volume)
      this.exitWeight.addProduct(volume, price)
      if (volume === 0) {
        this.unreportedCloses += 1
        this.unreportedPrices ??= new ExactSum()
        this.unreportedPrices.add(price)
      }
    } else this.hasOtherEntry = true
    this.profit.add(deal.profit)
    this.commission.add(deal.commission)
    this.swap.add(deal.swap)
    if (this.symbol === '') this.symbol = deal.symbol ?? ''
    if (deal.time === undefined) this.hasMissingTime = true
    else if (!isReadableTime(deal.time)) this.hasUnreadableTime = true
    if (price === 0) this.hasMissingPrice = true
  }

  result(): FoldedPosition {
    const { positionId, firstOpening, lastClosing, opened, closed } = this
    const skipped = (reason: SkipReason): FoldedPosition => ({
      status: 'skipped',
      position: { positionId, reason },
    })
    if (this.hasOtherEntry) return skipped('unsupported_deal_entry_type')
    if (firstOpening === undefined) return skipped('no_open_deal')
    if (opened.value() === 0) return skipped('zero_open_volume')
    const excess = closed.compareTo(opened)
    if (excess > 0) return skipped('closed_exceeds_opened')
    if (lastClosing === undefined || (excess < 0 && this.unreportedCloses === 0)) {
      return { status: 'open', position: this.openPosition(firstOpening) }
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

  private openPosition({ side, time }: Deal): OpenPosition {
    return {
      positionId: this.positionId,
      symbol: this.symbol === '' ? undefined : this.symbol,
      side,
      volume: decimalToNumber(subtractDecimals(this.opened.toDecimal(), this.closed.toDecimal())),
      entryPrice: this.hasUnpricedOpening ? undefined : this.entryWeight.ratioTo(this.opened),
      openedAt: isReadableTime(time) ? time : undefined,
    }
  }

  private trade(first: Deal, last: Deal): FoldedTrade {
    const openedAt = first.time as number
    const closedAt = last.time as number
    const trade = {
      positionId: this.positionId,
      symbol: this.symbol,
      side: first.side as 'buy' | 'sell',
      volume: this.opened.value(),
      entryPrice: this.entryWeight.ratioTo(this.opened),
      exitPrice: this.exitPrice(),
      profit: this.profit.value(),
      commission: this.commission.value(),
      swap: this.swap.value(),
      netProfit: this.profit.plus(this.commission).plus(this.swap).value(),
      openedAt,
      closedAt,
      holdingTime: Math.floor((closedAt - openedAt) / 1000),
    }
    return this.unreportedCloses === 0 ? trade : { ...trade, volumeEstimated: true }
  }

  // Closes without a volume share equally what the others left: with n of them, (weights + left / n
  // × their prices) / opened.
  private exitPrice(): number {
    const { opened, closed, exitWeight, unreportedCloses, unreportedPrices } = this
    if (unreportedPrices === undefined) return exitWeight.ratioTo(opened)
    const count = decimalOfUnits(unreportedCloses, 0)
    const left = subtractDecimals(opened.toDecimal(), closed.toDecimal())
    const weight = addDecimals(
      multiplyDecimals(count, exitWeight.toDecimal()),
      multiplyDecimals(left, unreportedPrices.toDecimal()),
    )
    return divideDecimals(weight, multiplyDecimals(count, opened.toDecimal()))
  }
}
