// An order that is looked for in the broker's records: what is known of it and of its account, and
// which rows without any client id may be its.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { OrderToSend } from '@tradeport/domain/ports'
import { minuteMs, type Instant } from '@tradeport/domain/primitives'
import type { RecordRow } from './order-records.ts'
import type { Tickets } from './trade-answer.ts'

export interface OrderToFind {
  readonly order: OrderToSend
  /** It was sent between these two. */
  readonly sentAt: Instant
  readonly sentAtLatest: Instant
  readonly tickets: Tickets
}

/** What is known besides the broker's lists. */
export interface LookupContext {
  readonly now: Instant
  /**
   * Of a market order: when it was executed at the latest, unless a list still has it open. Of a
   * pending order: since when the broker is known not to hold it, or now.
   */
  readonly executedAtLatest: Instant
  /** Whether a cancellation through the service is taken as made. */
  readonly isCancelledByUs: boolean
  readonly platform: BrokerAccount['platform']
  /** How far the provider's clock is ahead of ours. */
  readonly skewMs: number
  /** The broker's numbers of orders and positions of our other orders on the account. */
  readonly ticketsOfOtherOrders: ReadonlySet<string>
  readonly traits: AccountTraits
}

/** What the provider says of the account; fields are absent if it was not read. */
export interface AccountTraits {
  /** The magic number that the provider gives each trade without one. Ours have none. */
  readonly magic?: number | undefined
  /** Each order opens a position of its own, under the order's number. */
  readonly isHedging?: boolean | undefined
}

/** Whether each order is known to have a position of its own. */
export const isHedging = ({ platform, traits }: LookupContext): boolean =>
  platform === 'mt4' || traits.isHedging === true

/**
 * How long after it was sent a market order may be executed at the latest: the minute after which
 * its absence counts (trading.ts), and a tolerance for clocks.
 */
const executionWindowMs = 5 * minuteMs
/** How far a broker's clock, which nothing measures, may be from the provider's. */
const brokerClockMs = 10 * minuteMs

/**
 * The same symbol, side, magic number and time, no more volume (less may be a part), and no sign of
 * another sender. A field that the row lacks excludes nothing. The magic number is the account's
 * present one: if it was changed since the order was sent, an order without its client id is not
 * recognised. Of a limit or stop order the latest time, the type and the order number are not
 * compared, since it may be executed later, under another number.
 */
export const createSimilarityCheck = (
  { order, sentAt, sentAtLatest, tickets }: OrderToFind,
  context: LookupContext,
) => {
  const { skewMs, ticketsOfOtherOrders, traits } = context
  // On a netting account a position that our other orders share may bear this order's number.
  const otherOrderIds = isHedging(context) ? ticketsOfOtherOrders : new Set()
  const earliest = sentAt + skewMs - brokerClockMs
  const isLimitOrStop = order.limitOrStop !== undefined
  const latest = isLimitOrStop
    ? Infinity
    : sentAtLatest + skewMs + executionWindowMs + brokerClockMs
  return (row: RecordRow, orderId: string | undefined, ignoresVolume = false): boolean =>
    row.clientId === undefined &&
    !otherOrdersClientId.test(row.notes ?? '') &&
    row.side === order.side &&
    (isLimitOrStop || (row.orderType ?? 'market') === 'market') &&
    (row.symbol ?? order.symbol) === order.symbol &&
    (row.volume === undefined || ignoresVolume || row.volume <= order.volume) &&
    (row.at === undefined || (row.at >= earliest && row.at <= latest)) &&
    (row.magic === undefined || traits.magic === undefined || row.magic === traits.magic) &&
    !foreignReasons.has(row.reason ?? '') &&
    (orderId === undefined ||
      (!otherOrderIds.has(orderId) &&
        (isLimitOrStop || tickets.orderId === undefined || tickets.orderId === orderId)))
}

/** One of our client ids in a comment. It is another order's: this one's would have been read. */
const otherOrdersClientId = /\bTP_[0-9A-Za-z]{10}(?![0-9A-Za-z])/

/** Of closes by a stop loss, a take profit or a lack of margin. */
export const reasonsOfStops = new Set(['SL', 'TP', 'SO'])

/** No order sent by a program has these: it was manual, or the platform made it. */
const foreignReasons = new Set([...reasonsOfStops, 'MOBILE', 'WEB', 'ROLLOVER', 'VMARGIN', 'SPLIT'])
