// Orders: placed, listed, read, changed and cancelled.
import { refuse } from '@tradeport/domain/errors'
import { maxLotsPerOrder, type Order, orderStatuses } from '@tradeport/domain/orders'
import { formatPositionId } from '@tradeport/domain/primitives'
import {
  orderCheckNames,
  type OrderPreview,
  previewCheckNames,
  type PreviewedCheck,
} from '@tradeport/domain/use-cases'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { JsonObject } from '../body.ts'
import { errorReply } from '../errors.ts'
import {
  accountId,
  replyWithPage,
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
import { replyWith, anyOf, type Route, routesOf } from '../route.ts'
import {
  anything,
  flag,
  list,
  nullable,
  literal,
  decimal,
  withDescription,
  digits,
  input,
  named,
  object,
  oneOf,
  optional,
  record,
  optionalWithoutExample,
  text,
  encodedFrom,
} from '../schema.ts'
import type { UseCases } from '../use-cases.ts'

const unsupportedTypes: readonly unknown[] = ['limit', 'stop', 'stop_limit']

const positive = (description: string, example: number) =>
  decimal(description, example, { exclusiveMinimum: 0 })
const levels = {
  price: optionalWithoutExample(positive('Recorded on the order, not sent to the broker.', 1.0842)),
  stopLoss: optional(positive('A price.', 1.05)),
  takeProfit: optional(positive('A price.', 1.3)),
}

// Above the most that an order may have, the use case refuses it by a code of its own.
const volume = positive('Lots.', 0.2)

const newOrderWith = (lotsToTrade: typeof volume) =>
  input('A market order.', {
    accountId: withDescription(accountId, 'A linked demo account for trading.'),
    symbol: orderSymbol,
    type: side,
    orderType: oneOf(
      ['market'],
      'Only market; limit, stop and stop_limit return 501 ORDER_TYPE_NOT_SUPPORTED.',
    ),
    volume: lotsToTrade,
    ...levels,
    comment: optionalWithoutExample(
      text('Your own note; not sent to the broker.', 'breakout', { maxLength: 500 }),
    ),
    clientId: optional(clientId),
  })

const newOrder = named(
  'PlaceOrderRequest',
  newOrderWith({ ...volume, json: { ...volume.json, maximum: maxLotsPerOrder } }),
)
// Whether the volume is too large is the answer.
const previewedOrder = named('PreviewOrderRequest', newOrderWith(volume))

const orderChange = named('ModifyOrderRequest', input('What to change.', levels, 1), {
  stopLoss: 1.06,
})

export const orderFields = {
  id: orderId,
  userId: ownerId,
  accountId,
  symbol: withDescription(symbol, 'The instrument, as it was sent.'),
  type: side,
  orderType: literal('market', 'Only market orders are placed today.'),
  volume: lots,
  ...levels,
  comment: optionalWithoutExample(text('As it was sent.', 'breakout')),
  clientId: optional(clientId),
  status: oneOf(
    orderStatuses,
    'pending until the broker decides, then filled, partially_filled or rejected. No order is ever open, cancelled or expired yet.',
  ),
  fillPrice: optionalWithoutExample(decimal('The price of the execution, when known.', 1.0842)),
  filledVolume: optionalWithoutExample(decimal('Lots that were executed, when known.', 0.2)),
  filledAt: optionalWithoutExample(withDescription(instant, 'When it was executed, when known.')),
  positionId: optionalWithoutExample(positionId),
  rejectReason: optionalWithoutExample(
    object('Why it was rejected.', {
      code: text(
        "BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, NOT_PROVISIONED or UNSUPPORTED_BROKER when the account changed before it was sent, ACCOUNT_HALTED when it was halted; FINISHED_BY_OPERATOR when an operator ended it; ORDER_STATE_ and the state in which the broker ended it; any other is the broker's.",
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

const order = encodedFrom(
  record(
    'Order',
    'A market order, from its being recorded to its outcome at the broker.',
    orderFields,
  ),
  presentOrder,
)

const estimated = (description: string, example: number) =>
  nullable(decimal(`${description}; null where the broker cannot say.`, example))

const preview = encodedFrom(
  record('OrderPreview', 'What would become of an order if it were placed now.', {
    allowed: flag('Whether no check failed.'),
    checks: list(
      object('A check of a new order.', {
        name: oneOf([...orderCheckNames, ...previewCheckNames], 'What is checked.'),
        passed: nullable(flag('null: it cannot be said, for the reason in `message`.')),
        code: optionalWithoutExample(
          text('Why not, as in the error of a reply or by a code of the check.', 'INVALID_VOLUME'),
        ),
        message: optionalWithoutExample(
          text('The same in words.', 'volume must be at least 0.01 lots; got 0.001.'),
        ),
        details: optionalWithoutExample(anything('The figures, by the code.', { minVolume: 0.01 })),
      }),
      'In their order: first those of placing, of which the first that fails is its refusal; then those of the instrument, which only the broker decides.',
    ),
    estimate: object("In the account's currency.", {
      price: estimated('The price at which it would be opened', 1.0842),
      spread: estimated('The spread', 0.0002),
      margin: estimated('The margin that it needs', 216.84),
      marginLevelAfter: estimated('Equity in percent of the margin in use with it', 4_764.74),
      riskAmount: estimated('What is lost at its stop loss', 34.2),
      rewardAmount: estimated('What is gained at its take profit', 215.8),
    }),
  }),
  ({ allowed, checks, estimate }: OrderPreview) => ({
    allowed,
    estimate,
    checks: checks.map(({ name, passed, because }) => ({
      name,
      passed,
      ...(because === undefined
        ? passed === null && { message: 'The broker does not say.' }
        : reasonOf(because)),
    })),
  }),
)

const reasonOf = (because: NonNullable<PreviewedCheck['because']>) => {
  const { code, message, details } = '_tag' in because ? errorReply(because).error : because
  return { code, message, details }
}

const precheck = ({ orderType }: JsonObject) =>
  unsupportedTypes.includes(orderType)
    ? refuse('OrderTypeNotSupported', { orderType: String(orderType) })
    : undefined

const route = routesOf<UseCases>()
const access = anyOf('trading:read')
const writers = anyOf('trading:write', 'orders:write')
const params = { id: orderId }

const wait = optional(
  digits(
    'Seconds: the reply is held back until the order is no longer pending, or that time is over.',
    1,
    30,
  ),
)

export const createOrderRoutes = (hasTools: boolean): readonly Route<UseCases>[] => [
  route(
    'POST /orders',
    'placeOrder',
    'Records a market order and answers it as pending; GET /orders/:id shows its outcome at the broker.',
    {
      limit: { requests: 100, periodSeconds: 60 },
      access: writers,
      query: (hasTools ? { wait } : {}) as { readonly wait: typeof wait },
      body: newOrder,
      precheck,
      refusals: [
        'OrderTypeNotSupported',
        'AccountNotFound',
        'AccountPurposeRestricted',
        'LiveAccountRestricted',
        'AccountHalted',
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
      useCase: (useCases, caller, { query, body, replyToStore, mayWait }) => {
        const { type, ...request } = body
        return useCases.placeOrder(caller, {
          request: { ...request, side: type },
          replyToStore,
          wait: query.wait === undefined ? undefined : { seconds: query.wait, mayGoOn: mayWait },
        })
      },
      ...replyWith(order),
      location: ({ id }) => `/orders/${id}`,
    },
  ),
  route(
    'POST /orders/preview',
    'previewOrder',
    'Runs every check of a new order, and estimates what it would cost, without placing it.',
    {
      capability: 'trading-tools',
      access: writers,
      body: previewedOrder,
      precheck,
      refusals: ['OrderTypeNotSupported', 'AccountNotFound', 'IdempotencyInProgress'],
      useCase: (useCases, caller, { body, guard }) => {
        const { type, ...request } = body
        return pipe(
          guard.begin,
          TE.flatMap(() => useCases.previewOrder(caller, { ...request, side: type })),
        )
      },
      ...replyWith(preview),
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
    ...replyWithPage(order),
  }),
  route('GET /orders/:id', 'getOrder', 'Get an order.', {
    access,
    params,
    refusals: ['NotFound'],
    useCase: (useCases, caller, { id }) => useCases.getOrder(caller, id),
    ...replyWith(order),
  }),
  route(
    'PUT /orders/:id',
    'modifyOrder',
    'Changes an open order. No order is ever open yet, so none can be changed.',
    {
      access: writers,
      params,
      body: orderChange,
      refusals: ['NotFound', 'OrderInFlight', 'OrderNotModifiable'],
      useCase: (useCases, caller, { id }) => useCases.modifyOrder(caller, id),
      ...replyWith(order),
    },
  ),
  route(
    'DELETE /orders/:id',
    'cancelOrder',
    'Cancels an open order. No order is ever open yet, so none can be cancelled.',
    {
      access: writers,
      params,
      refusals: ['NotFound', 'OrderInFlight', 'OrderNotCancellable'],
      useCase: (useCases, caller, { id }) => useCases.cancelOrder(caller, id),
      ...replyWith(order),
    },
  ),
]
