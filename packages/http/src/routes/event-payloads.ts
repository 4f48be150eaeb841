// The events that are posted to webhooks, as receivers see them. What the service records has these
// types.
import { thresholdSeverities, thresholdTypes } from '@tradeport/domain/accounts'
import { orderTypes, type OrderType } from '@tradeport/domain/orders'
import { eventTypesOf, type WebhookEventType } from '@tradeport/domain/webhooks'
import type { EventPayloads } from '@tradeport/domain/events'
import {
  accountId,
  cancelReason,
  clientId,
  commission,
  deliveryId,
  entryPrice,
  equity,
  exitPrice,
  lots,
  margin,
  orderId,
  positionId,
  profit,
  side,
  stopLoss,
  swap,
  symbol,
  takeProfit,
  webhookId,
} from '../fields.ts'
import type { IsOn } from '../route.ts'
import {
  decimal,
  flag,
  type JsonSchema,
  list,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  record,
  type Schema,
  text,
  whole,
} from '../schema.ts'

// Events have their times as text already.
const at = text('In UTC.', '2026-11-20T14:05:09.000Z', { format: 'date-time' })
const traded = { account_id: accountId, symbol, type: side }
const ofPosition = { position_id: positionId, ...traded }
// A broker's history may lack what came first.
const ofBrokerPosition = {
  ...ofPosition,
  symbol: nullable(symbol),
  entry_price: nullable(
    decimal('Weighted by volume; null when not all opening deals are known.', 1.0842),
  ),
}
const ofOrder = (hasPending: boolean) => ({
  order_id: orderId,
  ...traded,
  order_type: hasPending
    ? oneOf(orderTypes, 'How the order is executed.')
    : oneOf<OrderType>(['market'], 'Only market orders are placed.'),
  volume: lots,
})
const sentPrice = optional(decimal('As it was sent.'))

type DataShapes = Readonly<Record<WebhookEventType, Schema<unknown>>> & {
  readonly [Type in keyof EventPayloads]: Pick<Schema<EventPayloads[Type]>, 'encode'>
}

const dataShapes = (order: ReturnType<typeof ofOrder>): DataShapes => ({
  'trade.closed': object('The trade.', {
    trade_id: positionId,
    ...ofPosition,
    volume: lots,
    entry_price: entryPrice,
    exit_price: exitPrice,
    profit,
    profit_percentage: decimal(
      "The price's move in the trade's favour, in percent of entry_price.",
      0.1752,
    ),
    swap,
    commission,
    holding_time_seconds: whole('Whole seconds from opened_at to closed_at.', 5_400),
    opened_at: at,
    closed_at: at,
  }),
  'position.opened': object('The position.', {
    ...ofBrokerPosition,
    volume: nullable(lots),
    margin_used: {
      ...nullable(decimal('Always null: deals, from which events come, do not show it.')),
      example: null,
    },
    opened_at: nullable(at),
    stop_loss: stopLoss,
    take_profit: takeProfit,
  }),
  'position.closed': object('The close of the position, or of a part of it.', {
    ...ofBrokerPosition,
    closed_volume: nullable(decimal('Lots that were closed; null when they are not known.', 0.2)),
    remaining_volume: nullable(decimal('Lots that stay open; null when they are not known.', 0)),
    exit_price: nullable(decimal('Null when the broker did not report it.', 1.0861)),
    realized_pnl: decimal('Before commission and swap.', 38),
    is_partial: nullable(flag('Whether a part stays open; null when that is not known.', false)),
    closed_at: nullable(at),
    exit_reason: optional(text('Why, when known.')),
  }),
  'order.created': object('The order.', {
    ...order,
    created_at: at,
    price: sentPrice,
    stop_loss: stopLoss,
    take_profit: takeProfit,
    client_id: optional(clientId),
  }),
  'order.filled': object('The order, wholly or partly executed.', {
    ...order,
    fill_price: nullable(
      decimal('The price of the execution; null when the broker did not report it.', 1.0842),
    ),
    filled_volume: nullable(
      decimal(
        'Lots that were executed; null when the broker did not report it of a partial execution.',
        0.2,
      ),
    ),
    filled_at: at,
    requested_price: sentPrice,
    fees: optional(decimal('The cost of the execution, when known.')),
    position_id: optional(positionId),
  }),
  'order.rejected': object('The order.', {
    ...order,
    rejected_at: at,
    reject_code: text("The broker's code, or one of the service.", 'TRADE_RETCODE_NO_MONEY'),
    reject_message: text('The same for a person.', 'There is not enough money.'),
  }),
  'order.expired': object('The order.', { ...order, expired_at: at }),
  'order.cancelled': object('The order.', {
    ...order,
    cancelled_at: at,
    cancel_reason: cancelReason,
  }),
  'account.balance_changed': object('The change.', {
    account_id: accountId,
    previous_balance: nullable(decimal('Before; null when it is not known.', 10_212.4)),
    new_balance: nullable(decimal('After; null when it is not known.', 10_250.4)),
    change_amount: decimal('The difference.', 38),
    change_percentage: nullable(
      decimal(
        'The difference in percent of the previous balance; null when that was 0 or is not known.',
        0.372,
      ),
    ),
    equity,
    margin,
    free_margin: nullable(
      decimal('Free margin; null when the broker did not report it.', 10_094.5),
    ),
    change_reason: text('Why.', 'trade'),
    changed_at: nullable(at),
    margin_level: optional(decimal('Equity in percent of the margin in use.')),
  }),
  'risk.threshold_breached': object('The breach.', {
    account_id: accountId,
    threshold_type: oneOf(thresholdTypes, 'What is compared.', 'drawdown_above'),
    threshold_value: decimal('In the currency of the account, or in percent.', 500),
    current_value: decimal('The value now.', 512.4),
    severity: oneOf(thresholdSeverities, 'How severe it is.'),
    message: text('The same for a person.', 'The drawdown is 512.4, above the threshold of 500.'),
    breached_at: at,
    ...partial({
      affected_positions: list(
        positionId,
        'The positions that were open; left out when they could not be read.',
      ),
    }),
  }),
})

/** `TradeClosed` for trade.closed. */
const nameOf = (type: WebhookEventType): string =>
  type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())

const headers = (type: WebhookEventType): Readonly<Record<string, JsonSchema>> => ({
  'X-Webhook-Signature': {
    description:
      "`sha256=` and the HMAC-SHA256 of the body's bytes as they came, keyed with the webhook's secret, in lower-case hexadecimal. Compare it in constant time, before the body is parsed.",
    pattern: '^sha256=[0-9a-f]{64}$',
  },
  'X-Webhook-Id': webhookId.json,
  'X-Webhook-Event': { description: 'The event type.', enum: [type] },
  'X-Webhook-Timestamp': { description: "The body's timestamp.", format: 'date-time' },
  'X-Webhook-Delivery-Id': deliveryId.json,
  'User-Agent': { description: 'The sender.', examples: ['TradingPlatform-Webhook/1.0'] },
})

const standardHeaders: Readonly<Record<string, JsonSchema>> = {
  'webhook-id': { description: 'The id of the event in the log; a test has one of its own.' },
  'webhook-timestamp': { description: 'Unix seconds.', pattern: String.raw`^\d+$` },
  'webhook-signature': {
    description:
      '`v1,` and the base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body` (Standard Webhooks), keyed with the secret as UTF-8 text; while a rotation overlaps, those of both secrets with a space between them, newest first.',
    pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$',
  },
}

const deliveryOf = (type: WebhookEventType, data: Schema<unknown>, hasEvents: boolean) => {
  const { json, example } = record(`${nameOf(type)}Event`, `What is posted for ${type}.`, {
    event: oneOf([type], 'The event type.'),
    data,
    timestamp: at,
    webhook_id: webhookId,
  })
  return {
    operationId: `on${nameOf(type)}`,
    tags: ['Events'],
    summary: type,
    description: `Posted to webhooks that were registered for ${type}, when the service delivers events.`,
    security: [],
    parameters: Object.entries({ ...headers(type), ...(hasEvents && standardHeaders) }).map(
      ([name, { description, ...schema }]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string', ...schema },
      }),
    ),
    requestBody: { required: true, content: { 'application/json': { schema: json, example } } },
    responses: {
      '2XX': { description: 'It was delivered. Answer within 30 seconds.' },
      default: {
        description:
          'It was not delivered: it is retried after 1, 5, 15 and 60 minutes. After 5 failures in a row the webhook is disabled.',
      },
    },
  }
}

/** The webhooks of the OpenAPI document. */
export const webhookItems = (isOn: IsOn) => {
  const hasEvents = isOn('events')
  const shapes = dataShapes(ofOrder(isOn('pending-orders')))
  return Object.fromEntries(
    eventTypesOf(hasEvents).map((type) => [
      type,
      { post: deliveryOf(type, shapes[type], hasEvents) },
    ]),
  )
}
