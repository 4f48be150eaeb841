// How much of a position is closed and what is left of it, exact in lots: as it is asked for, and
// as the broker's book shows it afterwards (docs/behaviour.md#changes).
import * as E from 'fp-ts/lib/Either.js'
import { invalidVolume } from '../errors.ts'
import type { InvalidVolume } from '../errors.ts'
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

/** What became of a position. Volumes in lots. */
export interface CloseOutcome {
  readonly closedVolume: number
  readonly remainingVolume: number
  /** The number that the rest has from now on, where the broker gave it a new one, as MT4 does. */
  readonly remainingTicket?: Ticket
}

/** A volume that is not given, or is the position's own, closes all. */
export const decideClose = (
  { volume: open }: BrokerPosition,
  asked: number | undefined,
): E.Either<InvalidVolume, CloseOrder> => {
  const all: CloseOrder = { volume: null, closes: open, leaves: 0 }
  if (asked === undefined) return E.right(all)
  const closes = roundLots(asked)
  const difference = compareLots(closes, open)
  // Less than the platforms' finest volume is none.
  if (difference > 0 || closes === 0) return E.left(invalidVolume(asked, open))
  if (difference === 0) return E.right(all)
  return E.right({ volume: closes, closes, leaves: lotsWithout(open, closes) })
}

/** A close that went as it was sent. */
export const outcomeAsSent = ({ closes, leaves }: CloseOrder): CloseOutcome => ({
  closedVolume: closes,
  remainingVolume: leaves,
})

interface BookBefore {
  readonly position: BrokerPosition
  /** The whole book that the position was found in. */
  readonly positions: readonly BrokerPosition[]
}

/**
 * What a later book of the account says of a close; undefined where it does not show it yet. A
 * broker may have closed less than was sent. On platforms that give the rest of a position a new
 * number (`renumbers`), a position that is gone may have left a rest, and shows nothing of a part
 * of it until that is found.
 */
export const closeShownBy = (
  { position, positions }: BookBefore,
  order: CloseOrder,
  after: readonly BrokerPosition[],
  renumbers: boolean,
): CloseOutcome | undefined => {
  const held = after.find(({ ticket }) => ticket === position.ticket)
  if (held !== undefined) return shrunkTo(held, position, order)
  const known = new Set(positions.map(({ ticket }) => ticket))
  const rests = after.filter((one) => !known.has(one.ticket) && isRestOf(position, one))
  const expected = rests.find(({ volume }) => compareLots(volume, order.leaves) === 0)
  const [rest, another] = expected === undefined && renumbers ? rests : [expected]
  if (another !== undefined) return undefined
  if (rest !== undefined) return withRest(shrunkTo(rest, position, order), rest)
  if (order.leaves === 0) return outcomeAsSent(order)
  return renumbers ? undefined : { closedVolume: order.closes, remainingVolume: 0 }
}

/**
 * Whether the book shows that exactly what was sent was done, which settles a close that nobody
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

const withRest = (
  outcome: CloseOutcome | undefined,
  { ticket }: BrokerPosition,
): CloseOutcome | undefined => outcome && { ...outcome, remainingTicket: ticket }

// The rest of a position is what it was part of, but for its number and volume.
const isRestOf = (position: BrokerPosition, one: BrokerPosition): boolean =>
  one.symbol === position.symbol &&
  one.side === position.side &&
  one.entryPrice === position.entryPrice &&
  one.openedAt === position.openedAt
