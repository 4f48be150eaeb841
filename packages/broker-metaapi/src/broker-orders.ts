// Pending orders in the provider's terms and in ours.
import {
  isOwnClientId,
  orderTypes as allTypes,
  type OrderType,
  type OrderTerms,
  type BrokerOrder,
} from '@tradeport/domain/orders'
import type { Side } from '@tradeport/domain/positions'
import { dayMs, roundAmount, secondMs, toIso, type Instant } from '@tradeport/domain/primitives'
import {
  isNumber,
  isRecord,
  readId,
  readList,
  readPrice,
  readText,
  readTime,
  type Row,
} from './payloads.ts'
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

/** The terms as a trade has them. A level that is left out is removed. */
export const termsBody = ({
  price,
  stopLimitPrice,
  stopLoss,
  takeProfit,
  timeInForce,
  expiresAt,
}: OrderTerms) => ({
  openPrice: price,
  stopLimitPrice,
  stopLoss,
  takeProfit,
  // Always named: whether a change that leaves it out removes it is not documented.
  expiration: {
    type: expirationTypes[timeInForce],
    time: expiresAt === undefined ? undefined : toIso(expiresAt),
  },
})

const expirationTypes = {
  gtc: 'ORDER_TIME_GTC',
  day: 'ORDER_TIME_DAY',
  gtd: 'ORDER_TIME_SPECIFIED',
} as const

/** Whether another program sent it: brokers preserve two parts of our client ids, or nothing. */
export const isOfAnotherProgram = (row: Row): boolean => {
  const clientId = readText(row['clientId'])
  return clientId !== undefined && !isOwnClientId(clientId)
}

const optionalPrices = ['stopLimitPrice', 'stopLoss', 'takeProfit'] as const

/**
 * A text says what is wrong with the row; undefined if it is of no pending order, or of another
 * program's.
 */
export const brokerOrderOf = (row: unknown): BrokerOrder | string | undefined => {
  if (!isRecord(row)) return 'not an order'
  if (isOfAnotherProgram(row)) return undefined
  if (typeof row['type'] !== 'string') return 'type is not a text'
  const type = orderTypes.get(row['type'])
  if (type === undefined || type.orderType === 'market') return undefined
  const brokerOrderId = readId(row['id'])
  if (brokerOrderId === undefined) return 'id is not an id'
  const { openPrice, volume, currentVolume, expirationType, expirationTime } = row
  const stopLimitPrice = readPrice(row['stopLimitPrice'])
  if (!isNumber(openPrice)) return 'openPrice is not a finite number'
  // Read as none, it would be removed by the next change of another term.
  const unreadable = optionalPrices.find((name) => !isNumber(row[name] ?? 0))
  if (unreadable !== undefined) return `${unreadable} is not a price`
  // Without it the order would count as one that was triggered.
  if (type.orderType === 'stop_limit' && stopLimitPrice === undefined)
    return 'stopLimitPrice is not a price'
  const expiresAt = expiryOf(row)
  const isTimed =
    typeof expirationTime === 'string' ||
    expirationType === 'ORDER_TIME_SPECIFIED' ||
    expirationType === 'ORDER_TIME_SPECIFIED_DAY'
  if (expiresAt === undefined && isTimed && !isUntimed(expirationType))
    return 'expirationTime is not a time'
  return {
    brokerOrderId,
    clientId: readText(row['clientId']),
    volume: isNumber(volume) ? roundAmount(volume) : undefined,
    isUnexecuted: isNumber(volume) && currentVolume === volume,
    price: openPrice,
    stopLimitPrice,
    stopLoss: readPrice(row['stopLoss']),
    takeProfit: readPrice(row['takeProfit']),
    ...(expirationType === expirationTypes.day
      ? { timeInForce: 'day' }
      : { timeInForce: expiresAt === undefined ? 'gtc' : 'gtd', expiresAt }),
  }
}

/** Of these the expirationTime counts for nothing: it may be the beginning of 1970. */
const isUntimed = (expirationType: unknown): boolean =>
  expirationType === expirationTypes.gtc || expirationType === expirationTypes.day

export const expiryOf = ({ expirationType, expirationTime }: Row): Instant | undefined => {
  const time = isUntimed(expirationType) ? undefined : readTime(expirationTime)
  // An order of this type, which other programs can give it, lasts until the end of that day.
  return expirationType === 'ORDER_TIME_SPECIFIED_DAY' && time !== undefined
    ? time + dayMs - secondMs
    : time
}

/** Fails where any row is bad: an order that is left out would be looked up as ended. */
export const brokerOrdersIn = readList('orders', brokerOrderOf)
