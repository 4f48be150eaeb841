// Changes of positions and pending orders: each is one request, and its effect is read by the
// caller.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import type { RejectReason } from '@tradeport/domain/orders'
import type { ChangeError, ChangeReceipt, MaySend } from '@tradeport/domain/ports'
import type { Connection } from './connection.ts'
import { CallFailure, toBrokerReadError } from './failures.ts'
import type { TradeBody } from './trade.ts'

const progressOf = {
  done: 'done',
  done_partial: 'accepted',
  placed: 'accepted',
  no_changes: 'unchanged',
} as const

const modifications: readonly unknown[] = ['ORDER_MODIFY', 'POSITION_MODIFY']

/** @param errorWhenGone what the reason becomes where the broker does not know what is to change */
export const createChange =
  <Gone>({ clock, targetOf, trade }: Connection, errorWhenGone: (reason: RejectReason) => Gone) =>
  (
    account: BrokerAccount,
    body: TradeBody,
    maySend: MaySend,
  ): TE.TaskEither<ChangeError<Gone>, ChangeReceipt> =>
  async () => {
    const { accountId } = account
    const outcomeUnknown = E.left(refuse('BrokerOutcomeUnknown', { accountId }))
    let answer
    try {
      answer = await trade(await targetOf(account), body, maySend)
    } catch (failure) {
      return failure instanceof CallFailure
        ? E.left(toBrokerReadError(account, clock.now)(failure))
        : outcomeUnknown
    }
    if (answer.kind === 'unknown') return outcomeUnknown
    if ('reason' in answer)
      return E.left(
        answer.kind === 'gone'
          ? errorWhenGone(answer.reason)
          : refuse('TradeRejected', {
              ...answer.reason,
              ...(answer.kind === 'doubted' && { isDoubted: true }),
            }),
      )
    // A broker that found nothing to close or to cancel has not said whether it is still there.
    if (answer.kind === 'no_changes' && !modifications.includes(body['actionType']))
      return outcomeUnknown
    const { positionId: askedId } = body
    const { orderId: brokerOrderId = null, positionId = askedId } = answer.tickets
    // On MT4 what is left of a position gets a new number.
    if (askedId !== undefined && positionId !== askedId && account.platform === 'mt5')
      return outcomeUnknown
    return E.right({ progress: progressOf[answer.kind], brokerOrderId })
  }
