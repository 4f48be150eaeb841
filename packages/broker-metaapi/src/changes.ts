// Changes of positions and pending orders: each is one request, and its effect is read by the
// caller.
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse, type BrokerReadError, type Refusal } from '@tradeport/domain/errors'
import type { RejectReason } from '@tradeport/domain/orders'
import type { ChangeReceipt, MaySend } from '@tradeport/domain/ports'
import type { Connection } from './connection.ts'
import { CallFailure, toBrokerReadError } from './failures.ts'
import type { TradeBody } from './trade.ts'

const progressOf = {
  done: 'done',
  done_in_part: 'accepted',
  placed: 'accepted',
  no_changes: 'unchanged',
} as const

export const outcomeUnknown = ({ accountId }: BrokerAccount): Refusal<'BrokerOutcomeUnknown'> =>
  refuse('BrokerOutcomeUnknown', { accountId })

/**
 * A broker that found nothing to close or to cancel has not said whether it is still there.
 */
export const requireChanged = (
  account: BrokerAccount,
): (<Failure>(
  made: TE.TaskEither<Failure, ChangeReceipt>,
) => TE.TaskEither<Failure | Refusal<'BrokerOutcomeUnknown'>, ChangeReceipt>) =>
  TE.filterOrElseW(
    ({ progress }) => progress !== 'unchanged',
    () => outcomeUnknown(account),
  )

type ChangeError<Gone> = BrokerReadError | Gone | Refusal<'TradeRejected' | 'BrokerOutcomeUnknown'>

/** @param errorWhenGone what the reason becomes where the broker does not know what is to change */
export const createChange =
  <Gone>({ clock, targetOf, trade }: Connection, errorWhenGone: (reason: RejectReason) => Gone) =>
  (
    account: BrokerAccount,
    body: TradeBody,
    maySend: MaySend,
  ): TE.TaskEither<ChangeError<Gone>, ChangeReceipt> =>
    pipe(
      TE.tryCatch(
        async () => trade(await targetOf(account), body, maySend),
        (failure): ChangeError<Gone> =>
          failure instanceof CallFailure
            ? toBrokerReadError(account, clock.now)(failure)
            : outcomeUnknown(account),
      ),
      TE.flatMapEither((answer): E.Either<ChangeError<Gone>, ChangeReceipt> => {
        if (answer.kind === 'unknown') return E.left(outcomeUnknown(account))
        if ('reason' in answer)
          return E.left(
            answer.kind === 'gone'
              ? errorWhenGone(answer.reason)
              : refuse('TradeRejected', answer.reason),
          )
        const { orderId: brokerOrderId = null } = answer.tickets
        return E.right({ progress: progressOf[answer.kind], brokerOrderId })
      }),
    )
