// Changes of open positions: another stop loss or take profit, and closes. Each is decided on what
// the broker has at that moment and sent at most once; those of one position are made one after
// another.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { BrokerAccount } from '../accounts/account.ts'
import {
  refuse,
  type AsyncResult,
  type BrokerReadTag,
  type Refusal,
  type RefusalTag,
} from '../errors.ts'
import { selectBySymbol } from '../market/broker-symbol.ts'
import {
  withoutKey,
  type Broker,
  type ChangeReceipt,
  type IdempotencyGuard,
  type MaySend,
  type PositionChangeError,
  type Ports,
} from '../ports/index.ts'
import { decideClose, isDoneAsSent, isUntouched, type CloseOutcome } from '../positions/close.ts'
import {
  decideLevels,
  hasRequestedLevels,
  showsOldLevel,
  withConfirmedLevels,
} from '../positions/levels.ts'
import { requireOpen } from '../positions/position.ts'
import {
  formatPositionId,
  type AccountId,
  type PositionId,
  type Ticket,
} from '../primitives/ids.ts'
import { minuteMs, secondMs, type Instant } from '../primitives/instant.ts'
import type { Levels, LevelsChange, Side } from '../primitives/prices.ts'
import { provenanceOf, type Sourced } from '../primitives/provenance.ts'
import type { SymbolFilter } from '../primitives/symbol-filter.ts'
import type { ById, WithBody } from './input.ts'
import {
  changeAtBroker,
  doEach,
  isTransient,
  readChanged,
  readUntil,
  readWithin,
  type BrokerChangeTag,
  type OnAccountChanged,
  type SendChange,
} from './steps/broker-change.ts'
import {
  createCloseEvidence,
  shownClose,
  type AcceptedClose,
  type ChangeTarget,
  type CloseToSend,
  type EvidencePorts,
} from './steps/close-evidence.ts'
import { showPosition, type OpenPosition, type PositionResult } from './positions.ts'
import type { ResolveOrderSymbol } from './orders.ts'
import {
  findAccount,
  findPositionAccount,
  requireChangeable,
  type RestrictionTag,
} from './steps/find.ts'

interface ChangePorts
  extends
    EvidencePorts,
    Pick<Ports, 'accounts' | 'liveAccounts' | 'broker' | 'changeLocks' | 'stopwatch'> {
  readonly resolveOrderSymbol: ResolveOrderSymbol
  readonly onAccountChanged: OnAccountChanged
}

type ChangeTag = PositionChangeError['_tag'] | RestrictionTag | BrokerChangeTag

/**
 * What was closed. `closePrice`, `realizedPnl` and `closedAt` are null where the closing deal was
 * not found, or does not have them.
 */
export interface ClosedPosition extends CloseOutcome {
  readonly accountId: AccountId
  readonly ticket: Ticket
  /** The broker's number of the closing order; null where its answer did not have one. */
  readonly brokerOrderId: string | null
  /** Volume-weighted over the deals of the close. */
  readonly closePrice: number | null
  /** In the account's currency, before commission and swap. */
  readonly realizedPnl: number | null
  readonly closedAt: Instant | null
}

/** Which open positions of an account to close: those that match everything that is given. */
export interface ClosesSelection {
  readonly accountId: AccountId
  /** Names the broker's symbol as that of an order does. */
  readonly symbol?: SymbolFilter | undefined
  readonly side?: Side | undefined
  /** By the unrealized result, before swap and commission; one of 0 is neither. */
  readonly only?: 'profit' | 'loss' | undefined
}

/** One of several closes. */
export interface CloseAttempt extends PositionId {
  readonly result: E.Either<CloseRefusal, ClosedPosition>
}

type CloseRefusal = Refusal<
  ChangeTag | 'InvalidVolume' | 'IdempotencyInProgress' | 'ServiceUnavailable'
>

const maxMarginWaitMs = 2 * secondMs
/** When the journal is read again after a close, for deals that are shown late. */
const lateDealsMs = 10 * secondMs
/** And when, for a close that is made late. */
const lateCloseMs = minuteMs

/** Changes and closes of open positions. */
export const createPositionChanges = (ports: ChangePorts) => {
  const { broker, positionTrading, journal } = ports
  const { findEarlierDeals, findClose } = createCloseEvidence(ports)

  /**
   * Finds the position, on an account where positions may be changed, and changes it while nobody
   * else does.
   */
  const changePosition = <A, Tag extends RefusalTag>(
    { owner }: Caller,
    rawId: string,
    make: (target: ChangeTarget, send: SendChange) => AsyncResult<A, Tag>,
  ): AsyncResult<A, ChangeTag | Tag> =>
    pipe(
      findPositionAccount(ports)(owner, rawId, refuse('PositionNotFound')),
      TE.map(({ id, account }) => ({
        accountId: id.accountId,
        subject: id.ticket,
        destination: requireChangeable(ports)(account),
        make: (brokerAccount: BrokerAccount, send: SendChange) => make({ id, brokerAccount }, send),
      })),
      changeAtBroker(ports)<A, ChangeTag | Tag>,
    )

  /** Reads the position from the broker itself, past every cache. */
  const readOpenPosition = ({ id, brokerAccount }: ChangeTarget) =>
    pipe(
      positionTrading.freshPositions(brokerAccount),
      TE.bindTo('reading'),
      TE.bindW('position', ({ reading }) => TE.fromEither(requireOpen(reading, id.ticket))),
    )

  /** Reports the account as changed where the position may have been. */
  const sendChange =
    (
      { brokerAccount }: ChangeTarget,
      send: SendChange,
      trade: (maySend: MaySend) => TE.TaskEither<PositionChangeError, ChangeReceipt>,
    ): TE.TaskEither<PositionChangeError, ChangeReceipt> =>
    async () => {
      const sent = await send(trade)()
      if (E.isRight(sent) || sent.left._tag === 'PositionNotFound' || mayBeMade(sent.left))
        ports.onAccountChanged(brokerAccount)
      return sent
    }

  // --- levels ---

  /** None where the margin takes too long: the change is made, and its answer must not be late. */
  const requiredMargin: Broker['requiredMargin'] =
    (...of) =>
    async () =>
      E.right((await readWithin(ports, maxMarginWaitMs, broker.requiredMargin(...of))) ?? O.none)

  const changePositionLevels = (
    caller: Caller,
    { id, body: levelsChange }: ById & WithBody<LevelsChange>,
  ): AsyncResult<PositionResult, ChangeTag | 'InvalidPrice'> =>
    pipe(
      changePosition(caller, id, (target, send) =>
        pipe(
          readOpenPosition(target),
          TE.bindTo('before'),
          TE.bindW('levels', ({ before }) =>
            TE.fromEither(decideLevels(before.position, levelsChange)),
          ),
          TE.flatMap(({ before, levels }) => setLevels(target, before, levels, send)),
          TE.map((changed) => ({ target, changed })),
        ),
      ),
      TE.flatMapTask(({ target, changed }) =>
        showPosition({ broker: { ...broker, requiredMargin } })(target.brokerAccount, changed),
      ),
    )

  const moveLevel =
    (name: keyof LevelsChange) =>
    (caller: Caller, { id, body: { value } }: ById & WithBody<{ readonly value: number }>) =>
      changePositionLevels(caller, { id, body: { [name]: value } })

  /**
   * Sends both levels of a position, and returns it with them. Confirmed levels are set, whatever
   * is read afterwards; others are set when a read shows them.
   */
  const setLevels =
    (
      target: ChangeTarget,
      before: OpenPosition,
      levels: Levels,
      send: SendChange,
    ): TE.TaskEither<PositionChangeError, OpenPosition> =>
    async () => {
      const sent = await sendChange(target, send, (maySend) =>
        positionTrading.setLevels(target.brokerAccount, target.id.ticket, levels, maySend),
      )()
      if (E.isLeft(sent) && sent.left._tag !== 'BrokerOutcomeUnknown') return sent
      const progress = E.isLeft(sent) ? 'unknown' : sent.right.progress
      const isMade = ({ position }: OpenPosition) =>
        hasRequestedLevels(position, levels, before.position)
      const read = await readChanged(ports, progress, readOpenPosition(target), {
        made: isMade,
        // A read that lags behind is repeated, so that the next change of the position does not
        // send the old level back.
        old: ({ position }) => showsOldLevel(position, levels, before.position),
      })
      const latest = read !== undefined && E.isRight(read) ? read.right : before
      switch (progress) {
        case 'done':
          return E.right({
            ...latest,
            position: withConfirmedLevels(latest.position, levels, before.position),
          })
        case 'unchanged':
          // The broker compared the levels with its own and found no difference.
          return E.right(latest)
        case 'accepted':
        case 'unknown':
          // A position that is gone may have had the new level and been closed by it, so that its
          // absence proves nothing.
          return isMade(latest) ? E.right(latest) : E.left(outcomeUnknown(target))
      }
    }

  // --- closes ---

  /**
   * Sends a close. Where its outcome is unknown or doubted, the positions are read for up to two
   * seconds. The last read shows it done, or the position untouched, so that the answer stands, or
   * else it is unknown.
   */
  const sendClose = (
    close: CloseToSend,
    send: SendChange,
  ): TE.TaskEither<PositionChangeError, AcceptedClose> => {
    const { target, request, before } = close
    const { brokerAccount, id } = target
    return async () => {
      const answer = await sendChange(target, send, (maySend) =>
        positionTrading.closePosition(brokerAccount, id.ticket, request.volume, maySend),
      )()
      if (E.isRight(answer)) {
        const { brokerOrderId, progress } = answer.right
        return E.right({ brokerOrderId, isConfirmed: progress === 'done', shown: undefined })
      }
      if (!mayBeMade(answer.left)) return answer
      const unknown = E.left(outcomeUnknown(target))
      let decided: E.Either<PositionChangeError, AcceptedClose> = unknown
      await readUntil(ports, async () => {
        const read = await positionTrading.freshPositions(brokerAccount)()
        const shown = E.isRight(read) ? shownClose(close, read.right) : undefined
        const isDone = shown !== undefined && isDoneAsSent(shown.outcome, request)
        if (isDone) decided = E.right({ brokerOrderId: null, isConfirmed: false, shown })
        else if (E.isRight(read) && isUntouched(before.position, read.right.positions))
          decided = answer
        else decided = unknown
        return isDone || (E.isLeft(read) && !isTransient(read.left))
      })
      return decided
    }
  }

  /** POST /positions/:id/close: a volume in lots above 0, or all; begun once all is checked. */
  const closePosition = (
    caller: Caller,
    {
      id,
      body: { volume },
      begin,
    }: ById & WithBody<{ readonly volume?: number }> & IdempotencyGuard,
  ): AsyncResult<Sourced<ClosedPosition>, ChangeTag | 'InvalidVolume' | 'IdempotencyInProgress'> =>
    changePosition(caller, id, (target, send) =>
      pipe(
        TE.Do,
        TE.let('target', () => target),
        TE.apS('before', readOpenPosition(target)),
        TE.apSW(
          'earlierDeals',
          TE.fromTask(() => findEarlierDeals(target)),
        ),
        TE.bindW('request', ({ before }) => TE.fromEither(decideClose(before.position, volume))),
        // Before it is sent, so that a close of a process that dies is found in the broker's
        // history.
        TE.tap(() => journal.wantRead(target.brokerAccount, lateDealsMs, lateCloseMs)),
        TE.tap(() => begin),
        TE.bindW('sent', (close) => sendClose(close, send)),
        TE.bindW(
          'evidence',
          (close) => async () =>
            E.fromNullable(outcomeUnknown(target))(await findClose(close, close.sent)),
        ),
        TE.map(({ before, request, sent, evidence: { shown, fill } }) => {
          const { accountId, ticket } = target.id
          const { readAt } = shown?.reading ?? before.reading
          return {
            data: {
              accountId,
              ticket,
              brokerOrderId: sent.brokerOrderId,
              // A broker that confirmed a close has made it, though no read may show it yet.
              ...(shown?.outcome ?? request.expected),
              ...(typeof fill?.volume === 'number' && { closedVolume: fill.volume }),
              closePrice: fill?.price ?? null,
              realizedPnl: fill?.profit ?? null,
              closedAt: fill?.at ?? null,
            },
            provenance: provenanceOf(broker.source, [{ accountId, readAt }], readAt),
          }
        }),
      ),
    )

  /**
   * POST /positions/close: closes each matching position as a whole, once. A close that fails does
   * not keep the others from being made.
   * @returns oldest first; empty where nothing matches
   */
  const closePositions = (
    caller: Caller,
    {
      body: { accountId, symbol, side, only },
      begin,
    }: WithBody<ClosesSelection> & IdempotencyGuard,
  ): AsyncResult<
    readonly CloseAttempt[],
    BrokerReadTag | 'AccountNotFound' | 'SymbolAmbiguous' | RestrictionTag | 'IdempotencyInProgress'
  > =>
    pipe(
      findAccount(ports)(caller.owner, accountId),
      TE.flatMap(requireChangeable(ports)),
      TE.bindTo('account'),
      TE.bindW('resolved', ({ account }) =>
        symbol === undefined ? TE.right(undefined) : ports.resolveOrderSymbol(account, symbol),
      ),
      TE.bindW('reading', ({ account }) => positionTrading.freshPositions(account)),
      TE.flatMapEither(({ resolved, reading: { positions } }) => {
        const ofSymbol = selectBySymbol(positions, symbol, resolved)
        // Some may be open under another spelling, which only the broker's list shows.
        if (symbol !== undefined && resolved === undefined && ofSymbol.length === 0)
          return E.left(
            refuse('BrokerUnavailable', { accountId, reason: 'its symbols cannot be read' }),
          )
        return E.right(
          ofSymbol.filter(
            (position) =>
              (side === undefined || position.side === side) &&
              (only === undefined ||
                (only === 'profit' ? position.unrealizedPnl > 0 : position.unrealizedPnl < 0)),
          ),
        )
      }),
      TE.tap(() => begin),
      TE.flatMapTask(
        (selected) => () =>
          doEach(selected, async ({ ticket }): Promise<CloseAttempt> => {
            const id = formatPositionId(accountId, ticket)
            const result = await closePosition(caller, { id, body: {}, ...withoutKey })()
            return {
              accountId,
              ticket,
              result: E.map(({ data }: Sourced<ClosedPosition>) => data)(result),
            }
          }),
      ),
    )

  return {
    /** PUT /positions/:id/sl: a price above 0. */
    moveStopLoss: moveLevel('stopLoss'),

    /** PUT /positions/:id/tp: a price above 0. */
    moveTakeProfit: moveLevel('takeProfit'),

    /** PUT /positions/:id/levels: prices above 0; an absent level stays. */
    changePositionLevels,
    closePosition,
    closePositions,
  }
}

/** Whether the change may have been made, whatever was answered. */
const mayBeMade = (failure: PositionChangeError): boolean =>
  failure._tag === 'BrokerOutcomeUnknown' ||
  (failure._tag === 'TradeRejected' && failure.isDoubted === true)

const outcomeUnknown = ({ id: { accountId } }: ChangeTarget): Refusal<'BrokerOutcomeUnknown'> =>
  refuse('BrokerOutcomeUnknown', { accountId })
