// Orders: placed, listed, read, changed and cancelled.
import { refuse, type Refusal } from '@tradeport/domain/errors'
import {
  maxLotsPerOrder,
  orderStatuses,
  orderTypes,
  limitOrStopTypes,
  timesInForce,
  type Order,
  type OrderType,
  orderCheckNames,
} from '@tradeport/domain/orders'
import * as E from 'fp-ts/lib/Either.js'
import { formatPositionId } from '@tradeport/domain/primitives'
import {
  type CancelAttempt,
  type OrderPreview,
  previewCheckNames,
} from '@tradeport/domain/use-cases'
import type { JsonObject } from '../body.ts'
import { errorReply } from '../errors.ts'
import {
  accountId,
  brokerReadRefusals,
  cancelReason,
  clientId,
  dateRange,
  instant,
  instantAt,
  lots,
  optionalErrorText,
  orderId,
  orderSymbol,
  ownerUserId,
  paginationShape,
  paging,
  positionId,
  positive,
  side,
  symbol,
} from '../fields.ts'
import { anyOf, type IsOn, onlyIf, type Route } from '../route.ts'
import {
  anything,
  decimal,
  flag,
  list,
  lotsToTrade,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  queryInteger,
  record,
  request,
  type Schema,
  text,
  time,
  withDescription,
} from '../schema.ts'
import { route } from '../use-cases.ts'

const stopLoss = positive('A price.', 1.05)
const takeProfit = positive('A price.', 1.3)

// The use case checks the maximum, by a code of its own.
const volume = lotsToTrade('Lots.', 0.2)

const priceField = (hasPending: boolean) =>
  optional(
    positive(
      hasPending
        ? 'Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker.'
        : 'Recorded, and not sent to the broker.',
    ),
  )

/** The fields that only pending orders have. */
const pendingFields = partial({
  stopLimitPrice: positive('For stop_limit: the price of the limit order that it becomes.'),
  timeInForce: oneOf(
    timesInForce,
    'How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.',
  ),
  expiresAt: instantAt(
    'end',
    'For timeInForce gtd: when the order expires. A date is its end, in UTC.',
  ),
})
const { stopLimitPrice, expiresAt } = pendingFields

const newOrder = (name: string, volumeToTrade: typeof volume, hasPending: boolean) =>
  request(name, 'A new order.', {
    accountId: withDescription(accountId, 'A linked demo account for trading.'),
    symbol: orderSymbol,
    type: side,
    orderType: hasPending
      ? oneOf(
          orderTypes,
          'How it is executed: at once, or by the broker once the market reaches its price. stop_limit needs MT5.',
        )
      : oneOf<OrderType>(
          ['market'],
          'Only market; limit, stop and stop_limit return 501 ORDER_TYPE_NOT_SUPPORTED.',
        ),
    volume: volumeToTrade,
    price: priceField(hasPending),
    ...(hasPending && pendingFields),
    ...partial({ stopLoss, takeProfit }),
    comment: optional(
      text('Your own note; not sent to the broker.', undefined, { maxLength: 500 }),
    ),
    clientId: optional(clientId),
  })

/** Only an open order has a level to remove. */
const changedLevel = (hasPending: boolean, level: Schema<number>) =>
  optional<Schema<number | null>>(hasPending ? nullable(level) : level)

const orderChange = (hasPending: boolean) => ({
  ...request(
    'ModifyOrderRequest',
    'What to change.',
    {
      price: priceField(hasPending),
      stopLoss: changedLevel(hasPending, stopLoss),
      takeProfit: changedLevel(hasPending, takeProfit),
      ...(hasPending && { stopLimitPrice, expiresAt }),
    },
    1,
  ),
  example: { stopLoss: 1.06 },
})

const whereShown =
  'where the broker showed it when the order ended; otherwise its position and its trade do'

export const orderFields = (hasPending: boolean, canBeHalted: boolean) => ({
  id: orderId,
  userId: ownerUserId,
  accountId,
  symbol: withDescription(symbol, 'The instrument, as it was sent.'),
  type: side,
  orderType: oneOf<OrderType>(hasPending ? orderTypes : ['market'], 'As it was sent.'),
  volume: lots,
  price: priceField(hasPending),
  ...(hasPending && {
    ...pendingFields,
    ...partial({
      expiresAt: time('With timeInForce gtd: when the order expires.'),
      brokerOrderId: text("The broker's number of a pending order, once it is known."),
    }),
  }),
  ...partial({ stopLoss, takeProfit }),
  comment: optional(text('As it was sent.')),
  clientId: optional(clientId),
  status: oneOf(
    orderStatuses,
    `pending until the broker decides; ${hasPending ? 'open while the broker holds a limit, stop or stop-limit order; ' : ''}then filled, partially_filled, cancelled, rejected or expired.`,
  ),
  ...partial({
    fillPrice: decimal(`The price of the execution, ${whereShown}.`),
    filledVolume: decimal(`Lots that were executed, ${whereShown}.`),
    filledAt: time(`When it was executed, ${whereShown}.`),
    positionId,
  }),
  ...(hasPending &&
    partial({
      cancelReason,
      cancelledAt: time('When it was cancelled.'),
      expiredAt: time('When it expired.'),
    })),
  ...partial({
    rejectReason: object('Why it was rejected.', {
      code: text(
        `BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, ACCOUNT_RELINKED, NOT_PROVISIONED or UNSUPPORTED_BROKER when the account changed before it was sent, CHALLENGE_LOCKED when its challenge failed${canBeHalted ? ', ACCOUNT_HALTED when it was halted' : ''}; FINISHED_BY_OPERATOR when an operator ended it; ORDER_STATE_ and the state in which the broker ended it; any other is the broker's.`,
      ),
      message: text('The same in words.'),
    }),
  }),
  createdAt: instant,
  updatedAt: instant,
})

export const presentOrder = (placed: Order) => {
  const fill = 'fill' in placed ? placed.fill : {}
  return {
    ...placed.request,
    ...placed,
    userId: placed.owner.userId,
    type: placed.request.side,
    fillPrice: fill.price,
    filledVolume: fill.volume,
    filledAt: fill.at,
    positionId: fill.positionId && formatPositionId(placed.request.accountId, fill.positionId),
    rejectReason: 'reason' in placed ? placed.reason : undefined,
  }
}

const order = (isOn: IsOn) =>
  record(
    'Order',
    'An order, from its being recorded to its outcome at the broker.',
    orderFields(isOn('pending-orders'), isOn('trading-tools')),
    presentOrder,
  )

export const cancelAttempt = record(
  'CancelAttempt',
  'The outcome of one of several cancellations.',
  {
    orderId,
    outcome: oneOf(
      ['cancelled', 'filled', 'rejected', 'unknown'],
      'cancelled: what was not executed of it. filled: it was executed first. rejected: it was not cancelled. unknown: it may have been cancelled; read the order before you try again.',
    ),
    filledVolume: optional(decimal('Lots that were executed.')),
    ...optionalErrorText,
  },
  ({ orderId: id, result }: CancelAttempt) => {
    if (E.isLeft(result))
      return { orderId: id, ...endOf(result.left), ...errorReply(result.left).error } as const
    const { filledVolume } = presentOrder(result.right)
    return { orderId: id, outcome: 'cancelled', filledVolume } as const
  },
)

const endOf = (refusal: Refusal) => {
  if (refusal._tag === 'BrokerOutcomeUnknown') return { outcome: 'unknown' } as const
  if (refusal._tag === 'OrderNotCancellable') {
    const { status, filledVolume } = refusal
    if (status === 'filled') return { outcome: status, filledVolume } as const
    if (status === 'cancelled' || status === 'partially_filled')
      return { outcome: 'cancelled', filledVolume } as const
  }
  return { outcome: 'rejected' } as const
}

const estimated = (description: string, example: number) =>
  nullable(decimal(`${description}; null where the broker cannot say.`, example))

const preview = record(
  'OrderPreview',
  'What would become of an order if it were placed now.',
  {
    allowed: flag('Whether no check failed.'),
    checks: list(
      object('A check of a new order.', {
        name: oneOf([...orderCheckNames, ...previewCheckNames], 'What is checked.'),
        passed: nullable(flag('null: it cannot be said, for the reason in `message`.')),
        ...optionalErrorText,
        details: optional(anything('The figures, by the code.')),
      }),
      'In their order: first those of placing, of which the first that fails is its refusal; then those of the instrument, which only the broker decides.',
    ),
    estimate: object("In the account's currency.", {
      price: estimated('The price at which it would be opened', 1.0842),
      spread: estimated('The spread', 0.0002),
      margin: estimated('About the margin that it needs', 216.84),
      marginLevelAfter: estimated('Equity in percent of the margin in use with it', 4_764.74),
      riskAmount: estimated('What is lost at its stop loss', 34.2),
      rewardAmount: estimated('What is gained at its take profit', 215.8),
    }),
  },
  ({ allowed, checks, estimate }: OrderPreview) => ({
    allowed,
    estimate,
    checks: checks.map(({ name, passed, because }) => ({
      name,
      passed,
      ...(because === undefined
        ? passed === null && { message: 'The broker does not say.' }
        : '_tag' in because
          ? errorReply(because).error
          : because),
    })),
  }),
)

const access = anyOf('trading:read')
const writers = anyOf('trading:write', 'orders:write')
const params = { id: orderId }

const wait = queryInteger(
  'Seconds: the reply is held back until the order is no longer pending, or that time is over.',
  1,
  30,
)

export const orderRoutes = (isOn: IsOn): readonly Route[] => {
  const hasPending = isOn('pending-orders')
  const data = order(isOn)
  const unsupported = onlyIf(!hasPending, 'OrderTypeNotSupported')
  const precheck = ({ orderType }: JsonObject) =>
    !hasPending && limitOrStopTypes.some((type) => type === orderType)
      ? refuse('OrderTypeNotSupported', { orderType: String(orderType) })
      : undefined
  return [
    route(
      'POST /orders',
      'placeOrder',
      'Records an order and answers it as pending; GET /orders/:id shows its outcome at the broker.',
      {
        limit: { requests: 100, periodSeconds: 60 },
        access: writers,
        query: { ...(isOn('trading-tools') && partial({ wait })) },
        body: newOrder(
          'PlaceOrderRequest',
          { ...volume, json: { ...volume.json, maximum: maxLotsPerOrder } },
          hasPending,
        ),
        precheck,
        refusals: [
          ...unsupported,
          ...onlyIf(hasPending, 'InvalidPrice', 'OrderTypeNotSupportedByPlatform'),
          'AccountNotFound',
          'AccountPurposeRestricted',
          'LiveAccountRestricted',
          ...onlyIf(isOn('trading-tools'), 'AccountHalted'),
          'UnsupportedBroker',
          'NotProvisioned',
          'BrokerUnavailable',
          'ChallengeCheckUnavailable',
          'ChallengeLocked',
          ...onlyIf(isOn('market-data'), 'SymbolAmbiguous'),
          'LimitCheckUnavailable',
          'DeskLimitBreached',
          'TraderLimitBreached',
          'ApprovalRequired',
          'RiskLimitExceeded',
        ],
        data,
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
        // Without a maximum: the preview reports it as a failed check.
        body: newOrder('PreviewOrderRequest', volume, hasPending),
        precheck,
        refusals: [...unsupported, 'AccountNotFound'],
        data: preview,
      },
    ),
    route('GET /orders', 'listOrders', 'Orders, newest first.', {
      access,
      query: {
        ...partial({
          accountId,
          status: oneOf(orderStatuses, 'Orders with this status.'),
          symbol: orderSymbol,
          clientId,
        }),
        ...dateRange,
        ...paging,
      },
      refusals: ['AccountNotFound'],
      data: list(data, 'Newest first.'),
      meta: { pagination: paginationShape },
    }),
    route('GET /orders/:id', 'getOrder', 'Get an order.', {
      access,
      params,
      refusals: ['NotFound'],
      data,
    }),
    route(
      'PUT /orders/:id',
      'modifyOrder',
      'Changes an open order at the broker, once; answers it as the broker now holds it.',
      {
        access: writers,
        params,
        body: orderChange(hasPending),
        refusals: [...changeRefusals, 'OrderNotModifiable', 'InvalidPrice'],
        data,
      },
    ),
    route(
      'DELETE /orders/:id',
      'cancelOrder',
      'Cancels an open order at the broker, or what is not executed of it, once.',
      {
        access: writers,
        params,
        refusals: [...changeRefusals, 'OrderNotCancellable'],
        data,
      },
    ),
    route(
      'DELETE /orders',
      'cancelOrders',
      'Cancels every open order of an account, each once, and answers how each ended.',
      {
        access: writers,
        capability: 'pending-orders',
        query: { accountId },
        refusals: ['AccountNotFound'],
        data: list(cancelAttempt, 'Oldest order first; empty where none is open.'),
      },
    ),
  ]
}

const changeRefusals = [
  'NotFound',
  'OrderInFlight',
  'AccountNotFound',
  'AccountPurposeRestricted',
  'LiveAccountRestricted',
  ...brokerReadRefusals,
  'TradeRejected',
  'BrokerOutcomeUnknown',
  'InternalTimeout',
] as const
