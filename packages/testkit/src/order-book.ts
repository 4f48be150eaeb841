// The orders that a broker accepted, and what became of each.
import type {
  Fill,
  LookupAnswer,
  OrderOutcome,
  OrderTerms,
  BrokerOrder,
} from '@tradeport/domain/orders'
import type { OrderToSend } from '@tradeport/domain/ports'
import { sumExactly, type Ticket } from '@tradeport/domain/primitives'

export interface BookEntry {
  readonly order: OrderToSend
  readonly terms: BrokerOrder
  readonly fills: readonly (Fill & { readonly volume: number })[]
  /** How what is not executed ended; undefined while it waits. */
  readonly end: OrderOutcome | undefined
  /** No record shows it any more. */
  readonly isLost: boolean
}

const termsOf = (
  { clientId, stopLoss, takeProfit, limitOrStop }: OrderToSend,
  brokerOrderId: string,
): BrokerOrder => ({
  brokerOrderId,
  clientId,
  isUnexecuted: true,
  price: limitOrStop?.price ?? 0,
  stopLimitPrice: limitOrStop?.stopLimitPrice,
  stopLoss,
  takeProfit,
  timeInForce: limitOrStop?.timeInForce ?? 'gtc',
  expiresAt: limitOrStop?.expiresAt,
})

const noTerms: Partial<BrokerOrder> = {
  stopLimitPrice: undefined,
  stopLoss: undefined,
  takeProfit: undefined,
  expiresAt: undefined,
}

/** Lots that are not executed. */
const remainingIn = ({ order, fills }: BookEntry) =>
  sumExactly([order.volume, -sumExactly(fills.map(({ volume }) => volume))])

/** How an order has ended; undefined where it has not. */
export const outcomeOf = (entry?: BookEntry): OrderOutcome | undefined => {
  if (entry === undefined) return undefined
  const { order, fills, end } = entry
  const [first] = fills
  if (first === undefined) return end
  const remaining = remainingIn(entry)
  const fill = { ...first, volume: sumExactly([order.volume, -remaining]) }
  if (remaining === 0) return { kind: 'filled', fill }
  return end && { kind: 'partially_filled', fill }
}

/** @param entries by the number under which each was accepted */
export const createOrderBook = (entries = new Map<string, BookEntry>()) => {
  /** Changes an order that has not ended, and returns whether there was one. */
  const whileWaiting = (
    number: string,
    change: (entry: BookEntry) => Partial<BookEntry>,
  ): boolean => {
    const entry = entries.get(number)
    if (entry === undefined || outcomeOf(entry) !== undefined) return false
    entries.set(number, { ...entry, ...change(entry) })
    return true
  }
  const change = (number: string, terms: Partial<BrokerOrder>): boolean =>
    whileWaiting(number, (entry) => ({ terms: { ...entry.terms, ...terms } }))
  const waiting = (): readonly (readonly [number: string, entry: BookEntry])[] =>
    [...entries].filter(([, entry]) => !entry.isLost && outcomeOf(entry) === undefined)

  return {
    /** Returns the number under which the order waits from now on. */
    accept: (order: OrderToSend): string => {
      const number = String(entries.size + 1)
      const terms = termsOf(order, number)
      entries.set(number, { order, terms, fills: [], end: undefined, isLost: false })
      return number
    },
    /** Executes so many lots, or all that remain. */
    execute: (number: string, lots = Infinity): boolean =>
      whileWaiting(number, (entry) => {
        const volume = Math.min(lots, remainingIn(entry))
        const positionId = `p-${entry.order.clientId}` as Ticket
        const fills = [...entry.fills, { price: 1.1, volume, at: 1_000, positionId }]
        return { fills, terms: { ...entry.terms, isUnexecuted: false } }
      }),
    /** Ends what is not executed. */
    end: (number: string, end: OrderOutcome): boolean =>
      whileWaiting(number, () => ({ end, isLost: false })),
    /** No record shows the order any more. */
    lose: (number: string): boolean => whileWaiting(number, () => ({ isLost: true })),
    change,
    /** Replaces the terms. */
    modify: (number: string, terms: OrderTerms): boolean =>
      change(number, { ...noTerms, ...terms }),
    /** What the book shows of the order with a client's id. */
    lookup: (clientId: string): LookupAnswer => {
      const entry = [...entries.values()].find(
        ({ order, isLost }) => order.clientId === clientId && !isLost,
      )
      if (entry === undefined) return { kind: 'nothing' }
      const outcome = outcomeOf(entry)
      if (outcome !== undefined) return { kind: 'found', outcome }
      return entry.order.limitOrStop === undefined
        ? { kind: 'unfinished' }
        : { kind: 'open', order: entry.terms }
    },
    /** The pending orders that wait. */
    open: (): readonly BrokerOrder[] =>
      waiting().flatMap(([, entry]) => (entry.order.limitOrStop ? [entry.terms] : [])),
    /** Under which number an order was accepted that waits under this one now. */
    numberOf: (brokerOrderId: string): string | undefined =>
      waiting().find(([, { terms }]) => terms.brokerOrderId === brokerOrderId)?.[0],
    /** Under which numbers an order was accepted. */
    numbersOf: (clientId: string): readonly string[] =>
      [...entries].flatMap(([number, { order }]) => (order.clientId === clientId ? number : [])),
    entries: entries as ReadonlyMap<string, BookEntry>,
  }
}
