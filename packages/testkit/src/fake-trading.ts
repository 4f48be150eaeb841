// Orders at a broker in memory: tests choose what becomes of each, and see in its book what was
// executed how often.
import * as E from 'fp-ts/lib/Either.js'
import { refuse } from '@tradeport/domain/errors'
import type { Fill, OrderOutcome, PlacementAnswer, BrokerOrder } from '@tradeport/domain/orders'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type {
  OrderToSend,
  MaySend,
  OrderChangeError,
  ChangeReceipt,
  SentOrder,
  Trading,
} from '@tradeport/domain/ports'
import { createOrderBook } from './order-book.ts'

/**
 * What becomes of a send: whether the broker executes it, and what it says. `claim_a_part` says
 * that a part was executed, which no record shows.
 */
export type FakePlacement =
  | 'fill'
  | 'fill_partly'
  | 'fill_and_lose_the_answer'
  | 'lose_the_request'
  | 'claim_a_part'
  | 'accept'
  | 'accept_without_number'
  | 'accept_and_lose_the_answer'
  | 'refuse'
  | 'not_sent'

/**
 * What becomes of a change or a cancellation, and what the broker says. `unchanged` says that there
 * was nothing to do, and `claim` that all is done where nothing was.
 */
export type FakeOrderChange =
  | 'done'
  | 'unchanged'
  | 'claim'
  | 'make_and_lose_the_answer'
  | 'lose_the_request'
  | 'refuse'
  | 'accept'

export const fakeRefusal = {
  code: 'TRADE_RETCODE_NO_MONEY',
  message: 'There is not enough money to complete the request',
}

export const createFakeTrading = (book = createOrderBook()) => {
  const planned: FakePlacement[] = []
  const plannedChanges: FakeOrderChange[] = []
  const sent: OrderToSend[] = []
  const lookedUp: (SentOrder & { readonly account: BrokerAccount })[] = []
  let isHidden = false

  const place = (order: OrderToSend, placement: FakePlacement): PlacementAnswer => {
    if (placement === 'lose_the_request') return { kind: 'unknown' }
    if (placement === 'refuse') return { kind: 'refused', reason: fakeRefusal }
    if (placement === 'claim_a_part')
      return { kind: 'accepted', brokerOrderId: null, isPartlyExecuted: true }
    if (placement === 'not_sent') return { kind: 'not_sent', retryAfterMs: null }
    const number = book.accept(order)
    if (placement === 'fill' || placement === 'fill_and_lose_the_answer') book.execute(number)
    if (placement === 'fill_partly') {
      book.execute(number, order.volume / 2)
      book.end(number, { kind: 'cancelled', reason: 'broker' })
    }
    if (placement.endsWith('lose_the_answer')) return { kind: 'unknown' }
    const brokerOrderId = placement === 'accept' ? number : null
    const found = book.lookup(order.clientId)
    return found.kind === 'found'
      ? (found.outcome as PlacementAnswer)
      : { kind: order.limitOrStop === undefined ? 'accepted' : 'open', brokerOrderId }
  }

  const change = (
    { accountId }: BrokerAccount,
    brokerOrderId: string,
    maySend: MaySend,
    make: (number: string) => void,
  ): E.Either<OrderChangeError, ChangeReceipt> => {
    if (!maySend())
      return E.left(refuse('BrokerUnavailable', { accountId, reason: 'it was too late' }))
    const number = book.numberOf(brokerOrderId)
    if (number === undefined) return E.left({ _tag: 'OrderGone' })
    const outcome = plannedChanges.shift() ?? 'done'
    if (outcome === 'refuse') return E.left(refuse('TradeRejected', fakeRefusal))
    if (!['unchanged', 'claim', 'lose_the_request'].includes(outcome)) make(number)
    if (outcome === 'lose_the_request' || outcome === 'make_and_lose_the_answer')
      return E.left(refuse('BrokerOutcomeUnknown', { accountId }))
    const progress = outcome === 'accept' ? 'accepted' : 'done'
    return E.right({ progress: outcome === 'unchanged' ? outcome : progress, brokerOrderId })
  }

  const trading: Trading = {
    placeOrder: (_account, order, maySend) => async () => {
      if (!maySend()) return { kind: 'not_sent', retryAfterMs: null }
      sent.push(order)
      return place(order, planned.shift() ?? (order.limitOrStop === undefined ? 'fill' : 'accept'))
    },
    findOrder: (account, sought) => async () => {
      lookedUp.push({ ...sought, account })
      return isHidden ? { kind: 'unreadable' } : book.lookup(sought.order.clientId)
    },
    heldOrders:
      ({ accountId }) =>
      async () =>
        isHidden
          ? E.left(refuse('BrokerUnavailable', { accountId, reason: 'hidden' }))
          : E.right(book.open()),
    modifyOrder: (account, brokerOrderId, terms, maySend) => async () =>
      change(account, brokerOrderId, maySend, (number) => book.modify(number, terms)),
    cancelOrder: (account, brokerOrderId, maySend) => async () =>
      change(account, brokerOrderId, maySend, (number) =>
        book.end(number, { kind: 'cancelled', reason: 'broker' }),
      ),
  }
  return {
    ...trading,
    /** What becomes of the next sends, one after the other; all others are filled, or wait. */
    next: (...placements: readonly FakePlacement[]) => void planned.push(...placements),
    /** What becomes of the next changes and cancellations; all others are made. */
    nextChange: (...changes: readonly FakeOrderChange[]) => void plannedChanges.push(...changes),
    /** The order ends at the broker as if by another's hand, or is changed there. */
    end: (clientId: string, outcome: OrderOutcome) =>
      book.numbersOf(clientId).forEach((number) => book.end(number, outcome)),
    /** No record shows the order any more. */
    lose: (clientId: string) => book.numbersOf(clientId).forEach(book.lose),
    change: (clientId: string, terms: Partial<BrokerOrder>) =>
      book.numbersOf(clientId).forEach((number) => book.change(number, terms)),
    /** The pending orders of the book, whatever is hidden. */
    held: book.open,
    /** Executes what was accepted and not yet executed. */
    execute: () => [...book.entries.keys()].forEach((number) => book.execute(number)),
    /** Makes the broker's records unreadable, or readable again. */
    hide: (hidden: boolean): void => {
      isHidden = hidden
    },
    /** Every order that was sent, as often as it was. */
    sent: (): readonly OrderToSend[] => sent,
    /** What was executed of an order, each time anew. */
    executions: (clientId: string): readonly Fill[] =>
      book.numbersOf(clientId).flatMap((number) => book.entries.get(number)?.fills ?? []),
    /** Each lookup, and where it was made. */
    lookedUp: () => lookedUp,
  }
}
