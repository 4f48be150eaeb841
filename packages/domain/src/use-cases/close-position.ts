// POST /positions/:id/close: closes a position or a part of it, and answers what became of it with what the closing deal says (2.4, 3.3, 4.3 rules 4 and
// 7 to 9; decisions 30 to 32).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { brokerOutcomeUnknown } from '../errors.ts'
import type { BrokerChangeError, InternalTimeout, InvalidVolume, ServiceUnavailable } from '../errors.ts'
import type { MadeClose } from '../events/position-events.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock, Pauser } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Histories } from '../ports/histories.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import { decideClose, outcomeAsSent } from '../positions/close.ts'
import type { CloseOutcome } from '../positions/close.ts'
import type { BrokerPosition } from '../positions/position.ts'
import type { AccountId, Ticket } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { findChangeTarget } from './steps/find-change-target.ts'
import type { ChangeTarget, TargetRefusal } from './steps/find-change-target.ts'
import { lookAtClose } from './steps/look-at-close.ts'
import type { SeenClose } from './steps/look-at-close.ts'
import { readOpenPosition } from './steps/read-open-position.ts'
import { sendClose } from './steps/send-close.ts'
import type { DecidedClose, TakenClose } from './steps/send-close.ts'
import { provenanceOfRead } from './steps/show-position.ts'
import { tellClose } from './steps/tell-close.ts'

interface Ports extends Pauser {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly eventLog: EventLog
  readonly histories: Histories
  readonly liveAccounts: LiveAccounts
  readonly broker: Pick<Broker, 'source'>
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closePosition' | 'closingDeals'>
  readonly positionLocks: PositionLocks
  readonly clock: Clock
}

/** What was closed. The last three are null together while the closing deal is not to be found, and one alone where the deal does not tell it. */
export interface ClosedPosition extends CloseOutcome {
  readonly accountId: AccountId
  readonly ticket: Ticket
  /** The broker's number of the closing order; null where neither the broker's answer nor the deal tells one. */
  readonly orderId: string | null
  /** Volume-weighted over the deals of the close. */
  readonly closePrice: number | null
  /** In the account's currency, before commission and swap. */
  readonly realizedPnl: number | null
  readonly closedAt: Instant | null
}

export interface CloseResult {
  readonly closed: ClosedPosition
  readonly provenance: Provenance
}

export type CloseRefusal = TargetRefusal | InvalidVolume | BrokerChangeError | ServiceUnavailable | InternalTimeout

/** @param volume lots above 0; undefined for all */
export const closePosition =
  (ports: Ports) =>
  ({ owner }: Caller, id: string, volume: number | undefined): TE.TaskEither<CloseRefusal, CloseResult> =>
    pipe(
      findChangeTarget(ports)(owner, id),
      TE.bindTo('target'),
      TE.bindW('made', ({ target }) => ports.positionLocks.holding(owner, target.id)(closeHeld(ports)(target, volume))),
      // The position is let go before: whoever changes it next does not wait for what is told.
      TE.tapTask(({ target, made }) => tellClose(ports)(target.brokerAccount, madeClose(target, made))),
      TE.map(({ made }) => made.result),
    )

/** A close as its caller sees it, and as others are told of it. */
interface HeldClose {
  readonly result: CloseResult
  readonly position: BrokerPosition
  readonly sentAt: Instant
}

const madeClose = ({ id }: ChangeTarget, { result, position, sentAt }: HeldClose): MadeClose => ({ ...result.closed, id, position, sentAt })

const closeHeld =
  (ports: Ports) =>
  (target: ChangeTarget, volume: number | undefined): TE.TaskEither<InvalidVolume | BrokerChangeError, HeldClose> =>
    pipe(
      TE.Do,
      TE.let('target', () => target),
      TE.bind('before', () => readOpenPosition(ports)(target)),
      TE.bindW('order', ({ before }) => TE.fromEither(decideClose(before.position, volume))),
      TE.bindW('taken', sendClose(ports)),
      TE.bindW('seen', (close) => TE.fromTask(lookAtClose(ports)(close, close.taken))),
      TE.filterOrElseW(isKnownToBeMade, () => brokerOutcomeUnknown(target.id.accountId)),
      TE.map((close) => ({ result: resultOf(ports)(close), position: close.before.position, sentAt: close.taken.sentAt })),
    )

/** What the broker has only accepted is made when it shows. */
const isKnownToBeMade = ({ taken, seen }: { readonly taken: TakenClose; readonly seen: SeenClose }): boolean =>
  taken.isConfirmed || seen.shown !== undefined

const resultOf =
  ({ broker }: Ports) =>
  (close: DecidedClose & { readonly taken: TakenClose; readonly seen: SeenClose }): CloseResult => {
    const { target, before, order, taken, seen } = close
    const { shown, fill } = seen
    return {
      closed: {
        accountId: target.id.accountId,
        ticket: target.id.ticket,
        orderId: taken.orderId ?? fill?.orderId ?? null,
        // A broker that confirmed a close has made it, though no read may show it yet.
        ...(shown?.outcome ?? outcomeAsSent(order)),
        closePrice: fill?.price ?? null,
        realizedPnl: fill?.profit ?? null,
        closedAt: fill?.at ?? null,
      },
      provenance: provenanceOfRead(broker, target.brokerAccount, shown?.reading ?? before.reading),
    }
  }
