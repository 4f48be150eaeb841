// Changes of open positions: another stop loss or take profit, and closes. Each is decided on what
// the broker has at that moment, one is made at a time, and each is sent at most once.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { brokerOutcomeUnknown } from '../errors.ts'
import type {
  BrokerChangeError,
  IdempotencyInProgress,
  InternalTimeout,
  InvalidPrice,
  InvalidVolume,
  ServiceUnavailable,
} from '../errors.ts'
import type { MaySend } from '../ports/clock.ts'
import type { Once } from '../ports/idempotency.ts'
import type { Journal } from '../ports/journal.ts'
import type { Ports } from '../ports/ports.ts'
import { decideClose, isDoneAsSent, outcomeAsSent } from '../positions/close.ts'
import type { CloseOutcome } from '../positions/close.ts'
import {
  hasLevelsAsAsked,
  levelsOf,
  requireStopLossSide,
  requireTakeProfitSide,
  showsOldLevel,
  withConfirmedLevels,
} from '../positions/levels.ts'
import type { Levels } from '../positions/levels.ts'
import type { BrokerPosition } from '../positions/position.ts'
import type { AccountId, Ticket } from '../primitives/ids.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import type { Provenance } from '../primitives/provenance.ts'
import { findChangeTarget, readOpenPosition, showClose, watch } from './steps/change-target.ts'
import type {
  ChangeTarget,
  DecidedClose,
  ReceivedClose,
  TargetRefusal,
} from './steps/change-target.ts'
import { findClose, findEarlierDeals } from './steps/find-close.ts'
import type { FoundClose } from './steps/find-close.ts'
import { provenanceOfRead, showPosition } from './steps/one-position.ts'
import type { OpenPosition, PositionResult } from './steps/one-position.ts'
import type { SynchroniseJournal } from './synchronise-journal.ts'

interface ChangePorts extends Pick<
  Ports,
  'accounts' | 'liveAccounts' | 'broker' | 'positionDesk' | 'positionLocks' | 'clock' | 'pause'
> {
  readonly synchroniseJournal: SynchroniseJournal
  readonly journal: Pick<Journal, 'want' | 'closingDeals'>
}

type ChangeRefusal = TargetRefusal | BrokerChangeError | InternalTimeout

export type LevelRefusal = ChangeRefusal | InvalidPrice

export type CloseRefusal = ChangeRefusal | InvalidVolume | IdempotencyInProgress

/**
 * What was closed. The last three are null while the closing deal is not found; one alone is null
 * where the deal does not have it.
 */
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

export const createPositionChanges = (ports: ChangePorts) => {
  /** Finds the position and changes it while nobody else does. */
  const change = <Refusal, A>(
    { owner }: Caller,
    id: string,
    make: (target: ChangeTarget, maySend: MaySend) => TE.TaskEither<Refusal, A>,
  ): TE.TaskEither<ChangeRefusal | Refusal, A> =>
    pipe(
      findChangeTarget(ports)(owner, id),
      TE.flatMap((target) =>
        ports.positionLocks.holding(
          target.brokerAccount,
          target.id.ticket,
        )((maySend): TE.TaskEither<ChangeRefusal | Refusal, A> => make(target, maySend)),
      ),
    )

  const moveLevel =
    (decide: DecideLevels) =>
    (caller: Caller, id: string, price: number): TE.TaskEither<LevelRefusal, PositionResult> =>
      pipe(
        change(caller, id, (target, maySend) =>
          pipe(
            readOpenPosition(ports)(target),
            TE.bindTo('before'),
            TE.bindW('levels', ({ before }) => TE.fromEither(decide(before.position, price))),
            TE.flatMap(({ before, levels }) =>
              setLevels(ports)({ target, before, levels }, maySend),
            ),
            TE.map((changed) => ({ target, changed })),
          ),
        ),
        TE.flatMapTask(({ target, changed }) => showPosition(ports)(target.brokerAccount, changed)),
      )

  return {
    /** PUT /positions/:id/sl: a price above 0; the take profit stays. */
    moveStopLoss: moveLevel((position, price) =>
      pipe(
        requireStopLossSide(position, price),
        E.map((stopLoss) => ({ ...levelsOf(position), stopLoss })),
      ),
    ),

    /** PUT /positions/:id/tp: a price above 0; the stop loss stays. */
    moveTakeProfit: moveLevel((position, price) =>
      pipe(
        requireTakeProfitSide(position, price),
        E.map((takeProfit) => ({ ...levelsOf(position), takeProfit })),
      ),
    ),

    /**
     * POST /positions/:id/close.
     * @param volume lots above 0; undefined for all
     * @param once begun when everything is checked, before anything is recorded or sent
     */
    closePosition: (
      caller: Caller,
      id: string,
      volume: number | undefined,
      { begin }: Once,
    ): TE.TaskEither<CloseRefusal, CloseResult> =>
      change(caller, id, (target, maySend) =>
        pipe(
          TE.Do,
          TE.let('target', () => target),
          TE.bind('before', () => readOpenPosition(ports)(target)),
          TE.bindW('order', ({ before }) => TE.fromEither(decideClose(before.position, volume))),
          TE.bindW('earlierDeals', () => findEarlierDeals(ports)(target)),
          TE.tap(() => begin),
          // Before it is sent, so that a close of a process that dies is found in the broker's
          // history.
          TE.tap(() => wantRead(ports, target, lateDealsMs)),
          TE.bindW('receipt', (close) => sendClose(ports)(close, maySend)),
          TE.bindW('found', (close) => TE.fromTask(findClose(ports)(close, close.receipt))),
          // A close that the broker has only accepted counts as made when a read shows it.
          TE.filterOrElseW(
            ({ receipt, found }) => receipt.isConfirmed || found.shown !== undefined,
            () => brokerOutcomeUnknown(target.id.accountId),
          ),
          TE.map(resultOf(ports)),
        ),
      ),
  }
}

// --- levels ---

/**
 * Both levels that a position is to have, since the provider removes the one that is not sent; or
 * why it may not have them.
 */
type DecideLevels = (position: BrokerPosition, price: number) => E.Either<InvalidPrice, Levels>

interface LevelChange {
  readonly target: ChangeTarget
  /** As it was read before. */
  readonly before: OpenPosition
  readonly levels: Levels
}

/**
 * Sends both levels of a position, and returns it with them. Confirmed levels are set, whatever is
 * read afterwards; accepted ones are set when a read shows them; and where the outcome is unknown,
 * one read decides.
 */
const setLevels =
  (ports: ChangePorts) =>
  (
    { target, before, levels }: LevelChange,
    maySend: MaySend,
  ): TE.TaskEither<BrokerChangeError, OpenPosition> => {
    const unknown = brokerOutcomeUnknown(target.id.accountId)
    const isMade = ({ position }: OpenPosition): boolean =>
      hasLevelsAsAsked(position, levels, before.position)
    const isNew = ({ position }: OpenPosition): boolean =>
      !showsOldLevel(position, levels, before.position)
    return pipe(
      ports.positionDesk.setLevels(target.brokerAccount, target.id.ticket, levels, maySend),
      TE.matchE(
        (error): TE.TaskEither<BrokerChangeError, OpenPosition> => {
          if (error._tag !== 'BrokerOutcomeUnknown') return TE.left(error)
          // A position that is gone may have had the new level and been closed by it, so that its
          // absence proves nothing.
          return pipe(
            readOpenPosition(ports)(target),
            TE.filterOrElseW(isMade, () => unknown),
            TE.mapLeft(() => unknown),
          )
        },
        ({ progress }) => {
          switch (progress) {
            case 'done':
              // A read that lags behind is repeated, so that the next change of the position does
              // not send the old level back. Where the position is gone or cannot be read, the
              // result is the position as it was, with the confirmed levels.
              return pipe(
                readUntil(ports)(target, before, isNew),
                T.map((latest) => ({
                  ...latest,
                  position: withConfirmedLevels(latest.position, levels, before.position),
                })),
                TE.fromTask,
              )
            case 'unchanged':
              // The broker compared what was asked with what it holds and found no difference.
              return TE.fromTask(readUntil(ports)(target, before, () => true))
            case 'accepted':
              return pipe(
                TE.fromTask(readUntil(ports)(target, before, isMade)),
                TE.filterOrElse(isMade, () => unknown),
              )
          }
        },
      ),
    )
  }

/**
 * Reads the position until `isShown`, for at most two seconds. Returns the last read that came in
 * time, or `before`.
 */
const readUntil =
  (ports: ChangePorts) =>
  (
    target: ChangeTarget,
    before: OpenPosition,
    isShown: (latest: OpenPosition) => boolean,
  ): T.Task<OpenPosition> =>
  async () => {
    let latest = before
    const look = async (): Promise<boolean> => {
      const read = await readOpenPosition(ports)(target)()
      if (E.isLeft(read)) return read.left._tag !== 'BrokerUnavailable'
      latest = read.right
      return isShown(latest)
    }
    await watch(ports)(look)()
    return latest
  }

// --- closes ---

/**
 * When the journal is read once more after a close, for deals that the broker's history shows late.
 */
const lateDealsMs = 10 * secondMs

const wantRead = (
  { journal, clock }: ChangePorts,
  { brokerAccount }: ChangeTarget,
  afterMs: number,
): TE.TaskEither<ServiceUnavailable, void> => journal.want(brokerAccount, clock.now() + afterMs)

/** Sends a close. Where its outcome is unknown, one read of the positions decides. */
const sendClose =
  (ports: ChangePorts) =>
  (close: DecidedClose, maySend: MaySend): TE.TaskEither<BrokerChangeError, ReceivedClose> => {
    const { brokerAccount, id } = close.target
    return pipe(
      ports.positionDesk.closePosition(brokerAccount, id.ticket, close.order.volume, maySend),
      TE.map(({ orderId, progress }): ReceivedClose => ({
        orderId,
        isConfirmed: progress === 'done',
        shown: undefined,
      })),
      TE.orElse((error): TE.TaskEither<BrokerChangeError, ReceivedClose> =>
        error._tag === 'BrokerOutcomeUnknown'
          ? pipe(
              ports.positionDesk.freshPositions(brokerAccount),
              TE.map(showClose(close)),
              TE.filterOrElseW(
                (shown) => shown !== undefined && isDoneAsSent(shown.outcome, close.order),
                () => error,
              ),
              TE.bimap(
                () => error,
                (shown) => ({ orderId: null, isConfirmed: false, shown }),
              ),
            )
          : TE.left(error),
      ),
      // Whatever its outcome, trades that were read before it are out of date.
      T.tap(() => wantRead(ports, close.target, 0)),
    )
  }

interface EndedClose extends DecidedClose {
  readonly receipt: ReceivedClose
  readonly found: FoundClose
}

const resultOf =
  ({ broker }: ChangePorts) =>
  ({ target, before, order, receipt, found: { shown, fill } }: EndedClose): CloseResult => ({
    closed: {
      accountId: target.id.accountId,
      ticket: target.id.ticket,
      orderId: receipt.orderId,
      // A broker that confirmed a close has made it, though no read may show it yet.
      ...(shown?.outcome ?? outcomeAsSent(order)),
      closePrice: fill?.price ?? null,
      realizedPnl: fill?.profit ?? null,
      closedAt: fill?.at ?? null,
    },
    provenance: provenanceOfRead(
      broker.source,
      target.brokerAccount,
      shown?.reading ?? before.reading,
    ),
  })
