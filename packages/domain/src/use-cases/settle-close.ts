// Takes a recorded close one step further: queries the broker's records for its outcome and for the trade that its position became, and records the events. It
// may be called any number of times, by several processes at once and after any crash: the stored record decides, and every write expects the version that was
// read.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount } from '../accounts/account.ts'
import type { BrokerAccount } from '../accounts/account.ts'
import { internalTimeout } from '../errors.ts'
import type { BrokerReadError, HistoryTooLarge, InternalTimeout, ServiceUnavailable } from '../errors.ts'
import { afterCloseLook, afterTradeLook, isTradeOf } from '../events/close-telling.ts'
import type { CloseLook, CloseStep, CloseTold, TradeLook } from '../events/close-telling.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Clock } from '../ports/clock.ts'
import type { CloseJob, CloseRecords, RecordedClose } from '../ports/close-records.ts'
import type { Histories } from '../ports/histories.ts'
import type { PositionDesk } from '../ports/position-desk.ts'
import type { PositionLocks } from '../ports/position-locks.ts'
import type { Owner, PositionId } from '../primitives/ids.ts'

interface Ports {
  readonly closeRecords: Pick<CloseRecords, 'find' | 'advance'>
  readonly accounts: Pick<AccountStore, 'find'>
  readonly positionDesk: Pick<PositionDesk, 'freshPositions' | 'closingDeals'>
  readonly positionLocks: PositionLocks
  readonly histories: Histories
  readonly clock: Clock
}

type Settling = TE.TaskEither<ServiceUnavailable | InternalTimeout, void>

const done: Settling = TE.right(undefined)

export const settleClose =
  (ports: Ports) =>
  (job: CloseJob): Settling =>
    pipe(current(ports)(job), TE.flatMap(O.match(() => done, nextStep(ports, job))))

// A job that comes late or twice finds that the record has moved on, and leaves it to the job that goes with where it is now.
const current =
  ({ closeRecords }: Ports) =>
  ({ owner, closeId, version }: CloseJob): TE.TaskEither<ServiceUnavailable, O.Option<RecordedClose>> =>
    pipe(closeRecords.find(owner, closeId), TE.map(O.filter((found) => found.version === version)))

const nextStep =
  (ports: Ports, job: CloseJob) =>
  ({ close, progress }: RecordedClose): Settling => {
    switch (progress.step) {
      case 'sent':
        return holdingPosition(ports)(job.owner, close.id, lookForClose(ports, job))
      case 'made':
        return lookForClose(ports, job)
      case 'told':
        return lookForTrade(ports, job, close, progress)
      case 'ended':
        return done
    }
  }

// The sender of a close holds the position until its outcome is written, and while it is held nobody closes more of it.
const holdingPosition =
  (ports: Ports) =>
  (owner: Owner, { accountId, ticket }: PositionId, work: Settling): Settling =>
    pipe(
      brokerAccountOf(ports)(owner, accountId),
      TE.flatMap(
        O.match(
          () => work,
          (account) => ports.positionLocks.holding(account, ticket)(() => work),
        ),
      ),
      TE.mapLeft((error) => (error._tag === 'BrokerUnavailable' ? internalTimeout : error)),
    )

const lookForClose = (ports: Ports, job: CloseJob): Settling =>
  pipe(
    current(ports)(job),
    TE.flatMap(
      O.match(
        () => done,
        (found) => {
          const { progress, close } = found
          if (progress.step !== 'sent' && progress.step !== 'made') return done
          return pipe(
            brokerAccountOf(ports)(job.owner, close.id.accountId),
            TE.flatMapTask(O.match(() => T.of<CloseLook>({ kind: 'unreadable' }), lookAtRecords(ports)(close.id.ticket))),
            TE.flatMap((look) => write(ports, job, afterCloseLook(found, progress, look, ports.clock.now()))),
          )
        },
      ),
    ),
  )

const lookForTrade = (ports: Ports, job: CloseJob, { id }: RecordedClose['close'], progress: CloseTold): Settling =>
  pipe(
    brokerAccountOf(ports)(job.owner, id.accountId),
    TE.flatMapTask(O.match(() => T.of<TradeLook>({ kind: 'unreadable' }), lookAtTrades(ports)(id, progress))),
    TE.flatMap((look) => write(ports, job, afterTradeLook(progress, look, ports.clock.now()))),
  )

// An account that is no longer linked cannot be read; what may have been closed on it waits until it is linked again.
const brokerAccountOf =
  ({ accounts }: Ports) =>
  (owner: Owner, accountId: BrokerAccount['accountId']): TE.TaskEither<ServiceUnavailable, O.Option<BrokerAccount>> =>
    pipe(accounts.find(owner, accountId), TE.map(O.flatMap((account) => O.fromEither(requireBrokerAccount(account)))))

const lookAtRecords =
  ({ positionDesk }: Ports) =>
  (ticket: RecordedClose['close']['id']['ticket']) =>
  (account: BrokerAccount): T.Task<CloseLook> =>
    pipe(
      TE.Do,
      TE.bind('book', () => positionDesk.freshPositions(account)),
      TE.bind('deals', () => positionDesk.closingDeals(account, ticket)),
      TE.match(
        (): CloseLook => ({ kind: 'unreadable' }),
        ({ book, deals }) => ({ kind: 'read', positions: book.positions, deals, renumbers: account.platform === 'mt4' }),
      ),
    )

const lookAtTrades =
  ({ histories }: Ports) =>
  (id: RecordedClose['close']['id'], { deals }: CloseTold) =>
  (account: BrokerAccount): T.Task<TradeLook> =>
    pipe(
      histories.read(account),
      T.map(
        E.match(lookOfFailure, ({ trades }): TradeLook => {
          const trade = trades.findLast(isTradeOf(id, deals))
          return trade === undefined ? { kind: 'nothing' } : { kind: 'found', trade }
        }),
      ),
    )

const lookOfFailure = ({ _tag }: BrokerReadError | HistoryTooLarge): TradeLook => ({
  kind: _tag === 'HistoryTooLarge' ? 'too_long' : 'unreadable',
})

// A write that comes too late changes nothing: what another process wrote decides.
const write = ({ closeRecords }: Ports, { owner, closeId, version }: CloseJob, step: CloseStep): Settling =>
  pipe(
    closeRecords.advance(owner, closeId, version, step),
    TE.map(() => undefined),
  )
