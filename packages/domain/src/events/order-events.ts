// The events of an order: recorded and executed. Nothing leads to a cancelled order today, so there
// is no event of one.
import type { FilledOrder, Order, PendingOrder } from '../orders/order.ts'
import { formatPositionId } from '../primitives/ids.ts'
import { toIso } from '../primitives/instant.ts'
import { withoutAbsent } from './service-event.ts'
import type { EventOf, ServiceEvent } from './service-event.ts'

export const orderCreated = ({
  id,
  request,
  createdAt,
}: PendingOrder): EventOf<'order.created'> => ({
  type: 'order.created',
  key: `order.created ${id}`,
  data: withoutAbsent({
    ...orderFields({ id, request }),
    created_at: toIso(createdAt),
    price: request.price,
    stop_loss: request.stopLoss,
    take_profit: request.takeProfit,
    client_id: request.clientId,
  }),
  at: createdAt,
})

/**
 * Also of an order that was executed in part, which `filled_volume` tells. What the broker did not
 * say of the execution is null, but for the volume of a whole one, which is the order's, and for
 * the time, which is then that of its being known.
 */
export const orderFilled = ({
  id,
  request,
  status,
  fill,
  updatedAt,
}: FilledOrder): EventOf<'order.filled'> => ({
  type: 'order.filled',
  key: `order.filled ${id}`,
  data: withoutAbsent({
    ...orderFields({ id, request }),
    fill_price: fill.price ?? null,
    filled_volume: fill.volume ?? (status === 'filled' ? request.volume : null),
    filled_at: toIso(fill.at ?? updatedAt),
    requested_price: request.price,
    position_id: fill.positionId && formatPositionId(request.accountId, fill.positionId),
  }),
  at: updatedAt,
})

/**
 * What an order becomes by being settled, if that is an event: a refusal by the broker has none.
 */
export const settlementEvents = (order: Order): readonly ServiceEvent[] =>
  order.status === 'filled' || order.status === 'partially_filled' ? [orderFilled(order)] : []

const orderFields = ({ id, request }: Pick<Order, 'id' | 'request'>) => ({
  order_id: id,
  account_id: request.accountId,
  symbol: request.symbol,
  type: request.side,
  order_type: 'market' as const,
  volume: request.volume,
})
