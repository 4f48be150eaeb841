// Orders at a broker in memory that tests tell what to do with each; it keeps a book, so that a
// test can see what was executed how often.
import type { LookupAnswer, PlacementAnswer, Fill } from '@tradeport/domain/orders'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { BrokerOrder, Trading } from '@tradeport/domain/ports'
import type { Ticket } from '@tradeport/domain/primitives'

/** What becomes of a send: whether the broker executes it, and what it says. */
export type FakePlacement =
  | 'fill'
  | 'fill_partly'
  | 'fill_and_lose_the_answer'
  | 'lose_the_request'
  | 'accept'
  | 'refuse'
  | 'not_sent'
  | { readonly notSentForMs: number }

export interface FakeTrading extends Trading {
  /** What becomes of the next sends, one after the other; all others are filled. */
  readonly next: (...placements: readonly FakePlacement[]) => void
  /** Executes what was accepted and not yet executed. */
  readonly execute: () => void
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
  const working = new Map<string, BrokerOrder>()
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
        working.set(order.clientId, order)
        return { kind: 'placed', brokerOrderId: String(sent.length) }
      case 'refuse':
        return { kind: 'refused', reason: fakeRefusal }
      case 'not_sent':
        return { kind: 'not_sent', retryAfterMs: null }
    }
  }

  const look = ({ clientId }: BrokerOrder): LookupAnswer => {
    if (isHidden) return { kind: 'unreadable' }
    const [outcome] = book.get(clientId) ?? []
    if (outcome !== undefined) return { kind: 'found', outcome }
    return { kind: working.has(clientId) ? 'working' : 'nothing' }
  }

  return {
    placeOrder: (_account, order, maySend) => async () => {
      if (!maySend()) return { kind: 'not_sent', retryAfterMs: null }
      sent.push(order)
      return place(order, planned.shift() ?? 'fill')
    },
    findOrder:
      (account, { order, readFromTerminal }) =>
      async () => {
        lookedUp.push({ account, readFromTerminal })
        return look(order)
      },
    next: (...placements) => void planned.push(...placements),
    execute: () => {
      for (const order of working.values()) executed(order)
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
