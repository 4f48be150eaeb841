// What happens by itself: orders that were placed are filled when their wait is over, and stops
// that the price reached are executed.
import { isOver, readShows, waitFor } from '../books/wait.ts'
import { brokerText, utcText } from '../numbers/clock-text.ts'
import { enterOrder, takeOrderId, type PlacedOrder } from '../books/account.ts'
import type { Desk } from '../books/entries.ts'
import type { TradeReply } from '../rows.ts'
import { executeTrade, refusalToOpen, type TradeOutcome } from './execute.ts'
import { resultReply } from './return-codes.ts'
import { executeStops } from './stops.ts'
import { readTradeRequest, type TradeRequest } from './trade-request.ts'

/** Accepts an order now, to be filled after so many reads or milliseconds. */
export const placeOrder = (
  desk: Desk,
  request: TradeRequest,
  body: unknown,
  terms: { readonly reads?: number; readonly ms?: number },
): TradeOutcome => {
  const refusal = request.action === 'open' ? refusalToOpen(desk, request) : undefined
  if (refusal !== undefined) return refusal
  const { account, at } = desk
  const orderId = takeOrderId(account)
  account.placed.push({
    orderId,
    placedAt: at,
    request: body as PlacedOrder['request'],
    wait: waitFor(terms, at),
  })
  account.revision++
  return { kind: 'reply', reply: resultReply(account.settings.platform, 'placed', { orderId }) }
}

/**
 * Brings the account up to this moment. `counts` says whether the request at hand is one of the
 * reads that placed orders wait for.
 */
export const settle = (desk: Desk, counts: boolean): void => {
  const { account, at } = desk
  if (account.placed.length > 0) {
    const due = account.placed.filter(({ wait }) =>
      counts ? readShows(wait, at) : isOver(wait, at),
    )
    account.placed = account.placed.filter((order) => !due.includes(order))
    for (const order of due) fillPlaced(desk, order)
    if (counts || due.length > 0) account.revision++
  }
  executeStops(desk)
}

const fillPlaced = (desk: Desk, order: PlacedOrder): void => {
  const read = readTradeRequest(order.request)
  const outcome =
    read.kind === 'request'
      ? executeTrade(desk, read.request, { orderId: order.orderId })
      : undefined
  if (outcome?.kind !== 'reply' || !isDone(outcome.reply)) rejectPlaced(desk, order)
}

const isDone = ({ numericCode }: TradeReply): boolean =>
  [0, 10009, 10010, 10025].includes(numericCode)

const rejectPlaced = (desk: Desk, order: PlacedOrder): void => {
  enterOrder(desk.account, {
    ...placedRow(order),
    state: 'ORDER_STATE_REJECTED',
    doneTime: utcText(desk.at),
    doneBrokerTime: brokerText(desk.at),
  })
}

/** The row of an order that still works. */
export const placedRow = ({ orderId, placedAt, request }: PlacedOrder) => {
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
