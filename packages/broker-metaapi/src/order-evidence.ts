// What the broker's records say of an order. Pure: four lists in, one answer out. `found` ends the
// order (one that the broker cancelled is then looked up twice more), and `nothing` counts towards
// the proof of absence, so each is given only if the records cannot mean anything else:
//
// - found: they show how the order ended
// - open, or unfinished for a market order: they show the order, and not how it ended
// - unreadable: a list is incomplete, or a record without a client id may be the order's
// - nothing: all four lists are complete, and no record is or may be the order's
//
// How the order ended is decided by the first of four rules that can tell:
//
// 1. byDeals: a deal has the volume and the price of what it executed
// 2. byEndedOrders: a finished order has the volume, and its deals may be shown later
// 3. byPosition: a position has both while nobody else has traded in it, and may be shown first
// 4. byUnexecutedEnd: the finished orders alone, where nothing was executed
//
// Lists lag behind each other, and a broker may end a pending order and place the rest again under
// another number. So a rule waits until the lists agree, or have had a minute to catch up, and an
// end before all is filled counts only where no such rest may be hidden (`mayContinueUnseen`).
import * as O from 'fp-ts/lib/Option.js'
import {
  clientIdPrefix,
  markPartlyExecuted,
  renumberingMs,
  renumberingWaitMs,
  type Fill,
  type LookupAnswer,
  type OrderOutcome,
} from '@tradeport/domain/orders'
import type { OrderToSend } from '@tradeport/domain/ports'
import {
  fillOfExecutions,
  minuteMs,
  parseTicket,
  sumExactly,
  type Execution,
  type Instant,
} from '@tradeport/domain/primitives'
import type { ListName, RecordList, RecordRow } from './order-records.ts'
import {
  createSimilarityCheck,
  isHedging,
  reasonsOfStops,
  type LookupContext,
  type OrderToFind,
} from './order-to-find.ts'

export type Evidence = Readonly<Record<ListName, RecordList>>

const ordersIn = ({ orders, historyOrders }: Evidence) => [...orders.rows, ...historyOrders.rows]

/** How far one of the provider's lists may lag behind another. */
const listsLagMs = minuteMs
/** How much earlier than sent an order may seem executed, beyond the measured skew. */
const clockSlackMs = minuteMs
/** How long after a cancellation an order without a client id may be its replacement. */
const nextNumberMs = minuteMs

export const answerFrom = (
  orderToFind: OrderToFind,
  evidence: Evidence,
  context: LookupContext,
): LookupAnswer => {
  const { order } = orderToFind
  const rows = rowsOfOrder(orderToFind, evidence, context)
  if (!rows.isSeen) {
    const isAbsent = areWhole(evidence) && !mayBeHidden(orderToFind, evidence, context)
    return { kind: isAbsent ? 'nothing' : 'unreadable' }
  }
  const shown = shownOrderOf(orderToFind, rows, evidence, context)
  const outcome =
    byDeals(shown) ?? byEndedOrders(shown) ?? byPosition(shown) ?? byUnexecutedEnd(shown)
  const filledLots = outcome && 'fill' in outcome ? (outcome.fill.volume ?? 0) : 0
  // More lots than were ordered include trades of others, and do not show how the order ended.
  if (outcome === undefined || filledLots > order.volume) {
    if (order.limitOrStop === undefined) return { kind: 'unfinished' }
    const held = rows.open.find((row) => row.held !== undefined)?.held
    return { kind: 'open', order: held && markPartlyExecuted(held, order) }
  }
  const restLots = sumExactly([order.volume, -filledLots])
  return outcome.kind !== 'filled' && mayContinueUnseen(shown, restLots, evidence, context)
    ? { kind: 'unreadable' }
    : { kind: 'found', outcome }
}

/** Lots executed so far, by its deals or else by its position; undefined if neither shows any. */
export const executedLots = (
  orderToFind: OrderToFind,
  evidence: Evidence,
  context: LookupContext,
): number | undefined => {
  const rows = rowsOfOrder(orderToFind, evidence, context)
  return fillOfDeals(rows)?.volume ?? rows.position?.volume
}

/** The rows of an order that is seen, and what they come to. */
interface ShownOrder extends RowsOfOrder, OrderToFind {
  /** Of all its deals; undefined if there are none. */
  readonly dealsFill: Fill | undefined
  /** What its finished orders executed; undefined if they do not show it. */
  readonly finishedLots: number | undefined
  /**
   * No order of it is open or may be placed again, the one of its known number has ended, and the
   * finished orders or the deals explain what its positions hold.
   */
  readonly isLastEnded: boolean
  /** Others cannot have changed its position but to close it. On a netting account they may. */
  readonly isPositionExclusive: boolean
  /** All lists are complete. */
  readonly isWhole: boolean
  /**
   * All lists are complete, none shows the order open or about to be placed again, and its last
   * change is over a minute ago: what they do not show is not there.
   */
  readonly haveListsCaughtUp: boolean
}

const shownOrderOf = (
  orderToFind: OrderToFind,
  rows: RowsOfOrder,
  evidence: Evidence,
  context: LookupContext,
): ShownOrder => {
  const { order, tickets } = orderToFind
  const { endedOrders, positions } = rows
  const isWhole = areWhole(evidence)
  const hasNoOpenOrder =
    evidence.orders.isWhole && rows.open.length === 0 && !mayBePlacedAgain(order, rows, context)
  const dealsFill = fillOfDeals(rows)
  const finishedLots = sumIfAllKnown(endedOrders.map(lotsOfEndedOrder))
  return {
    ...orderToFind,
    ...rows,
    dealsFill,
    finishedLots,
    isLastEnded:
      hasNoOpenOrder &&
      (tickets.orderId === undefined || endedOrders.some(({ id }) => id === tickets.orderId)) &&
      sumExactly(positions.map(({ volume = 0 }) => volume)) <=
        Math.max(finishedLots ?? 0, dealsFill?.volume ?? 0),
    isPositionExclusive: isHedging(context),
    isWhole,
    haveListsCaughtUp:
      isWhole && hasNoOpenOrder && context.now - lastChangeOf(rows, context) >= listsLagMs,
  }
}

/** How the order ended, by one kind of rows; undefined if they do not show it yet. */
type Rule = (shown: ShownOrder) => OrderOutcome | undefined

/**
 * A partial fill is final if all has ended and the finished orders executed the same volume, or once
 * the lists have caught up and the finished orders show no more. On MT4 a partial close splits the
 * deal that opened the position, and the finished order still shows the whole volume.
 */
const byDeals: Rule = ({
  order,
  dealsFill,
  finishedLots,
  endedOrders,
  deals,
  isLastEnded,
  haveListsCaughtUp,
}) => {
  if (!dealsFill) return undefined
  const { volume } = dealsFill
  // A deal without a volume was executed all the same, and no other record will show how much.
  if (volume === undefined) {
    const isPart = endedOrders.some(
      ({ id, state = '' }) =>
        earlyEndStates.includes(state) && deals.some(({ orderId = id }) => orderId === id),
    )
    return haveListsCaughtUp && !finishedLots
      ? executed(isPart ? 'partially_filled' : 'filled', dealsFill)
      : undefined
  }
  if (volume >= order.volume) return executed('filled', dealsFill)
  const mayBeAll = haveListsCaughtUp && !endedOrders.some(isFilledWithoutVolume)
  return (isLastEnded && finishedLots === volume) || (mayBeAll && (finishedLots ?? 0) <= volume)
    ? executed('partially_filled', dealsFill)
    : undefined
}

/** Finished orders that show fewer lots than its deals are ignored. */
const byEndedOrders: Rule = (shown) => {
  const { position, deals, endedOrders, finishedLots = 0 } = shown
  const openedPosition = positionIdField(openedPositionId(shown))
  if (endedOrders.some(isFilledWithoutVolume)) return executed('filled', openedPosition)
  if (finishedLots <= 0 || (shown.dealsFill?.volume ?? 0) > finishedLots) return undefined
  // A position of that very volume is as the order left it, and has its price.
  const isUntouched =
    shown.isPositionExclusive && deals.length === 0 && position?.volume === finishedLots
  const fill = {
    volume: finishedLots,
    ...(isUntouched ? fillOfPosition(position) : openedPosition),
  }
  if (finishedLots >= shown.order.volume) return executed('filled', fill)
  return shown.isLastEnded || shown.haveListsCaughtUp
    ? executed('partially_filled', fill)
    : undefined
}

/**
 * Used only where neither a deal nor an order is seen, and others cannot have changed the position.
 * If the volumes differ, deals would explain the difference, so that the lists have to catch up
 * first. After that a smaller position is a partial fill, and of a larger one only its number is
 * known.
 */
const byPosition: Rule = (shown) => {
  const { order, position, deals, open, endedOrders, isPositionExclusive } = shown
  const isAlone = deals.length + open.length + endedOrders.length === 0
  if (!position?.volume || !isPositionExclusive || !isAlone) return undefined
  const fill = { volume: position.volume, ...fillOfPosition(position) }
  if (position.volume === order.volume) return executed('filled', fill)
  if (!shown.haveListsCaughtUp) return undefined
  return position.volume > order.volume
    ? executed('filled', positionIdField(position.id))
    : executed('partially_filled', fill)
}

/** Waits for the number that is known last to have ended, or for the lists to catch up. */
const byUnexecutedEnd: Rule = (shown) => {
  const { order, tickets, deals, position, endedOrders, lastEnded } = shown
  const isUnexecuted =
    deals.length === 0 &&
    position === undefined &&
    // One that does not show what it executed does not hide what another shows.
    endedOrders.every((row) => earlyEndStates.includes(row.state ?? '') && !lotsOfEndedOrder(row))
  if (lastEnded === undefined || !isUnexecuted || !shown.isWhole) return undefined
  const end = endOf(order, lastEnded)
  // Where no number is known, a rejected order may be an earlier one than a list will show; of one
  // that was cancelled, none was placed again by now.
  const mayBeEarlier = tickets.orderId === undefined && end.kind === 'rejected'
  const isKnown = shown.isLastEnded && shown.finishedLots !== undefined && !mayBeEarlier
  return isKnown || shown.haveListsCaughtUp ? end : undefined
}

/**
 * Whether the broker cancelled the order, and so recently that it may yet place it again under
 * another number.
 */
const mayBePlacedAgain = (
  order: OrderToSend,
  { lastEnded }: RowsOfOrder,
  { now, executedAtLatest, isCancelledByUs }: LookupContext,
): boolean =>
  lastEnded !== undefined &&
  endOf(order, lastEnded).kind === 'cancelled' &&
  !isCancelledByUs &&
  now - executedAtLatest < renumberingWaitMs

/**
 * Whether more of a pending order than is shown may have been executed under an earlier number, or
 * may wait under a later one that has lost the client id:
 *
 * - the last number was for fewer lots than what is shown leaves for it
 * - or the last number was cancelled, not by us, and
 *   - a list cannot be read
 *   - or a similar order for the rest was placed from ten seconds before that to a minute after it,
 *     or after such an order was cancelled in its turn
 *   - or something similar was executed within the last minute: the history may lack its order yet
 *
 * A row without a time is taken as possible.
 */
const mayContinueUnseen = (
  shown: ShownOrder,
  restLots: number,
  evidence: Evidence,
  context: LookupContext,
): boolean => {
  const { order, lastEnded, endedOrders } = shown
  if (order.limitOrStop === undefined || lastEnded === undefined) return false
  const { state, volume, endedAt } = lastEnded
  const lastLots = lotsOfEndedOrder(lastEnded) ?? 0
  if (volume !== undefined && sumExactly([restLots, lastLots]) > volume) return true
  if (state !== 'CANCELED' || context.isCancelledByUs) return false
  if (!shown.isWhole) return true
  const isSimilar = createSimilarityCheck(shown, context)
  const isLikeRest = (row: RecordRow, orderId: string): boolean =>
    isSimilar(row, orderId) &&
    (row.at ?? Infinity) >= (endedAt ?? 0) - renumberingMs &&
    !context.ticketsOfOtherOrders.has(orderId) &&
    !endedOrders.some(({ id }) => id === orderId)
  const ordersLikeRest = ordersIn(evidence).filter(
    (row) =>
      isLikeRest(row, row.id) &&
      row.orderType !== 'market' &&
      (row.volume ?? restLots) === restLots,
  )
  let cancelledAt = endedAt ?? Infinity
  for (const row of ordersLikeRest.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))) {
    if ((row.at ?? 0) > cancelledAt + nextNumberMs) break
    if (mayHaveExecuted(row)) return true
    if (row.state === 'CANCELED') cancelledAt = Math.max(cancelledAt, row.endedAt ?? Infinity)
  }
  return [...evidence.positions.rows, ...evidence.deals.rows].some(
    (row) =>
      isLikeRest(row, row.orderId ?? row.id) &&
      context.now + context.skewMs - (row.at ?? Infinity) < listsLagMs,
  )
}

/**
 * When the order was last executed or ended at the latest, by our clock: the lists may not show the
 * last of its parts yet.
 */
const lastChangeOf = (
  { deals, endedOrders, positions }: RowsOfOrder,
  { skewMs, executedAtLatest }: LookupContext,
): Instant =>
  Math.max(
    executedAtLatest,
    ...[...deals, ...endedOrders, ...positions].map(
      ({ endedAt, at = 0 }) => (endedAt ?? at) - skewMs,
    ),
  )

/** How an order ended that executed nothing. */
const endOf = (
  { limitOrStop }: OrderToSend,
  { state = '', endedAt, expiresAt = limitOrStop?.expiresAt }: RecordRow,
): OrderOutcome => {
  if (limitOrStop !== undefined && state === 'EXPIRED') return { kind: 'expired', at: endedAt }
  if (limitOrStop !== undefined && state === 'CANCELED') {
    // MT4 has no state for expired orders.
    const isExpired = endedAt !== undefined && expiresAt !== undefined && endedAt >= expiresAt
    return isExpired
      ? { kind: 'expired', at: endedAt }
      : { kind: 'cancelled', reason: 'broker', at: endedAt }
  }
  const message = `The broker ended the order without executing it: ${state.toLowerCase()}.`
  return { kind: 'rejected', reason: { code: `ORDER_STATE_${state}`, message } }
}

const executed = (kind: 'filled' | 'partially_filled', fill: Fill): OrderOutcome => ({ kind, fill })

/** Whether all four lists could be read to their end. */
export const areWhole = (evidence: Evidence): boolean =>
  Object.values(evidence).every(({ isWhole }) => isWhole)

/** The records that belong to the order. */
interface RowsOfOrder {
  readonly isSeen: boolean
  /** More than one where the broker gave the order another number after it had executed a part. */
  readonly positions: readonly RecordRow[]
  /** The first; without a volume if it was reversed since, or opened before the order was sent. */
  readonly position: RecordRow | undefined
  readonly open: readonly RecordRow[]
  /** Finished orders, each once as it was last; the latest at the end. */
  readonly endedOrders: readonly RecordRow[]
  readonly lastEnded: RecordRow | undefined
  /** Deals that executed a part of it, each once. */
  readonly deals: readonly RecordRow[]
}

const rowsOfOrder = (
  { order, sentAt, tickets }: OrderToFind,
  evidence: Evidence,
  { skewMs, ticketsOfOtherOrders }: LookupContext,
): RowsOfOrder => {
  const { positions, orders, historyOrders, deals } = evidence
  const match = createClientIdMatch(order)
  const orderRows = ordersIn(evidence)
  const ownPositions = positions.rows.filter((row) => match(row) !== 'other')
  const position = ownPositions[0]
  const hasWholeClientId = (row: RecordRow): boolean =>
    row.side === order.side && match(row) === 'order'
  // The broker's numbers of the order. One that executed nothing is left out: the broker may have
  // given the order another since.
  const namedOrderIds = new Set([
    ...orderRows.filter((row) => hasWholeClientId(row) && mayHaveExecuted(row)).map(({ id }) => id),
    ...deals.rows.filter(hasWholeClientId).map(({ orderId }) => orderId),
  ])
  // Where no record with the client id gives a number, that of the position is used: it equals the
  // number of the order that opened the position. Executions of its stop loss or take profit name
  // the position too, and carry the first two parts of the client id.
  const positionIds = new Set(
    namedOrderIds.size > 0
      ? []
      : [
          ...ownPositions.map(({ id }) => id),
          ...[...historyOrders.rows, ...deals.rows]
            .filter((row) => match(row) === 'position' && row.side !== order.side)
            .map(({ positionId }) => positionId),
        ],
  )
  const orderIds = new Set([...namedOrderIds, tickets.orderId])
  // On a netting account another order may have opened the position, before this one was sent.
  const isEarlier = ({ at = sentAt }: RecordRow): boolean => at < sentAt + skewMs - clockSlackMs
  // A row belongs to the order by its number only if it has no client id of another sender.
  const isOwn = (row: RecordRow, id: string | undefined): boolean =>
    match(row) === 'order' ||
    (id !== undefined &&
      (row.clientId === undefined || match(row) === 'position') &&
      (orderIds.has(id) ||
        (positionIds.has(id) && !ticketsOfOtherOrders.has(id) && !isEarlier(row))))
  const isOwnOrder = (row: RecordRow): boolean => row.side === order.side && isOwn(row, row.id)
  const byEnd = historyOrders.rows.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))
  const endedOrders = lastOfEach(byEnd.filter(isOwnOrder), ({ id }) => id)
  const ownDeals = lastOfEach(
    deals.rows.filter((row) => isOwn(row, row.orderId)),
    ({ id, entry, at, side }) => `${at} ${id} ${entry} ${side}`,
  )
  return {
    isSeen:
      ownDeals.length > 0 ||
      [...positions.rows, ...orderRows, ...deals.rows].some((row) => match(row) !== 'other') ||
      orderRows.some(isOwnOrder),
    positions: ownPositions,
    position:
      position && (position.side !== order.side || isEarlier(position))
        ? { ...position, volume: undefined }
        : position,
    open: orders.rows.filter(
      (row) =>
        isOwnOrder(row) && !endedOrders.some(({ id, state }) => id === row.id && isEndState(state)),
    ),
    endedOrders,
    lastEnded: endedOrders.at(-1),
    // A deal of the other side closes what the order opened, and a close by another position trades
    // nothing.
    deals: ownDeals.filter(({ side, entry }) => side === order.side && entry !== 'out_by'),
  }
}

/**
 * Whether a row is of the order itself, of its position, or of neither. A broker may keep the first
 * two parts of the client id alone, or give what stops of the position execute another third one.
 */
const createClientIdMatch = ({ clientId, side }: OrderToSend) => {
  const prefix = clientIdPrefix(clientId)
  return (row: RecordRow): 'order' | 'position' | 'other' => {
    const { clientId: rowClientId, notes = '', reason = '' } = row
    // An empty one would be found in every note.
    if (prefix === '') return 'other'
    if (rowClientId === clientId || notes.includes(clientId)) return 'order'
    if (rowClientId === prefix && row.side === side && !reasonsOfStops.has(reason)) return 'order'
    const isOfPosition =
      rowClientId === undefined ? notes.includes(prefix) : clientIdPrefix(rowClientId) === prefix
    return isOfPosition ? 'position' : 'other'
  }
}

const lastOfEach = <A>(rows: readonly A[], keyOf: (row: A) => string): readonly A[] =>
  [...Map.groupBy(rows.toReversed(), keyOf).values()].flatMap(([last]) => last ?? []).toReversed()

/** States of an order that ended before all of it was executed. */
const earlyEndStates = ['CANCELED', 'REJECTED', 'EXPIRED']
/** An order in such a state does not change any more. */
const isEndState = (state = ''): boolean => ['FILLED', 'PARTIAL', ...earlyEndStates].includes(state)

/** All of it was executed, whatever deals are shown. */
const isFilledWithoutVolume = ({ state, volume }: RecordRow): boolean =>
  state === 'FILLED' && volume === undefined

/** False where it is known to have executed nothing. */
const mayHaveExecuted = (row: RecordRow): boolean => lotsOfEndedOrder(row) !== 0

/** Undefined if one is not known, or there is none. */
const sumIfAllKnown = (volumes: readonly (number | undefined)[]): number | undefined => {
  const known = volumes.filter((volume) => volume !== undefined)
  return known.length > 0 && known.length === volumes.length ? sumExactly(known) : undefined
}

/** Lots that a finished order executed; undefined if it does not show it. */
const lotsOfEndedOrder = ({ state, volume, remaining }: RecordRow): number | undefined => {
  if (state === 'REJECTED') return 0
  if (volume === undefined || !isEndState(state)) return undefined
  if (state === 'FILLED') return sumExactly([volume, -(remaining ?? 0)])
  // Some brokers show a rest of 0 on every cancelled order, whatever was executed.
  return remaining ? sumExactly([volume, -remaining]) : undefined
}

/**
 * All deals together: their volume if each has one, their price and time if each has all three, and
 * their position. Undefined if there are none.
 */
const fillOfDeals = (ownRows: RowsOfOrder): Fill | undefined => {
  const { deals } = ownRows
  const [first, ...rest] = deals.filter(isExecution)
  if (deals.length === 0) return undefined
  return {
    volume: sumIfAllKnown(deals.map(({ volume }) => volume)),
    ...(first && rest.length + 1 === deals.length && fillOfExecutions([first, ...rest])),
    ...positionIdField(openedPositionId(ownRows) ?? deals[0]?.positionId),
  }
}

const isExecution = (row: RecordRow): row is RecordRow & Execution =>
  ![row.volume, row.price, row.at].includes(undefined)

/** What a position shows of the order that opened it. */
const fillOfPosition = ({ id, price, at }: RecordRow): Fill => ({
  price,
  at,
  ...positionIdField(id),
})

/** On a netting account an order may close one position before it opens another, which counts. */
const openedPositionId = ({ deals, endedOrders, position }: RowsOfOrder): string | undefined =>
  [...deals.filter(({ entry }) => entry !== 'out'), ...endedOrders.toReversed()].find(
    ({ positionId }) => positionId !== undefined,
  )?.positionId ?? position?.id

/** A broker's number as a fill holds it. */
export const positionIdField = (id = ''): Pick<Fill, 'positionId'> => ({
  positionId: O.toUndefined(parseTicket(id)),
})

/**
 * Whether a row could be the order without its client id, which brokers may overwrite. Such a row
 * could also be a manual trade, so it never makes an order filled, but while it is there the order
 * is not concluded to be absent either.
 */
const mayBeHidden = (
  orderToFind: OrderToFind,
  evidence: Evidence,
  context: LookupContext,
): boolean => {
  const isSimilar = createSimilarityCheck(orderToFind, context)
  const isMt5 = context.platform === 'mt5'
  // On a netting account an order such as ours may also reduce a position, or add to one.
  const mayBeNetting = !isHedging(context)
  const onlyCloses = ({ entry, positionId }: RecordRow, orderId: string | undefined): boolean => {
    if (entry === 'out_by') return true
    if (mayBeNetting) return false
    if (entry === 'out') return true
    // On MT5 a row whose position has another number than its order closes that position. On MT4 the
    // rest of a partly closed position has a new number, so that this shows nothing.
    return isMt5 && positionId !== undefined && orderId !== undefined && positionId !== orderId
  }
  const mayBeOfOrder = (row: RecordRow, orderId: string | undefined): boolean =>
    isSimilar(row, orderId) && !onlyCloses(row, orderId)
  const orderRows = ordersIn(evidence)
  // A deal or a position of an order that cannot be ours is not ours.
  const rowsByOrder = Map.groupBy(orderRows, ({ id }) => id)
  const isOfAnotherOrder = (orderId: string | undefined): boolean =>
    orderId !== undefined &&
    rowsByOrder.get(orderId)?.every((row) => !mayBeOfOrder(row, orderId)) === true
  return (
    orderRows.some((row) => mayBeOfOrder(row, row.id) && mayHaveExecuted(row)) ||
    // What an order of ours adds to another's position shows in its own order and deal.
    evidence.positions.rows.some(
      (row) => isSimilar(row, row.id, mayBeNetting) && !isOfAnotherOrder(row.id),
    ) ||
    evidence.deals.rows.some(
      (row) => mayBeOfOrder(row, row.orderId) && !isOfAnotherOrder(row.orderId),
    )
  )
}
