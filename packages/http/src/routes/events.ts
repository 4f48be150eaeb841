// The events that are posted to webhooks, as receivers see them. What the service records is held to the same types.
import { webhookEventTypes } from '@tradeport/domain'
import type { EventPayloads, WebhookEventType } from '@tradeport/domain'
import { exampleAccountId, exampleDeliveryId, exampleOrderId, examplePositionId, exampleWebhookId } from '../examples.ts'
import { always, anything, decimal, flag, nullable, object, oneOf, optional, record, seldom, text, uuid, whole } from '../schema.ts'
import type { Schema } from '../schema.ts'
import { sides } from './orders.ts'

const at = (description: string, example = '2026-11-20T14:05:09.000Z') => text(description, example, { format: 'date-time' })
const account_id = uuid('The account.', exampleAccountId)
const position_id = text('The position, for GET /positions/{id}.', examplePositionId)
const deal = { account_id, symbol: text('The instrument.', 'EURUSD'), type: oneOf(sides, 'The direction.') }
const volume = decimal('Lots.', 0.2)
const entry_price = decimal('The price at which it was opened.', 1.0842)
const stop_loss = optional(decimal('A price.', 1.08))
const take_profit = optional(decimal('A price.', 1.095))
const price = seldom(decimal('As it was sent.', 1.0842))
const order = {
  order_id: text('The order.', exampleOrderId),
  ...deal,
  order_type: always('market', 'Only market orders are placed.'),
  volume,
}

const dataShapes: { readonly [Type in WebhookEventType]: Schema<EventPayloads[Type]> } = {
  'trade.closed': object('The trade.', {
    trade_id: text('The trade, for GET /trades/{id}.', examplePositionId),
    position_id,
    ...deal,
    volume,
    entry_price: decimal('Weighted by volume.', 1.0842),
    exit_price: decimal('Weighted by volume.', 1.0861),
    profit: decimal('Before commission and swap.', 38),
    profit_percentage: decimal("The price's move in the trade's favour, in percent of entry_price.", 0.1752),
    swap: decimal('Charges are negative.', -1.12),
    commission: decimal('Charges are negative.', -1.4),
    holding_time_seconds: whole('Whole seconds from opened_at to closed_at.', 5_400),
    opened_at: at('When it was opened.', '2026-11-20T12:35:09.000Z'),
    closed_at: at('When it was closed.'),
  }),
  'position.opened': object('The position.', {
    position_id,
    ...deal,
    volume,
    entry_price,
    margin_used: nullable(decimal('Margin that it requires; null when it is not known.', 216.84)),
    opened_at: at('When it was opened.'),
    stop_loss,
    take_profit,
  }),
  'position.closed': object('The close of the position, or of a part of it.', {
    position_id,
    ...deal,
    closed_volume: decimal('Lots that were closed.', 0.2),
    remaining_volume: decimal('Lots that stay open.', 0),
    entry_price,
    exit_price: nullable(decimal('Null when the closing deal was not found in time.', 1.0861)),
    realized_pnl: nullable(decimal('Before commission and swap; null when the closing deal was not found in time.', 38)),
    is_partial: flag('Whether a part stays open.', false),
    closed_at: at('When it was closed.'),
    exit_reason: seldom(text('Why, when known.', 'stop_loss')),
  }),
  'order.created': object('The order.', {
    ...order,
    created_at: at('When it was recorded.'),
    price,
    stop_loss,
    take_profit,
    client_id: optional(text("The caller's own reference.", 'strategy-7-0042')),
  }),
  'order.filled': object('The order, wholly or partly executed.', {
    ...order,
    fill_price: nullable(decimal('The price of the execution; null when the broker did not say.', 1.0842)),
    filled_volume: nullable(decimal('Lots that were executed; null when the broker did not say of a partial execution.', 0.2)),
    filled_at: at('When it was executed, or known to be.'),
    requested_price: price,
    fees: seldom(decimal('The cost of the execution, when known.', -1.4)),
    position_id: optional(position_id),
  }),
  'order.cancelled': object('The order.', {
    ...order,
    cancelled_at: at('When it was cancelled.'),
    cancel_reason: seldom(text('Why, when known.', 'user')),
  }),
  'account.balance_changed': object('The change.', {
    account_id,
    previous_balance: decimal('Before.', 10_212.4),
    new_balance: decimal('After.', 10_250.4),
    change_amount: decimal('The difference.', 38),
    change_percentage: decimal('The difference in percent of the previous balance.', 0.372),
    equity: decimal('The balance and the result of open positions.', 10_310.9),
    margin: decimal('Margin in use.', 216.4),
    free_margin: decimal('Free margin.', 10_094.5),
    change_reason: text('Why.', 'trade'),
    changed_at: at('When it changed.'),
    margin_level: seldom(decimal('Equity in percent of the margin in use.', 4_764.74)),
  }),
  'risk.threshold_breached': object('The breach.', {
    account_id,
    threshold_type: text('What the threshold limits.', 'drawdown'),
    threshold_value: anything('Its value.', 500),
    current_value: anything('The value now.', 512.4),
    severity: text('How grave it is.', 'warning'),
    message: text('The same for a person.', 'The drawdown is above its threshold.'),
    breached_at: at('When it was breached.'),
    affected_positions: seldom(anything('The positions concerned.', [])),
  }),
}

/** `TradeClosedEvent` for trade.closed. */
const nameOf = (type: WebhookEventType): string =>
  `${type
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Event`

const header = (name: string, description: string, schema: object) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...schema },
})

const deliveryOf = (type: WebhookEventType) => {
  const { json, example } = record(nameOf(type), `What is posted for ${type}.`, {
    event: always(type, 'The event type.'),
    data: dataShapes[type] as Schema<object>,
    timestamp: at('When it was sent.', '2026-11-20T14:05:10.002Z'),
    webhook_id: uuid('The webhook.', exampleWebhookId),
  })
  return {
    operationId: `on${nameOf(type).replace(/Event$/, '')}`,
    tags: ['Events'],
    summary: type,
    description: `Posted to webhooks that were registered for ${type}, when the service delivers events.`,
    security: [],
    parameters: [
      header(
        'X-Webhook-Signature',
        "`sha256=` and the HMAC-SHA256 of the body's bytes as they came, keyed with the webhook's secret, in lower-case hexadecimal. Compare it in constant time, before the body is parsed.",
        { pattern: '^sha256=[0-9a-f]{64}$' },
      ),
      header('X-Webhook-Id', 'The webhook.', { format: 'uuid', examples: [exampleWebhookId] }),
      header('X-Webhook-Event', 'The event type.', { enum: [type] }),
      header('X-Webhook-Timestamp', "The body's timestamp.", { format: 'date-time' }),
      header('X-Webhook-Delivery-Id', 'The delivery: the same for all of its attempts, so that a repeated one can be recognised.', {
        format: 'uuid',
        examples: [exampleDeliveryId],
      }),
      header('User-Agent', 'The sender.', { examples: ['TradingPlatform-Webhook/1.0'] }),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: json, example } } },
    responses: {
      '2XX': { description: 'It was delivered. Answer within 30 seconds.' },
      '410': { description: 'The receiver is gone for good: the webhook is disabled.' },
      default: {
        description:
          'It was not delivered: it is retried after 1, 5, 15 and 60 minutes. After 5 failures in a row the webhook is disabled.',
      },
    },
  }
}

/** The webhooks of the OpenAPI document. */
export const webhookItems = Object.fromEntries(webhookEventTypes.map((type) => [type, { post: deliveryOf(type) }]))
