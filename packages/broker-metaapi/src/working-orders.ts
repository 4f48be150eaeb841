// Pending orders in the provider's terms and in ours.
import * as E from 'fp-ts/lib/Either.js'
import {
  orderTypes as allTypes,
  type OrderType,
  type PendingTerms,
  type WorkingOrder,
} from '@tradeport/domain/orders'
import type { Side } from '@tradeport/domain/positions'
import { toIso } from '@tradeport/domain/primitives'
import { isNumber, isRecord, readId, readTime, rowsIn, type Row } from './payloads.ts'
import { orderTypeOf } from './requests.ts'

const sides: readonly Side[] = ['buy', 'sell']

/** Side and type of an order by the provider's name of its type. */
export const orderTypes: ReadonlyMap<
  unknown,
  { readonly side: Side; readonly orderType: OrderType }
> = new Map(
  sides.flatMap((side) =>
    allTypes.map((orderType) => [orderTypeOf(side, orderType), { side, orderType }] as const),
  ),
)

/** The terms as a trade has them. One that is left out is removed, or gtc. */
export const termsBody = ({
  price,
  stopLimitPrice,
  stopLoss,
  takeProfit,
  timeInForce,
  expiresAt,
}: PendingTerms) => ({
  openPrice: price,
  stopLimitPrice,
  stopLoss,
  takeProfit,
  expiration: expirationOf(timeInForce, expiresAt),
})

const expirationOf = (
  timeInForce: PendingTerms['timeInForce'],
  expiresAt: PendingTerms['expiresAt'],
) => {
  if (timeInForce === 'day') return { type: 'ORDER_TIME_DAY' }
  return expiresAt === undefined
    ? undefined
    : { type: 'ORDER_TIME_SPECIFIED', time: toIso(expiresAt) }
}

/** One bad row makes the read fail: an order that is not listed would be looked up as ended. */
export const workingOrdersIn = (bytes: Uint8Array): E.Either<string, readonly WorkingOrder[]> => {
  const page = rowsIn(bytes, 'orders')
  if (E.isLeft(page)) return page
  if (page.right.isLoading) return E.left('the orders are still being loaded')
  const orders: WorkingOrder[] = []
  for (const [index, row] of page.right.rows.entries()) {
    const order = isRecord(row) ? workingOrderOf(row) : 'not an order'
    if (typeof order === 'string') return E.left(`${index}: ${order}`)
    if (order !== undefined) orders.push(order)
  }
  return E.right(orders)
}

/** A text says what is wrong with the row; undefined if it is of no pending order. */
export const workingOrderOf = (row: Row): WorkingOrder | string | undefined => {
  const type = orderTypes.get(row['type'])
  if (type === undefined || type.orderType === 'market') return undefined
  const brokerOrderId = readId(row['id'])
  if (brokerOrderId === undefined) return 'id is not an id'
  const { openPrice, clientId, expirationType } = row
  if (!isNumber(openPrice)) return 'openPrice is not a finite number'
  const expiresAt =
    typeof row['expirationTime'] === 'string' ? readTime(row['expirationTime']) : undefined
  if (Number.isNaN(expiresAt)) return 'expirationTime is not a time'
  return {
    brokerOrderId,
    ...(typeof clientId === 'string' && clientId !== '' && { clientId }),
    price: openPrice,
    ...levelsOf(row),
    ...(expirationType === 'ORDER_TIME_DAY'
      ? { timeInForce: 'day' }
      : { timeInForce: expiresAt === undefined ? 'gtc' : 'gtd', expiresAt }),
  }
}

/** 0 stands for none. */
const levelsOf = ({ stopLimitPrice, stopLoss, takeProfit }: Row) => ({
  ...(isNumber(stopLimitPrice) && stopLimitPrice > 0 && { stopLimitPrice }),
  ...(isNumber(stopLoss) && stopLoss > 0 && { stopLoss }),
  ...(isNumber(takeProfit) && takeProfit > 0 && { takeProfit }),
})
