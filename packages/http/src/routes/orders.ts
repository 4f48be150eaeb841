// Orders: placed, listed, read, changed and cancelled.
import { orderTypeNotSupported } from '@tradeport/domain/errors'
import { maxLotsPerOrder, orderStatuses } from '@tradeport/domain/orders'
import { formatPositionId } from '@tradeport/domain/primitives'
import type { Order } from '@tradeport/domain/orders'
import {
  accountId,
  clientId,
  dateRange,
  instant,
  lots,
  orderId,
  orderSymbol,
  ownerId,
  paging,
  positionId,
  side,
  symbol,
} from '../fields.ts'
import { answersPage } from '../pagination.ts'
import { answers, anyOf, routesOf } from '../route.ts'
import {
  always,
  decimal,
  described,
  input,
  named,
  object,
  oneOf,
  optional,
  record,
  seldom,
  text,
  writtenFrom,
} from '../schema.ts'
import type { UseCases } from '../use-cases.ts'

const unsupportedTypes: readonly unknown[] = ['limit', 'stop', 'stop_limit']

const positive = (description: string, example: number) =>
  decimal(description, example, { exclusiveMinimum: 0 })
const levels = {
  price: seldom(positive('Recorded on the order, not sent to the broker.', 1.0842)),
  stopLoss: optional(positive('A price.', 1.08)),
  takeProfit: optional(positive('A price.', 1.095)),
}

// Above the most that an order may have, the use case refuses it by a code of its own.
const volume = positive('Lots.', 0.2)

const newOrder = named(
  'PlaceOrderRequest',
  input('A market order.', {
    accountId: described(accountId, 'A linked demo account for trading.'),
    symbol: orderSymbol,
    type: side,
    orderType: oneOf(['market'], 'limit, stop and stop_limit are ORDER_TYPE_NOT_SUPPORTED.'),
    volume: { ...volume, json: { ...volume.json, maximum: maxLotsPerOrder } },
    ...levels,
    comment: seldom(
      text('For its user; it is not sent to the broker.', 'breakout', { maxLength: 500 }),
    ),
    clientId: optional(clientId),
  }),
)

const orderChange = named('ModifyOrderRequest', input('What to change.', levels, 1), {
  stopLoss: 1.081,
})

export const orderFields = {
  id: orderId,
  userId: ownerId,
  accountId,
  symbol: described(symbol, 'The instrument, as it was sent.'),
  type: side,
  orderType: always('market', 'Only market orders are placed today.'),
  volume: lots,
  ...levels,
  comment: seldom(text('As it was sent.', 'breakout')),
  clientId: optional(clientId),
  status: oneOf(
    orderStatuses,
    'pending until the broker decides, then filled, partially_filled or rejected. No order is ever open, cancelled or expired yet.',
  ),
  fillPrice: seldom(decimal('The price of the execution, when known.', 1.0842)),
  filledVolume: seldom(decimal('Lots that were executed, when known.', 0.2)),
  filledAt: seldom(described(instant, 'When it was executed, when known.')),
  positionId: seldom(positionId),
  rejectReason: seldom(
    object('Why it was rejected.', {
      code: text(
        "BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, NOT_PROVISIONED or UNSUPPORTED_BROKER when the account changed before it was sent; FINISHED_BY_OPERATOR when an operator ended it; ORDER_STATE_ and the state in which the broker ended it; any other is the broker's.",
        'TRADE_RETCODE_MARKET_CLOSED',
      ),
      message: text('The same in words.', 'Market is closed'),
    }),
  ),
  createdAt: instant,
  updatedAt: instant,
}

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

const order = writtenFrom(
  record(
    'Order',
    'A market order, from its being recorded to its outcome at the broker.',
    orderFields,
  ),
  presentOrder,
)

const route = routesOf<UseCases>()
const access = anyOf('trading:read')
const writers = anyOf('trading:write', 'orders:write')
const params = { id: orderId }

export const orderRoutes = [
  route(
    'POST /orders',
    'placeOrder',
    'Records a market order and answers it as pending; GET /orders/:id shows its outcome at the broker.',
    {
      limit: { requests: 100, periodSeconds: 60 },
      access: writers,
      body: newOrder,
      precheck: ({ orderType }) =>
        unsupportedTypes.includes(orderType) ? orderTypeNotSupported(String(orderType)) : undefined,
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
        const { type, orderType: _, ...request } = body
        return useCases.placeOrder(caller, { request: { ...request, side: type }, keep })
      },
      ...answers(order, { location: ({ id }) => `/orders/${id}` }),
    },
  ),
  route('GET /orders', 'listOrders', 'Orders, newest first.', {
    access,
    query: {
      accountId: optional(accountId),
      status: optional(oneOf(orderStatuses, 'Orders with this status.')),
      symbol: optional(orderSymbol),
      clientId: optional(clientId),
      ...dateRange,
      ...paging,
    },
    range: ['startDate', 'endDate'],
    refusals: ['AccountNotFound'],
    useCase: (useCases, caller, { query: { startDate: from, endDate: to, ...query } }) =>
      useCases.listOrders(caller, { ...query, from, to }),
    ...answersPage(order),
  }),
  route('GET /orders/:id', 'getOrder', 'Get an order.', {
    access,
    params,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { id }) => useCases.getOrder(caller, id),
    ...answers(order),
  }),
  route(
    'PUT /orders/:id',
    'modifyOrder',
    'Changes an open order. No order is ever open yet, so that none can be changed.',
    {
      access: writers,
      params,
      body: orderChange,
      refusals: ['NotFound', 'OrderInFlight', 'OrderNotModifiable'],
      useCase: (useCases, caller, { id }) => useCases.modifyOrder(caller, id),
      ...answers(order),
    },
  ),
  route(
    'DELETE /orders/:id',
    'cancelOrder',
    'Cancels an open order. No order is ever open yet, so that none can be cancelled.',
    {
      access: writers,
      params,
      refusals: ['NotFound', 'OrderInFlight', 'OrderNotCancellable'],
      useCase: (useCases, caller, { id }) => useCases.cancelOrder(caller, id),
      ...answers(order),
    },
  ),
]
