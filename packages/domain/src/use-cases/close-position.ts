// POST /positions/:id/close: closes a position or a part of it, and answers what was closed, with what the closing deal says.
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { brokerOutcomeUnknown } from '../errors.ts'
import type { BrokerChangeError, IdempotencyInProgress, InternalTimeout, InvalidVolume, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock, MaySend, Pauser } from '../ports/clock.ts'
import type { Once } from '../ports/idempotency.ts'
import type { Journal } from '../ports/journal.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import { decideClose, outcomeAsSent } from '../positions/close.ts'
import type { CloseOutcome } from '../positions/close.ts'
import type { AccountId, Ticket } from '../primitives/ids.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { findChangeTarget } from './steps/find-change-target.ts'
import type { ChangeTarget, TargetRefusal } from './steps/find-change-target.ts'
import { findClose, findEarlierDeals } from './steps/find-close.ts'
import type { FoundClose } from './steps/find-close.ts'
import { readOpenPosition } from './steps/read-open-position.ts'
import { sendClose } from './steps/send-close.ts'
import type { DecidedClose, ReceivedClose } from './steps/send-close.ts'
import { provenanceOfRead } from './steps/show-position.ts'
import type { SynchroniseJournal } from './synchronise-journal.ts'

interface Ports extends Pauser {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
  readonly broker: Pick<Broker, 'source'>
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closePosition'>
  readonly positionLocks: PositionLocks
  readonly synchroniseJournal: SynchroniseJournal
  readonly journal: Pick<Journal, 'want' | 'closingDeals'>
  readonly clock: Clock
}

/** What was closed. The last three are null while the closing deal is not found; one alone is null where the deal does not have it. */
export interface ClosedPosition extends CloseOutcome {
  readonly accountId: AccountId
  readonly ticket: Ticket
  /** The broker's number of the closing order; null where its answer did not have one. */
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

type HeldRefusal = InvalidVolume | BrokerChangeError | IdempotencyInProgress | ServiceUnavailable

export type CloseRefusal = TargetRefusal | HeldRefusal | InternalTimeout

/**
 * @param volume lots above 0; undefined for all
 * @param once begun when everything is checked, before anything is recorded or sent
 */
export const closePosition =
  (ports: Ports) =>
  ({ owner }: Caller, id: string, volume: number | undefined, once: Once): TE.TaskEither<CloseRefusal, CloseResult> =>
    pipe(
      findChangeTarget(ports)(owner, id),
      TE.flatMap((target) => ports.positionLocks.holding(target.brokerAccount, target.id.ticket)(closeHeld(ports)(target, volume, once))),
    )

const closeHeld =
  (ports: Ports) =>
  (target: ChangeTarget, volume: number | undefined, { begin }: Once) =>
  (maySend: MaySend): TE.TaskEither<HeldRefusal, CloseResult> =>
    pipe(
      TE.Do,
      TE.let('target', () => target),
      TE.bind('before', () => readOpenPosition(ports)(target)),
      TE.bindW('order', ({ before }) => TE.fromEither(decideClose(before.position, volume))),
      TE.bindW('earlierDeals', () => findEarlierDeals(ports)(target)),
      TE.tap(() => begin),
      // Before it is sent, so that a close of a process that dies is found in the broker's history.
      TE.tap(() => wantRead(ports)(target, lateDealsMs)),
      TE.bindW('receipt', (close) =>
        pipe(
          sendClose(ports)(close, maySend),
          // Whatever its outcome, trades that were read before it are out of date.
          T.tap(() => wantRead(ports)(target)),
        ),
      ),
      TE.bindW('found', (close) => TE.fromTask(findClose(ports)(close, close.receipt))),
      TE.filterOrElseW(isKnownToBeMade, () => brokerOutcomeUnknown(target.id.accountId)),
      TE.map(resultOf(ports)),
    )

const wantRead =
  ({ journal, clock }: Ports) =>
  ({ brokerAccount }: ChangeTarget, afterMs = 0): TE.TaskEither<ServiceUnavailable, void> =>
    journal.want(brokerAccount, clock.now() + afterMs)

/** When the journal is read once more after a close, for deals that the broker's history shows late. */
const lateDealsMs = 10 * secondMs

interface EndedClose extends DecidedClose {
  readonly receipt: ReceivedClose
  readonly found: FoundClose
}

/** A close that the broker has only accepted counts as made when a read shows it. */
const isKnownToBeMade = ({ receipt, found }: EndedClose): boolean => receipt.isConfirmed || found.shown !== undefined

// A broker that confirmed a close has made it, though no read may show it yet.
const outcomeOf = ({ order, found }: EndedClose): CloseOutcome => found.shown?.outcome ?? outcomeAsSent(order)

const resultOf =
  ({ broker }: Ports) =>
  (close: EndedClose): CloseResult => {
    const { target, before, receipt, found } = close
    const { shown, fill } = found
    return {
      closed: {
        accountId: target.id.accountId,
        ticket: target.id.ticket,
        orderId: receipt.orderId,
        ...outcomeOf(close),
        closePrice: fill?.price ?? null,
        realizedPnl: fill?.profit ?? null,
        closedAt: fill?.at ?? null,
      },
      provenance: provenanceOfRead(broker, target.brokerAccount, shown?.reading ?? before.reading),
    }
  }
