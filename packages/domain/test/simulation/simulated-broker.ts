// A fake broker for each provider account, behind a network that loses requests and answers. What
// it does with a request is decided as the first byte leaves: at once or up to a minute later, or
// never. Reads show a copy of its records that may be old; only refreshed ones show the records
// themselves.
import type { BrokerAccount } from '../../src/accounts/index.ts'
import { refuse } from '../../src/errors.ts'
import {
  brokerClientId,
  maxSendAgeMs,
  type LookupAnswer,
  type Order,
  type OrderTerms,
  type PlacementAnswer,
} from '../../src/orders/index.ts'
import type {
  OrderToSend,
  MaySend,
  OrderChangeError,
  ChangeReceipt,
  Trading,
} from '../../src/ports/index.ts'
import { minuteMs, secondMs } from '../../src/primitives/index.ts'
import * as E from 'fp-ts/lib/Either.js'
import {
  createFakeTrading,
  createOrderBook,
  type BookEntry,
  fakeRefusal,
  outcomeOf,
} from '@tradeport/testkit'
import type { Life, World } from './simulated-time.ts'

/** What one process does about one order after it recorded that it sends it. */
interface Try {
  readonly clientId: string
  readonly life: Life
  isOver: boolean
  /** Whether bytes left that may have been executed, for all that the process knows. */
  mayHaveSent: boolean
}

interface Options {
  /** When the order was made. */
  readonly madeAtMs: (clientId: string) => number
  readonly refreshShowsTruth: boolean
  readonly violated: (law: string) => void
}

const answerTimeoutMs = minuteMs
const yes = () => true

const createBroker = (entries = new Map<string, BookEntry>()) => {
  const book = createOrderBook(entries)
  return { entries, book, trading: createFakeTrading(book) }
}
type Broker = ReturnType<typeof createBroker>

export const createSimulatedBroker = (
  { random, timeline, strikes, delayMs }: World,
  { madeAtMs, refreshShowsTruth, violated }: Options,
) => {
  const brokers = new Map<string, Broker>()
  const tries: Try[] = []
  /** The provider's copies of records that do not follow for a while. */
  const copies = new Map<string, { readonly copy: Broker; readonly untilMs: number }>()
  const accepted: string[] = []
  const cancelledByRequest = new Set<string>()
  const counts = { sends: 0, lookups: 0, changes: 0 }

  const brokerOf = ({ providerAccountId }: BrokerAccount): Broker => {
    const broker = brokers.get(providerAccountId) ?? createBroker()
    brokers.set(providerAccountId, broker)
    return broker
  }

  const checkSend = (clientId: string) => {
    const lateMs = timeline.now() - madeAtMs(clientId) - maxSendAgeMs
    if (lateMs > 0) violated(`${clientId} was sent ${lateMs} ms after its window`)
    if (tries.some((one) => one.clientId === clientId && one.mayHaveSent))
      violated(`${clientId} was sent again`)
  }

  /** What the broker does with an order that has reached it, and what it answers. */
  const receive = async (account: BrokerAccount, order: OrderToSend): Promise<PlacementAnswer> => {
    const { clientId, limitOrStop } = order
    const { entries, book, trading } = brokerOf(account)
    const note = (what: string) => timeline.note(`broker     ${clientId} ${what}`)
    const refused = { kind: 'refused', reason: fakeRefusal } as const
    // Not every broker keeps what it refused.
    if (random.chance(0.05)) return refused
    trading.next('accept')
    const placed = await trading.placeOrder(account, order, yes)()
    const number = book.numbersOf(clientId).at(-1) ?? ''
    if (random.chance(0.05)) {
      book.end(number, { kind: 'rejected', reason: fakeRefusal })
      return refused
    }
    accepted.push(clientId)
    const hundredths = Math.round(order.volume * 100)
    const part = () => random.whole(1, hundredths - 1)
    const execute = (lots: number) => {
      if (book.execute(number, lots)) note(`has ${lots} lots executed`)
    }
    const end = (kind: 'expired' | 'cancelled') => () => {
      if (book.end(number, kind === 'expired' ? { kind } : { kind, reason: 'broker' }))
        note(`is ${kind}`)
    }
    /** In up to three deals, of which the last is after so many ms. */
    const executeWithin = (inMs: number, left: number, most = 3) => {
      if (most === 1 || left === 1 || !strikes('partial_fills', 0.4))
        return timeline.schedule(inMs, () => execute(left / 100))
      const [firstInMs, first] = [random.whole(0, inMs), random.whole(1, left - 1)]
      timeline.schedule(firstInMs, () => {
        execute(first / 100)
        executeWithin(inMs - firstInMs, left - first, most - 1)
      })
    }
    if (limitOrStop !== undefined) {
      const endsInMs = random.whole(0, 10 * minuteMs)
      const ending = random.pick(['filled', 'filled', 'expired', 'cancelled', 'stays'] as const)
      note(`waits on ${account.providerAccountId}, ${ending} in ${endsInMs} ms`)
      if (ending === 'filled') executeWithin(endsInMs, hundredths)
      else if (strikes('partial_fills', 0.5)) executeWithin(endsInMs, part())
      if (ending === 'expired' || ending === 'cancelled') timeline.schedule(endsInMs, end(ending))
      if (strikes('new_number', 0.3))
        timeline.schedule(random.whole(0, 10 * minuteMs), () => {
          if (book.change(number, { brokerOrderId: `9${number}` })) note('has another number')
        })
      if (strikes('late_number', 0.5))
        timeline.schedule(random.whole(0, 10 * minuteMs), () => {
          if (!book.end(number, { kind: 'cancelled', reason: 'broker' })) return
          note('is cancelled, and will be placed again')
          timeline.schedule(random.whole(0, minuteMs), () => {
            const entry = entries.get(number)
            if (entry === undefined) return
            const terms = { ...entry.terms, brokerOrderId: `8${number}` }
            entries.set(number, { ...entry, end: undefined, terms })
            note('is placed again')
          })
        })
    } else {
      const executed = strikes('partial_fills', 0.2) ? part() : hundredths
      if (!strikes('delayed_fill', 0.3)) {
        execute(executed / 100)
        end('cancelled')()
        return outcomeOf(book.entries.get(number)) as PlacementAnswer
      }
      note(`works on ${account.providerAccountId}`)
      const endsInMs = delayMs(10 * minuteMs)
      executeWithin(endsInMs, executed)
      timeline.schedule(endsInMs + 1, end('cancelled'))
    }
    return random.chance(0.6)
      ? placed
      : { kind: limitOrStop === undefined ? 'accepted' : 'open', brokerOrderId: null }
  }

  const placeOrder = async (
    life: Life,
    account: BrokerAccount,
    order: OrderToSend,
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
    const request = send(life, account, order)
    if (strikes('crash', 0.05)) life.crash()
    const answer = await request
    timeline.note(`${life.id}  ${clientId} is answered: ${answer.kind}`)
    if (answer.kind === 'not_sent') current.mayHaveSent = false
    return answer
  }

  /** The request on its way to the broker, and the answer on its way back. */
  const send = async (
    life: Life,
    account: BrokerAccount,
    order: OrderToSend,
  ): Promise<PlacementAnswer> => {
    const unknown = async (): Promise<PlacementAnswer> => {
      await life.wait(random.whole(0, answerTimeoutMs))
      return { kind: 'unknown' }
    }
    if (strikes('lost_request', 0.2)) return unknown()
    const backMs = random.delayMs(20 * secondMs)
    const isTurnedAway = strikes('turned_away', 0.2)
    const arrivesInMs = random.delayMs(2 * secondMs)
    const actsInMs = strikes('slow_execution', 0.3)
      ? random.whole(arrivesInMs, minuteMs)
      : arrivesInMs
    const act = async (): Promise<PlacementAnswer> =>
      isTurnedAway
        ? { kind: 'not_sent', retryAfterMs: random.pick([null, 2_000, 5_000, 40_000]) }
        : receive(account, order)
    const answered = life.ask(actsInMs, act, backMs)
    // After a minute nobody waits for the answer any more.
    return actsInMs + backMs > answerTimeoutMs || strikes('lost_answer', 0.4) ? unknown() : answered
  }

  const freezeCopy = (account: BrokerAccount) => {
    const copy = createBroker(new Map(brokerOf(account).entries))
    const untilMs = timeline.now() + random.whole(0, 10 * minuteMs)
    copies.set(account.providerAccountId, { copy, untilMs })
  }

  /** The copy while it does not follow, unless the records themselves are read. */
  const shownBy = (account: BrokerAccount, isFresh: boolean): Broker => {
    const kept = copies.get(account.providerAccountId)
    return kept === undefined || isFresh || timeline.now() >= kept.untilMs
      ? brokerOf(account)
      : kept.copy
  }

  const findOrder = async (
    life: Life,
    account: BrokerAccount,
    sought: Parameters<Trading['findOrder']>[1],
  ): Promise<LookupAnswer> => {
    const { order, readFromTerminal } = sought
    counts.lookups += 1
    const isUnreadable = strikes('unreadable', 0.3)
    const outMs = isUnreadable ? delayMs(minuteMs) : random.whole(5, 500)
    if (strikes('stale_copy', 0.1)) freezeCopy(account)
    const read = async (): Promise<LookupAnswer> => {
      if (isUnreadable) return { kind: 'unreadable' }
      const isFresh = readFromTerminal && refreshShowsTruth
      return shownBy(account, isFresh).trading.findOrder(account, sought)()
    }
    const answer = await life.ask(outMs, read, random.whole(5, 500))
    timeline.note(
      `${life.id}  ${order.clientId} is looked up on ${account.providerAccountId}${readFromTerminal ? ', refreshed' : ''}: ${answer.kind}`,
    )
    return answer
  }

  /**
   * A change to other terms, or a cancellation, which is made as it arrives, unless it is lost or
   * comes too late.
   */
  const change = async (
    life: Life,
    account: BrokerAccount,
    orderId: string,
    maySend: MaySend,
    terms?: OrderTerms,
  ): Promise<E.Either<OrderChangeError, ChangeReceipt>> => {
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
    const act = async (): Promise<E.Either<OrderChangeError, ChangeReceipt>> => {
      if (isLost) return unknown
      if (isRefused) return E.left(refuse('TradeRejected', fakeRefusal))
      const { trading } = brokerOf(account)
      const { clientId = '' } = trading.held().find((one) => one.brokerOrderId === orderId) ?? {}
      const made = await (
        terms
          ? trading.modifyOrder(account, orderId, terms, yes)
          : trading.cancelOrder(account, orderId, yes)
      )()
      if (E.isLeft(made)) return made
      if (terms === undefined) cancelledByRequest.add(clientId)
      const what = terms ? `has the price ${terms.price}` : 'is cancelled by a request'
      timeline.note(`broker     ${clientId} ${what}`)
      return E.right({ ...made.right, progress: random.chance(0.8) ? 'done' : 'accepted' })
    }
    const answer = await life.ask(actsInMs, act, random.whole(1, 500))
    return isUnanswered ? unknown : answer
  }

  /** What the record of an order should say. */
  const truthOf = (clientId: string) => {
    for (const { book } of brokers.values()) {
      const found = book.lookup(clientId)
      if (found.kind === 'unfinished') return { status: 'open' } as const
      if (found.kind === 'open') {
        const { price, brokerOrderId } = found.order ?? {}
        return { status: 'open', price, brokerOrderId } as const
      }
      if (found.kind !== 'found' || found.outcome.kind === 'rejected') continue
      const lots = 'fill' in found.outcome ? found.outcome.fill.volume : undefined
      return { status: found.outcome.kind, lots } as const
    }
    return { status: 'rejected' } as const
  }

  return {
    /** The broker as one process reaches it. */
    tradingOf: (life: Life): Trading => ({
      placeOrder: (account, order, maySend) => () => placeOrder(life, account, order, maySend),
      findOrder: (account, sought) => () => findOrder(life, account, sought),
      heldOrders: (account) => () => {
        const { accountId } = account
        const isUnreadable = strikes('unreadable', 0.3)
        const read = async () =>
          isUnreadable
            ? E.left(refuse('BrokerUnavailable', { accountId, reason: 'unreadable' }))
            : shownBy(account, false).trading.heldOrders(account)()
        return life.ask(random.whole(5, 500), read, random.whole(5, 500))
      },
      modifyOrder: (account, orderId, terms, maySend) => () =>
        change(life, account, orderId, maySend, terms),
      cancelOrder: (account, orderId, maySend) => () => change(life, account, orderId, maySend),
    }),
    truthOf,
    isCancelledByRequest: (clientId: string) => cancelledByRequest.has(clientId),
    /** In what the record of an order differs from the broker's; undefined where they agree. */
    disagreement: (order: Order): string | undefined => {
      const clientId = brokerClientId(order.id)
      const truth = truthOf(clientId)
      const { status } = order
      const recorded =
        status === 'open'
          ? { status, price: order.request.price, brokerOrderId: order.brokerOrderId }
          : { status, lots: 'fill' in order ? order.fill.volume : undefined }
      const [ours, theirs] = [recorded, truth].map((one) => JSON.stringify(one))
      return ours === theirs
        ? undefined
        : `${clientId} is ${status}, and ${truth.status} at the broker: ${ours}, ${theirs}`
    },
    /** The process committed that it sends the order. */
    expectSend: (life: Life, clientId: string) =>
      tries.push({ clientId, life, isOver: false, mayHaveSent: false }),
    /** Every order that was accepted, as often as it was. */
    accepted: accepted as readonly string[],
    counts: counts as Readonly<typeof counts>,
  }
}
