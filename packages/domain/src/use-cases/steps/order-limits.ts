// The limits of an account's desks and trader, decided on the positions that were read at the
// broker and the orders pending at this moment. The order store calls this in the transaction that
// records the order, under the locks of the account and its desks.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { requireBrokerAccount } from '../../accounts/account.ts'
import type { Account } from '../../accounts/account.ts'
import { limitCheckUnavailable } from '../../errors.ts'
import type { LimitCheckUnavailable } from '../../errors.ts'
import {
  isBookNeeded,
  requireDeskLimits,
  requireNoApproval,
  requireTraderLimits,
} from '../../orders/guards.ts'
import type { Book, OrderSize, PendingSize } from '../../orders/guards.ts'
import { brokerClientId, clientIdFamily } from '../../orders/order.ts'
import type { AccountGuards, OpenBooks } from '../../ports/guard-store.ts'
import type { LimitRefusal } from '../../ports/order-store.ts'

/** Whether anything is limited at all; of most accounts nothing is. */
export const isLimited = ({ trader, desks }: AccountGuards): boolean =>
  trader !== null || desks.length > 0

/**
 * The accounts whose positions the limits need, one for each broker account. Accounts without a
 * book at a broker (the paper book, another platform, not provisioned) have no positions that could
 * count.
 */
export const accountsInBooks = (
  account: Account,
  { trader, desks }: AccountGuards,
): readonly Account[] => {
  const ofDesks = desks
    .filter(({ limits }) => isBookNeeded(limits))
    .flatMap(({ accounts }) => accounts)
  const ofTrader = trader !== null && isBookNeeded(trader.limits) ? [account] : []
  return [
    ...new Map(
      [...ofDesks, ...ofTrader].flatMap((one) => bookOf(one).map((book) => [book, one] as const)),
    ).values(),
  ]
}

/**
 * Whether an order is within the limits of its desks, then of its trader, and needs no approval.
 */
export const requireOrderLimits = (
  account: Account,
  order: OrderSize,
  { trader, desks }: AccountGuards,
  books: OpenBooks,
): E.Either<LimitRefusal, void> => {
  for (const { limits, accounts, pending } of desks) {
    const within = pipe(
      isBookNeeded(limits) ? bookVolumes(accounts, pending, books) : E.right([]),
      E.flatMap((book): E.Either<LimitRefusal, void> => requireDeskLimits(order, limits, book)),
    )
    if (E.isLeft(within)) return within
  }
  if (trader === null) return E.right(undefined)
  const { limits, pending } = trader
  return pipe(
    isBookNeeded(limits) ? bookVolumes([account], pending, books) : E.right([]),
    E.flatMap((book): E.Either<LimitRefusal, void> => requireTraderLimits(order, limits, book)),
    E.flatMap(() => requireNoApproval(order, limits)),
  )
}

/**
 * The provider account whose positions are this account's book; empty where no broker holds one.
 */
const bookOf = (account: Account): readonly string[] => {
  const linked = requireBrokerAccount(account)
  return E.isRight(linked) ? [linked.right.providerAccountId] : []
}

/**
 * The volume of each open position and of each pending order, in lots. A position that a pending
 * order opened counts once, as the whole of what was ordered: the rest of the order may still be
 * executed.
 */
const bookVolumes = (
  accounts: readonly Account[],
  pending: readonly PendingSize[],
  { positions }: OpenBooks,
): E.Either<LimitCheckUnavailable, Book> => {
  const byFamily = new Map(
    pending.map((order) => [clientIdFamily(brokerClientId(order.id)), order]),
  )
  const executed = new Set<PendingSize>()
  const volumes: number[] = []
  for (const book of new Set(accounts.flatMap(bookOf))) {
    const open = positions.get(book)
    // An account that joined the desk, or was linked, after the books were read.
    if (open === undefined)
      return E.left(
        limitCheckUnavailable(
          'the accounts that the limits cover changed while the order was checked',
        ),
      )
    for (const { clientId, volume } of open) {
      const order = clientId === undefined ? undefined : byFamily.get(clientIdFamily(clientId))
      if (order !== undefined) executed.add(order)
      volumes.push(Math.max(volume, order?.volume ?? 0))
    }
  }
  return E.right([
    ...volumes,
    ...pending.filter((order) => !executed.has(order)).map(({ volume }) => volume),
  ])
}
