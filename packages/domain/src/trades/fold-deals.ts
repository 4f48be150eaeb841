// The fold of a broker's deal history into closed trades (2.5, 4.5; decisions 33 to 36).
import { runSteps, type Steps } from '../primitives/run-steps.ts'
import { sortInSteps } from '../primitives/sort-in-steps.ts'
import { compareTickets } from '../primitives/tickets.ts'
import { compareClosings, type Deal } from './deal.ts'
import type { FoldedTrade, SkippedPosition } from './folded-trade.ts'
import { enterDeals, judgeSlot, type Ledger, openLedger } from './position-ledger.ts'

/** Every position of a history, each in exactly one of `trades`, `skipped` and `open`. */
export interface FoldedPositions {
  /** In closing order: closedAt, then the id of the last closing deal (shorter first, then by text). */
  readonly trades: readonly FoldedTrade[]
  /** The last closing deal of each trade, at the trade's index. */
  readonly closingDeals: readonly Deal[]
  /** By position id (shorter first, then by text), as `open`. */
  readonly skipped: readonly SkippedPosition[]
  /** The ids of positions whose closed volume is below their opened volume. */
  readonly open: readonly string[]
}

/** How many deals or positions the fold takes at once where nothing else is asked: a tenth of a millisecond of work, or two where money needs big decimals. */
const defaultFoldStep = 128

/**
 * Folds deals into closed trades, one for each position whose whole volume is closed (2.5), in closing order. Positions still open are
 * left out; positions that cannot be folded are in `skipped` with the first reason that applies (4.5), by position id.
 *
 * Deals may come in any order; the result does not depend on it. Deals without a side, and deals without a position (id absent, empty or
 * "0"), belong to none. Every deal given counts: a deal that a provider repeated must have been removed before. Money is summed as exact
 * decimals and rounded once, volumes compare exactly, and weighted prices are the doubles nearest to the exact quotients.
 *
 * Numbers that no broker means are taken so: a volume that is not a finite number above 0 was not reported; a price that is not finite is
 * missing; a time that is not an instant a date can stand for (|time| above 8.64e15, infinite, NaN) is invalid; money that is not finite
 * makes its sum, and netProfit, what addition of doubles makes of it (NaN or an infinity). Never throws.
 */
export const foldDeals = (deals: readonly Deal[]): { trades: readonly FoldedTrade[]; skipped: readonly SkippedPosition[] } => {
  const { trades, skipped } = foldPositions(deals)
  return { trades, skipped }
}

/** The fold of `foldDeals` with what it knows besides: the positions still open, and the deals that closed the trades. */
export const foldPositions = (deals: readonly Deal[]): FoldedPositions => runSteps(foldInSteps(deals))

/**
 * The same fold for a service that must answer others meanwhile: a generator that yields after every `perStep` deals or positions
 * (default 128), whatever the history looks like, and returns the result. Between two steps the caller may wait as long as it likes, but
 * must not change the deals.
 */
export function* foldInSteps(deals: readonly Deal[], perStep: number = defaultFoldStep): Steps<FoldedPositions> {
  const ledger = openLedger()
  yield* enterInSteps(ledger, deals, perStep)
  // Positions that got more deals after they looked closed are folded from all their deals.
  const again = openLedger(ledger.reopened)
  if (ledger.reopened.size > 0) yield* enterInSteps(again, deals, perStep)

  const skipped: SkippedPosition[] = []
  const open: string[] = []
  for (const unsettled of [ledger, again]) {
    for (const [positionId, slot] of unsettled.slots) {
      const verdict = judgeSlot(unsettled, slot)
      if (verdict === 'open') open.push(positionId)
      else if (verdict !== 'trade') skipped.push({ positionId, reason: verdict })
      if ((slot + 1) % perStep === 0) yield
    }
  }
  return {
    ...(yield* inClosingOrder(ledger, again, perStep)),
    skipped: yield* sortInSteps(skipped, (a, b) => compareTickets(a.positionId, b.positionId), perStep),
    open: yield* sortInSteps(open, compareTickets, perStep),
  }
}

function* enterInSteps(ledger: Ledger, deals: readonly Deal[], perStep: number): Steps<void> {
  for (let from = 0; from < deals.length; from += perStep) {
    enterDeals(ledger, deals, from, Math.min(from + perStep, deals.length))
    yield
  }
}

type Closings = Pick<FoldedPositions, 'trades' | 'closingDeals'>

function* inClosingOrder(ledger: Ledger, again: Ledger, perStep: number): Steps<Closings> {
  if (ledger.isInClosingOrder && ledger.reopened.size === 0) return { trades: ledger.trades, closingDeals: ledger.closingDeals }
  const trades = [...ledger.trades, ...again.trades]
  const closingDeals = [...ledger.closingDeals, ...again.closingDeals]
  const standing: number[] = []
  for (let i = 0; i < trades.length; i++) {
    if (i >= ledger.trades.length || !ledger.reopened.has((trades[i] as FoldedTrade).positionId)) standing.push(i)
    if ((i + 1) % perStep === 0) yield
  }
  const order = yield* sortInSteps(standing, (a, b) => compareClosings(closingDeals[a] as Deal, closingDeals[b] as Deal), perStep)
  return { trades: order.map((i) => trades[i] as FoldedTrade), closingDeals: order.map((i) => closingDeals[i] as Deal) }
}
