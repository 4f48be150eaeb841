// What the broker is sent of an order, and how its records are searched for it.
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { presentLinkTo, type BrokerAccount } from '../../accounts/account.ts'
import type { AsyncResult } from '../../errors.ts'
import { brokerClientId, type Order } from '../../orders/order.ts'
import type { LookupAnswer } from '../../orders/placement.ts'
import type { OrderToSend, StoredOrder, Ports, SentOrder } from '../../ports/index.ts'
import { secondMs } from '../../primitives/instant.ts'

/**
 * An order as it is sent, under the name by which the broker's records show it. The price of a
 * market order is not sent.
 */
export const orderToSend = ({ id, request }: Order): OrderToSend => {
  const { symbol, brokerSymbol = symbol, side, volume, stopLoss, takeProfit } = request
  const { orderType: type, price, stopLimitPrice, timeInForce = 'gtc', expiresAt } = request
  return {
    clientId: brokerClientId(id),
    symbol: brokerSymbol,
    side,
    volume,
    stopLoss,
    takeProfit,
    limitOrStop:
      type === 'market' || price === undefined
        ? undefined
        : { type, price, stopLimitPrice, timeInForce, expiresAt },
  }
}

/** What a lookup needs besides the order. */
export type LookupHints = Omit<SentOrder, 'order' | 'ticketsOfOtherOrders'>

export type LookupPorts = Pick<Ports, 'accounts' | 'orders' | 'trading' | 'journal' | 'broker'>

/** Looks for an order at the account that it was sent to, in the region where that is now. */
export const lookUpOrder =
  (ports: LookupPorts) =>
  (stored: StoredOrder, hints: LookupHints): AsyncResult<LookupAnswer> =>
  async () => {
    const { order, destination } = stored
    const found = await ports.accounts.find(order.owner, order.request.accountId)()
    if (E.isLeft(found)) return found
    const ticketsOfOtherOrders = await ports.orders.ticketsOfOtherOrders(order.owner, stored)()
    if (E.isLeft(ticketsOfOtherOrders)) return ticketsOfOtherOrders
    const account = O.toUndefined(found.right)
    const linked = (account && presentLinkTo(destination, account)) ?? destination
    const sought = {
      ...hints,
      order: orderToSend(order),
      ticketsOfOtherOrders: ticketsOfOtherOrders.right,
    }
    const answer = await ports.trading.findOrder(linked, sought)()
    return E.right(
      answer.kind === 'nothing' && !(await showsLastDeal(ports, linked))
        ? { kind: 'unreadable' }
        : answer,
    )
  }

/**
 * Whether the broker's history still has the last deal that it has shown. One that lacks it is
 * incomplete, as after the provider has connected, and proves of no order that it is not there.
 */
const showsLastDeal = async (
  { journal, broker }: LookupPorts,
  account: BrokerAccount,
): Promise<boolean> => {
  const known = await journal.find(account)()
  if (E.isLeft(known)) return false
  const at = O.toUndefined(known.right)?.latestDealAt
  if (at === undefined || at === null) return true
  const window = { from: at - secondMs, to: at + secondMs, offset: 0 }
  const page = await broker.dealsPage(account, window)()
  return E.isRight(page) && page.right.deals.length > 0
}
