// Carrying out a trade request at one moment: the broker's checks in order, then the fill. Nothing
// is awaited, so trades of an account never interleave.
import {
  enterOrder,
  newOrderId,
  timeOf,
  type Account,
  type Moment,
  type AcceptedTrade,
  type Position,
} from './account.ts'
import {
  areStopsValid,
  filledVolume,
  fitsVolume,
  hasMoneyFor,
  result,
  rounded,
  type TradeFault,
} from './checks.ts'
import { closingOrderId, fillClose, fillMarketOrder } from './fills.ts'
import type { Lasting } from './faults.ts'
import { isOver, readShows, waitFor } from './lags.ts'
import { instrumentOf } from './market.ts'
import { brokerText, decimal, type Decimal, utcText } from './numbers.ts'
import {
  cancelPendingOrder,
  executePendingOrders,
  modifyPendingOrder,
  placePendingOrder,
} from './pending-orders.ts'
import { entryPriceOf, exitPriceOf, opposite } from './positions.ts'
import type { OrderRow, TradeReply } from './rows.ts'
import { readTradeRequest, type TradeRequest } from './trade-request.ts'

type Request<Action extends TradeRequest['action']> = Extract<TradeRequest, { action: Action }>

export const executeTrade = (
  moment: Moment,
  request: TradeRequest,
  fault: TradeFault = {},
): TradeReply => {
  switch (request.action) {
    case 'open':
      return open(moment, request, fault)
    case 'modify':
      return modify(moment, request)
    case 'close':
      return close(moment, request, fault)
    case 'place':
      return placePendingOrder(moment, request, fault)
    case 'modify-order':
      return modifyPendingOrder(moment, request)
    case 'cancel-order':
      return cancelPendingOrder(moment, request.orderId)
  }
}

/**
 * Why a position cannot be opened, or undefined. The same checks apply to an order that is placed
 * first and filled later.
 */
const refusalToOpen = (moment: Moment, request: Request<'open'>): TradeReply | undefined => {
  const instrument = instrumentOf(moment.account.market, request.symbol)
  if (!fitsVolume(instrument, request.volume)) return result(moment, 'invalidVolume')
  if (!moment.account.market.isOpen(instrument.symbol)) return result(moment, 'marketClosed')
  const closingPrice = entryPriceOf(moment, instrument, opposite(request.side))
  if (!areStopsValid(instrument, request.side, closingPrice, request.levels))
    return result(moment, 'invalidStops')
  return hasMoneyFor(moment, instrument, request) ? undefined : result(moment, 'noMoney')
}

const open = (moment: Moment, request: Request<'open'>, fault: TradeFault): TradeReply => {
  const refusal = refusalToOpen(moment, request)
  if (refusal !== undefined) return refusal
  const instrument = instrumentOf(moment.account.market, request.symbol)
  const { side, origin } = request
  const volume = filledVolume(instrument, request.volume, fault)
  const fill = fillMarketOrder(moment, {
    instrument,
    side,
    volume,
    ...rounded(instrument, request.levels),
    origin,
    orderId: fault.orderId,
  })
  return result(moment, volume.lt(request.volume) ? 'partlyDone' : 'done', fill)
}

/** Replaces both levels: one that is left out is removed. */
const modify = (moment: Moment, request: Request<'modify'>): TradeReply => {
  const position = findPosition(moment, request.positionId)
  if (position === undefined) return result(moment, 'positionNotFound')
  if (!moment.account.market.isOpen(position.instrument.symbol))
    return result(moment, 'marketClosed')
  const levels = rounded(position.instrument, request.levels)
  const tickets = { positionId: position.id }
  if (isSame(levels.stopLoss, position.stopLoss) && isSame(levels.takeProfit, position.takeProfit))
    return result(moment, 'noChanges', tickets)
  if (!areStopsValid(position.instrument, position.side, exitPriceOf(moment, position), levels))
    return result(moment, 'invalidStops')
  position.stopLoss = levels.stopLoss
  position.takeProfit = levels.takeProfit
  position.updatedAt = moment.at
  moment.account.revision++
  return result(moment, 'done', tickets)
}

const close = (moment: Moment, request: Request<'close'>, fault: TradeFault): TradeReply => {
  const position = findPosition(moment, request.positionId)
  if (position === undefined) return result(moment, 'positionNotFound')
  const requested = request.volume ?? position.volume
  if (requested.gt(position.volume)) return result(moment, 'invalidCloseVolume')
  // A position may hold any volume, and can always be closed whole.
  if (!requested.eq(position.volume) && !fitsVolume(position.instrument, requested))
    return result(moment, 'invalidVolume')
  if (!moment.account.market.isOpen(position.instrument.symbol))
    return result(moment, 'marketClosed')
  const volume = filledVolume(position.instrument, requested, fault)
  return result(
    moment,
    volume.lt(requested) ? 'partlyDone' : 'done',
    fillClose(moment, position, volume, request.origin, { orderId: fault.orderId }),
  )
}

const isSame = (a: Decimal | undefined, b: Decimal | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.eq(b)

const findPosition = (moment: Moment, id: string): Position | undefined =>
  moment.account.positions.find((position) => position.id === id)

// Stop losses and take profits: reached when an account is accessed while the price is at or beyond
// them. A take profit is filled at its level, a stop loss at the price, which may be worse.

const executeStops = (moment: Moment): void => {
  // A close replaces the list of positions, so this one can be walked to its end.
  for (const position of moment.account.positions) {
    const reached = reachedLevel(moment, position)
    if (reached !== undefined && moment.account.market.isOpen(position.instrument.symbol)) {
      const orderId = closingOrderId(moment, position)
      // The provider puts its number in place of the last part of the client id.
      const clientId = position.clientId?.replace(/[^_]*$/, orderId)
      const { price, ...origin } = reached
      fillClose(moment, position, position.volume, { ...origin, clientId }, { price, orderId })
    }
  }
}

const reachedLevel = (moment: Moment, position: Position) => {
  const { stopLoss, takeProfit, side, instrument } = position
  if (stopLoss === undefined && takeProfit === undefined) return undefined
  const market = exitPriceOf(moment, position)
  const [isBelow, isAbove] = [market.lte.bind(market), market.gte.bind(market)]
  const [hasLost, hasWon] = side === 'buy' ? [isBelow, isAbove] : [isAbove, isBelow]
  const reached = (level: Decimal, reason: 'SL' | 'TP') => ({
    price: reason === 'SL' ? market : level,
    reason,
    comment: `[${reason.toLowerCase()} ${level.toFixed(instrument.digits)}]`,
  })
  if (stopLoss !== undefined && hasLost(stopLoss)) return reached(stopLoss, 'SL')
  return takeProfit !== undefined && hasWon(takeProfit) ? reached(takeProfit, 'TP') : undefined
}

// What happens by itself: trades that were accepted are carried out when their wait is over, and
// pending orders and stops that the price reached are executed.

/** Accepts a trade now, to be carried out after so many reads or milliseconds. */
export const acceptForLater = (
  moment: Moment,
  request: TradeRequest,
  body: unknown,
  lasting: Lasting,
): TradeReply => {
  if ('symbol' in request) instrumentOf(moment.account.market, request.symbol)
  const refusal = request.action === 'open' ? refusalToOpen(moment, request) : undefined
  if (refusal !== undefined) return refusal
  const { account, at } = moment
  const orderId = 'orderId' in request ? request.orderId : newOrderId(account)
  account.placed.push({
    orderId,
    placedAt: at,
    request: body as AcceptedTrade['request'],
    wait: waitFor(lasting, at),
  })
  account.revision++
  return result(moment, 'placed', { orderId })
}

/**
 * Brings the account up to this moment. `counts`: whether the request is one of the reads that
 * placed orders wait for.
 */
export const update = (moment: Moment, counts: boolean): void => {
  const { account, at } = moment
  if (account.placed.length > 0) {
    const due = account.placed.filter(({ wait }) =>
      counts ? readShows(wait, at) : isOver(wait, at),
    )
    account.placed = account.placed.filter((order) => !due.includes(order))
    for (const order of due) fillPlaced(moment, order)
    if (counts || due.length > 0) account.revision++
  }
  executePendingOrders(moment)
  executeStops(moment)
  reopenKept(moment)
}

const keptComment = 'kept open'
const longestPauseMs = 20_000
const followedMs = 30_000
/**
 * The pause before the position is opened again, for each deal since the account was made, so that
 * the service's limit of 20,000 deals is most of a year away.
 */
const pauseMsPerDeal = 100

const reopenKept = (moment: Moment): void => {
  const { account, at } = moment
  if (at - account.accessedAt > longestPauseMs) account.followedSince = at
  account.accessedAt = at
  const { market, settings } = account
  const { keepsOpen } = settings
  if (keepsOpen === undefined) return
  const instrument = instrumentOf(market, keepsOpen.symbol)
  const isOpen = account.positions.some(({ comment }) => comment === keptComment)
  if (isOpen || !market.isOpen(keepsOpen.symbol)) return
  const lastDealAt = timeOf(account.newDeals.at(-1)?.['time'])
  if (at - account.followedSince < followedMs) return
  if (at - lastDealAt < account.newDeals.length * pauseMsPerDeal) return
  const price = entryPriceOf(moment, instrument, 'sell')
  fillMarketOrder(moment, {
    instrument,
    side: 'buy',
    volume: decimal(keepsOpen.volume),
    stopLoss: price.minus(keepsOpen.distance),
    takeProfit: price.plus(keepsOpen.distance),
    origin: { comment: keptComment, reason: 'CLIENT' },
  })
}

const fillPlaced = (moment: Moment, order: AcceptedTrade): void => {
  const { orderId, request } = order
  const reply = executeTrade(moment, readTradeRequest(request), { orderId })
  if (isOrder(order) && !isDone(reply)) rejectPlaced(moment, order)
}

const isOrder = ({ request }: AcceptedTrade): boolean =>
  String(request['actionType']).startsWith('ORDER_TYPE_')

const isDone = ({ numericCode }: TradeReply): boolean =>
  [0, 10009, 10010, 10025].includes(numericCode)

const rejectPlaced = (moment: Moment, order: AcceptedTrade): void => {
  enterOrder(moment.account, {
    ...placedRow(order),
    state: 'ORDER_STATE_REJECTED',
    doneTime: utcText(moment.at),
    doneBrokerTime: brokerText(moment.at),
  })
}

/** The rows of market orders that are not filled yet; a pending order shows once it waits. */
export const placedRows = ({ placed }: Account): readonly OrderRow[] =>
  placed
    .filter(({ request }) => /^ORDER_TYPE_(BUY|SELL)$/.test(String(request['actionType'])))
    .map(placedRow)

const placedRow = ({ orderId, placedAt, request }: AcceptedTrade) => {
  const { actionType, symbol, magic, volume, clientId, comment } = request
  return {
    id: orderId,
    type: typeof actionType === 'string' ? actionType : 'ORDER_TYPE_BUY',
    state: 'ORDER_STATE_PLACED',
    time: utcText(placedAt),
    brokerTime: brokerText(placedAt),
    magic: typeof magic === 'number' ? magic : 0,
    reason: 'ORDER_REASON_EXPERT',
    fillingMode: 'ORDER_FILLING_FOK',
    expirationType: 'ORDER_TIME_GTC',
    ...(typeof symbol === 'string' && { symbol }),
    ...(typeof volume === 'number' && { volume, currentVolume: volume }),
    ...(typeof clientId === 'string' && { clientId }),
    ...(typeof comment === 'string' && { comment }),
  }
}
