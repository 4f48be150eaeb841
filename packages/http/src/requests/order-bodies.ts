// The bodies of POST /orders and PUT /orders/:id (4.2; decisions 5, 19 and 21). null is no value of any field: it is told as a fault.
import { maxLotsPerOrder, orderTypeNotSupported, parseAccountId } from '@tradeport/domain'
import type { OrderRequest, OrderTypeNotSupported } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { exampleAccountId } from '../presenters/examples.ts'
import { aboveZero, described, mapped, maybe, namedCodec, openObject, present, someOf, stringOf } from './json-codecs.ts'
import type { JsonCodec } from './json-codecs.ts'
import { isOrderSymbol, orderSymbolBounds, orderSymbolTakes } from './order-symbol.ts'
import { schemaOf } from '../schema/json-schema.ts'
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
    { maxLength, pattern: String.raw`^[^\u0000]*$` },
  )

const levels = {
  price: maybe(described(aboveZero, 'Recorded on the order, not sent to the broker.')),
  stopLoss: maybe(described(aboveZero, 'A price.')),
  takeProfit: maybe(described(aboveZero, 'A price.')),
}

// Above the most that an order may have it is the use case that refuses, by its own code.
const volume: JsonCodec<number> = {
  ...aboveZero,
  schema: schemaOf({ ...aboveZero.schema.node, maximum: maxLotsPerOrder, description: 'Lots. More are RISK_LIMIT_EXCEEDED.' }),
}

const orderBody = openObject<OrderBody>('Order', {
  accountId: present(
    described(stringOf('an account id: a UUID', parseAccountId, { format: 'uuid' }), 'A linked demo account for trading.'),
  ),
  symbol: present(described(stringOf(orderSymbolTakes, O.fromPredicate(isOrderSymbol), orderSymbolBounds), 'The instrument.')),
  type: present(
    stringOf(
      'one of buy, sell',
      O.fromPredicate((text) => text === 'buy' || text === 'sell'),
      { enum: ['buy', 'sell'], description: 'The side.' },
    ),
  ),
  orderType: present(
    stringOf(
      'market',
      O.fromPredicate((text) => text === 'market'),
      { enum: ['market'], description: 'limit, stop and stop_limit are ORDER_TYPE_NOT_SUPPORTED.' },
    ),
  ),
  volume: present(volume),
  ...levels,
  comment: maybe(described(textUpTo(longestComment), 'For its user; it does not reach the broker.')),
  clientId: maybe(described(textUpTo(longestClientId), "The caller's own reference, which the order tells again.")),
})

const orderExample = {
  accountId: exampleAccountId,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.2,
  stopLoss: 1.08,
  takeProfit: 1.095,
  clientId: 'strategy-7-0042',
}

export const placeOrderBody: JsonCodec<PlaceOrderBody> = mapped(namedCodec('PlaceOrderRequest', orderBody, orderExample), (body, value) => {
  const { type: side, orderType: _, ...rest } = body
  // Only an object is decoded as one.
  return { request: { ...rest, side }, sent: value as JsonObject }
})

export const modifyOrderBody: JsonCodec<ModifyOrderBody> = namedCodec(
  'ModifyOrderRequest',
  someOf(openObject<ModifyOrderBody>('OrderChange', levels), ['price', 'stopLoss', 'takeProfit']),
  { stopLoss: 1.081 },
)
