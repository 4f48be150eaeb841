// How much of a position is closed and what is left of it, exact in lots: as it is requested, and
// as the broker's positions show it afterwards (docs/behaviour.md#changes).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import type { Ticket } from '../primitives/ids.ts'
import { roundAmount, sumExactly } from '../primitives/exact-sum.ts'
import type { BrokerPosition } from './position.ts'

/** The outcome of a close. Volumes in lots. */
export interface CloseOutcome {
  readonly closedVolume: number
  readonly remainingVolume: number
  /** The new ticket of the remainder, where the broker gave it one, as MT4 does. */
  readonly remainingTicket?: Ticket
}

/** A close as it is requested. */
export interface CloseRequest {
  /** Lots to send, below the position's; null for all that is open. */
  readonly volume: number | null
  /** The outcome when the broker closes just that. */
  readonly expected: CloseOutcome
}

/** Without a volume, or with all of the position's, the request to the broker carries none. */
export const decideClose = (
  { volume: open }: BrokerPosition,
  requested: number | undefined,
): E.Either<Refusal<'InvalidVolume'>, CloseRequest> => {
  const all = { volume: null, expected: { closedVolume: open, remainingVolume: 0 } }
  if (requested === undefined) return E.right(all)
  const invalid = E.left(refuse('InvalidVolume', { volume: requested, openVolume: open }))
  if (!(requested > 0 && Number.isFinite(requested))) return invalid
  const volume = roundAmount(requested)
  // A volume below the platforms' smallest step rounds to 0.
  if (volume > open || volume === 0) return invalid
  if (volume === open) return E.right(all)
  const remainingVolume = sumExactly([open, -volume])
  return E.right({ volume, expected: { closedVolume: volume, remainingVolume } })
}

interface PositionsBefore {
  readonly position: BrokerPosition
  /** All open positions of the account, this one included. */
  readonly positions: readonly BrokerPosition[]
}

/**
 * What a later read of the positions shows of a close; undefined where it does not show it yet, or
 * the position stands on the other side now. A broker may have closed less than was sent. Where
 * another order made the position larger, how much was closed does not show, and counts as what was
 * sent. If the platform gives the remainder a new ticket (`restGetsNewTicket`), a partial close
 * stays undecided until the remainder is found. A close also stays undecided where no position at
 * all is shown, or where a remainder could belong to another position that is gone and had the same
 * symbol, side, entry price and opening time.
 */
export const closeShownBy = (
  { position, positions }: PositionsBefore,
  { expected }: CloseRequest,
  after: readonly BrokerPosition[],
  restGetsNewTicket: boolean,
): CloseOutcome | undefined => {
  const remaining = after.find(({ ticket }) => ticket === position.ticket)
  if (remaining !== undefined)
    return remaining.side === position.side
      ? outcomeFromRemaining(remaining, position, expected)
      : undefined
  const ticketsBefore = new Set(positions.map(({ ticket }) => ticket))
  const remainders = after.filter(
    (one) => !ticketsBefore.has(one.ticket) && hasSameOpening(position, one),
  )
  const ticketsAfter = new Set(after.map(({ ticket }) => ticket))
  const twins = positions.filter(
    (one) =>
      one.ticket !== position.ticket &&
      !ticketsAfter.has(one.ticket) &&
      hasSameOpening(position, one),
  )
  // Twins differ only in volume and levels, so that the levels show whose remainder it is.
  const candidates = remainders.filter(
    (one) =>
      twins.length === 0 ||
      (hasSameLevels(position, one) && !twins.some((twin) => hasSameLevels(twin, one))),
  )
  const exact = candidates.filter(({ volume }) => volume === expected.remainingVolume)
  const [remainder, another] = exact.length === 0 && restGetsNewTicket ? candidates : exact
  if (another !== undefined || (candidates.length === 0 && remainders.length > 0)) return undefined
  if (remainder !== undefined) {
    const outcome = outcomeFromRemaining(remainder, position, expected)
    return outcome && { ...outcome, remainingTicket: remainder.ticket }
  }
  return (restGetsNewTicket || after.length === 0) && expected.remainingVolume > 0
    ? undefined
    : { closedVolume: expected.closedVolume, remainingVolume: 0 }
}

/** Whether a later read shows the position as it was. */
export const isUntouched = (
  { ticket, side, volume }: BrokerPosition,
  after: readonly BrokerPosition[],
): boolean =>
  after.some((one) => one.ticket === ticket && one.side === side && one.volume === volume)

/**
 * Whether a later read shows a position on the other side, as no close alone makes it: this one, or
 * one that the closing order opened, which has the order's number.
 */
export const isReversed = (
  { ticket, side }: BrokerPosition,
  brokerOrderId: string | null,
  after: readonly BrokerPosition[],
): boolean => after.some((one) => one.side !== side && [ticket, brokerOrderId].includes(one.ticket))

/**
 * Whether the positions show exactly the close that was sent, which decides a close that nobody
 * confirmed.
 */
export const isDoneAsSent = (outcome: CloseOutcome, { expected }: CloseRequest): boolean =>
  outcome.closedVolume === expected.closedVolume &&
  outcome.remainingVolume === expected.remainingVolume

// Whatever went beyond what was sent was closed by somebody else.
const outcomeFromRemaining = (
  remaining: BrokerPosition,
  { volume }: BrokerPosition,
  { closedVolume }: CloseOutcome,
): CloseOutcome | undefined => {
  const gone = sumExactly([volume, -remaining.volume])
  if (gone === 0) return undefined
  return {
    closedVolume: gone < 0 ? closedVolume : Math.min(gone, closedVolume),
    remainingVolume: remaining.volume,
  }
}

const hasSameLevels = (position: BrokerPosition, one: BrokerPosition): boolean =>
  one.stopLoss === position.stopLoss && one.takeProfit === position.takeProfit

// The remainder equals the position that it is left of, except for ticket and volume.
const hasSameOpening = (position: BrokerPosition, one: BrokerPosition): boolean =>
  one.symbol === position.symbol &&
  one.side === position.side &&
  one.entryPrice === position.entryPrice &&
  one.openedAt === position.openedAt
