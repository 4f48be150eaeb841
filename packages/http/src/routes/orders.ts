// Orders: placed, listed, read, changed and cancelled.
import { formatPositionId, maxLotsPerOrder, orderStatuses, orderTypeNotSupported } from '@tradeport/domain'
import type { Order } from '@tradeport/domain'
import { exampleAccountId, exampleOrderId, examplePositionId, exampleUserId } from '../examples.ts'
import { pageMeta, paginationShape } from '../pagination.ts'
import { accountId, dateRange, orderSymbol, paging } from '../parameters.ts'
import { anyOf, routesOf } from '../route.ts'
import {
  anyText,
  always,
  atLeastOne,
  decimal,
  described,
  input,
  list,
  named,
  object,
  oneOf,
  optional,
  record,
  seldom,
  text,
  time,
  uuid,
} from '../schema.ts'
import type { UseCases } from '../use-cases.ts'

export const sides = ['buy', 'sell'] as const

const unsupportedTypes: readonly unknown[] = ['limit', 'stop', 'stop_limit']

const clientId = text("The caller's own reference, which the order carries.", 'strategy-7-0042', { maxLength: 100 })
const price = (description: string, example: number) => decimal(description, example, { exclusiveMinimum: 0 })
const levels = {
  price: seldom(price('Recorded on the order, not sent to the broker.', 1.0842)),
  stopLoss: optional(price('A price.', 1.08)),
  takeProfit: optional(price('A price.', 1.095)),
}

// Above the most that an order may have, the use case refuses it by a code of its own.
const volume = decimal('Lots.', 0.2, { exclusiveMinimum: 0 })

const newOrder = named(
  'PlaceOrderRequest',
  input('A market order.', {
    accountId: described(accountId, 'A linked demo account for trading.'),
    symbol: orderSymbol,
    type: oneOf(sides, 'The side.'),
    orderType: oneOf(['market'], 'limit, stop and stop_limit are ORDER_TYPE_NOT_SUPPORTED.'),
    volume: { ...volume, json: { ...volume.json, maximum: maxLotsPerOrder } },
    ...levels,
    comment: seldom(text('For its user; it is not sent to the broker.', 'breakout', { maxLength: 500 })),
    clientId: optional(clientId),
  }),
)

const orderChange = named('ModifyOrderRequest', atLeastOne(input('What to change.', levels)), { stopLoss: 1.081 })

export const orderFields = {
  id: text('ord_ and an opaque suffix.', exampleOrderId),
  userId: text('The owner.', exampleUserId),
  accountId: uuid('The account.', exampleAccountId),
  symbol: text('The instrument, as it was sent.', 'EURUSD'),
  type: oneOf(sides, 'The side.'),
  orderType: always('market', 'Only market orders are placed today.'),
  volume: decimal('Lots.', 0.2),
  ...levels,
  comment: seldom(text('As it was sent.', 'breakout')),
  clientId: optional(clientId),
  status: oneOf(
    orderStatuses,
    'pending until the broker decides, then filled, partially_filled or rejected. No order is ever open, cancelled or expired yet.',
  ),
  fillPrice: seldom(decimal('The price of the execution, when known.', 1.0842)),
  filledVolume: seldom(decimal('Lots that were executed, when known.', 0.2)),
  filledAt: seldom(time('When it was executed, when known.')),
  positionId: seldom(text('The position that it opened, for GET /positions/{id}.', examplePositionId)),
  rejectReason: seldom(
    object('Why it was rejected.', {
      code: text(
        "BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, NOT_PROVISIONED or UNSUPPORTED_BROKER when the account changed before it was sent; FINISHED_BY_OPERATOR when an operator ended it; ORDER_STATE_ and the state in which the broker ended it; any other is the broker's.",
        'TRADE_RETCODE_MARKET_CLOSED',
      ),
      message: text('The same in words.', 'Market is closed'),
    }),
  ),
  createdAt: time('When it was recorded.'),
  updatedAt: time('When its status last changed.'),
}

const order = record('Order', 'A market order, from its being recorded to its outcome at the broker.', orderFields)

export const presentOrder = (placed: Order) => {
  const fill = 'fill' in placed ? placed.fill : {}
  return {
    ...placed.request,
    ...placed,
    userId: placed.owner.userId,
    type: placed.request.side,
    orderType: 'market' as const,
    fillPrice: fill.price,
    filledVolume: fill.volume,
    filledAt: fill.at,
    positionId: fill.positionId && formatPositionId(placed.request.accountId, fill.positionId),
    rejectReason: 'reason' in placed ? placed.reason : undefined,
  }
}

const route = routesOf<UseCases>()
const readers = anyOf('trading:read')
const writers = anyOf('trading:write', 'orders:write')
const params = { id: anyText('The id of an order.', exampleOrderId) }
const oneOrder = { reply: { data: order }, present: (found: Order) => ({ data: presentOrder(found) }) }

export const orderRoutes = [
  route('POST /orders', 'placeOrder', 'Place an order', {
    description: 'Records a market order and answers it as pending; GET /orders/:id shows its outcome at the broker.',
    limit: { requests: 100, periodSeconds: 60 },
    access: writers,
    body: newOrder,
    precheck: ({ orderType }) => (unsupportedTypes.includes(orderType) ? orderTypeNotSupported(String(orderType)) : undefined),
    refusals: [
      'OrderTypeNotSupported',
      'AccountNotFound',
      'AccountPurposeRestricted',
      'LiveAccountRestricted',
      'UnsupportedBroker',
      'NotProvisioned',
      'BrokerUnavailable',
      'ChallengeCheckUnavailable',
      'ChallengeLocked',
      'LimitCheckUnavailable',
      'DeskLimitBreached',
      'TraderLimitBreached',
      'ApprovalRequired',
      'RiskLimitExceeded',
      'IdempotencyInProgress',
    ],
    useCase: (useCases, caller, { body, keep }) => {
      const { type: side, orderType: _, ...request } = body
      return useCases.placeOrder(caller, { request: { ...request, side }, keep })
    },
    reply: { data: order, isCreated: true },
    present: (placed) => ({ data: presentOrder(placed), location: `/orders/${placed.id}` }),
  }),
  route('GET /orders', 'listOrders', 'List orders', {
    description: 'Orders, newest first.',
    access: readers,
    query: {
      accountId: optional(accountId),
      status: optional(oneOf(orderStatuses, 'Orders with this status.')),
      symbol: optional(orderSymbol),
      clientId: optional(described(clientId, 'Orders with this reference of yours.')),
      ...dateRange('creation'),
      ...paging,
    },
    range: ['startDate', 'endDate'],
    refusals: ['AccountNotFound'],
    useCase: (useCases, caller, { query: { startDate: from, endDate: to, ...query } }) =>
      useCases.listOrders(caller, { ...query, from, to }),
    reply: { data: list(order, 'Newest first.'), pagination: paginationShape },
    present: (page) => ({ data: page.items.map(presentOrder), meta: { pagination: pageMeta(page) } }),
  }),
  route('GET /orders/:id', 'getOrder', 'Get an order', {
    access: readers,
    params,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { params: { id } }) => useCases.getOrder(caller, id),
    ...oneOrder,
  }),
  route('PUT /orders/:id', 'modifyOrder', 'Change an order', {
    description: 'Changes an open order. No order is ever open yet, so that none can be changed.',
    access: writers,
    params,
    body: orderChange,
    refusals: ['NotFound', 'OrderInFlight', 'OrderNotModifiable'],
    useCase: (useCases, caller, { params: { id } }) => useCases.modifyOrder(caller, id),
    ...oneOrder,
  }),
  route('DELETE /orders/:id', 'cancelOrder', 'Cancel an order', {
    description: 'Cancels an open order. No order is ever open yet, so that none can be cancelled.',
    access: writers,
    params,
    refusals: ['NotFound', 'OrderInFlight', 'OrderNotCancellable'],
    useCase: (useCases, caller, { params: { id } }) => useCases.cancelOrder(caller, id),
    ...oneOrder,
  }),
]
