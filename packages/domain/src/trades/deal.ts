// A deal: one execution or booking in a broker's history, and the order in which deals are taken (decision 34).
import { compareTickets } from '../primitives/tickets.ts'

/** Times are epoch milliseconds, volumes lots, money the account's currency with charges negative. */
export interface Deal {
  readonly id: string
  /** The position that the deal opened, changed or closed; absent, empty or "0" where it belongs to none. */
  readonly positionId?: string
  /** Absent on deals that trade nothing (balance, credit, …). */
  readonly side?: 'buy' | 'sell'
  /** Absent where the broker gave none, or one that is unknown. */
  readonly entry?: 'in' | 'out' | 'inout' | 'out_by'
  readonly symbol?: string
  readonly volume?: number
  readonly price?: number
  readonly profit: number
  readonly commission: number
  readonly swap: number
  /** Absent where the broker gave none, NaN where it could not be read. */
  readonly time?: number
}

/** The time of a deal, where it is an instant that a date can stand for. */
export const isReadableTime = (time: number): boolean => Math.abs(time) <= latestTime

const latestTime = 8.64e15

/**
 * Whether `a` is taken before `b`: by time, then by id. Brokers of the fourth generation give an opening and a closing deal one id, so the
 * opening one comes first then; side and symbol only make the order total.
 */
export const isBefore = (a: Deal, b: Deal): boolean => {
  if (a.time !== b.time) return (a.time ?? Number.NaN) < (b.time ?? Number.NaN)
  const byId = compareTickets(a.id, b.id)
  if (byId !== 0) return byId < 0
  if (a.entry !== b.entry) return a.entry === 'in'
  if (a.side !== b.side) return a.side === 'buy'
  return compareTickets(a.symbol ?? '', b.symbol ?? '') < 0
}

/**
 * The order of the deals that closed positions (decision 36): time, then id; deals of different positions with one time and id stand in the
 * order of their positions' ids.
 */
export const compareClosings = (a: Deal, b: Deal): number =>
  (a.time ?? Number.NaN) - (b.time ?? Number.NaN) || compareTickets(a.id, b.id) || compareTickets(a.positionId ?? '', b.positionId ?? '')
