// Orders at a broker in memory that tests tell what to do with each; it keeps a book, so that a
// test can see what was executed how often.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { refuse } from '@tradeport/domain/errors'
import type {
  Fill,
  LookupAnswer,
  OrderOutcome,
  PlacementAnswer,
  WorkingOrder,
} from '@tradeport/domain/orders'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type {
  BrokerOrder,
  MaySend,
  OrderChangeError,
  OrderReceipt,
  Trading,
} from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'

/** What becomes of a send: whether the broker executes it, and what it says. */
export type FakePlacement =
  | 'fill'
  | 'fill_partly'
  | 'fill_and_lose_the_answer'
  | 'lose_the_request'
  | 'accept'
  | 'accept_without_number'
  | 'accept_and_lose_the_answer'
  | 'refuse'
  | 'not_sent'
  | { readonly notSentForMs: number }

/** What becomes of a change or a cancellation, and what the broker says. */
export type FakeOrderChange =
  | 'done'
  | 'make_and_lose_the_answer'
  | 'lose_the_request'
  | 'refuse'
  | 'accept'

export interface FakeTrading extends Trading {
  /** What becomes of the next sends, one after the other; all others are filled, or wait. */
  readonly next: (...placements: readonly FakePlacement[]) => void
  /** What becomes of the next changes and cancellations; all others are made. */
  readonly nextChange: (...changes: readonly FakeOrderChange[]) => void
  /** Executes what was accepted and not yet executed. */
  readonly execute: () => void
  /** The order ends at the broker as if by another's hand, or is changed there. */
  readonly end: (clientId: string, outcome: OrderOutcome) => void
  /** No record shows the order any more. */
  readonly lose: (clientId: string) => void
  readonly change: (clientId: string, changes: Partial<WorkingOrder>) => void
  /** The pending orders of the book, whatever is hidden. */
  readonly held: () => readonly WorkingOrder[]
  /** Makes the broker's records unreadable, or readable again. */
  readonly hide: (isHidden: boolean) => void
  /** Every order that was sent, as often as it was. */
  readonly sent: () => readonly BrokerOrder[]
  /** What was executed of an order, each time anew. */
  readonly executions: (clientId: string) => readonly Fill[]
  /** Where each lookup was made, and whether it read from the terminal. */
  readonly lookedUp: () => readonly {
    readonly account: BrokerAccount
    readonly readFromTerminal: boolean
  }[]
}

interface HeldOrder {
  readonly order: BrokerOrder
  readonly held: WorkingOrder
}

const heldAs = (
  { clientId, volume, stopLoss, takeProfit, pending }: BrokerOrder,
  brokerOrderId: string,
): WorkingOrder => ({
  brokerOrderId,
  clientId,
  price: pending?.price ?? 0,
  stopLimitPrice: pending?.stopLimitPrice,
  stopLoss,
  takeProfit,
  timeInForce: pending?.timeInForce ?? 'gtc',
  expiresAt: pending?.expiresAt,
  volume,
  remainingVolume: volume,
})

const noTerms: Partial<WorkingOrder> = {
  stopLimitPrice: undefined,
  stopLoss: undefined,
  takeProfit: undefined,
  expiresAt: undefined,
}

interface Executed {
  readonly kind: 'filled' | 'partially_filled'
  readonly fill: Fill
}

export const fakeRefusal = {
  code: 'TRADE_RETCODE_NO_MONEY',
  message: 'There is not enough money to complete the request',
}

export const createFakeTrading = (): FakeTrading => {
  const planned: FakePlacement[] = []
  const sent: BrokerOrder[] = []
  const book = new Map<string, Executed[]>()
  const ended = new Map<string, OrderOutcome>()
  const working = new Map<string, HeldOrder>()
  const plannedChanges: FakeOrderChange[] = []
  const lookedUp: { readonly account: BrokerAccount; readonly readFromTerminal: boolean }[] = []
  let isHidden = false

  const executed = (order: BrokerOrder, volume = order.volume): Executed => {
    const outcome: Executed = {
      kind: volume === order.volume ? 'filled' : 'partially_filled',
      fill: { price: 1.1, volume, at: 1_000, positionId: `p-${order.clientId}` as Ticket },
    }
    book.set(order.clientId, [...(book.get(order.clientId) ?? []), outcome])
    return outcome
  }

  const place = (order: BrokerOrder, placement: FakePlacement): PlacementAnswer => {
    if (typeof placement === 'object')
      return { kind: 'not_sent', retryAfterMs: placement.notSentForMs }
    switch (placement) {
      case 'fill':
        return executed(order)
      case 'fill_partly':
        return executed(order, order.volume / 2)
      case 'fill_and_lose_the_answer':
        executed(order)
        return { kind: 'unknown' }
      case 'lose_the_request':
        return { kind: 'unknown' }
      case 'accept':
      case 'accept_without_number':
      case 'accept_and_lose_the_answer': {
        const brokerOrderId = String(sent.length)
        working.set(order.clientId, { order, held: heldAs(order, brokerOrderId) })
        if (placement === 'accept_and_lose_the_answer') return { kind: 'unknown' }
        return {
          kind: 'placed',
          brokerOrderId: placement === 'accept' ? brokerOrderId : null,
        }
      }
      case 'refuse':
        return { kind: 'refused', reason: fakeRefusal }
      case 'not_sent':
        return { kind: 'not_sent', retryAfterMs: null }
    }
  }

  const look = ({ clientId }: BrokerOrder): LookupAnswer => {
    if (isHidden) return { kind: 'unreadable' }
    const outcome = ended.get(clientId) ?? book.get(clientId)?.[0]
    if (outcome !== undefined) return { kind: 'found', outcome }
    const held = working.get(clientId)
    if (held === undefined) return { kind: 'nothing' }
    return { kind: 'working', order: held.order.pending && held.held }
  }

  const change =
    (
      account: BrokerAccount,
      brokerOrderId: string,
      maySend: MaySend,
      make: (clientId: string) => void,
    ): TE.TaskEither<OrderChangeError, OrderReceipt> =>
    async () => {
      const { accountId } = account
      if (!maySend())
        return E.left(refuse('BrokerUnavailable', { accountId, reason: 'it was too late' }))
      const clientId = [...working].find(
        ([, { held }]) => held.brokerOrderId === brokerOrderId,
      )?.[0]
      if (clientId === undefined) return E.left({ _tag: 'OrderGone' })
      const planned = plannedChanges.shift() ?? 'done'
      if (planned === 'refuse') return E.left(refuse('TradeRejected', fakeRefusal))
      if (planned !== 'lose_the_request') make(clientId)
      if (planned === 'lose_the_request' || planned === 'make_and_lose_the_answer')
        return E.left(refuse('BrokerOutcomeUnknown', { accountId }))
      return E.right({ progress: planned === 'accept' ? 'accepted' : 'done' })
    }

  const end = (clientId: string, outcome: OrderOutcome): void => {
    working.delete(clientId)
    ended.set(clientId, outcome)
  }
  const changeHeld = (clientId: string, changes: Partial<WorkingOrder>): void => {
    const entry = working.get(clientId)
    if (entry !== undefined)
      working.set(clientId, { ...entry, held: { ...entry.held, ...changes } })
  }

  const heldPending = (): readonly WorkingOrder[] =>
    [...working.values()].flatMap(({ order, held }) => (order.pending ? [held] : []))

  return {
    placeOrder: (_account, order, maySend) => async () => {
      if (!maySend()) return { kind: 'not_sent', retryAfterMs: null }
      sent.push(order)
      return place(order, planned.shift() ?? (order.pending === undefined ? 'fill' : 'accept'))
    },
    findOrder:
      (account, { order, readFromTerminal }) =>
      async () => {
        lookedUp.push({ account, readFromTerminal })
        return look(order)
      },
    workingOrders:
      ({ accountId }) =>
      async () =>
        isHidden
          ? E.left(refuse('BrokerUnavailable', { accountId, reason: 'hidden' }))
          : E.right(heldPending()),
    modifyOrder: (account, brokerOrderId, terms, maySend) =>
      change(account, brokerOrderId, maySend, (clientId) =>
        changeHeld(clientId, { ...noTerms, ...terms }),
      ),
    cancelOrder: (account, brokerOrderId, maySend) =>
      change(account, brokerOrderId, maySend, (clientId) =>
        end(clientId, { kind: 'cancelled', reason: 'broker' }),
      ),
    next: (...placements) => void planned.push(...placements),
    nextChange: (...changes) => void plannedChanges.push(...changes),
    end,
    lose: (clientId) => void working.delete(clientId),
    change: changeHeld,
    held: heldPending,
    execute: () => {
      for (const { order } of working.values()) executed(order)
      working.clear()
    },
    hide: (hidden) => {
      isHidden = hidden
    },
    sent: () => sent,
    executions: (clientId) => (book.get(clientId) ?? []).map(({ fill }) => fill),
    lookedUp: () => lookedUp,
  }
}
