// What a broker in memory keeps of one account: open positions, the deals that closed them, and what its readers do not see yet.
import { lotsWithout } from '../primitives/lots.ts'
import type { ClosingDeal } from '../positions/closing-deals.ts'
import { byAge } from '../positions/position.ts'
import type { BrokerPosition } from '../positions/position.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { Ticket } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'

/** How many reads still show what was before. */
export interface PositionLag {
  readonly positions?: number
  readonly deals?: number
}

interface BookedDeal {
  /** The first ticket of the position that it closed. */
  readonly origin: Ticket
  readonly deal: ClosingDeal
}

interface Shown<A> {
  readonly rows: readonly A[]
  readonly reads: number
}

export interface PositionBook {
  positions: readonly BrokerPosition[]
  deals: readonly BookedDeal[]
  /** The first ticket of a position whose ticket has changed. */
  readonly origins: Map<Ticket, Ticket>
  /** What is shown instead, for so many reads. */
  lagging: { positions?: Shown<BrokerPosition>; deals?: Shown<BookedDeal> }
}

export const emptyPositionBook = (): PositionBook => ({ positions: [], deals: [], origins: new Map(), lagging: {} })

/** Runs a change, and lets so many reads show what was before it. */
export const changeWithLag = (book: PositionBook, lag: PositionLag, change: () => void): void => {
  const { positions, deals } = book
  change()
  if (lag.positions !== undefined) book.lagging.positions = { rows: positions, reads: lag.positions }
  if (lag.deals !== undefined) book.lagging.deals = { rows: deals, reads: lag.deals }
}

/** How so many lots of a position are closed, and under which ticket what is left of it goes on. */
export interface Closing {
  readonly lots: number
  readonly orderId: string
  readonly dealId: string
  readonly restTicket: Ticket
  readonly at: Instant
}

/** Closes lots at the position's current price; the rest keeps its share of what it would win. */
export const closeLots = (book: PositionBook, position: BrokerPosition, { lots, orderId, dealId, restTicket, at }: Closing): void => {
  const volume = lotsWithout(position.volume, lots)
  const profit = Math.round((position.unrealizedPnl * lots * 100) / position.volume) / 100
  const rest = {
    ...position,
    ticket: restTicket,
    volume,
    unrealizedPnl: sumExactly([position.unrealizedPnl, -profit]),
    realizedPnl: sumExactly([position.realizedPnl, profit]),
  }
  const origin = originOf(book, position.ticket)
  book.origins.set(restTicket, origin)
  book.deals = [...book.deals, { origin, deal: { id: dealId, orderId, volume: lots, price: position.currentPrice, profit, at } }]
  book.positions = book.positions.flatMap((other) => (other === position ? (volume === 0 ? [] : [rest]) : [other]))
}

/** The positions as a reader is shown them now. Counts as a read. */
export const readPositions = (book: PositionBook): readonly BrokerPosition[] => {
  const { positions } = book.lagging
  if (positions === undefined || positions.reads <= 0) return book.positions.toSorted(byAge)
  book.lagging.positions = { ...positions, reads: positions.reads - 1 }
  return positions.rows.toSorted(byAge)
}

/** The deals that closed a position, under whichever of its tickets, as a reader is shown them now. Counts as a read. */
export const readClosingDeals = (book: PositionBook, ticket: Ticket): readonly ClosingDeal[] => {
  const { deals } = book.lagging
  const isLagging = deals !== undefined && deals.reads > 0
  if (isLagging) book.lagging.deals = { ...deals, reads: deals.reads - 1 }
  const rows = isLagging ? deals.rows : book.deals
  return rows.filter(({ origin }) => origin === originOf(book, ticket)).map(({ deal }) => deal)
}

const originOf = ({ origins }: PositionBook, ticket: Ticket): Ticket => origins.get(ticket) ?? ticket
