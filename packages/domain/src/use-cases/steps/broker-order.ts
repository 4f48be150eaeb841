// What the broker is sent of an order.
import { brokerClientId, type Order, type OrderRequest } from '../../orders/order.ts'
import type { BrokerOrder, PendingPart } from '../../ports/index.ts'

/** Undefined for a market order, whose price is not sent. */
const pendingPartOf = ({
  orderType: type,
  price,
  stopLimitPrice,
  timeInForce = 'gtc',
  expiresAt,
}: OrderRequest): PendingPart | undefined =>
  type === 'market' || price === undefined
    ? undefined
    : { type, price, stopLimitPrice, timeInForce, expiresAt }

/** An order as it is sent, under the name by which the broker's records show it. */
export const brokerOrderOf = ({ id, request }: Order): BrokerOrder => {
  const { symbol, brokerSymbol = symbol, side, volume, stopLoss, takeProfit } = request
  return {
    clientId: brokerClientId(id),
    symbol: brokerSymbol,
    side,
    volume,
    stopLoss,
    takeProfit,
    pending: pendingPartOf(request),
  }
}
