// The events that webhooks are told of, as receivers see them (section 6).
import type { WebhookEventType } from '@tradeport/domain'
import { exampleAccountId, exampleOrderId, examplePositionId, exampleWebhookId } from '../presenters/examples.ts'
import { sides } from '../presenters/order.ts'
import { schemaOf } from '../schema/json-schema.ts'
import { always, choice, decimal, flag, maybe, object, orNull, record, seldom, text, time, uuid, whole } from '../schema/shapes.ts'
import type { Shape } from '../schema/shapes.ts'

const account_id = uuid('The account.', exampleAccountId)
const position_id = text('The position, as GET /positions/{id} takes it.', examplePositionId)
const symbol = text('The instrument.', 'EURUSD')
const type = choice(sides, 'The direction.', 'buy')
const volume = decimal('Lots.', 0.2)
const entry_price = decimal('The price at which it was opened.', 1.0842)

const orderFields = {
  order_id: text('The order.', exampleOrderId),
  account_id,
  symbol,
  type,
  order_type: always('market', 'Only market orders are placed.'),
  volume,
}

const anything = (description: string): Shape<unknown> => ({ ...schemaOf({ description }), example: 0 })

/** The data of every event. */
const dataShapes: { readonly [Type in WebhookEventType]: Shape<unknown> } = {
  'trade.closed': object('The trade.', {
    trade_id: text('The trade, as GET /trades/{id} takes it.', examplePositionId),
    position_id,
    account_id,
    symbol,
    type,
    volume,
    entry_price: decimal('Weighted by volume.', 1.0842),
    exit_price: decimal('Weighted by volume.', 1.0861),
    profit: decimal('Before commission and swap.', 38),
    profit_percentage: decimal("How far the price went the trade's way, in percent of entry_price.", 0.1752),
    swap: decimal('Charges are negative.', -1.12),
    commission: decimal('Charges are negative.', -1.4),
    holding_time_seconds: whole('Whole seconds from opened_at to closed_at.', 5_400),
    opened_at: time('When it was opened.', '2026-11-20T12:35:09.000Z'),
    closed_at: time('When it was closed.'),
  }),
  'position.opened': object('The position.', {
    position_id,
    account_id,
    symbol,
    type,
    volume,
    entry_price,
    margin_used: orNull(decimal('Margin that it requires; null where it is not known.', 216.84)),
    opened_at: time('When it was opened.'),
    stop_loss: maybe(decimal('A price.', 1.08)),
    take_profit: maybe(decimal('A price.', 1.095)),
  }),
  'position.closed': object('The close of the position, or of a part of it.', {
    position_id,
    account_id,
    symbol,
    type,
    closed_volume: decimal('Lots that were closed.', 0.2),
    remaining_volume: decimal('Lots that stay open.', 0),
    entry_price,
    exit_price: orNull(decimal('Null where the closing deal was not found in time.', 1.0861)),
    realized_pnl: orNull(decimal('Before commission and swap; null where the closing deal was not found in time.', 38)),
    is_partial: flag('Whether a part stays open.', false),
    closed_at: time('When it was closed.'),
    exit_reason: seldom(text('Why, where it is known.', 'stop_loss')),
  }),
  'order.created': object('The order.', {
    ...orderFields,
    created_at: time('When it was recorded.'),
    price: seldom(decimal('As it was sent.', 1.0842)),
    stop_loss: maybe(decimal('As it was sent.', 1.08)),
    take_profit: maybe(decimal('As it was sent.', 1.095)),
    client_id: maybe(text("The caller's own reference.", 'strategy-7-0042')),
  }),
  'order.filled': object('The order, wholly or partly executed.', {
    ...orderFields,
    fill_price: orNull(decimal('The price of the execution; null where the broker did not tell it.', 1.0842)),
    filled_volume: orNull(decimal('Lots that were executed; null where the broker did not tell of a partial execution how many.', 0.2)),
    filled_at: time('When it was executed, or known to be.'),
    requested_price: seldom(decimal('As it was sent.', 1.0842)),
    fees: seldom(decimal('What the execution cost, where it is known.', -1.4)),
    position_id: maybe(position_id),
  }),
  'order.cancelled': object('The order.', {
    ...orderFields,
    cancelled_at: time('When it was cancelled.'),
    cancel_reason: seldom(text('Why, where it is known.', 'user')),
  }),
  'account.balance_changed': object('The change.', {
    account_id,
    previous_balance: decimal('Before.', 10_212.4),
    new_balance: decimal('After.', 10_250.4),
    change_amount: decimal('The difference.', 38),
    change_percentage: decimal('The difference in percent of what was before.', 0.372),
    equity: decimal('Balance and the result of open positions.', 10_310.9),
    margin: decimal('Margin in use.', 216.4),
    free_margin: decimal('Margin that is free.', 10_094.5),
    change_reason: text('Why.', 'trade'),
    changed_at: time('When it changed.'),
    margin_level: seldom(decimal('Equity in percent of the margin in use.', 4_764.74)),
  }),
  'risk.threshold_breached': object('The breach.', {
    account_id,
    threshold_type: text('What the threshold is of.', 'drawdown'),
    threshold_value: anything('Where it lies.'),
    current_value: anything('What is there now.'),
    severity: text('How grave it is.', 'warning'),
    message: text('The same for a person.', 'The drawdown is above its threshold.'),
    breached_at: time('When it was breached.'),
    affected_positions: { shape: anything('The positions that it is about.'), isInExample: false },
  }),
}

/** The whole body of a delivery. */
export const eventShape = (eventType: WebhookEventType): Shape<unknown> =>
  record(nameOf(eventType), `What is posted for ${eventType}.`, {
    event: always(eventType, 'The event type.'),
    data: dataShapes[eventType],
    timestamp: time('When it was sent.', '2026-11-20T14:05:10.002Z'),
    webhook_id: uuid('The webhook.', exampleWebhookId),
  })

/** `TradeClosedEvent` for trade.closed. */
export const nameOf = (eventType: WebhookEventType): string => `${eventType.split(/[._]/).map(capitalised).join('')}Event`

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
