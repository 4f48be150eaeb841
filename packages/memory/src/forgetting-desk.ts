// Changes of positions after which nothing that was read before them is served any longer.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerChangeError } from '@tradeport/domain/errors'
import type { PositionDesk } from '@tradeport/domain/ports'
import type { AccountId } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'

/**
 * Forgets an account whenever a change of one of its positions may have been made, and when the
 * broker does not have the position, which says that what is kept is out of date. What is read
 * while the change is on its way is dropped with the rest. Reads of the desk pass through.
 * @param forget drops what every cache keeps of the account
 */
export const forgettingDesk = (
  desk: PositionDesk,
  forget: (accountId: AccountId) => void,
): PositionDesk => {
  const forgetting = <A>(
    { accountId }: BrokerAccount,
    change: TE.TaskEither<BrokerChangeError, A>,
  ): TE.TaskEither<BrokerChangeError, A> =>
    pipe(
      change,
      T.tap((result) => T.fromIO(() => (isOutOfDateAfter(result) ? forget(accountId) : undefined))),
    )
  return {
    ...desk,
    setLevels: (account, ticket, levels, maySend) =>
      forgetting(account, desk.setLevels(account, ticket, levels, maySend)),
    closePosition: (account, ticket, volume, maySend) =>
      forgetting(account, desk.closePosition(account, ticket, volume, maySend)),
  }
}

const isOutOfDateAfter = (result: E.Either<BrokerChangeError, unknown>): boolean => {
  if (E.isRight(result)) return true
  switch (result.left._tag) {
    case 'BrokerOutcomeUnknown':
    case 'PositionNotFound':
      return true
    case 'UnsupportedBroker':
    case 'NotProvisioned':
    case 'BrokerUnavailable':
    case 'BrokerRateLimited':
    case 'TradeRejected':
      return false
  }
}
