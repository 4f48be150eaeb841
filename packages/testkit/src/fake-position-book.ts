// What a broker in memory keeps of one account: open positions, the deals that closed them, and
// what its readers do not see yet.
import type { BrokerDeal } from '@tradeport/domain/journal'
import { lotsWithout, sumExactly, type Ticket, type Instant } from '@tradeport/domain/primitives'
import { byAge, type BrokerPosition } from '@tradeport/domain/positions'

/** How many reads still show what was before. */
export interface PositionLag {
  readonly positions?: number
  readonly deals?: number
}

interface Shown<A> {
  readonly rows: readonly A[]
  readonly reads: number
}

export interface PositionBook {
  positions: readonly BrokerPosition[]
  deals: readonly BrokerDeal[]
  /** The deals that the journal has read. */
  journal: readonly BrokerDeal[]
  /** What is shown instead, for so many reads. */
  lagging: { positions?: Shown<BrokerPosition>; deals?: Shown<BrokerDeal> }
}

export const emptyPositionBook = (): PositionBook => ({
  positions: [],
  deals: [],
  journal: [],
  lagging: {},
})

/** Runs a change, and lets so many reads show what was before it. */
export const changeWithLag = (book: PositionBook, lag: PositionLag, change: () => void): void => {
  const { positions, deals } = book
  change()
  if (lag.positions !== undefined)
    book.lagging.positions = { rows: positions, reads: lag.positions }
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
export const closeLots = (
  book: PositionBook,
  position: BrokerPosition,
  { lots, orderId, dealId, restTicket, at }: Closing,
): void => {
  const volume = lotsWithout(position.volume, lots)
  const profit = Math.round((position.unrealizedPnl * lots * 100) / position.volume) / 100
  const rest = {
    ...position,
    ticket: restTicket,
    volume,
    unrealizedPnl: sumExactly([position.unrealizedPnl, -profit]),
    realizedPnl: sumExactly([position.realizedPnl, profit]),
  }
  const side = position.side === 'buy' ? 'sell' : 'buy'
  const { ticket: positionId, symbol, currentPrice: price } = position
  const what = { id: dealId, kind: side, side, entry: 'out', positionId, symbol, orderId } as const
  book.deals = [
    ...book.deals,
    { ...what, volume: lots, price, profit, commission: 0, swap: 0, time: at },
  ]
  book.positions = book.positions.flatMap((other) =>
    other === position ? (volume === 0 ? [] : [rest]) : [other],
  )
}

/** The positions as a reader is shown them now. Counts as a read. */
export const readPositions = (book: PositionBook): readonly BrokerPosition[] => {
  const { positions } = book.lagging
  if (positions === undefined || positions.reads <= 0) return book.positions.toSorted(byAge)
  book.lagging.positions = { ...positions, reads: positions.reads - 1 }
  return positions.rows.toSorted(byAge)
}

/** Brings the journal up to the deals as a reader is shown them now. Counts as a read. */
export const readDeals = (book: PositionBook): void => {
  const { deals } = book.lagging
  const isLagging = deals !== undefined && deals.reads > 0
  if (isLagging) book.lagging.deals = { ...deals, reads: deals.reads - 1 }
  book.journal = isLagging ? deals.rows : book.deals
}

/** The deals of an order that closed something, from a time on. */
export const closingDealsOf = (
  deals: readonly BrokerDeal[],
  orderId: string,
  from: Instant,
): readonly BrokerDeal[] =>
  deals.filter((deal) => deal.orderId === orderId && (deal.time === undefined || deal.time >= from))
