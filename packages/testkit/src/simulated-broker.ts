// A broker with an order book for each provider account, behind a network that loses requests and
// answers. What it does with a request is decided as the first byte leaves: at once or up to a
// minute later, or never. Reads show a copy of the book that may be old; only refreshed ones show
// the book itself.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import { refuse } from '@tradeport/domain/errors'
import {
  brokerClientId,
  sendTimeoutMs,
  type LookupAnswer,
  type Order,
  type PlacementAnswer,
} from '@tradeport/domain/orders'
import type {
  BrokerOrder,
  MaySend,
  OrderChangeError,
  OrderReceipt,
  Trading,
} from '@tradeport/domain/ports'
import { minuteMs, secondMs } from '@tradeport/domain/primitives'
import * as E from 'fp-ts/lib/Either.js'
import { fakeRefusal } from './fake-trading.ts'
import {
  createOrderBook,
  outcomeOf,
  remainingIn,
  type BookEntry,
  type OrderBook,
} from './order-book.ts'
import type { Life, World } from './simulated-time.ts'

/** What one process does about one order after it recorded that it sends it. */
interface Try {
  readonly clientId: string
  readonly life: Life
  isOver: boolean
  /** Whether bytes left that may have been executed, for all that the process knows. */
  mayHaveSent: boolean
  /** From when on the broker's book shows what came of it. */
  decidedAtMs: number
}

interface Options {
  /** When the order was made. */
  readonly madeAtMs: (clientId: string) => number
  /**
   * Whether a failover lost the record of an earlier send, so that another is allowed where the
   * first came to nothing.
   */
  readonly isSendForgotten: (clientId: string) => boolean
  readonly refreshShowsTruth: boolean
  readonly violated: (law: string) => void
}

const longestExecutionMs = minuteMs
const answerTimeoutMs = minuteMs
const longestFreezeMs = 10 * minuteMs

export const createSimulatedBroker = (
  { random, timeline, strikes, delayMs }: World,
  options: Options,
) => {
  const books = new Map<string, OrderBook>()
  const tries: Try[] = []
  /** The provider's copies of books that do not follow for a while. */
  const copies = new Map<string, { readonly book: OrderBook; readonly untilMs: number }>()
  const cancelledByRequest = new Set<string>()
  const counts = { sends: 0, lookups: 0, changes: 0 }

  const bookOf = ({ providerAccountId }: BrokerAccount): OrderBook => {
    const book = books.get(providerAccountId) ?? createOrderBook()
    books.set(providerAccountId, book)
    return book
  }
  const entriesOf = (clientId: string): readonly BookEntry[] =>
    [...books.values()].flatMap((book) =>
      [...book.entries.values()].filter(({ order }) => order.clientId === clientId),
    )

  const checkSend = (clientId: string): void => {
    const lateMs = timeline.now() - options.madeAtMs(clientId) - sendTimeoutMs
    if (lateMs > 0) options.violated(`${clientId} was sent ${lateMs} ms after its window`)
    const isRepeated = tries.some((one) => one.clientId === clientId && one.mayHaveSent)
    if (isRepeated && !options.isSendForgotten(clientId))
      options.violated(`${clientId} was sent again`)
  }

  /** Executes so much of an order, in up to three deals of which the last is after so many ms. */
  const executeWithin = (
    inMs: number,
    hundredths: number,
    execute: (lots: number) => void,
    most = 3,
  ): void => {
    if (most === 1 || hundredths === 1 || !strikes('partial_fills', 0.4))
      return timeline.schedule(inMs, () => execute(hundredths / 100))
    const [firstInMs, part] = [random.whole(0, inMs), random.whole(1, hundredths - 1)]
    timeline.schedule(firstInMs, () => {
      execute(part / 100)
      executeWithin(inMs - firstInMs, hundredths - part, execute, most - 1)
    })
  }

  /** What the broker does with an order that has reached it, and what it answers. */
  const receive = (account: BrokerAccount, order: BrokerOrder): PlacementAnswer => {
    const { clientId, pending } = order
    const book = bookOf(account)
    const note = (what: string) => timeline.note(`broker     ${clientId} ${what}`)
    if (random.chance(0.1)) {
      note('is refused')
      // Not every broker keeps what it refused.
      if (random.chance(0.5))
        book.end(book.accept(order), { kind: 'rejected', reason: fakeRefusal })
      return { kind: 'refused', reason: fakeRefusal }
    }
    const number = book.accept(order)
    const hundredths = Math.round(order.volume * 100)
    const execute = (lots: number): void => {
      if (book.execute(number, lots)) note(`has ${lots} lots executed`)
    }
    const end = (kind: 'expired' | 'cancelled'): void => {
      const isEnded = book.end(number, kind === 'expired' ? { kind } : { kind, reason: 'broker' })
      if (isEnded) note(`is ${kind}`)
    }
    const placed = (share: number): PlacementAnswer => ({
      kind: 'placed',
      brokerOrderId: random.chance(share) ? number : null,
    })
    if (pending !== undefined) {
      const endsInMs = random.whole(0, 10 * minuteMs)
      const ending = random.pick(['filled', 'filled', 'expired', 'cancelled', 'stays'] as const)
      note(`waits on ${account.providerAccountId}, ${ending} in ${endsInMs} ms`)
      if (ending === 'filled') executeWithin(endsInMs, hundredths, execute)
      else if (strikes('partial_fills', 0.3))
        executeWithin(endsInMs, random.whole(1, hundredths - 1), execute)
      if (ending === 'expired' || ending === 'cancelled')
        timeline.schedule(endsInMs, () => end(ending))
      if (strikes('new_number', 0.3))
        timeline.schedule(random.whole(0, 10 * minuteMs), () => {
          if (book.change(number, { brokerOrderId: `9${number}` })) note('has another number')
        })
      return placed(0.7)
    }
    const executed = strikes('partial_fills', 0.2) ? random.whole(1, hundredths - 1) : hundredths
    // What is not executed is cancelled at once.
    const executeMarket = (lots: number): void => {
      execute(lots)
      const left = hundredths - executed
      const entry = book.entries.get(number)
      if (entry && Math.round(remainingIn(entry) * 100) === left) end('cancelled')
    }
    if (strikes('working', 0.3)) {
      note(`works on ${account.providerAccountId}`)
      executeWithin(delayMs(10 * minuteMs), executed, executeMarket)
      return placed(0.5)
    }
    executeMarket(executed / 100)
    return outcomeOf(book.entries.get(number) as BookEntry) as PlacementAnswer
  }

  const placeOrder = async (
    life: Life,
    account: BrokerAccount,
    order: BrokerOrder,
    maySend: MaySend,
  ): Promise<PlacementAnswer> => {
    const { clientId } = order
    const current = tries.findLast(
      (one) => one.clientId === clientId && one.life === life && !one.isOver,
    )
    if (current === undefined) throw new Error(`${clientId} is sent without a record of it`)
    const notSent = (why: string): PlacementAnswer => {
      timeline.note(`${life.id}  ${clientId} is not sent: ${why}`)
      current.isOver = true
      return { kind: 'not_sent', retryAfterMs: null }
    }
    if (!maySend()) return notSent('too late to connect')
    await life.wait(strikes('slow_dial', 0.3) ? delayMs(10 * minuteMs) : random.whole(1, 50))
    if (strikes('no_connection', 0.3)) return notSent('no connection')
    if (!maySend()) return notSent('too late to write')
    timeline.note(`${life.id}  ${clientId} is sent to ${account.providerAccountId}`)
    counts.sends += 1
    if (strikes('stale_copy', 0.3)) freezeCopy(account)
    checkSend(clientId)
    current.isOver = true
    current.mayHaveSent = true
    const request = send(current, account, order)
    if (strikes('crash', 0.05)) life.crash()
    const answer = await request
    timeline.note(`${life.id}  ${clientId} is answered: ${answer.kind}`)
    if (answer.kind === 'not_sent') current.mayHaveSent = false
    return answer
  }

  /** The request on its way to the broker, and the answer on its way back. */
  const send = async (
    current: Try,
    account: BrokerAccount,
    order: BrokerOrder,
  ): Promise<PlacementAnswer> => {
    const { life } = current
    const unknown = async (): Promise<PlacementAnswer> => {
      await life.wait(random.whole(0, answerTimeoutMs))
      return { kind: 'unknown' }
    }
    if (strikes('lost_request', 0.2)) return unknown()
    const backMs = random.delayMs(20 * secondMs)
    const isTurnedAway = strikes('turned_away', 0.2)
    const arrivesInMs = random.delayMs(2 * secondMs)
    const actsInMs = strikes('slow_execution', 0.3)
      ? random.whole(arrivesInMs, longestExecutionMs)
      : arrivesInMs
    if (!isTurnedAway) current.decidedAtMs = timeline.now() + actsInMs
    const act = async (): Promise<PlacementAnswer> =>
      isTurnedAway
        ? { kind: 'not_sent', retryAfterMs: random.pick([null, 2_000, 5_000, 40_000]) }
        : receive(account, order)
    const answered = life.ask(actsInMs, act, backMs)
    // After a minute nobody waits for the answer any more.
    return actsInMs + backMs > answerTimeoutMs || strikes('lost_answer', 0.4) ? unknown() : answered
  }

  const freezeCopy = (account: BrokerAccount): void => {
    copies.set(account.providerAccountId, {
      book: bookOf(account).copy(),
      untilMs: timeline.now() + random.whole(0, longestFreezeMs),
    })
  }
  const shownBook = (account: BrokerAccount, readFromTerminal: boolean): OrderBook => {
    const copy = copies.get(account.providerAccountId)
    const isStale =
      copy !== undefined &&
      timeline.now() < copy.untilMs &&
      !(readFromTerminal && options.refreshShowsTruth)
    return isStale ? copy.book : bookOf(account)
  }

  const findOrder = async (
    life: Life,
    account: BrokerAccount,
    { order: { clientId }, readFromTerminal }: Parameters<Trading['findOrder']>[1],
  ): Promise<LookupAnswer> => {
    counts.lookups += 1
    const isUnreadable = strikes('unreadable', 0.3)
    const outMs = isUnreadable ? delayMs(minuteMs) : random.whole(5, 500)
    if (strikes('stale_copy', 0.1)) freezeCopy(account)
    const read = async (): Promise<LookupAnswer> =>
      isUnreadable ? { kind: 'unreadable' } : shownBook(account, readFromTerminal).lookup(clientId)
    const answer = await life.ask(outMs, read, random.whole(5, 500))
    timeline.note(
      `${life.id}  ${clientId} is looked up on ${account.providerAccountId}${readFromTerminal ? ', refreshed' : ''}: ${answer.kind}`,
    )
    return answer
  }

  /** A change of an order, which is made as it arrives, unless it is lost or comes too late. */
  const change = async (
    life: Life,
    account: BrokerAccount,
    orderId: string,
    maySend: MaySend,
    make: (book: OrderBook, number: string, clientId: string) => void,
  ): Promise<E.Either<OrderChangeError, OrderReceipt>> => {
    const { accountId } = account
    await life.wait(random.whole(1, 50))
    if (!maySend() || strikes('no_connection', 0.3))
      return E.left(refuse('BrokerUnavailable', { accountId, reason: 'no connection' }))
    counts.changes += 1
    const unknown = E.left(refuse('BrokerOutcomeUnknown', { accountId }))
    const isLost = strikes('lost_request', 0.2)
    const isUnanswered = strikes('lost_answer', 0.4)
    const isRefused = strikes('turned_away', 0.2)
    const actsInMs = strikes('slow_execution', 0.3)
      ? random.whole(0, answerTimeoutMs)
      : random.delayMs(2 * secondMs)
    const act = async (): Promise<E.Either<OrderChangeError, OrderReceipt>> => {
      if (isLost) return unknown
      if (isRefused) return E.left(refuse('TradeRejected', fakeRefusal))
      const book = bookOf(account)
      const number = book.numberOf(orderId)
      if (number === undefined) return E.left({ _tag: 'OrderGone' })
      make(book, number, book.entries.get(number)?.order.clientId ?? '')
      return E.right({ progress: random.chance(0.8) ? 'done' : 'accepted' })
    }
    const answer = await life.ask(actsInMs, act, random.whole(1, 500))
    return isUnanswered ? unknown : answer
  }

  const acceptedEntry = (clientId: string): BookEntry | undefined =>
    entriesOf(clientId).find(({ end }) => end?.kind !== 'rejected')

  return {
    /** The broker as one process reaches it. */
    tradingOf: (life: Life): Trading => ({
      placeOrder: (account, order, maySend) => () => placeOrder(life, account, order, maySend),
      findOrder: (account, sent) => () => findOrder(life, account, sent),
      workingOrders: (account) => () => {
        const { accountId } = account
        const isUnreadable = strikes('unreadable', 0.3)
        const read = async () =>
          isUnreadable
            ? E.left(refuse('BrokerUnavailable', { accountId, reason: 'unreadable' }))
            : E.right(bookOf(account).working())
        return life.ask(random.whole(5, 500), read, random.whole(5, 500))
      },
      modifyOrder: (account, orderId, terms, maySend) => () =>
        change(life, account, orderId, maySend, (book, number, clientId) => {
          timeline.note(`broker     ${clientId} has the price ${terms.price}`)
          book.modify(number, terms)
        }),
      cancelOrder: (account, orderId, maySend) => () =>
        change(life, account, orderId, maySend, (book, number, clientId) => {
          timeline.note(`broker     ${clientId} is cancelled by a request`)
          book.end(number, { kind: 'cancelled', reason: 'broker' })
          cancelledByRequest.add(clientId)
        }),
    }),
    /** How an order has ended by now; undefined where it was not accepted. */
    endOf: (clientId: string) => {
      const entry = acceptedEntry(clientId)
      return entry && (outcomeOf(entry)?.kind ?? 'open')
    },
    isCancelledByRequest: (clientId: string): boolean => cancelledByRequest.has(clientId),
    /** In what the record of an order differs from the book; in nothing where it was not accepted. */
    disagreements: (order: Order): readonly string[] => {
      const clientId = brokerClientId(order.id)
      const entry = acceptedEntry(clientId)
      if (entry === undefined) return []
      const outcome = outcomeOf(entry)
      const isOpen = outcome === undefined
      const compared = [
        ['is', order.status, outcome?.kind ?? 'open'],
        [
          'has the lots',
          'fill' in order ? order.fill.volume : undefined,
          outcome !== undefined && 'fill' in outcome ? outcome.fill.volume : undefined,
        ],
        [
          'has the price',
          order.status === 'open' ? order.request.price : undefined,
          isOpen ? entry.terms.price : undefined,
        ],
        [
          'has the number',
          order.status === 'open' ? order.brokerOrderId : undefined,
          isOpen ? entry.terms.brokerOrderId : undefined,
        ],
      ] as const
      return compared.flatMap(([what, recorded, held]) =>
        recorded === held ? [] : `${clientId} ${what} ${recorded}, and ${held} at the broker`,
      )
    },
    /** The process committed that it sends the order. */
    expectSend: (life: Life, clientId: string) =>
      tries.push({ clientId, life, isOver: false, mayHaveSent: false, decidedAtMs: -Infinity }),
    /**
     * Whether an order that a process was about to send may still be sent, or was sent and is
     * neither executed nor lost.
     */
    isUndecided: (clientId: string): boolean =>
      tries.some(
        (one) =>
          one.clientId === clientId &&
          (one.decidedAtMs > timeline.now() ||
            (!one.isOver &&
              one.life.isAlive() &&
              timeline.now() <= options.madeAtMs(clientId) + sendTimeoutMs)),
      ),
    /** How often an order was executed. */
    executions: (clientId: string): number =>
      entriesOf(clientId).filter(({ fills }) => fills.length > 0).length,
    counts: counts as Readonly<typeof counts>,
  }
}
