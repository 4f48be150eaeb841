// Trading after which nothing that was read before an order is served any longer: a write drops that account's entries.
import type { AccountId, Trading } from '@tradeport/domain'
import * as T from 'fp-ts/lib/Task.js'
import { pipe } from 'fp-ts/lib/function.js'

/**
 * Forgets an account whenever the broker may have executed an order on it: after a send that was neither refused nor kept from the broker,
 * and after a look-up that found the order. What is read while the order is on its way is dropped with the rest.
 * @param forget drops what every cache keeps of the account
 */
export const forgettingTrading = (trading: Trading, forget: (accountId: AccountId) => void): Trading => ({
  placeOrder: (account, order) =>
    pipe(
      trading.placeOrder(account, order),
      T.tap(({ kind }) => T.fromIO(() => (kind === 'refused' || kind === 'not_sent' ? undefined : forget(account.accountId)))),
    ),
  findOrder: (account, sent) =>
    pipe(
      trading.findOrder(account, sent),
      T.tap(({ kind }) => T.fromIO(() => (kind === 'found' ? forget(account.accountId) : undefined))),
    ),
})
