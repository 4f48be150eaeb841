// The fold's bookkeeping (2.5, 4.5; decision 34): deals are entered one by one, in any order, and each position keeps running sums, so that
// a history is read once, without sorting its deals and without a list for each position. A position whose volume is closed is settled:
// its trade is made and its place is free for the next one, so that only positions still open need to be at hand.
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalOf,
  decimalOfUnits,
  decimalToNumber,
  divideDecimals,
} from '../primitives/decimal.ts'
import { multiplyDecimals, subtractDecimals, zero } from '../primitives/decimal.ts'
import { addToRemainder, moneyScale, moneyUnit, noRemainder, type Remainder, wholeUnits } from '../primitives/exact-sum.ts'
import { compareTickets } from '../primitives/tickets.ts'
import { compareClosings, type Deal, isBefore, isReadableTime } from './deal.ts'
import type { FoldedTrade, SkipReason } from './folded-trade.ts'
import { SettledIds } from './settled-ids.ts'

// A position's sums stand side by side in one row of plain numbers, each a whole number of its unit.
const rowWidth = 8
const profitCell = 0
const commissionCell = 1
const swapCell = 2
const openedCell = 3
const closedCell = 4
const entryCell = 5
const exitCell = 6
const marksCell = 7

// Lots of three decimals and prices of five: their products stay whole, and below 2^53 up to 90 million lots times price.
const volumeScale = 3
const volumeUnit = 1e3
const priceUnit = 1e5
const weightScale = 8
const scales: readonly number[] = [moneyScale, moneyScale, moneyScale, volumeScale, volumeScale, weightScale, weightScale]

// What is known of a position, as bits of its marks cell.
const hasOpeningDeal = 1
const hasOpeningVolume = 2
const hasSymbol = 4
const hasUnreportedClose = 8
const hasForeignEntry = 16
const hasInvalidTime = 32
const hasMissingTime = 64
const hasMissingPrice = 128
const hasRemainder = 256
/** The marks of a position that is a trade as soon as its volumes are equal. */
const plainMarks = hasOpeningDeal | hasOpeningVolume | hasSymbol

/** Closing deals that reported no volume: how many, and the sum of their prices. */
type UnreportedCloses = { count: number; prices: Decimal }

export type Ledger = {
  /** Where the positions that are not settled stand. */
  readonly slots: Map<string, number>
  readonly freeSlots: number[]
  rows: Float64Array
  /** By slot, as the three that follow. */
  readonly positionIds: string[]
  readonly firstOpens: (Deal | undefined)[]
  readonly lastCloses: (Deal | undefined)[]
  readonly firstNamed: (Deal | undefined)[]
  /** Exact parts of cells that whole units cannot hold, by cell number. */
  readonly remainders: Map<number, Remainder>
  /** By slot. */
  readonly unreported: Map<number, UnreportedCloses>
  /** The trades of settled positions, in the order of settling, and the last closing deal of each. */
  readonly trades: FoldedTrade[]
  readonly closingDeals: Deal[]
  /** Whether the trades were settled in closing order, as those of a history in time order are. */
  isInClosingOrder: boolean
  /** The greatest id of a settled position; brokers count upwards, so that a position with a greater one is known to be new. */
  greatestSettled: string
  /** The ids of settled positions, kept from the first time that an id is not greater. */
  settledIds: SettledIds | undefined
  /** Settled positions of which another deal came: their trades do not stand, they must be folded once more from all their deals. */
  readonly reopened: Set<string>
  /** Where given, the only positions to look at, none of which is settled before the end. */
  readonly only: ReadonlySet<string> | undefined
}

/** An empty ledger, for all positions or only for some, of which it then expects deals after they look closed. */
export const openLedger = (only?: ReadonlySet<string>): Ledger => ({
  slots: new Map(),
  freeSlots: [],
  rows: new Float64Array(64 * rowWidth),
  positionIds: [],
  firstOpens: [],
  lastCloses: [],
  firstNamed: [],
  remainders: new Map(),
  unreported: new Map(),
  trades: [],
  closingDeals: [],
  isInClosingOrder: true,
  greatestSettled: '',
  settledIds: undefined,
  reopened: new Set(),
  only,
})

/** Enters the deals from index `from` up to, not including, `to`. Deals that belong to no position are passed over (decision 33). */
export const enterDeals = (ledger: Ledger, deals: readonly Deal[], from: number, to: number): void => {
  for (let i = from; i < to; i++) {
    const deal = deals[i] as Deal
    const { positionId } = deal
    if (deal.side === undefined || positionId === undefined || positionId === '' || positionId === '0') continue
    let slot = ledger.slots.get(positionId)
    if (slot === undefined) {
      if (ledger.only !== undefined && !ledger.only.has(positionId)) continue
      if (isSettled(ledger, positionId)) {
        ledger.reopened.add(positionId)
        continue
      }
      slot = addPosition(ledger, positionId)
    }
    enterDeal(ledger, slot, deal)
  }
}

/** What the position in a slot is when all deals are entered; a trade is settled by this. */
export const judgeSlot = (ledger: Ledger, slot: number): 'trade' | 'open' | SkipReason => {
  const verdict = judgePosition(ledger, slot)
  if (verdict === 'trade') settle(ledger, slot)
  return verdict
}

const isSettled = (ledger: Ledger, positionId: string): boolean => {
  if (compareTickets(positionId, ledger.greatestSettled) > 0) return false
  if (ledger.settledIds === undefined) {
    ledger.settledIds = new SettledIds()
    for (const trade of ledger.trades) ledger.settledIds.add(trade.positionId)
  }
  return ledger.settledIds.mayHave(positionId)
}

const settle = (ledger: Ledger, slot: number): void => {
  const positionId = ledger.positionIds[slot] as string
  const closing = ledger.lastCloses[slot] as Deal
  const previous = ledger.closingDeals.at(-1)
  if (previous !== undefined && compareClosings(previous, closing) > 0) ledger.isInClosingOrder = false
  ledger.trades.push(readTrade(ledger, slot))
  ledger.closingDeals.push(closing)
  if (compareTickets(positionId, ledger.greatestSettled) > 0) ledger.greatestSettled = positionId
  ledger.settledIds?.add(positionId)
}

const addPosition = (ledger: Ledger, positionId: string): number => {
  const slot = ledger.freeSlots.pop() ?? ledger.positionIds.length
  if ((slot + 1) * rowWidth > ledger.rows.length) {
    const rows = new Float64Array(ledger.rows.length * 2)
    rows.set(ledger.rows)
    ledger.rows = rows
  }
  ledger.slots.set(positionId, slot)
  ledger.positionIds[slot] = positionId
  ledger.firstOpens[slot] = undefined
  ledger.lastCloses[slot] = undefined
  ledger.firstNamed[slot] = undefined
  return slot
}

const freeSlot = (ledger: Ledger, slot: number): void => {
  ledger.slots.delete(ledger.positionIds[slot] as string)
  ledger.freeSlots.push(slot)
  ledger.rows.fill(0, slot * rowWidth, (slot + 1) * rowWidth)
}

const enterDeal = (ledger: Ledger, slot: number, deal: Deal): void => {
  const row = slot * rowWidth
  addMoney(ledger, row + profitCell, deal.profit)
  addMoney(ledger, row + commissionCell, deal.commission)
  addMoney(ledger, row + swapCell, deal.swap)

  const { time, symbol, entry } = deal
  let marks = 0
  if (time === undefined) marks |= hasMissingTime
  else if (!isReadableTime(time)) marks |= hasInvalidTime
  if (symbol !== undefined && symbol !== '') {
    marks |= hasSymbol
    const named = ledger.firstNamed[slot]
    if (named === undefined || isBefore(deal, named)) ledger.firstNamed[slot] = deal
  }

  if (priceOf(deal) === 0) marks |= hasMissingPrice
  const hasVolume = volumeOf(deal) !== 0

  if (entry === 'in') {
    marks |= hasVolume ? hasOpeningDeal | hasOpeningVolume : hasOpeningDeal
    addVolume(ledger, row + openedCell, row + entryCell, deal)
    const first = ledger.firstOpens[slot]
    if (first === undefined || isBefore(deal, first)) ledger.firstOpens[slot] = deal
  } else if (entry === 'out') {
    if (hasVolume) addVolume(ledger, row + closedCell, row + exitCell, deal)
    else {
      marks |= hasUnreportedClose
      addUnreportedClose(ledger, slot, priceOf(deal))
    }
    const last = ledger.lastCloses[slot]
    if (last === undefined || isBefore(last, deal)) ledger.lastCloses[slot] = deal
  } else marks |= hasForeignEntry

  const { rows } = ledger
  marks |= rows[row + marksCell] as number
  rows[row + marksCell] = marks
  if (marks === plainMarks && rows[row + openedCell] === rows[row + closedCell] && ledger.only === undefined) {
    settle(ledger, slot)
    freeSlot(ledger, slot)
  }
}

const addMoney = (ledger: Ledger, cell: number, amount: number): void => {
  if (amount === 0) return
  const { rows } = ledger
  const sum = (rows[cell] as number) + wholeUnits(amount, moneyUnit)
  if (Math.abs(sum) <= Number.MAX_SAFE_INTEGER) rows[cell] = sum
  else addToRemainder(remainderOf(ledger, cell), amount)
}

// 0 where there is none.
const priceOf = ({ price }: Deal): number => (price !== undefined && Number.isFinite(price) ? price : 0)
const volumeOf = ({ volume }: Deal): number => (volume !== undefined && volume > 0 && volume < Number.POSITIVE_INFINITY ? volume : 0)

// Takes the deal and not its numbers, which the engine would put into boxes for a call that it does not make part of the caller.
const addVolume = (ledger: Ledger, volumeCell: number, weightCell: number, deal: Deal): void => {
  const { rows } = ledger
  const volume = volumeOf(deal)
  const price = priceOf(deal)
  const units = wholeUnits(volume, volumeUnit)
  const sum = (rows[volumeCell] as number) + units
  if (sum <= Number.MAX_SAFE_INTEGER) rows[volumeCell] = sum
  else addToRemainder(remainderOf(ledger, volumeCell), volume)

  const weight = units * wholeUnits(price, priceUnit)
  const weights = (rows[weightCell] as number) + weight
  if (Math.abs(weight) <= Number.MAX_SAFE_INTEGER && Math.abs(weights) <= Number.MAX_SAFE_INTEGER) rows[weightCell] = weights
  else {
    const remainder = remainderOf(ledger, weightCell)
    remainder.decimal = addDecimals(remainder.decimal, multiplyDecimals(decimalOf(volume), decimalOf(price)))
  }
}

const remainderOf = (ledger: Ledger, cell: number): Remainder => {
  const held = ledger.remainders.get(cell)
  if (held !== undefined) return held
  const marks = cell - (cell % rowWidth) + marksCell
  ledger.rows[marks] = (ledger.rows[marks] as number) | hasRemainder
  const remainder = noRemainder()
  ledger.remainders.set(cell, remainder)
  return remainder
}

const addUnreportedClose = (ledger: Ledger, slot: number, price: number): void => {
  const closes = ledger.unreported.get(slot) ?? { count: 0, prices: zero }
  closes.count += 1
  closes.prices = addDecimals(closes.prices, decimalOf(price))
  ledger.unreported.set(slot, closes)
}

// What a position is, by the deals entered so far: a closed trade, still open, or skipped for the first reason that applies.
const judgePosition = (ledger: Ledger, slot: number): 'trade' | 'open' | SkipReason => {
  const row = slot * rowWidth
  const marks = ledger.rows[row + marksCell] as number
  if (marks & hasForeignEntry) return 'unsupported_deal_entry_type'
  if (!(marks & hasOpeningDeal)) return 'no_open_deal'
  if (!(marks & hasOpeningVolume)) return 'zero_open_volume'
  const excess = compareCells(ledger, row + closedCell, row + openedCell)
  if (excess > 0) return 'closed_exceeds_opened'
  if (excess < 0 && !(marks & hasUnreportedClose)) return 'open'
  if (marks & hasInvalidTime) return 'invalid_timestamp'
  if (marks & hasMissingTime || !(marks & hasSymbol)) return 'missing_symbol_or_times'
  if (marks & hasMissingPrice) return 'missing_price'
  return 'trade'
}

const compareCells = (ledger: Ledger, a: number, b: number): number => {
  if (isWhole(ledger, a) && isWhole(ledger, b)) return (ledger.rows[a] as number) - (ledger.rows[b] as number)
  return compareDecimals(exactCell(ledger, a), exactCell(ledger, b))
}

const readTrade = (ledger: Ledger, slot: number): FoldedTrade => {
  const row = slot * rowWidth
  const first = ledger.firstOpens[slot] as Deal
  const openedAt = first.time as number
  const closedAt = (ledger.lastCloses[slot] as Deal).time as number
  const closes = ledger.unreported.get(slot)
  const trade = {
    positionId: ledger.positionIds[slot] as string,
    symbol: (ledger.firstNamed[slot] as Deal).symbol as string,
    side: first.side as 'buy' | 'sell',
    volume: readCell(ledger, row + openedCell, volumeUnit),
    entryPrice: weightedPrice(ledger, row + entryCell, row + openedCell),
    exitPrice: closes === undefined ? weightedPrice(ledger, row + exitCell, row + openedCell) : estimatedExitPrice(ledger, row, closes),
    profit: readCell(ledger, row + profitCell, moneyUnit),
    commission: readCell(ledger, row + commissionCell, moneyUnit),
    swap: readCell(ledger, row + swapCell, moneyUnit),
    netProfit: readNetProfit(ledger, row),
    openedAt,
    closedAt,
    holdingTime: Math.floor((closedAt - openedAt) / 1000),
  }
  return closes === undefined ? trade : { ...trade, volumeEstimated: true }
}

const isWhole = (ledger: Ledger, cell: number): boolean => ledger.remainders.size === 0 || !ledger.remainders.has(cell)

const exactCell = (ledger: Ledger, cell: number): Decimal =>
  addDecimals(decimalOfUnits(ledger.rows[cell] as number, scales[cell % rowWidth] as number), ledger.remainders.get(cell)?.decimal ?? zero)

const readCell = (ledger: Ledger, cell: number, unit: number): number => {
  if (isWhole(ledger, cell)) return (ledger.rows[cell] as number) / unit
  const { nonFinite } = remainderOf(ledger, cell)
  return nonFinite === 0 ? decimalToNumber(exactCell(ledger, cell)) : nonFinite
}

const readNetProfit = (ledger: Ledger, row: number): number => {
  const [profit, commission, swap] = [row + profitCell, row + commissionCell, row + swapCell]
  if (isWhole(ledger, profit) && isWhole(ledger, commission) && isWhole(ledger, swap)) {
    const charges = (ledger.rows[commission] as number) + (ledger.rows[swap] as number)
    const net = (ledger.rows[profit] as number) + charges
    if (Math.abs(charges) <= Number.MAX_SAFE_INTEGER && Math.abs(net) <= Number.MAX_SAFE_INTEGER) return net / moneyUnit
  }
  const nonFinite = [profit, commission, swap].reduce((sum, cell) => sum + (ledger.remainders.get(cell)?.nonFinite ?? 0), 0)
  if (nonFinite !== 0) return nonFinite
  return decimalToNumber(addDecimals(exactCell(ledger, profit), addDecimals(exactCell(ledger, commission), exactCell(ledger, swap))))
}

const weightedPrice = (ledger: Ledger, weightCell: number, volumeCell: number): number => {
  if (isWhole(ledger, weightCell) && isWhole(ledger, volumeCell)) {
    const divisor = (ledger.rows[volumeCell] as number) * priceUnit
    // Both are whole numbers below 2^53, so this one division rounds the exact quotient.
    if (divisor <= Number.MAX_SAFE_INTEGER) return (ledger.rows[weightCell] as number) / divisor
  }
  return divideDecimals(exactCell(ledger, weightCell), exactCell(ledger, volumeCell))
}

// Closes without a volume share equally what the others left: with m of them, (weights + left / m × their prices) / opened.
const estimatedExitPrice = (ledger: Ledger, row: number, { count, prices }: UnreportedCloses): number => {
  const opened = exactCell(ledger, row + openedCell)
  const left = subtractDecimals(opened, exactCell(ledger, row + closedCell))
  const times = decimalOfUnits(count, 0)
  const weights = addDecimals(multiplyDecimals(times, exactCell(ledger, row + exitCell)), multiplyDecimals(left, prices))
  return divideDecimals(weights, multiplyDecimals(times, opened))
}
