// The fold of a broker's deal history into closed trades.
import { sortedBy } from '../primitives/sorted.ts'
import { compareTickets } from '../primitives/tickets.ts'
import { compareDealOrder, positionIdOf } from './deal.ts'
import type { Deal } from './deal.ts'
import { PositionFold } from './fold-position.ts'
import type {
  FinishedPosition,
  FoldedTrade,
  OpenPosition,
  SkippedPosition,
} from './folded-trade.ts'

/**
 * Folds deals into closed trades, one for each position whose whole volume is closed, in closing
 * order: close time, then the id of the last closing deal (shorter first, then by text). Positions
 * still open are left out; positions that cannot be folded are in `skipped` with the first reason
 * that applies, by position id.
 *
 * Deals may come in any order; the result does not depend on it. Deals without a side, and deals
 * without a position (id absent, empty or "0"), belong to none. Every deal given counts: a deal
 * that a provider repeated must have been removed before. Money is summed as exact decimals and
 * rounded once, volumes compare exactly, and weighted prices are the doubles nearest to the exact
 * quotients.
 *
 * Numbers that no broker means are taken so: a volume that is not a finite number above 0 was not
 * reported; a price that is not finite is missing; a time that is not an instant a date can stand
 * for (|time| above 8.64e15, infinite, NaN) is invalid; money that is not finite makes its sum, and
 * netProfit, what addition of doubles makes of it (NaN or an infinity). Never throws.
 */
export const foldDeals = (
  deals: readonly Deal[],
): { trades: readonly FoldedTrade[]; skipped: readonly SkippedPosition[] } => {
  const { closed, skipped } = foldPositions(deals)
  return { trades: closed.map(({ trade }) => trade), skipped }
}

/**
 * Every position of a history, each in exactly one list: `closed` in closing order, the others by
 * position id (shorter first, then by text).
 */
export interface FoldedPositions {
  readonly closed: readonly FinishedPosition[]
  readonly skipped: readonly SkippedPosition[]
  readonly open: readonly OpenPosition[]
}

/** The fold of `foldDeals` with what it knows besides. */
export const foldPositions = (deals: readonly Deal[]): FoldedPositions => {
  const positions = new Map<string, PositionFold>()
  for (const deal of sortedBy(deals, compareDealOrder)) {
    const positionId = positionIdOf(deal)
    if (positionId === undefined) continue
    let position = positions.get(positionId)
    if (position === undefined) positions.set(positionId, (position = new PositionFold(positionId)))
    position.add(deal)
  }
  const closed: FinishedPosition[] = []
  const skipped: SkippedPosition[] = []
  const open: OpenPosition[] = []
  for (const position of positions.values()) {
    const folded = position.result()
    if (folded.status === 'closed') closed.push(folded)
    else if (folded.status === 'skipped') skipped.push(folded.position)
    else open.push(folded.position)
  }
  return {
    closed: sortedBy(closed, compareClosings),
    skipped: sortedBy(skipped, comparePositions),
    open: sortedBy(open, comparePositions),
  }
}

/** The deals of each position, in the given order; those that belong to none are left out. */
export const groupByPosition = <D extends Deal>(
  deals: readonly D[],
): ReadonlyMap<string, readonly D[]> => {
  const groups = new Map<string, D[]>()
  for (const deal of deals) {
    const positionId = positionIdOf(deal)
    if (positionId === undefined) continue
    const group = groups.get(positionId)
    if (group === undefined) groups.set(positionId, [deal])
    else group.push(deal)
  }
  return groups
}

const comparePositions = (
  a: { readonly positionId: string },
  b: { readonly positionId: string },
): number => compareTickets(a.positionId, b.positionId)

const compareClosings = (a: FinishedPosition, b: FinishedPosition): number =>
  a.trade.closedAt - b.trade.closedAt ||
  compareTickets(a.closingDealId, b.closingDealId) ||
  comparePositions(a.trade, b.trade)
