// The deals of one close among all that closed parts of a position: at what price it was executed, with what profit, and when (2.4; decision 32).
import { sumExactly } from '../primitives/exact-sum.ts'
import { fillOfExecutions } from '../primitives/executions.ts'
import type { Execution } from '../primitives/executions.ts'
import type { Ticket } from '../primitives/ids.ts'
import { secondMs } from '../primitives/instant.ts'
import type { Instant } from '../primitives/instant.ts'
import { compareLots } from '../primitives/lots.ts'

/** A deal that closed a position or a part of it. */
export interface ClosingDeal {
  readonly id: string
  /** The broker's number of the order that made it; absent where the broker does not say. */
  readonly orderId?: string
  /** Lots above 0; absent where the broker does not say. */
  readonly volume?: number
  readonly price?: number
  /** In the account's currency, before commission and swap. */
  readonly profit: number
  readonly at?: Instant
}

/** What tells a closing deal from all others of its account: on MT4 its id alone may be that of the opening one. */
export type ClosingDealKey = string

export const closingDealKey = ({ id, at }: { readonly id: string; readonly at?: Instant | undefined }): ClosingDealKey =>
  `${id} ${at ?? ''}`

/** What is known of a close that was sent. */
export interface SentClose {
  readonly ticket: Ticket
  /** The broker's number of the closing order; null where it did not say. */
  readonly orderId: string | null
  readonly sentAt: Instant
}

/** What the deals of one close make together; what they do not tell is null. Volume-weighted price, profit before commission and swap. */
export interface ClosingFill {
  /** What tells its deals from all others of the account. */
  readonly deals: readonly ClosingDealKey[]
  readonly orderId: string | null
  readonly price: number | null
  readonly profit: number
  readonly at: Instant | null
}

/**
 * How much earlier than it was sent a close may stand in the broker's history: MT4 keeps whole seconds, and brokers' clocks differ from ours. With
 * more, an earlier close of as many lots could be taken for this one; a broker that is further behind is answered without the deal.
 */
const clockLeewayMs = 10 * secondMs

/**
 * The fill of a close, once deals of just its volume are there; undefined until then. Its deals are those of its order. Where the broker did not say
 * which that is, or named the position's own, under which MT4 settles every close, they are the newest, and none that is older than the close.
 * @param deals oldest first
 */
export const closingFillOf = (deals: readonly ClosingDeal[], sent: SentClose, closedVolume: number): ClosingFill | undefined =>
  fillOf(dealsOf(deals, sent, closedVolume), sent)

/**
 * The fill of a close that is looked for later, when others may have been made after it: as `closingFillOf`, but of several that it could be it is the oldest.
 * @param deals oldest first, without those that are known to be of others
 */
export const oldestFillOf = (deals: readonly ClosingDeal[], sent: SentClose, closedVolume: number): ClosingFill | undefined => {
  const own = deals.filter((deal) => isOf(deal, sent))
  if (isAloneWithoutVolume(own)) return fillOf(own, sent)
  return fillOf(executionsOf(own, sent).find((some) => areLots(some, closedVolume)) ?? [], sent)
}

/** The oldest that could be the fill of a close of which the broker did fewer lots than were sent, with its lots. */
export const partialFillOf = (
  deals: readonly ClosingDeal[],
  sent: SentClose,
  closedVolume: number,
): { readonly fill: ClosingFill; readonly volume: number } | undefined => {
  const own = deals.filter((deal) => isOf(deal, sent))
  for (const some of executionsOf(own, sent)) {
    const fill = fillOf(some, sent)
    const volume = lotsOf(some)
    if (fill !== undefined && volume !== undefined && compareLots(volume, closedVolume) < 0) return { fill, volume }
  }
  return undefined
}

const fillOf = (own: readonly ClosingDeal[], sent: SentClose): ClosingFill | undefined => {
  const last = own.at(-1)
  if (last === undefined) return undefined
  const times = own.flatMap(({ at }) => (at === undefined ? [] : [at]))
  return {
    deals: own.map(closingDealKey),
    orderId: sent.orderId ?? last.orderId ?? null,
    price: priceOf(own),
    profit: sumExactly(own.map(({ profit }) => profit)),
    at: times.length === 0 ? null : Math.max(...times),
  }
}

const dealsOf = (deals: readonly ClosingDeal[], sent: SentClose, closedVolume: number): readonly ClosingDeal[] => {
  const own = deals.filter((deal) => isOf(deal, sent))
  if (isAloneWithoutVolume(own)) return own
  // By their times alone, the deals of a close that went before may be among them.
  const candidates = isOrderKnown(sent) ? [own] : own.map((_, index) => own.slice(index))
  return candidates.find((some) => areLots(some, closedVolume)) ?? []
}

// One that does not tell its volume is all of it where it is alone, and beside others nothing to go by.
const isAloneWithoutVolume = (own: readonly ClosingDeal[]): boolean => own.length === 1 && own.every(({ volume }) => volume === undefined)

const isOf = ({ orderId, at }: ClosingDeal, sent: SentClose): boolean => {
  if (sent.orderId !== null && orderId !== undefined && orderId !== sent.orderId) return false
  if (isOrderKnown(sent) && orderId !== undefined) return true
  return at !== undefined && at >= sent.sentAt - clockLeewayMs
}

/** Deals that could be all of a close: those of each order, and those that tell no order of their own one by one, then together. */
const executionsOf = (own: readonly ClosingDeal[], sent: SentClose): readonly (readonly ClosingDeal[])[] => {
  if (isOrderKnown(sent)) return [own]
  const isWithoutOrder = ({ orderId }: ClosingDeal): boolean => orderId === undefined || orderId === sent.ticket
  const byOrder = Map.groupBy(own, (deal) => (isWithoutOrder(deal) ? deal : deal.orderId))
  return [...byOrder.values(), own.filter(isWithoutOrder)]
}

/** Whether deals can be told by their order; on MT4 every close has the number of its position. */
export const isOrderKnown = ({ orderId, ticket }: Pick<SentClose, 'orderId' | 'ticket'>): boolean => orderId !== null && orderId !== ticket

const areLots = (deals: readonly ClosingDeal[], lots: number): boolean => {
  const volume = lotsOf(deals)
  return volume !== undefined && compareLots(volume, lots) === 0
}

/** Undefined where one does not tell its volume. */
const lotsOf = (deals: readonly ClosingDeal[]): number | undefined => {
  const volumes = deals.flatMap(({ volume }) => (volume === undefined ? [] : [volume]))
  return volumes.length === deals.length ? sumExactly(volumes) : undefined
}

const priceOf = (own: readonly ClosingDeal[]): number | null => {
  if (own.length === 1) return own[0]?.price ?? null
  const executions = own.flatMap(executionOf)
  const [first, ...rest] = executions
  return first === undefined || executions.length < own.length ? null : fillOfExecutions([first, ...rest]).price
}

const executionOf = ({ volume, price }: ClosingDeal): readonly Execution[] =>
  volume === undefined || price === undefined ? [] : [{ volume, price, at: 0 }]
