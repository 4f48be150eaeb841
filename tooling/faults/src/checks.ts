// The promises of the service, each as a check of what a run saw. A check returns sentences, each a
// broken promise.
import { isDeepStrictEqual } from 'node:util'
import type { Delivery, LogEvent, Order } from '@tradeport/client'
import { brokerClientId, maxSendAgeMs, type OrderId } from '@tradeport/domain/orders'
import type { DealRow, OrderRow } from '@tradeport/sandbox-broker'
import { countOf } from './run.ts'

// --- replies ---

export interface Reply {
  /** The client's method. */
  readonly operation: string
  /** Which instance was asked. */
  readonly slot: number
  /** By a monotonic clock, in milliseconds. */
  readonly beganAt: number
  readonly endedAt: number
  /** `done`, `503 SERVICE_UNAVAILABLE`, `no answer`. */
  readonly outcome: string
}

/** Outcomes beside `done` by operation; `*` for all the rest. */
export type Allowed = Readonly<Record<string, readonly string[]>>

export const checkReplies = (replies: readonly Reply[], allowed: Allowed): readonly string[] => {
  const wrong = replies.filter(
    ({ operation, outcome }) =>
      outcome !== 'done' && !(allowed[operation] ?? allowed['*'] ?? []).includes(outcome),
  )
  const counts = countOf(wrong.map(({ operation, outcome }) => `${operation}: ${outcome}`))
  return [...counts].map(([what, times]) => `${what}, ${times} times`)
}

// --- orders ---

/** An order that a user wants, and how it was answered. */
export interface Intent {
  /** The order's clientId. */
  readonly id: string
  /** Sent with an idempotency key, and again until it is answered; one without is sent once. */
  readonly isKeyed: boolean
  readonly answers: readonly IntentAnswer[]
}

export interface IntentAnswer {
  readonly outcome: string
  readonly orderId: string | undefined
  /** Whether the order may exist all the same. */
  readonly isUnsure: boolean
}

export const checkIntents = (
  intents: readonly Intent[],
  orders: readonly Pick<Order, 'id' | 'clientId'>[],
): readonly string[] => {
  const recordedOf = Map.groupBy(orders, ({ clientId }) => clientId ?? '')
  return intents.flatMap(({ id, isKeyed, answers }) => {
    const recorded = (recordedOf.get(id) ?? []).map((order) => order.id)
    const answered = [...new Set(answers.flatMap(({ orderId }) => orderId ?? []))]
    if (recorded.length > 1) return [`intent ${id} became ${recorded.length} orders`]
    if (answered.length > 1) return [`intent ${id} was answered with ${answered.length} orders`]
    if (answered[0] !== undefined)
      return recorded[0] === answered[0]
        ? []
        : [`order ${answered[0]} was answered with 201 and is gone`]
    if (isKeyed) return [`intent ${id} was sent under one key until the end, and never placed`]
    const isCertain = answers.length > 0 && !answers.some(({ isUnsure }) => isUnsure)
    return recorded.length > 0 && isCertain
      ? [`intent ${id} was refused (${answers[0]?.outcome}), and is order ${recorded[0]}`]
      : []
  })
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const brokersIdOf = ({ id }: Order): string => brokerClientId(id as OrderId)
/** For the way to the broker, and for a busy machine. */
const transitMs = 5_000

/**
 * Every order is decided, executed at most once and as its status says, a market order within 30
 * seconds, and nothing else is executed.
 * @param deals the broker's
 */
export const checkBook = (
  orders: readonly Order[],
  deals: readonly DealRow[],
): readonly string[] => {
  const executions = Map.groupBy(
    deals.filter(({ entryType }) => entryType === 'DEAL_ENTRY_IN'),
    ({ clientId }) => textOf(clientId),
  )
  const known = new Set(orders.map(brokersIdOf))
  return [
    ...[...executions.keys()]
      .filter((clientId) => !known.has(clientId))
      .map((clientId) => `the broker executed ${clientId || 'a deal'}, which is no order`),
    ...orders.flatMap((order) => faultsOfOrder(order, executions.get(brokersIdOf(order)) ?? [])),
  ]
}

const faultsOfOrder = (
  { id, orderType, status, volume, filledVolume, createdAt }: Order,
  made: readonly DealRow[],
): readonly string[] => {
  const executed = Math.round(made.reduce((sum, deal) => sum + Number(deal['volume']), 0) * 1e8)
  const executions = new Set(made.map(({ orderId }) => orderId)).size
  const lateMs =
    Math.max(...made.map(({ time }) => Date.parse(textOf(time)))) - Date.parse(createdAt)
  const expected: Readonly<Record<Order['status'], boolean>> = {
    pending: false,
    filled: executed === Math.round(volume * 1e8),
    partially_filled:
      executed > 0 && executed < volume * 1e8 && [undefined, executed / 1e8].includes(filledVolume),
    rejected: executed === 0,
    cancelled: executed === 0,
    expired: executed === 0,
    open: executed < volume * 1e8,
  }
  return [
    ...(executions > 1 ? [`order ${id} was executed ${executions} times`] : []),
    ...(expected[status]
      ? []
      : [`order ${id} of ${volume} is ${status}, and the broker executed ${executed / 1e8} lots`]),
    ...(orderType === 'market' && lateMs > maxSendAgeMs + transitMs
      ? [`order ${id} was executed ${Math.round(lateMs / 1_000)} s after it was created`]
      : []),
  ]
}

const byClientId = (rows: readonly OrderRow[]) =>
  new Map(rows.map((row) => [textOf(row['clientId']), row]))

/**
 * The open orders are those that the broker holds, at the same price and under the same number; a
 * cancelled or expired one ended so there.
 * @param held the pending orders that the broker holds
 * @param finished those that have ended
 */
export const checkPendingOrders = (
  orders: readonly Order[],
  held: readonly OrderRow[],
  finished: readonly OrderRow[],
): readonly string[] => {
  const [heldBy, finishedBy] = [byClientId(held), byClientId(finished)]
  const wrong = orders.flatMap((order) => {
    const { id, status, price, stopLimitPrice, brokerOrderId } = order
    const row = heldBy.get(brokersIdOf(order))
    if (status === 'open') {
      heldBy.delete(brokersIdOf(order))
      // The broker holds a stop-limit order as a limit order once its price was reached.
      const isTriggered = row !== undefined && row['stopLimitPrice'] === undefined
      const shown = { brokerOrderId, price: isTriggered ? (stopLimitPrice ?? price) : price }
      const holds = row && { brokerOrderId: row.id, price: row['openPrice'] }
      return isDeepStrictEqual(shown, holds)
        ? []
        : [`order ${id} is open as ${asText(shown)}, and the broker holds ${asText(holds)}`]
    }
    const endedAs = endOf(finishedBy.get(brokersIdOf(order)))
    return (status === 'cancelled' || status === 'expired') && endedAs !== status
      ? [`order ${id} is ${status}, and the broker has it as ${endedAs}`]
      : []
  })
  const others = [...heldBy].map(
    ([clientId, { id }]) => `the broker holds order ${id} of ${clientId}, which is not open`,
  )
  return [...wrong, ...others]
}

const asText = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

/** MT4 cancels what has expired. */
const endOf = (row: OrderRow | undefined): string => {
  if (row?.['state'] === 'ORDER_STATE_EXPIRED' || row?.['brokerComment'] === '[expiration]')
    return 'expired'
  return row?.['state'] === 'ORDER_STATE_CANCELED' ? 'cancelled' : textOf(row?.['state'])
}

// --- events and deliveries ---

/** Every type whose events a run compares, with the fields that identify one. */
const identifiedBy: Readonly<Record<string, readonly string[]>> = {
  'order.created': ['order_id'],
  'order.filled': ['order_id'],
  'order.rejected': ['order_id'],
  'order.cancelled': ['order_id'],
  'order.expired': ['order_id'],
  'position.opened': ['position_id', 'symbol', 'opened_at'],
  'position.closed': [
    'position_id',
    'closed_volume',
    'exit_price',
    'realized_pnl',
    'closed_at',
    'exit_reason',
  ],
  'trade.closed': ['position_id', 'volume', 'profit', 'closed_at'],
  'account.balance_changed': ['account_id', 'change_amount', 'changed_at'],
}
export const eventTypes = Object.keys(identifiedBy) as LogEvent['event'][]

type Fields = Readonly<Record<string, unknown>>

export const eventName = (type: string, data: Fields): string =>
  `${type} ${JSON.stringify((identifiedBy[type] ?? []).map((field) => data[field]))}`

/** @param happened the name of each event that should be recorded */
export const checkEvents = (
  happened: readonly string[],
  events: readonly LogEvent[],
): readonly string[] => {
  const left = countOf(happened)
  for (const { event, data } of events) {
    const name = eventName(event, data)
    left.set(name, (left.get(name) ?? 0) - 1)
  }
  return [...left]
    .filter(([, times]) => times !== 0)
    .map(
      ([name, times]) =>
        `${name} ${times > 0 ? 'is not recorded' : 'is recorded more often than it happened'}`,
    )
}

/** A webhook with what its receiver received, and what the service says about it. */
export interface CheckedWebhook {
  readonly id: string
  readonly isFailing: boolean
  readonly isEnabled: boolean
  readonly logged: readonly Delivery[]
  /** In the order of arrival; undefined where the signature does not verify. */
  readonly received: readonly (ReceivedEvent | undefined)[]
}

export interface ReceivedEvent {
  readonly webhook_id: string
  readonly delivery_id?: string
  readonly event: string
  readonly data: unknown
}

const failuresToDisable = 5

/**
 * Every event reaches every webhook of its user that can be reached, whole, signed, under one id
 * and in the order of what it is about; one that always fails is disabled after five attempts.
 */
export const checkDeliveries = (
  { id, isFailing, isEnabled, logged, received }: CheckedWebhook,
  events: readonly LogEvent[],
): readonly string[] => {
  const eventOf = new Map(events.map((event) => [event.id, event]))
  const deliveryOf = new Map(logged.map((delivery) => [delivery.id, delivery]))
  const arrived = new Map<string, LogEvent>()
  const wrong = received.flatMap((one) => {
    const deliveryId = one?.delivery_id ?? ''
    const event = eventOf.get(deliveryOf.get(deliveryId)?.eventId ?? '')
    if (one === undefined) return [`webhook ${id} received a signature that does not verify`]
    if (event === undefined || one.webhook_id !== id)
      return [`delivery ${deliveryId} is not in the log of webhook ${id}`]
    arrived.set(deliveryId, event)
    return one.event === event.event && isDeepStrictEqual(one.data, event.data)
      ? []
      : [`delivery ${deliveryId} has other content than its event`]
  })
  if (isFailing === isEnabled) wrong.push(`webhook ${id} is ${isEnabled ? 'enabled' : 'disabled'}`)
  if (isFailing) {
    const attempts = logged.reduce((sum, delivery) => sum + delivery.attempts, 0)
    return attempts === failuresToDisable && logged.every(({ status }) => status === 'failed')
      ? wrong
      : [...wrong, `webhook ${id} fails always, and has ${attempts} attempts in its log`]
  }
  const deliveriesOf = Map.groupBy(logged, ({ eventId }) => eventId)
  const missing = events.flatMap((event) => {
    const made = deliveriesOf.get(event.id) ?? []
    return made.length === 1 && made[0]?.status === 'success' && arrived.has(made[0].id)
      ? []
      : [
          `${event.event} ${event.id} has ${made.length} deliveries (${made[0]?.status}) for webhook ${id}, or never reached it`,
        ]
  })
  return [...wrong, ...missing, ...unordered(id, [...arrived.values()])]
}

/** Events of one order, or of one position, arrive in the order of their record. */
const unordered = (webhookId: string, arrived: readonly LogEvent[]): readonly string[] => {
  const last = new Map<unknown, string>()
  return arrived.flatMap(({ id, event, data }) =>
    ['order_id', 'position_id'].flatMap((field) => {
      const subject = (data as Fields)[field]
      const before = last.get(subject)
      if (subject === undefined) return []
      last.set(subject, id)
      return before !== undefined && before > id
        ? [`webhook ${webhookId} received ${event} ${id} after ${before}`]
        : []
    }),
  )
}
