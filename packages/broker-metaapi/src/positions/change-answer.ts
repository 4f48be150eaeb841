// What the provider's answer says of a change of a position. Pure.
import * as E from 'fp-ts/lib/Either.js'
import { brokerOutcomeUnknown, brokerRateLimited, brokerUnavailable, positionNotFound, tradeRejected } from '@tradeport/domain'
import type { BrokerAccount, BrokerChangeError, CloseReceipt, Instant, LevelsReceipt } from '@tradeport/domain'
import type { TradeVerdict } from '../trade/trade-answer.ts'

export type Taken = Extract<TradeVerdict, { kind: 'taken' }>

/** A change that the broker took, or why it did not. */
export const changeOf = (
  { accountId }: BrokerAccount,
  verdict: Exclude<TradeVerdict, { kind: 'not_found' }>,
  now: Instant,
): E.Either<BrokerChangeError, Taken> => {
  switch (verdict.kind) {
    case 'taken':
      return E.right(verdict)
    case 'refused':
      return E.left(tradeRejected(verdict.reason.code, verdict.reason.message))
    case 'gone':
      return E.left(positionNotFound)
    case 'limited':
      return E.left(brokerRateLimited(accountId, now + (verdict.retryAfterMs ?? 0), now))
    case 'not_sent':
      return E.left(brokerUnavailable(accountId, `trade: ${verdict.why}`, verdict.cause))
    case 'unknown':
      return E.left(brokerOutcomeUnknown(accountId))
  }
}

/** Taken is not yet done: where the broker has only accepted it, or has executed a part, it is for a read to say what has become of the position. */
export const progressOf = ({ as }: Taken): LevelsReceipt['progress'] => {
  switch (as) {
    case 'done':
      return 'done'
    case 'no_changes':
      return 'unchanged'
    case 'placed':
    case 'done_in_part':
      return 'accepted'
  }
}

/** Of a close, that nothing was changed is neither a yes nor a no: the position may have been closed before, or may still be open. */
export const closeReceiptOf = ({ accountId }: BrokerAccount, taken: Taken): E.Either<BrokerChangeError, CloseReceipt> => {
  const progress = progressOf(taken)
  return progress === 'unchanged' ? E.left(brokerOutcomeUnknown(accountId)) : E.right({ progress, orderId: taken.tickets.orderId ?? null })
}
