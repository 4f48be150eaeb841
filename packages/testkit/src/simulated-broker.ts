// A broker with a book for each provider account. What it executes is decided as the first byte of
// a request leaves: at once or up to a minute later, or never. Reads show a copy of the book that
// may be old; only refreshed ones show the book itself.
import type { BrokerAccount } from '@tradeport/domain/accounts'
import * as E from 'fp-ts/lib/Either.js'
import { refuse, type BrokerReadError } from '@tradeport/domain/errors'
import {
  brokerClientId,
  type LookupAnswer,
  type Order,
  type OrderOutcome,
  type PendingTerms,
  type PlacementAnswer,
  type WorkingOrder,
} from '@tradeport/domain/orders'
import type {
  BrokerOrder,
  OrderChangeError,
  OrderReceipt,
  SentOrder,
} from '@tradeport/domain/ports'
import { type Ticket, minuteMs, secondMs } from '@tradeport/domain/primitives'
import type { Life, World } from './simulated-time.ts'

/** A part of an order that is executed. */
interface BookDeal {
  readonly atMs: number
  readonly hundredths: number
}

/**
 * A request that the broker accepted, with the moments at which each happens; Infinity for what
 * does not.
 */
interface BookEntry {
  readonly clientId: string
  readonly account: string
  readonly orderId: string
  /** The number that replaces `orderId` from `renumberedAtMs` on. */
  readonly nextOrderId: string
  readonly renumberedAtMs: number
  readonly hundredths: number
  readonly workingAtMs: number
  readonly refusedAtMs: number
  /** Of a pending order, on which terms it is held. */
  terms: PendingTerms | undefined
  deals: readonly BookDeal[]
  /** When what is not executed by then expires or is cancelled. */
  expiredAtMs: number
  cancelledAtMs: number
  /** Whether a request cancelled it, rather than somebody at the terminal. */
  isCancelledByRequest: boolean
}

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
const sendTimeoutMs = 30 * secondMs
const noMoney = {
  code: 'TRADE_RETCODE_NO_MONEY',
  message: 'There is not enough money to complete the request',
}

export const createSimulatedBroker = (
  { random, timeline, strikes, delayMs }: World,
  options: Options,
) => {
  const book: BookEntry[] = []
  const tries: Try[] = []
  /** The provider's copies of books that do not follow for a while. */
  const copies = new Map<string, { readonly asOfMs: number; readonly untilMs: number }>()
  let sends = 0
  let lookups = 0
  let changes = 0

  const checkSend = (clientId: string): void => {
    const lateMs = timeline.now() - options.madeAtMs(clientId) - sendTimeoutMs
    if (lateMs > 0) options.violated(`${clientId} was sent ${lateMs} ms after its window`)
    const isRepeated = tries.some((one) => one.clientId === clientId && one.mayHaveSent)
    if (isRepeated && !options.isSendForgotten(clientId))
      options.violated(`${clientId} was sent again`)
  }

  /** What executes so much of an order, in up to three deals of which the last is at the end. */
  const dealsBetween = (
    fromMs: number,
    toMs: number,
    hundredths: number,
    most = 3,
  ): readonly BookDeal[] => {
    if (most === 1 || hundredths === 1 || !strikes('partial_fills', 0.4))
      return [{ atMs: toMs, hundredths }]
    const [atMs, part] = [random.whole(fromMs, toMs), random.whole(1, hundredths - 1)]
    return [{ atMs, hundredths: part }, ...dealsBetween(atMs, toMs, hundredths - part, most - 1)]
  }

  // The answer, and when it comes; after a minute nobody waits for it any more.
  const receive = (
    current: Try,
    account: string,
    { pending, volume }: BrokerOrder,
  ): { readonly answer: PlacementAnswer; readonly inMs: number } => {
    const { clientId } = current
    const answered = (answer: PlacementAnswer, inMs: number) => {
      const isLost = inMs > answerTimeoutMs || strikes('lost_answer', 0.4)
      return isLost
        ? { answer: { kind: 'unknown' } as const, inMs: random.whole(0, answerTimeoutMs) }
        : { answer, inMs }
    }
    const backMs = (): number => random.delayMs(20 * secondMs)
    if (strikes('lost_request', 0.2)) {
      timeline.note(`broker     ${clientId} is lost on the way`)
      return { answer: { kind: 'unknown' }, inMs: random.whole(0, answerTimeoutMs) }
    }
    if (strikes('turned_away', 0.2)) {
      timeline.note(`broker     ${clientId} is turned away`)
      return answered(
        {
          kind: 'not_sent',
          retryAfterMs: random.pick([null, 2, 5, 40].map((s) => s && s * secondMs) as number[]),
        },
        backMs(),
      )
    }
    const arrivesInMs = random.delayMs(2 * secondMs)
    const isSlow = strikes('slow_execution', 0.3)
    const actsInMs = isSlow ? random.whole(arrivesInMs, longestExecutionMs) : arrivesInMs
    const actsAtMs = timeline.now() + actsInMs
    const orderId = String(46_000_000 + book.length)
    const hundredths = Math.round(volume * 100)
    const entry = {
      clientId,
      account,
      orderId,
      nextOrderId: String(47_000_000 + book.length),
      renumberedAtMs: Infinity,
      hundredths,
      deals: [],
      workingAtMs: Infinity,
      refusedAtMs: Infinity,
      expiredAtMs: Infinity,
      cancelledAtMs: Infinity,
      isCancelledByRequest: false,
      terms: undefined,
    }
    current.decidedAtMs = actsAtMs
    if (random.chance(0.1)) {
      book.push({ ...entry, refusedAtMs: actsAtMs })
      timeline.note(`broker     ${clientId} is refused in ${actsInMs} ms`)
      return answered({ kind: 'refused', reason: noMoney }, actsInMs + backMs())
    }
    if (pending !== undefined) {
      const endsAtMs = actsAtMs + random.whole(0, 10 * minuteMs)
      const end = random.pick(['filled', 'filled', 'expires', 'is cancelled', 'stays'])
      const isFilled = end === 'filled'
      const deals =
        isFilled || strikes('partial_fills', 0.3)
          ? dealsBetween(
              actsAtMs,
              endsAtMs,
              isFilled ? hundredths : random.whole(1, hundredths - 1),
            )
          : []
      const renumberedAtMs = strikes('new_number', 0.3)
        ? actsAtMs + random.whole(0, 10 * minuteMs)
        : Infinity
      const terms = { price: pending.price, timeInForce: pending.timeInForce }
      const held = { ...entry, terms, deals, renumberedAtMs, workingAtMs: actsAtMs }
      book.push({
        ...held,
        expiredAtMs: end === 'expires' ? endsAtMs : Infinity,
        cancelledAtMs: end === 'is cancelled' ? endsAtMs : Infinity,
      })
      timeline.note(
        `broker     ${clientId} is held in ${actsInMs} ms on ${account}, ${end} in ${endsAtMs - timeline.now()} ms, ${shownDeals(deals)}`,
      )
      const brokerOrderId = random.chance(0.7) ? orderId : null
      return answered({ kind: 'placed', brokerOrderId }, actsInMs + backMs())
    }
    const isWorking = strikes('working', 0.3)
    const executedAtMs = isWorking ? actsAtMs + delayMs(10 * minuteMs) : actsAtMs
    const isAll = !strikes('partial_fills', 0.2)
    const executed = isAll ? hundredths : random.whole(1, hundredths - 1)
    const deals = dealsBetween(actsAtMs, executedAtMs, executed)
    // What is not executed is cancelled at once.
    const cancelledAtMs = isAll ? Infinity : executedAtMs
    book.push({ ...entry, deals, workingAtMs: actsAtMs, cancelledAtMs })
    timeline.note(
      `broker     ${clientId} is executed on ${account}, ${shownDeals(deals)}${isAll ? '' : ', not as a whole'}`,
    )
    const kind = isAll ? 'filled' : 'partially_filled'
    const fill = { kind, fill: fillOf(orderId, executed) } as const
    return isWorking || (isSlow && random.chance(0.5))
      ? answered(
          { kind: 'placed', brokerOrderId: random.chance(0.5) ? orderId : null },
          (isWorking ? actsInMs : arrivesInMs) + backMs(),
        )
      : answered(fill, actsInMs + backMs())
  }

  const placeOrder = async (
    life: Life,
    account: BrokerAccount,
    order: BrokerOrder,
    maySend: () => boolean,
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
    sends += 1
    if (strikes('stale_copy', 0.3)) freezeCopy(account.providerAccountId)
    checkSend(clientId)
    current.isOver = true
    current.mayHaveSent = true
    const { answer, inMs } = receive(current, account.providerAccountId, order)
    if (strikes('crash', 0.05)) life.crash()
    await life.wait(inMs)
    timeline.note(`${life.id}  ${clientId} is answered: ${answer.kind}`)
    if (answer.kind === 'not_sent') current.mayHaveSent = false
    return answer
  }

  const freezeCopy = (account: string): void => {
    copies.set(account, {
      asOfMs: timeline.now(),
      untilMs: timeline.now() + random.whole(0, longestFreezeMs),
    })
  }

  const asOfMs = (account: string, readFromTerminal: boolean): number => {
    const copy = copies.get(account)
    const isStale =
      copy !== undefined &&
      timeline.now() < copy.untilMs &&
      !(readFromTerminal && options.refreshShowsTruth)
    return isStale ? copy.asOfMs : timeline.now()
  }

  const read = (account: string, clientId: string, atMs: number): LookupAnswer => {
    const shown = book.filter((entry) => entry.account === account && entry.clientId === clientId)
    const accepted = shown.find(({ workingAtMs }) => workingAtMs <= atMs)
    if (accepted !== undefined) {
      const outcome = outcomeAt(accepted, atMs)
      return outcome === undefined
        ? { kind: 'working', order: workingOrderOf(accepted, atMs) }
        : { kind: 'found', outcome }
    }
    const refused = shown.find(({ refusedAtMs }) => refusedAtMs <= atMs)
    // Not every broker keeps what it refused.
    if (refused !== undefined && Number(refused.orderId) % 2 === 0)
      return { kind: 'found', outcome: { kind: 'rejected', reason: noMoney } }
    return { kind: 'nothing' }
  }

  const findOrder = async (
    life: Life,
    linked: BrokerAccount,
    { order: { clientId }, readFromTerminal }: SentOrder,
  ): Promise<LookupAnswer> => {
    lookups += 1
    const isUnreadable = strikes('unreadable', 0.3)
    const outMs = isUnreadable ? delayMs(minuteMs) : random.whole(5, 500)
    const { providerAccountId: account } = linked
    if (strikes('stale_copy', 0.1)) freezeCopy(account)
    const answer = await life.ask(
      outMs,
      (): LookupAnswer =>
        isUnreadable
          ? { kind: 'unreadable' }
          : read(account, clientId, asOfMs(account, readFromTerminal)),
      random.whole(5, 500),
    )
    timeline.note(
      `${life.id}  ${clientId} is looked up on ${account}${readFromTerminal ? ', refreshed' : ''}: ${answer.kind}`,
    )
    return answer
  }

  const isHeld = (entry: BookEntry): boolean => {
    const now = timeline.now()
    return (
      entry.terms !== undefined && entry.workingAtMs <= now && outcomeAt(entry, now) === undefined
    )
  }

  const workingOrders = async (
    life: Life,
    { accountId, providerAccountId }: BrokerAccount,
  ): Promise<E.Either<BrokerReadError, readonly WorkingOrder[]>> => {
    const isUnreadable = strikes('unreadable', 0.3)
    const read = (): E.Either<BrokerReadError, readonly WorkingOrder[]> =>
      isUnreadable
        ? E.left(refuse('BrokerUnavailable', { accountId, reason: 'unreadable' }))
        : E.right(
            book
              .filter((entry) => entry.account === providerAccountId && isHeld(entry))
              .flatMap((entry) => workingOrderOf(entry, timeline.now()) ?? []),
          )
    return life.ask(random.whole(5, 500), read, random.whole(5, 500))
  }

  /** A change of an order, which is made as it arrives, unless it is lost or comes too late. */
  const change = async (
    life: Life,
    { accountId, providerAccountId }: BrokerAccount,
    orderId: string,
    maySend: () => boolean,
    make: (entry: BookEntry) => void,
  ): Promise<E.Either<OrderChangeError, OrderReceipt>> => {
    await life.wait(random.whole(1, 50))
    if (!maySend() || strikes('no_connection', 0.3))
      return E.left(refuse('BrokerUnavailable', { accountId, reason: 'no connection' }))
    changes += 1
    const unknown = E.left(refuse('BrokerOutcomeUnknown', { accountId }))
    const isLost = strikes('lost_request', 0.2)
    const isUnanswered = strikes('lost_answer', 0.4)
    const isRefused = strikes('turned_away', 0.2)
    const actsInMs = strikes('slow_execution', 0.3)
      ? random.whole(0, answerTimeoutMs)
      : random.delayMs(2 * secondMs)
    const act = (): E.Either<OrderChangeError, OrderReceipt> => {
      if (isLost) return unknown
      if (isRefused) return E.left(refuse('TradeRejected', noMoney))
      const entry = book.find(
        (one) =>
          numberOf(one, timeline.now()) === orderId &&
          one.account === providerAccountId &&
          isHeld(one),
      )
      if (entry === undefined) return E.left({ _tag: 'OrderGone' })
      make(entry)
      return E.right({ progress: random.chance(0.8) ? 'done' : 'accepted' })
    }
    const answer = await life.ask(actsInMs, act, random.whole(1, 500))
    return isUnanswered ? unknown : answer
  }

  const cancelOrder = (
    life: Life,
    account: BrokerAccount,
    orderId: string,
    maySend: () => boolean,
  ) =>
    change(life, account, orderId, maySend, (entry) => {
      timeline.note(`broker     ${entry.clientId} is cancelled`)
      entry.cancelledAtMs = timeline.now()
      entry.isCancelledByRequest = true
      entry.deals = entry.deals.filter(({ atMs }) => atMs <= timeline.now())
      entry.expiredAtMs = Infinity
    })

  const modifyOrder = (
    life: Life,
    account: BrokerAccount,
    orderId: string,
    terms: PendingTerms,
    maySend: () => boolean,
  ) =>
    change(life, account, orderId, maySend, (entry) => {
      timeline.note(`broker     ${entry.clientId} has the price ${terms.price}`)
      entry.terms = terms
    })

  const acceptedEntry = (clientId: string): BookEntry | undefined =>
    book.find((one) => one.clientId === clientId && one.workingAtMs < Infinity)

  return {
    workingOrders,
    cancelOrder,
    modifyOrder,
    /** How an order has ended by now; undefined where it was not accepted. */
    endOf: (clientId: string) => {
      const entry = acceptedEntry(clientId)
      return entry && (outcomeAt(entry, timeline.now())?.kind ?? 'open')
    },
    isCancelledByRequest: (clientId: string) => acceptedEntry(clientId)?.isCancelledByRequest,
    /** In what the record of an order differs from the book; in nothing where it was not accepted. */
    disagreements: (order: Order): readonly string[] => {
      const clientId = brokerClientId(order.id)
      const entry = acceptedEntry(clientId)
      if (entry === undefined) return []
      const now = timeline.now()
      const [outcome, held] = [outcomeAt(entry, now), workingOrderOf(entry, now)]
      const recorded = [
        ['is', order.status],
        ['has the lots', 'fill' in order ? order.fill.volume : undefined],
        ['has the price', order.status === 'open' ? order.request.price : undefined],
        ['has the number', order.status === 'open' ? order.brokerOrderId : undefined],
      ] as const
      const isOpen = outcome === undefined
      const expected = [
        outcome?.kind ?? 'open',
        outcome !== undefined && 'fill' in outcome ? outcome.fill.volume : undefined,
        isOpen ? held?.price : undefined,
        isOpen ? held?.brokerOrderId : undefined,
      ]
      return recorded.flatMap(([what, value], index) =>
        value === expected[index]
          ? []
          : [`${clientId} ${what} ${value}, and ${expected[index]} at the broker`],
      )
    },
    changes: () => changes,
    /** The process committed that it sends the order. */
    expectSend: (life: Life, clientId: string) =>
      tries.push({ clientId, life, isOver: false, mayHaveSent: false, decidedAtMs: -Infinity }),
    placeOrder,
    findOrder,
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
    /** How often an order was or will be executed. */
    executions: (clientId: string): number =>
      book.filter((entry) => entry.clientId === clientId && entry.deals.length > 0).length,
    sends: () => sends,
    lookups: () => lookups,
  }
}

const executedBy = ({ deals }: BookEntry, atMs: number): number =>
  deals.reduce((sum, deal) => (deal.atMs <= atMs ? sum + deal.hundredths : sum), 0)

/** How an order that the broker accepted has ended; undefined where it has not. */
const outcomeAt = (entry: BookEntry, atMs: number): OrderOutcome | undefined => {
  const executed = executedBy(entry, atMs)
  const fill = fillOf(entry.orderId, executed)
  if (executed === entry.hundredths) return { kind: 'filled', fill }
  if (atMs < entry.cancelledAtMs && atMs < entry.expiredAtMs) return undefined
  if (executed > 0) return { kind: 'partially_filled', fill }
  return atMs < entry.cancelledAtMs ? { kind: 'expired' } : { kind: 'cancelled', reason: 'broker' }
}

const numberOf = ({ orderId, nextOrderId, renumberedAtMs }: BookEntry, atMs: number): string =>
  atMs < renumberedAtMs ? orderId : nextOrderId

const workingOrderOf = (entry: BookEntry, atMs: number): WorkingOrder | undefined =>
  entry.terms && {
    ...entry.terms,
    brokerOrderId: numberOf(entry, atMs),
    clientId: entry.clientId,
    volume: entry.hundredths / 100,
    remainingVolume: (entry.hundredths - executedBy(entry, atMs)) / 100,
  }

const fillOf = (orderId: string, hundredths: number) => ({
  price: 1.1,
  volume: hundredths / 100,
  positionId: orderId as Ticket,
})

const shownDeals = (deals: readonly BookDeal[]): string =>
  `deals: ${deals.map(({ atMs, hundredths }) => `${hundredths}/100 at ${atMs / secondMs} s`).join(', ') || 'none'}`
