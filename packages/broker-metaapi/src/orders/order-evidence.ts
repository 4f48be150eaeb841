// What the broker's records say of the outcome of an order. Pure: four lists in, one answer out. An
// answer is for ever, so it is given only where the records cannot mean anything else: what is seen
// but not at its end is working, what might be hidden is unreadable, and nothing is said only of
// four whole lists without a trace.
import * as O from 'fp-ts/lib/Option.js'
import { clientIdFamily } from '@tradeport/domain/orders'
import {
  compareLots,
  fillOfExecutions,
  lotsWithout,
  minuteMs,
  parseTicket,
  sumExactly,
} from '@tradeport/domain/primitives'
import type { BrokerAccount } from '@tradeport/domain/accounts'
import type { Fill, LookupAnswer, Settlement } from '@tradeport/domain/orders'
import type { BrokerOrder } from '@tradeport/domain/ports'
import type { Execution, Instant } from '@tradeport/domain/primitives'
import type { ListName, Records, Trace } from './order-records.ts'
import type { Tickets } from '../trade/trade-answer.ts'

export type Evidence = Readonly<Record<ListName, Records>>

export interface Sought {
  readonly order: BrokerOrder
  readonly sentAt: Instant
  /** The broker's numbers of it, where the answer to the send told them. */
  readonly tickets: Tickets
}

/** What is known beside the broker's lists. */
export interface LookupContext {
  readonly now: Instant
  readonly platform: BrokerAccount['platform']
  /** How far the provider's clock is ahead of ours. */
  readonly skewMs: number
  /** Broker numbers of orders and positions that belong to other orders of ours on the account. */
  readonly othersTickets: ReadonlySet<string>
  readonly traits: AccountTraits
}

/** What the provider says of the account; absent where it was not read. */
export interface AccountTraits {
  /** The number that the provider gives each trade of the account that names none, as ours do. */
  readonly magic?: number | undefined
  /** Each order opens a position of its own, under the order's number. */
  readonly isHedging?: boolean | undefined
}

/** An answer, and whether reading again could tell more of the fill. */
export interface Finding {
  readonly answer: LookupAnswer
  readonly isDetailed: boolean
}

/**
 * How far one of the provider's lists may lag behind another; what they agree on after that is
 * taken for the end.
 */
const listsLagMs = minuteMs
/**
 * How much earlier than it was sent an order may seem to be executed, beyond the measured skew of
 * the clocks.
 */
const clockSlackMs = minuteMs
/** How long after it was sent an order may be executed at the latest. */
const executionWindowMs = 5 * minuteMs

export const findingOf = (sought: Sought, evidence: Evidence, context: LookupContext): Finding => {
  const traces = tracesOf(sought, evidence)
  const isWhole = areWhole(evidence)
  if (!traces.isSeen)
    return plain(
      isWhole && !mayBeHidden(sought, evidence, context)
        ? { kind: 'nothing' }
        : { kind: 'unreadable' },
    )
  const isSettled =
    isWhole && traces.working.length === 0 && context.now - sought.sentAt >= listsLagMs
  return (
    foundByDeals(sought, traces, isSettled) ??
    foundByOrders(sought, traces) ??
    foundByPosition(sought, traces, isSettled) ??
    rejected(traces, isWhole, isSettled) ??
    plain({ kind: 'working' })
  )
}

/** Whether all four lists could be read to their end. */
export const areWhole = (evidence: Evidence): boolean =>
  Object.values(evidence).every(({ isWhole }) => isWhole)

/** What the records tell of a fill, and how sure it is that nothing of it is missing yet. */
export interface FillFinding {
  readonly fill: Fill
  /** `likely` is what has to be seen twice. */
  readonly certainty: 'certain' | 'likely' | 'none'
}

/** How an order was filled of which the broker said that it was, in full or in part. */
export const fillFindingOf = (
  sought: Sought,
  filled: 'filled' | 'partially_filled',
  evidence: Pick<Evidence, 'positions' | 'deals'>,
): FillFinding => {
  const none = { rows: [], isWhole: true }
  const traces = tracesOf(sought, { ...evidence, orders: none, historyOrders: none })
  const dealt = dealtFill(traces)
  const held = traces.position?.volume
  const { volume } = sought.order
  if (filled === 'filled') {
    if (dealt?.volume !== undefined && compareLots(dealt.volume, volume) >= 0)
      return { fill: dealt, certainty: 'certain' }
    if (traces.position !== undefined && held !== undefined && compareLots(held, volume) === 0)
      return { fill: { volume, ...openingOf(traces.position) }, certainty: 'certain' }
    return { fill: positionOf(traces), certainty: 'none' }
  }
  if (dealt?.volume === undefined) return { fill: positionOf(traces), certainty: 'none' }
  const isConfirmed = held !== undefined && compareLots(held, dealt.volume) === 0
  return { fill: dealt, certainty: isConfirmed ? 'certain' : 'likely' }
}

/** What of the records belongs to the order. */
interface Traces {
  readonly isSeen: boolean
  readonly position: Trace | undefined
  readonly working: readonly Trace[]
  /** Finished, each once. */
  readonly done: readonly Trace[]
  /** That executed a part of it, each once. */
  readonly deals: readonly Trace[]
}

const tracesOf = ({ order, tickets }: Sought, evidence: Evidence): Traces => {
  const match = matcherOf(order.clientId)
  const { positions, orders, historyOrders, deals } = evidence
  const position = positions.rows.find((row) => match(row) !== 'other')
  const ids = new Set<string>(tickets.orderId === undefined ? [] : [tickets.orderId])
  for (const row of [...orders.rows, ...historyOrders.rows])
    if (match(row) === 'order') ids.add(row.id)
  // A position goes by the number of the order that opened it. What stops did to one bears the
  // order's first two parts and that number.
  if (position !== undefined) ids.add(position.id)
  for (const row of [...historyOrders.rows, ...deals.rows])
    if (match(row) === 'position' && row.positionId !== undefined) ids.add(row.positionId)
  // A number counts only where nobody else's name stands beside it.
  const isOwn = (row: Trace, id: string | undefined): boolean =>
    match(row) === 'order' ||
    (id !== undefined && ids.has(id) && (row.clientId === undefined || match(row) === 'position'))
  const isOwnOrder = (row: Trace): boolean => row.side === order.side && isOwn(row, row.id)
  const isOwnDeal = (row: Trace): boolean => isOwn(row, row.orderId)
  const done = onceEach(historyOrders.rows.filter(isOwnOrder), ({ id }) => id)
  const own = onceEach(
    deals.rows.filter(isOwnDeal),
    ({ id, entry, at, side }) => `${at} ${id} ${entry} ${side}`,
  )
  return {
    isSeen:
      own.length > 0 ||
      [positions, orders, historyOrders, deals].some(({ rows }) =>
        rows.some((row) => match(row) !== 'other'),
      ) ||
      [...orders.rows, ...historyOrders.rows].some(isOwnOrder),
    position,
    working: orders.rows.filter(
      (row) => isOwnOrder(row) && !done.some(({ id, state }) => id === row.id && isFinal(state)),
    ),
    done,
    // A deal of the other side closes what the order opened, and one that closes a position by
    // another trades nothing.
    deals: own.filter(({ side, entry }) => side === order.side && entry !== 'out_by'),
  }
}

type Match = 'order' | 'position' | 'other'

/**
 * Whether a row is of the order itself, of the position that it opened, by the first two parts
 * alone, or of neither.
 */
const matcherOf = (clientId: string): ((row: Trace) => Match) => {
  const family = clientIdFamily(clientId)
  // A name that is none would be found in every note.
  if (family === '') return () => 'other'
  return ({ clientId: own, notes = '' }) => {
    if (own === clientId || notes.includes(clientId)) return 'order'
    return own?.startsWith(family) === true || notes.includes(family) ? 'position' : 'other'
  }
}

const foundByDeals = (
  { order }: Sought,
  traces: Traces,
  isSettled: boolean,
): Finding | undefined => {
  const { deals, done, working } = traces
  if (deals.length === 0) return undefined
  const fill = dealtFill(traces)
  // A deal that does not tell its volume was executed all the same, and no other record will tell
  // it later.
  if (fill?.volume === undefined)
    return isSettled && executedOf(done) === undefined
      ? found('filled', fill ?? {}, true)
      : undefined
  if (compareLots(fill.volume, order.volume) >= 0) return found('filled', fill, true)
  const executed = executedOf(done)
  const isEnd =
    working.length === 0 && executed !== undefined && compareLots(executed, fill.volume) === 0
  return isEnd || isSettled ? found('partially_filled', fill, true) : undefined
}

const foundByOrders = ({ order }: Sought, traces: Traces): Finding | undefined => {
  const { done, working, deals, position } = traces
  // The state says that nothing is left, where the row does not say of how much.
  if (done.some(({ state, volume }) => state === 'FILLED' && volume === undefined))
    return found('filled', positionOf(traces), false)
  const executed = executedOf(done)
  if (executed === undefined || executed === 0) return undefined
  const dealt = dealtFill(traces)?.volume
  // More was dealt than the orders know of: they are behind.
  if (dealt !== undefined && compareLots(dealt, executed) > 0) return undefined
  // A position of that very volume is as the order left it, and tells the price.
  const isUntouched =
    deals.length === 0 &&
    position?.volume !== undefined &&
    compareLots(position.volume, executed) === 0
  const fill = { volume: executed, ...(isUntouched ? openingOf(position) : positionOf(traces)) }
  if (compareLots(executed, order.volume) >= 0) return found('filled', fill, isUntouched)
  return working.length === 0 ? found('partially_filled', fill, isUntouched) : undefined
}

const foundByPosition = (
  { order }: Sought,
  { position, deals }: Traces,
  isSettled: boolean,
): Finding | undefined => {
  if (position?.volume === undefined || position.side !== order.side || deals.length > 0)
    return undefined
  const { volume } = position
  const difference = compareLots(volume, order.volume)
  if (difference === 0) return found('filled', { volume, ...openingOf(position) }, true)
  // It may have been closed in part, or added to, which deals tell; here they have had their time
  // and tell nothing.
  if (!isSettled) return undefined
  return difference > 0
    ? found('filled', ticketAs(position.id), true)
    : found('partially_filled', { volume, ...openingOf(position) }, true)
}

const rejected = (
  { done, working, deals, position }: Traces,
  isWhole: boolean,
  isSettled: boolean,
): Finding | undefined => {
  const last = done.at(-1)
  if (
    !isWhole ||
    last === undefined ||
    working.length > 0 ||
    deals.length > 0 ||
    position !== undefined
  )
    return undefined
  if (!done.every(({ state }) => isFinal(state) && state !== 'FILLED')) return undefined
  if (executedOf(done) === undefined && !isSettled) return undefined
  const { state = '' } = last
  const message = `The broker ended the order without executing it: ${state.toLowerCase()}.`
  return plain({
    kind: 'found',
    settlement: { kind: 'rejected', reason: { code: `ORDER_STATE_${state}`, message } },
  })
}

/** Nobody changes what is in one of these states. */
const isFinal = (state = ''): boolean =>
  ['FILLED', 'PARTIAL', 'CANCELED', 'REJECTED', 'EXPIRED'].includes(state)

/** Lots that the finished orders executed; undefined where one does not tell, or there is none. */
const executedOf = (done: readonly Trace[]): number | undefined => {
  const told = done.map(executedByOne).filter((volume) => volume !== undefined)
  return done.length > 0 && told.length === done.length ? sumExactly(told) : undefined
}

const executedByOne = ({ state, volume, remaining }: Trace): number | undefined => {
  if (state === 'REJECTED') return 0
  if (volume === undefined || !isFinal(state)) return undefined
  if (state === 'FILLED') return lotsWithout(volume, remaining ?? 0)
  // Nothing left of an order that was called off may only mean that nothing waits any more.
  return remaining === undefined || remaining === 0 ? undefined : lotsWithout(volume, remaining)
}

/**
 * What the deals tell together; without price, volume and time where one of them lacks its own,
 * undefined where there are none.
 */
const dealtFill = (traces: Traces): Fill | undefined => {
  const { deals } = traces
  const executions = deals.flatMap(({ volume, price, at }): readonly Execution[] =>
    volume === undefined || price === undefined || at === undefined ? [] : [{ volume, price, at }],
  )
  const [first, ...rest] = executions
  if (first === undefined) return deals.length === 0 ? undefined : positionOf(traces)
  return executions.length < deals.length
    ? positionOf(traces)
    : { ...fillOfExecutions([first, ...rest]), ...positionOf(traces) }
}

/** What a position tells of the order that opened it. */
const openingOf = ({ id, price, at }: Trace): Fill => ({
  ...(price !== undefined && { price }),
  ...(at !== undefined && { at }),
  ...ticketAs(id),
})

const positionOf = ({ deals, done, position }: Traces): Fill =>
  ticketAs(
    [...deals, ...done].find(({ positionId }) => positionId !== undefined)?.positionId ??
      position?.id,
  )

/** A broker's number as the fill holds it; nothing where it is none. */
export const ticketAs = (id: string | undefined): Pick<Fill, 'positionId'> => {
  const ticket = parseTicket(id ?? '')
  return O.isSome(ticket) ? { positionId: ticket.value } : {}
}

/**
 * Whether a row could be the order without its client id, which brokers may overwrite with words of
 * their own. Such a row cannot be told from a trade by hand, so it never makes an order filled, but
 * while it is there the order is not taken for lost either.
 */
const mayBeHidden = (
  sought: Sought,
  { positions, orders, historyOrders, deals }: Evidence,
  context: LookupContext,
): boolean => {
  const isLike = likenessOf(sought, context)
  const mayBeAddedTo = context.platform === 'mt5' && context.traits.isHedging !== true
  const orderRows = [...orders.rows, ...historyOrders.rows]
  const isLikeOrder = (row: Trace): boolean =>
    isLike(row, row.id) && !isClosing(row, row.id, context)
  // A deal or a position of an order that cannot be ours is not ours, whatever it looks like.
  const rowsByOrder = Map.groupBy(orderRows, ({ id }) => id)
  const isOfAnotherOrder = (orderId: string | undefined): boolean =>
    orderId !== undefined && rowsByOrder.get(orderId)?.every((row) => !isLikeOrder(row)) === true
  return (
    orderRows.some((row) => isLikeOrder(row) && executedOf([row]) !== 0) ||
    // A position goes by the number of the order that opened it. What an order of ours adds to
    // another's position shows in its own order and deal.
    positions.rows.some((row) => isLike(row, row.id, mayBeAddedTo) && !isOfAnotherOrder(row.id)) ||
    deals.rows.some(
      (row) =>
        isLike(row, row.orderId) &&
        !isOfAnotherOrder(row.orderId) &&
        !isClosing(row, row.orderId, context) &&
        row.entry !== 'out' &&
        row.entry !== 'out_by',
    )
  )
}

/**
 * The same market, side, sender's number and time, no more volume, and nobody else's name or
 * number. Less volume may be a part of the order. What a row does not hold excludes nothing. The
 * sender's number is the account's present one; changing it while an order is looked for hides an
 * order without a name.
 */
const likenessOf = (
  { order, sentAt, tickets }: Sought,
  { skewMs, othersTickets, traits }: LookupContext,
) => {
  const earliest = sentAt + skewMs - clockSlackMs
  const latest = sentAt + skewMs + executionWindowMs
  return (row: Trace, orderId: string | undefined, mayHaveMore = false): boolean =>
    row.clientId === undefined &&
    !otherOrdersName.test(row.notes ?? '') &&
    row.side === order.side &&
    (row.symbol === undefined || row.symbol === order.symbol) &&
    (row.volume === undefined || mayHaveMore || compareLots(row.volume, order.volume) <= 0) &&
    (row.at === undefined || (row.at >= earliest && row.at <= latest)) &&
    (row.magic === undefined || traits.magic === undefined || row.magic === traits.magic) &&
    !(row.reason !== undefined && reasonsOfOthers.has(row.reason)) &&
    (orderId === undefined ||
      (!othersTickets.has(orderId) &&
        (tickets.orderId === undefined || tickets.orderId === orderId)))
}

/**
 * The client id of another order of ours, left in a comment: where it were this order's, the order
 * would have been seen.
 */
const otherOrdersName = /\bTP_[0-9A-Za-z]{10}_/

/**
 * On a hedging account an order that belongs to a position of another number closes it. Others may
 * add to a position, or reduce it, by an order such as ours.
 */
const isClosing = (
  { positionId }: Trace,
  orderId: string | undefined,
  { platform, traits }: LookupContext,
): boolean =>
  platform === 'mt5' &&
  traits.isHedging === true &&
  positionId !== undefined &&
  orderId !== undefined &&
  positionId !== orderId

/**
 * Reasons that no order sent by a program has: it was given by hand elsewhere, or the platform made
 * it.
 */
const reasonsOfOthers = new Set(['MOBILE', 'WEB', 'SL', 'TP', 'SO', 'ROLLOVER', 'VMARGIN', 'SPLIT'])

const plain = (answer: LookupAnswer): Finding => ({ answer, isDetailed: true })

const found = (
  kind: Extract<Settlement, { fill: Fill }>['kind'],
  fill: Fill,
  isDetailed: boolean,
): Finding => ({
  answer: { kind: 'found', settlement: { kind, fill } },
  isDetailed,
})

const onceEach = <A>(rows: readonly A[], keyOf: (row: A) => string): readonly A[] => [
  ...new Map(rows.map((row) => [keyOf(row), row])).values(),
]
