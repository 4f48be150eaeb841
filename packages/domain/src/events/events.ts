// The events that the service records. Their data is what the log, its streams and webhooks show, as
// JSON: snake_case, times in ISO 8601, and no field that is undefined. Null is what the broker did
// not report.
import type { AccountReading } from '../accounts/account.ts'
import type { ThresholdBreach, ThresholdType } from '../accounts/risk-threshold.ts'
import { cashFlowReason, dealKey, type BrokerDeal, type DealKind } from '../journal/broker-deal.ts'
import { totalOf } from '../journal/close-fill.ts'
import type { PositionClose } from '../journal/closes.ts'
import type { Order, PendingOrder } from '../orders/order.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import { formatPositionId, type AccountId } from '../primitives/ids.ts'
import { toIso } from '../primitives/instant.ts'
import type { Side } from '../primitives/prices.ts'
import type { ClosedTrade } from '../trades/closed-trade.ts'
import { isReadableTime, priceOf } from '../trades/deal.ts'
import type { FoldedTrade } from '../trades/fold.ts'
import type { WebhookEventType } from '../webhooks/webhook.ts'

export interface ServiceEvent {
  readonly type: WebhookEventType
  /** An event is recorded once for each user and key. */
  readonly key: string
  readonly data: Readonly<Record<string, unknown>>
}

/** @param subject distinguishes the event from all others of its type */
const eventOf = <Type extends WebhookEventType, Data extends object>(
  type: Type,
  subject: string,
  data: Data,
) => ({ type, key: `${type} ${subject}`, data })

const orderEvent = <Type extends WebhookEventType, Data extends object>(
  type: Type,
  { id, request }: Order,
  data: Data,
) =>
  eventOf(type, id, {
    order_id: id,
    account_id: request.accountId,
    symbol: request.symbol,
    type: request.side,
    order_type: request.orderType,
    volume: request.volume,
    ...data,
  })

export const orderCreated = (order: PendingOrder) => {
  const { request, createdAt } = order
  return orderEvent('order.created', order, {
    created_at: toIso(createdAt),
    price: request.price,
    stop_loss: request.stopLoss,
    take_profit: request.takeProfit,
    client_id: request.clientId,
  })
}

/**
 * The event of an order that has ended. One that was executed in part is filled too, as
 * `filled_volume` shows. A whole execution has the order's volume where the broker reported none,
 * and the time at which it became known.
 */
export const outcomeEvents = (order: Order) => {
  const { request, updatedAt } = order
  switch (order.status) {
    case 'pending':
    case 'open':
      return []
    case 'filled':
    case 'partially_filled': {
      const { status, fill } = order
      return [
        orderEvent('order.filled', order, {
          fill_price: fill.price ?? null,
          filled_volume: fill.volume ?? (status === 'filled' ? request.volume : null),
          filled_at: toIso(fill.at ?? updatedAt),
          requested_price: request.price,
          position_id: fill.positionId && formatPositionId(request.accountId, fill.positionId),
        }),
      ]
    }
    case 'rejected':
      return [
        orderEvent('order.rejected', order, {
          rejected_at: toIso(updatedAt),
          reject_code: order.reason.code,
          reject_message: order.reason.message,
        }),
      ]
    case 'cancelled':
      return [
        orderEvent('order.cancelled', order, {
          cancelled_at: toIso(order.cancelledAt),
          cancel_reason: order.cancelReason,
        }),
      ]
    case 'expired':
      return [orderEvent('order.expired', order, { expired_at: toIso(order.expiredAt) })]
  }
}

/** @param closedBy the new deal that closed it; by default the last that did */
export const tradeClosed = (
  { accountId, trade, closingDealId }: Pick<ClosedTrade, 'accountId' | 'trade' | 'closingDealId'>,
  closedBy = closingDealId,
) => {
  const id = formatPositionId(accountId, trade.positionId)
  return eventOf('trade.closed', `${id} ${closedBy}`, {
    trade_id: id,
    position_id: id,
    account_id: accountId,
    symbol: trade.symbol,
    type: trade.side,
    volume: trade.volume,
    entry_price: trade.entryPrice,
    exit_price: trade.exitPrice,
    profit: trade.profit,
    profit_percentage: profitPercentage(trade),
    swap: trade.swap,
    commission: trade.commission,
    holding_time_seconds: trade.holdingTime,
    opened_at: toIso(trade.openedAt),
    closed_at: toIso(trade.closedAt),
  })
}

/** How far the price moved in the trade's favour, in percent of the entry price. */
const profitPercentage = ({ side, entryPrice, exitPrice }: FoldedTrade): number => {
  const rise = sumExactly([exitPrice, -entryPrice])
  return ((side === 'buy' ? rise : 0 - rise) * 100) / Math.abs(entryPrice)
}

interface PositionOfDeals {
  readonly accountId: AccountId
  readonly ticket: string
  readonly symbol: string | undefined
}

const positionFields = ({ accountId, ticket, symbol }: PositionOfDeals) => ({
  position_id: formatPositionId(accountId, ticket),
  account_id: accountId,
  symbol: symbol ?? null,
})

const timeOrNull = ({ time }: BrokerDeal): string | null =>
  isReadableTime(time) ? toIso(time) : null

/**
 * @param opening the deals that opened the position together, oldest first
 * @param again the key of the deal that opened it on the other side, or after it was closed
 */
export const positionOpened = (
  position: PositionOfDeals,
  opening: readonly [BrokerDeal, ...BrokerDeal[]],
  again?: string,
) => {
  const [first] = opening
  const { volume, price } = totalOf(opening)
  const fields = positionFields(position)
  const id = fields.position_id
  return eventOf('position.opened', again === undefined ? id : `${id} ${again}`, {
    ...fields,
    type: first.side as Side,
    volume,
    entry_price: price,
    margin_used: null as number | null,
    opened_at: timeOrNull(first),
    stop_loss: first.stopLoss,
    take_profit: first.takeProfit,
  })
}

const otherSide = { buy: 'sell', sell: 'buy' } as const

export const positionClosed = (position: PositionOfDeals, close: PositionClose) => {
  const { deal, closedVolume, remainingVolume, entryPrice } = close
  const reason: string | undefined = deal.reason
  return eventOf('position.closed', `${position.accountId} ${dealKey(deal)}`, {
    ...positionFields(position),
    type: otherSide[deal.side as Side],
    closed_volume: closedVolume,
    remaining_volume: remainingVolume,
    entry_price: entryPrice,
    exit_price: priceOf(deal) || null,
    realized_pnl: deal.profit,
    is_partial: remainingVolume === null ? null : remainingVolume > 0,
    closed_at: timeOrNull(deal),
    exit_reason: reason,
  })
}

/** A change of the balance, with the account as it was read after it. */
interface BalanceChange {
  readonly accountId: AccountId
  readonly deal: BrokerDeal
  /** Null, as `after`, where the balance is not known. */
  readonly before: number | null
  readonly after: number | null
  readonly amount: number
  readonly reading: AccountReading
}

export const balanceChanged = ({
  accountId,
  deal,
  before,
  after,
  amount,
  reading: { figures },
}: BalanceChange) =>
  eventOf('account.balance_changed', `${accountId} ${dealKey(deal)}`, {
    account_id: accountId,
    previous_balance: before,
    new_balance: after,
    change_amount: amount,
    change_percentage: percentageOf(amount, before),
    equity: figures.equity,
    margin: figures.margin,
    free_margin: figures.freeMargin,
    change_reason: changeReasonOf(deal.kind, amount),
    changed_at: timeOrNull(deal),
    margin_level: figures.marginLevel ?? undefined,
  })

/**
 * Of the size of the balance, so that the sign follows the amount; null where it was 0, or is not
 * known.
 */
const percentageOf = (amount: number, balance: number | null): number | null => {
  if (amount === 0) return 0
  return balance === 0 || balance === null ? null : (amount * 100) / Math.abs(balance)
}

const changeReasonOf = (kind: DealKind, amount: number): string => {
  if (kind === 'buy' || kind === 'sell') return 'trade'
  return kind === 'credit' ? kind : cashFlowReason(kind, amount)
}

const breachTexts: Readonly<Record<ThresholdType, readonly [figure: string, is: string]>> = {
  equity_below: ['The equity', 'below'],
  margin_level_below: ['The margin level in percent', 'below'],
  daily_loss_above: ["The day's loss", 'above'],
  drawdown_above: ['The drawdown from the highest equity', 'above'],
}

/** @param openPositions their ids; undefined where they could not be read */
export const thresholdBreached = (
  { threshold: { accountId, type, severity, value }, current, at }: ThresholdBreach,
  openPositions: readonly string[] | undefined,
) => {
  const [figure, is] = breachTexts[type]
  return eventOf('risk.threshold_breached', `${accountId} ${type} ${severity} ${at}`, {
    account_id: accountId,
    threshold_type: type,
    threshold_value: value,
    current_value: current,
    severity,
    message: `${figure} is ${current}, ${is} the threshold of ${value}.`,
    breached_at: toIso(at),
    affected_positions: openPositions,
  })
}

type RecordedEvent =
  | ReturnType<typeof outcomeEvents>[number]
  | ReturnType<
      | typeof orderCreated
      | typeof tradeClosed
      | typeof positionOpened
      | typeof positionClosed
      | typeof balanceChanged
      | typeof thresholdBreached
    >

/** The data of each type of event that the service records. */
export type EventPayloads = { readonly [Event in RecordedEvent as Event['type']]: Event['data'] }
