// Folds the deals of one position into what the position is: a closed trade, still open, or skipped.
import { addDecimals, decimalOfUnits, decimalToNumber, divideDecimals, multiplyDecimals } from '../primitives/decimal.ts'
import { subtractDecimals } from '../primitives/decimal.ts'
import { ExactSum } from '../primitives/exact-sum.ts'
import { sortedBy } from '../primitives/sorted.ts'
import { compareDealOrder, isReadableTime, priceOf, symbolOf, volumeOf } from './deal.ts'
import type { Deal } from './deal.ts'
import type { FoldedPosition, FoldedTrade, OpenPosition, SkipReason } from './folded-trade.ts'

/** The position of some deals, which are all that `positionIdOf` finds to be of it, each once and in any order. */
export const foldPosition = (positionId: string, deals: readonly Deal[]): FoldedPosition => {
  const inOrder = sortedBy(deals, compareDealOrder)
  const volumes = sumVolumes(inOrder)
  const { firstOpening, lastClosing, hasOtherEntry, opened, closed } = volumes
  const skipped = (reason: SkipReason): FoldedPosition => ({ status: 'skipped', position: { positionId, reason } })

  if (hasOtherEntry) return skipped('unsupported_deal_entry_type')
  if (firstOpening === undefined) return skipped('no_open_deal')
  if (opened.value() === 0) return skipped('zero_open_volume')
  const excess = closed.compareTo(opened)
  if (excess > 0) return skipped('closed_exceeds_opened')
  if (lastClosing === undefined || (excess < 0 && volumes.unreportedCloses === 0)) {
    return { status: 'open', position: openPosition(positionId, inOrder, firstOpening, volumes) }
  }
  const fault = faultOf(inOrder)
  if (fault !== undefined) return skipped(fault)
  return { status: 'closed', trade: tradeOf(positionId, inOrder, firstOpening, lastClosing, volumes), closingDealId: lastClosing.id }
}

interface Volumes {
  readonly firstOpening: Deal | undefined
  readonly lastClosing: Deal | undefined
  /** Whether a deal neither opens nor closes, as far as its entry says. */
  readonly hasOtherEntry: boolean
  /** Lots. */
  readonly opened: ExactSum
  /** By deals that reported their volume. */
  readonly closed: ExactSum
  /** Sums of volume times price. */
  readonly entryWeight: ExactSum
  readonly exitWeight: ExactSum
  /** How many closing deals reported no volume, and the sum of their prices. */
  readonly unreportedCloses: number
  readonly unreportedPrices: ExactSum
}

const sumVolumes = (deals: readonly Deal[]): Volumes => {
  const opened = new ExactSum()
  const closed = new ExactSum()
  const entryWeight = new ExactSum()
  const exitWeight = new ExactSum()
  const unreportedPrices = new ExactSum()
  let firstOpening: Deal | undefined
  let lastClosing: Deal | undefined
  let hasOtherEntry = false
  let unreportedCloses = 0
  for (const deal of deals) {
    const volume = volumeOf(deal)
    const price = priceOf(deal)
    if (deal.entry === 'in') {
      firstOpening ??= deal
      opened.add(volume)
      entryWeight.addProduct(volume, price)
    } else if (deal.entry === 'out') {
      lastClosing = deal
      closed.add(volume)
      exitWeight.addProduct(volume, price)
      if (volume > 0) continue
      unreportedCloses += 1
      unreportedPrices.add(price)
    } else hasOtherEntry = true
  }
  return { firstOpening, lastClosing, hasOtherEntry, opened, closed, entryWeight, exitWeight, unreportedCloses, unreportedPrices }
}

// What keeps a position that is wholly closed from being a trade.
const faultOf = (deals: readonly Deal[]): SkipReason | undefined => {
  if (deals.some(({ time }) => time !== undefined && !isReadableTime(time))) return 'invalid_timestamp'
  if (symbolOf(deals) === undefined || deals.some(({ time }) => time === undefined)) return 'missing_symbol_or_times'
  return deals.some((deal) => priceOf(deal) === 0) ? 'missing_price' : undefined
}

const openPosition = (
  positionId: string,
  deals: readonly Deal[],
  { side, time }: Deal,
  { opened, closed, entryWeight }: Volumes,
): OpenPosition => {
  const hasPrices = deals.every((deal) => deal.entry !== 'in' || volumeOf(deal) === 0 || priceOf(deal) !== 0)
  return {
    positionId,
    symbol: symbolOf(deals),
    side,
    volume: decimalToNumber(subtractDecimals(opened.toDecimal(), closed.toDecimal())),
    entryPrice: hasPrices ? entryWeight.ratioTo(opened) : undefined,
    openedAt: isReadableTime(time) ? time : undefined,
  }
}

const tradeOf = (positionId: string, deals: readonly Deal[], first: Deal, last: Deal, volumes: Volumes): FoldedTrade => {
  const openedAt = first.time as number
  const closedAt = last.time as number
  const profit = new ExactSum()
  const commission = new ExactSum()
  const swap = new ExactSum()
  for (const deal of deals) {
    profit.add(deal.profit)
    commission.add(deal.commission)
    swap.add(deal.swap)
  }
  const trade = {
    positionId,
    symbol: symbolOf(deals) as string,
    side: first.side as 'buy' | 'sell',
    volume: volumes.opened.value(),
    entryPrice: volumes.entryWeight.ratioTo(volumes.opened),
    exitPrice: exitPriceOf(volumes),
    profit: profit.value(),
    commission: commission.value(),
    swap: swap.value(),
    netProfit: profit.plus(commission).plus(swap).value(),
    openedAt,
    closedAt,
    holdingTime: Math.floor((closedAt - openedAt) / 1000),
  }
  return volumes.unreportedCloses === 0 ? trade : { ...trade, volumeEstimated: true }
}

// Closes without a volume share equally what the others left: with n of them, (weights + left / n × their prices) / opened.
const exitPriceOf = ({ opened, closed, exitWeight, unreportedCloses, unreportedPrices }: Volumes): number => {
  if (unreportedCloses === 0) return exitWeight.ratioTo(opened)
  const count = decimalOfUnits(unreportedCloses, 0)
  const left = subtractDecimals(opened.toDecimal(), closed.toDecimal())
  const weight = addDecimals(multiplyDecimals(count, exitWeight.toDecimal()), multiplyDecimals(left, unreportedPrices.toDecimal()))
  return divideDecimals(weight, multiplyDecimals(count, opened.toDecimal()))
}
