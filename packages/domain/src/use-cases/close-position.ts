// POST /positions/:id/close: closes a position or a part of it, and answers what was closed, with what the closing deal says.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { brokerOutcomeUnknown } from '../errors.ts'
import type { BrokerChangeError, IdempotencyInProgress, InternalTimeout, InvalidVolume, ServiceUnavailable } from '../errors.ts'
import type { CloseAnswer } from '../events/close-telling.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Broker } from '../ports/broker.ts'
import type { Clock, MaySend, Pauser } from '../ports/clock.ts'
import type { CloseRecords } from '../ports/close-records.ts'
import type { Once } from '../ports/idempotency.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import { decideClose, outcomeAsSent } from '../positions/close.ts'
import type { CloseOutcome } from '../positions/close.ts'
import type { AccountId, Ticket } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { findChangeTarget } from './steps/find-change-target.ts'
import type { ChangeTarget, TargetRefusal } from './steps/find-change-target.ts'
import { lookAtClose } from './steps/look-at-close.ts'
import type { SeenClose } from './steps/look-at-close.ts'
import { readOpenPosition } from './steps/read-open-position.ts'
import { answerOfFailure, recordClose, writeAnswer } from './steps/record-close.ts'
import type { CloseRecord } from './steps/record-close.ts'
import { sendClose } from './steps/send-close.ts'
import type { DecidedClose, ReceivedClose } from './steps/send-close.ts'
import { provenanceOfRead } from './steps/show-position.ts'

interface Ports extends Pauser {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly closeRecords: CloseRecords
  readonly liveAccounts: LiveAccounts
  readonly broker: Pick<Broker, 'source'>
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closePosition' | 'closingDeals'>
  readonly positionLocks: PositionLocks
  readonly clock: Clock
}

/** What was closed. The last three are null while the closing deal is not found; one alone is null where the deal does not have it. */
export interface ClosedPosition extends CloseOutcome {
  readonly accountId: AccountId
  readonly ticket: Ticket
  /** The broker's number of the closing order; null where neither the broker's answer nor the deal has one. */
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
      TE.tap(() => begin),
      TE.bindW('record', recordClose(ports)),
      TE.bindW('receipt', sendRecorded(ports)(maySend)),
      TE.bindW('seen', (close) => TE.fromTask(lookAtClose(ports)(close, close.receipt))),
      // Written before the lock is released, so that whoever continues with the record finds the answer in it.
      TE.tapTask((close) => writeAnswer(ports)(close, answerOf(close))),
      TE.filterOrElseW(isKnownToBeMade, () => brokerOutcomeUnknown(target.id.accountId)),
      TE.map(resultOf(ports)),
    )

interface SeenEnd extends DecidedClose {
  readonly record: CloseRecord
  readonly receipt: ReceivedClose
  readonly seen: SeenClose
}

const sendRecorded =
  (ports: Ports) =>
  (maySend: MaySend) =>
  (close: DecidedClose & { readonly record: CloseRecord }): TE.TaskEither<BrokerChangeError, ReceivedClose> =>
    pipe(
      sendClose(ports)(close, maySend),
      TE.tapError((error) => TE.fromTask(writeAnswer(ports)(close, answerOfFailure(error)))),
    )

const answerOf = (close: SeenEnd): CloseAnswer => {
  const { orderId } = close.receipt
  if (!isKnownToBeMade(close)) return { kind: 'unknown', orderId }
  // Where the broker named no order, the deals of another close may look alike; the record's later lookups know those closes.
  return { kind: 'made', orderId, outcome: outcomeOf(close), fill: orderId === null ? undefined : close.seen.fill }
}

/** A close that the broker has only accepted counts as made when a read shows it. */
const isKnownToBeMade = ({ receipt, seen }: SeenEnd): boolean => receipt.isConfirmed || seen.shown !== undefined

// A broker that confirmed a close has made it, though no read may show it yet.
const outcomeOf = ({ order, seen }: SeenEnd): CloseOutcome => seen.shown?.outcome ?? outcomeAsSent(order)

const resultOf =
  ({ broker }: Ports) =>
  (close: SeenEnd): CloseResult => {
    const { target, before, receipt, seen } = close
    const { shown, fill } = seen
    return {
      closed: {
        accountId: target.id.accountId,
        ticket: target.id.ticket,
        orderId: receipt.orderId ?? fill?.orderId ?? null,
        ...outcomeOf(close),
        closePrice: fill?.price ?? null,
        realizedPnl: fill?.profit ?? null,
        closedAt: fill?.at ?? null,
      },
      provenance: provenanceOfRead(broker, target.brokerAccount, shown?.reading ?? before.reading),
    }
  }
