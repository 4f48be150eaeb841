// A deal: one execution or booking in a broker's history, and the order in which deals are folded.
import type { Side } from '../primitives/prices.ts'
import { compareTickets } from '../primitives/tickets.ts'

/**
 * Times are epoch milliseconds, volumes lots, money the account's currency with charges negative.
 */
export interface Deal {
  readonly id: string
  /**
   * The position that the deal opened, changed or closed; absent, empty or "0" where it belongs to
   * none.
   */
  readonly positionId?: string
  /** Absent on deals that trade nothing (balance, credit, …). */
  readonly side?: Side
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

/** The position that a deal belongs to; undefined where it belongs to none. JSON may have null. */
export const positionIdOf = ({ side, positionId }: Deal): string | undefined =>
  side && positionId && positionId !== '0' ? positionId : undefined

/** Lots; 0 if the volume is missing, not finite or not positive. */
export const volumeOf = ({ volume }: Deal): number =>
  volume !== undefined && volume > 0 && volume < Number.POSITIVE_INFINITY ? volume : 0

/** 0 where the price is missing. */
export const priceOf = ({ price }: Deal): number =>
  price !== undefined && Number.isFinite(price) ? price : 0

/** The first symbol that any of the deals names. */
export const symbolOf = (deals: readonly Deal[]): string | undefined =>
  deals.find(({ symbol }) => (symbol ?? '') !== '')?.symbol

/** Whether a date can stand for the time of a deal. */
export const isReadableTime = (time: number | undefined): time is number =>
  time !== undefined && Math.abs(time) <= latestTime

const latestTime = 8.64e15

/**
 * The order in which deals are folded: time, then id. MT4 gives an opening and a closing deal one
 * id, and the opening one comes first then. Side and symbol only make the order total, and deals
 * without a readable time come last.
 */
export const compareDealOrder = (a: Deal, b: Deal): number =>
  compareTimes(a.time, b.time) ||
  compareTickets(a.id, b.id) ||
  compareTickets(a.entry ?? '', b.entry ?? '') ||
  compareTickets(a.side ?? '', b.side ?? '') ||
  compareTickets(a.symbol ?? '', b.symbol ?? '')

const compareTimes = (a: number | undefined, b: number | undefined): number => {
  if (a === b) return 0
  if (!isReadableTime(a)) return isReadableTime(b) ? 1 : 0
  return isReadableTime(b) ? a - b : -1
}
