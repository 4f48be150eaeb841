// The promises of the service, each as a check of what a run saw and recorded. A check returns
// sentences, each a broken promise.
import { isDeepStrictEqual } from 'node:util'
import { brokerClientId, sendTimeoutMs, type OrderId } from '@tradeport/domain/orders'
import type { DealRow, OrderRow } from '@tradeport/sandbox-broker'

// --- replies ---

export interface Reply {
  /** `POST /orders`. */
  readonly what: string
  /** Which instance was asked. */
  readonly slot: number
  /** By a monotonic clock, in milliseconds. */
  readonly beganAt: number
  readonly endedAt: number
  /** `201`, `503 SERVICE_UNAVAILABLE`, `no answer`. */
  readonly outcome: string
}

/** Outcomes by what is asked for; `*` for all the rest. */
export type Allowed = Readonly<Record<string, readonly string[]>>

export const countOutcomes = (
  replies: readonly Reply[],
): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const counts = new Map<string, Map<string, number>>()
  for (const { what, outcome } of replies) {
    const own = counts.get(what) ?? new Map<string, number>()
    counts.set(what, own.set(outcome, (own.get(outcome) ?? 0) + 1))
  }
  return counts
}

export const checkReplies = (replies: readonly Reply[], allowed: Allowed): readonly string[] =>
  [...countOutcomes(replies)].flatMap(([what, outcomes]) =>
    [...outcomes]
      .filter(([outcome]) => !(allowed[what] ?? allowed['*'] ?? []).includes(outcome))
      .map(([outcome, count]) => `${what} was answered with ${outcome}, ${count} times`),
  )

/** Milliseconds from a moment to an instance's first such reply to a request sent after it. */
export const backAfterMs = (
  replies: readonly Reply[],
  at: number,
  wanted: Pick<Reply, 'what' | 'slot' | 'outcome'>,
): number | undefined =>
  replies
    .filter(
      (reply) =>
        reply.beganAt >= at &&
        reply.what === wanted.what &&
        reply.slot === wanted.slot &&
        reply.outcome === wanted.outcome,
    )
    .map(({ endedAt }) => endedAt - at)
    .toSorted((a, b) => a - b)[0]

// --- orders ---

/** An order that a user wants, and how it was answered. */
export interface Intent {
  /** The order's clientId. */
  readonly id: string
  /** Sent with an idempotency key, and again until it is answered; one without is sent once. */
  readonly isKeyed: boolean
  readonly answers: readonly IntentAnswer[]
}

export interface IntentAnswer extends Pick<Reply, 'outcome'> {
  readonly orderId: string | null
  /** Whether the order may exist all the same. */
  readonly isUnsure: boolean
}

/** An order as the API answers it. */
export interface CheckedOrder {
  readonly id: string
  readonly orderType: string
  readonly status: string
  readonly volume: number
  readonly filledVolume?: number
  /** Of an open order, what the broker holds as well. */
  readonly brokerOrderId?: string
  readonly price?: number
  readonly stopLimitPrice?: number
  readonly clientId?: string
  readonly userId?: string
  readonly createdAt: string
}

export const checkIntents = (
  intents: readonly Intent[],
  orders: readonly Pick<CheckedOrder, 'id' | 'clientId'>[],
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
/** For the way to the broker, and for a busy machine. */
const transitMs = 5_000

/**
 * Every order is executed at most once and as its status says, a market order within 30 seconds, and
 * nothing else is executed.
 * @param deals the broker's
 */
export const checkBook = (
  orders: readonly CheckedOrder[],
  deals: readonly DealRow[],
): readonly string[] => {
  const executions = Map.groupBy(
    deals.filter(({ entryType }) => entryType === 'DEAL_ENTRY_IN'),
    ({ clientId }) => textOf(clientId),
  )
  const known = new Set(orders.map(({ id }) => brokerClientId(id as OrderId)))
  return [
    ...[...executions.keys()]
      .filter((clientId) => !known.has(clientId))
      .map((clientId) => `the broker executed ${clientId || 'a deal'}, which is no order`),
    ...orders.flatMap((order) =>
      faultsOfOrder(order, executions.get(brokerClientId(order.id as OrderId)) ?? []),
    ),
  ]
}

const faultsOfOrder = (
  { id, orderType, status, volume, filledVolume, createdAt }: CheckedOrder,
  made: readonly DealRow[],
): readonly string[] => {
  const executed = Math.round(made.reduce((sum, deal) => sum + Number(deal['volume']), 0) * 1e8)
  const executions = new Set(made.map(({ orderId }) => orderId)).size
  const lateMs =
    Math.max(...made.map(({ time }) => Date.parse(textOf(time)))) - Date.parse(createdAt)
  const expected: Readonly<Record<string, boolean>> = {
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
    ...(expected[status] === true
      ? []
      : [`order ${id} of ${volume} is ${status}, and the broker executed ${executed / 1e8} lots`]),
    ...(orderType === 'market' && lateMs > sendTimeoutMs + transitMs
      ? [`order ${id} was executed ${Math.round(lateMs / 1_000)} s after it was created`]
      : []),
  ]
}

/**
 * The open orders are those that the broker holds, at the same price and under the same number; a
 * cancelled or expired one ended so there.
 * @param held the pending orders that the broker holds
 * @param finished those that have ended
 */
export const checkPendingOrders = (
  orders: readonly CheckedOrder[],
  held: readonly OrderRow[],
  finished: readonly OrderRow[],
): readonly string[] => {
  const heldBy = new Map(held.map((row) => [textOf(row['clientId']), row]))
  const finishedBy = new Map(finished.map((row) => [textOf(row['clientId']), row]))
  const open = new Set<string>()
  const wrong = orders.flatMap((order) => {
    const clientId = brokerClientId(order.id as OrderId)
    if (order.status === 'open') {
      open.add(clientId)
      const row = heldBy.get(clientId)
      // The broker holds a stop-limit order as a limit order once its price was reached.
      const isTriggered = row !== undefined && row['stopLimitPrice'] === undefined
      const price = isTriggered ? (order.stopLimitPrice ?? order.price) : order.price
      const shown = { brokerOrderId: order.brokerOrderId, price }
      const holds = row && { brokerOrderId: row.id, price: row['openPrice'] }
      return isDeepStrictEqual(shown, holds)
        ? []
        : [`order ${order.id} is open as ${asText(shown)}, and the broker holds ${asText(holds)}`]
    }
    const endedAs = endOf(finishedBy.get(clientId))
    const isEnd = order.status === 'cancelled' || order.status === 'expired'
    return isEnd && endedAs !== order.status
      ? [`order ${order.id} is ${order.status}, and the broker has it as ${endedAs}`]
      : []
  })
  return [
    ...wrong,
    ...[...heldBy]
      .filter(([clientId]) => !open.has(clientId))
      .map(
        ([clientId, { id }]) => `the broker holds order ${id} of ${clientId}, which is not open`,
      ),
  ]
}

const asText = (value: unknown): string => JSON.stringify(value) ?? 'nothing'

/** MT4 cancels what has expired. */
const endOf = (row: OrderRow | undefined): string => {
  if (row?.['state'] === 'ORDER_STATE_EXPIRED' || row?.['brokerComment'] === '[expiration]')
    return 'expired'
  return row?.['state'] === 'ORDER_STATE_CANCELED' ? 'cancelled' : textOf(row?.['state'])
}

// --- events and deliveries ---

export interface RecordedEvent {
  readonly sequence: number
  readonly userId: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What truly happened to a user: the name of each event that should be recorded. */
export interface Happened {
  readonly userId: string
  readonly names: readonly string[]
}

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
export const eventTypes = Object.keys(identifiedBy)

export const eventName = (type: string, data: RecordedEvent['data']): string =>
  `${type} ${JSON.stringify((identifiedBy[type] ?? []).map((field) => data[field]))}`

export const checkEvents = (
  happened: readonly Happened[],
  events: readonly RecordedEvent[],
): readonly string[] =>
  happened.flatMap(({ userId, names }) =>
    differences(
      `of ${userId}`,
      names,
      events
        .filter((event) => event.userId === userId)
        .map(({ type, data }) => eventName(type, data)),
    ),
  )

/** Reports what is in one list more often than in the other. */
export const differences = (
  where: string,
  happened: readonly string[],
  recorded: readonly string[],
): readonly string[] => {
  const left = new Map<string, number>()
  for (const one of happened) left.set(one, (left.get(one) ?? 0) + 1)
  for (const one of recorded) left.set(one, (left.get(one) ?? 0) - 1)
  return [...left]
    .filter(([, count]) => count !== 0)
    .map(
      ([one, count]) =>
        `${one} ${where} ${count > 0 ? 'is not recorded' : 'is recorded more often than it happened'}`,
    )
}

export interface RunWebhook {
  readonly id: string
  readonly userId: string
  readonly isFailing: boolean
}

/** A row of the log of deliveries. */
export interface LoggedDelivery {
  readonly id: string
  readonly webhookId: string
  readonly sequence: number
  readonly status: string
  readonly attempts: number
}

export interface ReceivedDelivery {
  readonly deliveryId: string
  readonly webhookId: string
  readonly isGenuine: boolean
  readonly event: string
  readonly data: unknown
}

const failuresToDisable = 5

/**
 * Every event reaches every webhook of its user that can be reached, whole, signed, under one id
 * and in the order of what it is about; one that always fails is attempted five times.
 * @param received in the order of arrival
 */
export const checkDeliveries = (
  webhooks: readonly RunWebhook[],
  events: readonly RecordedEvent[],
  logged: readonly LoggedDelivery[],
  received: readonly ReceivedDelivery[],
): readonly string[] => {
  const eventOf = new Map(events.map((event) => [event.sequence, event]))
  const deliveryOf = new Map(logged.map((delivery) => [delivery.id, delivery]))
  const wrong = received.flatMap(({ deliveryId, webhookId, isGenuine, event, data }) => {
    const delivery = deliveryOf.get(deliveryId)
    const recorded = eventOf.get(delivery?.sequence ?? -1)
    if (!isGenuine) return [`delivery ${deliveryId} has a signature that does not verify`]
    if (delivery?.webhookId !== webhookId)
      return [`delivery ${deliveryId} is not in the log of webhook ${webhookId}`]
    return recorded?.type === event && JSON.stringify(recorded.data) === JSON.stringify(data)
      ? []
      : [`delivery ${deliveryId} has other content than its event`]
  })
  const ofWebhook = webhooks.flatMap(({ id, userId, isFailing }) => {
    const own = logged.filter(({ webhookId }) => webhookId === id)
    if (isFailing) {
      const attempts = own.reduce((sum, delivery) => sum + delivery.attempts, 0)
      return attempts === failuresToDisable && own.every(({ status }) => status === 'failed')
        ? []
        : [`webhook ${id} fails always, and has ${attempts} attempts in its log`]
    }
    const arrived = [
      ...new Set(
        received.filter(({ webhookId }) => webhookId === id).map(({ deliveryId }) => deliveryId),
      ),
    ]
    const missing = events
      .filter((event) => event.userId === userId)
      .flatMap(({ sequence, type }) => {
        const made = own.filter((delivery) => delivery.sequence === sequence)
        const isKept =
          made.length === 1 && made[0]?.status === 'success' && arrived.includes(made[0].id)
        return isKept
          ? []
          : [
              `${type} ${sequence} has ${made.length} deliveries (${made[0]?.status}) for webhook ${id}, or never reached it`,
            ]
      })
    return [
      ...missing,
      ...unordered(
        id,
        arrived.flatMap((one) => eventOf.get(deliveryOf.get(one)?.sequence ?? -1) ?? []),
      ),
    ]
  })
  return [...wrong, ...ofWebhook]
}

/** Events of one order, or of one position, arrive in the order of their record. */
const unordered = (webhookId: string, arrived: readonly RecordedEvent[]): readonly string[] => {
  const last = new Map<unknown, RecordedEvent>()
  return arrived.flatMap((event) =>
    [event.data['order_id'], event.data['position_id']].flatMap((subject) => {
      if (subject === undefined) return []
      const before = last.get(subject)
      last.set(subject, event)
      return before !== undefined && before.sequence > event.sequence
        ? [`webhook ${webhookId} received ${event.type} ${event.sequence} after ${before.sequence}`]
        : []
    }),
  )
}
