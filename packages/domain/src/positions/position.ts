// Open positions (docs/behaviour.md#positions).
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type Refusal } from '../errors.ts'
import type { AccountId, Ticket, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Side } from '../primitives/prices.ts'
import { compareTickets } from '../primitives/tickets.ts'

/**
 * An open position as the broker reports it. Money in the account's currency, volume in lots,
 * charges negative.
 */
export interface BrokerPosition {
  readonly ticket: Ticket
  readonly symbol: string
  readonly side: Side
  readonly volume: number
  readonly entryPrice: number
  readonly currentPrice: number
  readonly stopLoss?: number
  readonly takeProfit?: number
  /** Total over the open and the closed part. */
  readonly swap: number
  /** Total over the open and the closed part. */
  readonly commission: number
  /** Of the open volume, before swap and commission. */
  readonly unrealizedPnl: number
  /**
   * Of partial closes, without their commission and swap where the provider reports them
   * separately.
   */
  readonly realizedPnl: number
  readonly openedAt: Instant
  /**
   * The client id of the order that opened it, as far as the broker has kept it; absent where it
   * has kept none.
   */
  readonly clientId?: string
}

/** A position with its owner and its margin, which is null when the provider cannot compute it. */
export interface Position extends BrokerPosition {
  readonly accountId: AccountId
  readonly userId: UserId
  readonly marginUsed: number | null
}

/** All open positions of one account as of one read. */
export interface PositionsReading {
  readonly positions: readonly BrokerPosition[]
  /** When the read began: the positions are no older. */
  readonly readAt: Instant
}

/** Oldest first; of equal age the older ticket, which is the shorter or the smaller. */
export const byAge = (a: BrokerPosition, b: BrokerPosition): number =>
  a.openedAt - b.openedAt || compareTickets(a.ticket, b.ticket)

/** The position of a ticket, while it is open. */
export const requireOpen = (
  { positions }: PositionsReading,
  ticket: Ticket,
): E.Either<Refusal<'PositionNotFound'>, BrokerPosition> =>
  E.fromNullable(refuse('PositionNotFound'))(
    positions.find((position) => position.ticket === ticket),
  )
