// The bodies of POST /orders and PUT /orders/:id (4.2; decisions 5, 19 and 21). null is no value of any field: it is told as a fault.
import { orderTypeNotSupported, parseAccountId } from '@tradeport/domain'
import type { OrderRequest, OrderTypeNotSupported } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { aboveZero, mapped, maybe, openObject, present, someOf, stringOf } from './json-codecs.ts'
import type { JsonCodec } from './json-codecs.ts'
import { isOrderSymbol, orderSymbolTakes } from './order-symbol.ts'
import type { JsonObject } from './read-body.ts'

interface OrderBody extends Omit<OrderRequest, 'side'> {
  readonly type: OrderRequest['side']
  readonly orderType: 'market'
}

export interface PlaceOrderBody {
  readonly request: OrderRequest
  /** The whole body as it was sent, which tells a request from another with the same key. */
  readonly sent: JsonObject
}

/** What an open order may be given anew; at least one is there. */
export interface ModifyOrderBody {
  readonly price?: number
  readonly stopLoss?: number
  readonly takeProfit?: number
}

const longestComment = 500
const longestClientId = 100
const unsupportedTypes: ReadonlySet<unknown> = new Set(['limit', 'stop', 'stop_limit'])

/** The check of decision 19 that comes before every other of the body. */
export const requireMarketOrder = ({ orderType }: JsonObject): E.Either<OrderTypeNotSupported, unknown> =>
  unsupportedTypes.has(orderType) ? E.left(orderTypeNotSupported(String(orderType))) : E.right(orderType)

// A NUL and half of a character are nothing that the records can hold. Lengths count Unicode code points (decision 5).
const textUpTo = (maxLength: number): JsonCodec<string> =>
  stringOf(
    `at most ${maxLength} characters of well-formed text without U+0000`,
    O.fromPredicate((text: string) => Array.from(text).length <= maxLength && !text.includes('\0') && text.isWellFormed()),
  )

const levels = { price: maybe(aboveZero), stopLoss: maybe(aboveZero), takeProfit: maybe(aboveZero) }

const orderBody = openObject<OrderBody>('Order', {
  accountId: present(stringOf('an account id: a UUID', parseAccountId)),
  symbol: present(stringOf(orderSymbolTakes, O.fromPredicate(isOrderSymbol))),
  type: present(
    stringOf(
      'one of buy, sell',
      O.fromPredicate((text) => text === 'buy' || text === 'sell'),
    ),
  ),
  orderType: present(
    stringOf(
      'market',
      O.fromPredicate((text) => text === 'market'),
    ),
  ),
  // Above 10 lots it is the use case that refuses, by its own code.
  volume: present(aboveZero),
  ...levels,
  comment: maybe(textUpTo(longestComment)),
  clientId: maybe(textUpTo(longestClientId)),
})

export const placeOrderBody: JsonCodec<PlaceOrderBody> = mapped(orderBody, (body, value) => {
  const { type: side, orderType: _, ...rest } = body
  // Only an object is decoded as one.
  return { request: { ...rest, side }, sent: value as JsonObject }
})

export const modifyOrderBody: JsonCodec<ModifyOrderBody> = someOf(openObject<ModifyOrderBody>('OrderChange', levels), [
  'price',
  'stopLoss',
  'takeProfit',
])
