// A deal as the broker's history has it: what the fold needs, and what events, checks and closes
// need besides.
import type { Instant } from '../primitives/instant.ts'
import type { Deal } from '../trades/deal.ts'

/**
 * What a deal is. `buy` and `sell` trade; the others book money, or are trades that the broker
 * cancelled.
 */
export const dealKinds = [
  'buy',
  'sell',
  'balance',
  'credit',
  'charge',
  'correction',
  'bonus',
  'commission',
  'interest',
  'dividend',
  'tax',
  'cancelled',
  'other',
] as const
export type DealKind = (typeof dealKinds)[number]

/** Who or what caused a deal. */
export const dealReasons = [
  'stop_loss',
  'take_profit',
  'stop_out',
  'client',
  'expert',
  'mobile',
  'web',
  'other',
] as const
export type DealReason = (typeof dealReasons)[number]

/**
 * Prices in the symbol's quote currency. `side` is the kind of a deal that trades, and absent on
 * all others.
 */
export interface BrokerDeal extends Deal {
  readonly kind: DealKind
  /** Absent where the broker gave none, or said that it is unknown. */
  readonly reason?: DealReason
  /** The broker's number of the order that made the deal. */
  readonly orderId?: string
  /** On an opening deal the levels of its order, where the broker gives them. */
  readonly stopLoss?: number
  readonly takeProfit?: number
}

/**
 * Distinguishes a deal from all others of its account: on MT4 an opening and a closing deal may
 * share their id.
 */
export const dealKey = ({ time, id, entry }: Pick<Deal, 'time' | 'id' | 'entry'>): string =>
  `${time ?? ''} ${entry ?? ''} ${id}`

/**
 * The amounts by which a deal changes the balance. Credit is kept beside the balance, and changes
 * equity alone.
 */
export const balanceAmounts = ({ kind, profit, commission, swap }: BrokerDeal): readonly number[] =>
  kind === 'credit' ? [] : [profit, commission, swap]

/**
 * A part of an account's history: `from` included, `to` excluded; rows before `offset` are left
 * out.
 */
export interface DealsWindow {
  readonly from: Instant
  readonly to: Instant
  readonly offset: number
}

/** Deals in the provider's order, which may repeat a row. */
export interface DealsPage {
  readonly deals: readonly BrokerDeal[]
  /** Where the next page of the window begins; null after the last. */
  readonly nextOffset: number | null
  readonly readAt: Instant
}
