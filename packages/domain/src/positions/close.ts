// How much of a position is closed and what is left of it, exact in lots: as it is requested, and
// as the broker's positions show it afterwards (docs/behaviour.md#changes).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import type { Ticket } from '../primitives/ids.ts'
import { compareLots, lotsWithout, roundLots } from '../primitives/lots.ts'
import type { BrokerPosition } from './position.ts'

/** A close as it is sent. Volumes in lots. */
export interface CloseOrder {
  /** Below the position's; null for all that is open. */
  readonly volume: number | null
  readonly closes: number
  readonly leaves: number
}

/** The outcome of a close. Volumes in lots. */
export interface CloseOutcome {
  readonly closedVolume: number
  readonly remainingVolume: number
  /** The new ticket of the remainder, where the broker gave it one, as MT4 does. */
  readonly remainingTicket?: Ticket
}

/** A volume that is not given, or is the position's own, closes all. */
export const decideClose = (
  { volume: open }: BrokerPosition,
  requested: number | undefined,
): E.Either<Refusal<'InvalidVolume'>, CloseOrder> => {
  const all: CloseOrder = { volume: null, closes: open, leaves: 0 }
  if (requested === undefined) return E.right(all)
  const closes = roundLots(requested)
  const difference = compareLots(closes, open)
  // Less than the platforms' finest volume is none.
  if (difference > 0 || closes === 0)
    return E.left(refuse('InvalidVolume', { volume: requested, openVolume: open }))
  if (difference === 0) return E.right(all)
  return E.right({ volume: closes, closes, leaves: lotsWithout(open, closes) })
}

/** A close that went as it was sent. */
export const outcomeAsSent = ({ closes, leaves }: CloseOrder): CloseOutcome => ({
  closedVolume: closes,
  remainingVolume: leaves,
})

interface PositionsBefore {
  readonly position: BrokerPosition
  /** All open positions of the account, this one included. */
  readonly positions: readonly BrokerPosition[]
}

/**
 * What a later read of the positions shows of a close; undefined where it does not show it yet. A
 * broker may have closed less than was sent. If the platform gives the remainder a new ticket
 * (`renumbers`), a partial close stays undecided until the remainder is found.
 */
export const closeShownBy = (
  { position, positions }: PositionsBefore,
  order: CloseOrder,
  after: readonly BrokerPosition[],
  renumbers: boolean,
): CloseOutcome | undefined => {
  const held = after.find(({ ticket }) => ticket === position.ticket)
  if (held !== undefined) return shrunkTo(held, position, order)
  const known = new Set(positions.map(({ ticket }) => ticket))
  const remainders = after.filter((one) => !known.has(one.ticket) && isRemainderOf(position, one))
  const expected = remainders.find(({ volume }) => compareLots(volume, order.leaves) === 0)
  const [remainder, another] = expected === undefined && renumbers ? remainders : [expected]
  if (another !== undefined) return undefined
  if (remainder !== undefined) return withRemainder(shrunkTo(remainder, position, order), remainder)
  if (order.leaves === 0) return outcomeAsSent(order)
  return renumbers ? undefined : { closedVolume: order.closes, remainingVolume: 0 }
}

/**
 * Whether the positions show exactly the close that was sent, which decides a close that nobody
 * confirmed.
 */
export const isDoneAsSent = (
  { closedVolume, remainingVolume }: CloseOutcome,
  { closes, leaves }: CloseOrder,
): boolean => compareLots(closedVolume, closes) === 0 && compareLots(remainingVolume, leaves) === 0

// Whatever went beyond what was sent was closed by somebody else.
const shrunkTo = (
  held: BrokerPosition,
  { volume }: BrokerPosition,
  { closes }: CloseOrder,
): CloseOutcome | undefined => {
  if (compareLots(held.volume, volume) >= 0) return undefined
  const gone = lotsWithout(volume, held.volume)
  return { closedVolume: Math.min(gone, closes), remainingVolume: held.volume }
}

const withRemainder = (
  outcome: CloseOutcome | undefined,
  { ticket }: BrokerPosition,
): CloseOutcome | undefined => outcome && { ...outcome, remainingTicket: ticket }

// The remainder equals the position that it is left of, except for ticket and volume.
const isRemainderOf = (position: BrokerPosition, one: BrokerPosition): boolean =>
  one.symbol === position.symbol &&
  one.side === position.side &&
  one.entryPrice === position.entryPrice &&
  one.openedAt === position.openedAt
