// How orders fill: each fill enters deals and an order, and changes positions, so that balance =
// sum of deals and open volume = in − out.
import { shareOf, toNumber, zero, type Decimal } from '../numbers/decimal.ts'
import type { Instrument } from '../market/instruments.ts'
import { enterDeal, takeDealId, takeOrderId, type Account } from './account.ts'
import { commissionOf } from './commission.ts'
import { enterTrade, noteOrder, timesOf, type Desk, type EntryType, type Note } from './entries.ts'
import {
  accrueSwap,
  entryPriceOf,
  exitPriceOf,
  newPosition,
  opposite,
  profitOf,
  type Position,
  type Side,
} from './position.ts'

export type MarketOrder = {
  readonly symbol: string
  readonly instrument: Instrument
  readonly side: Side
  readonly volume: Decimal
  readonly stopLoss?: Decimal | undefined
  readonly takeProfit?: Decimal | undefined
  readonly note: Note
  /** The ticket, when it was given out before the fill. */
  readonly orderId?: string | undefined
}

export type Fill = { readonly orderId: string; readonly positionId: string }

/**
 * Fills a market order: a new position when hedging; adding, reducing, closing or reversing when
 * netting.
 */
export const fillMarketOrder = (desk: Desk, order: MarketOrder): Fill => {
  const held = isNetting(desk.account)
    ? desk.account.positions.find((position) => position.symbol === order.symbol)
    : undefined
  const orderId = order.orderId ?? takeOrderId(desk.account)
  if (held === undefined) return open(desk, order, orderId)
  if (held.side === order.side) return add(desk, held, order, orderId)
  if (order.volume.lte(held.volume)) return reduce(desk, held, order, orderId)
  return reverse(desk, held, order, orderId)
}

/** Closes a volume of a position at the market, or at a price that a level fixed. */
export const fillClose = (
  desk: Desk,
  position: Position,
  volume: Decimal,
  note: Note,
  fixed: { readonly price?: Decimal | undefined; readonly orderId?: string | undefined } = {},
): Fill => {
  const { account } = desk
  const closedId = position.id
  const price = fixed.price ?? exitPriceOf(desk.market, position, desk.at)
  const side = opposite(position.side)
  // On MT4 a close has no order of its own: it settles the ticket.
  const orderId =
    fixed.orderId ?? (account.settings.platform === 'mt4' ? position.id : takeOrderId(account))
  closeVolume(desk, position, volume, price, { orderId, entryType: 'DEAL_ENTRY_OUT', note })
  if (account.settings.platform === 'mt5')
    noteOrder(desk, {
      orderId,
      positionId: position.identifier,
      side,
      position,
      volume,
      price,
      note,
    })
  return { orderId, positionId: closedId }
}

/** Money in or out of the account that is not a trade. */
export const enterBalanceDeal = (
  desk: Desk,
  amount: Decimal,
  comment: string | undefined,
  type: string,
): string => {
  const id = takeDealId(desk.account)
  enterDeal(desk.account, {
    id,
    ...timesOf(desk),
    type,
    profit: toNumber(amount),
    commission: 0,
    swap: 0,
    ...(comment !== undefined && { comment }),
  })
  return id
}

const isNetting = (account: Account): boolean =>
  account.settings.marginMode !== 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING'

const open = (desk: Desk, order: MarketOrder, orderId: string): Fill => {
  const { account, market, at } = desk
  const price = entryPriceOf(market, order.instrument, order.side, at)
  const { note } = order
  const position = newPosition(
    {
      id: orderId,
      side: order.side,
      symbol: order.symbol,
      instrument: order.instrument,
      volume: order.volume,
      openPrice: price,
      stopLoss: order.stopLoss,
      takeProfit: order.takeProfit,
      magic: note.magic ?? 0,
      comment: note.comment,
      clientId: note.clientId,
      reason: `POSITION_REASON_${note.reason}`,
    },
    at,
  )
  account.positions.push(position)
  enterOpening(desk, position, order, orderId, price)
  return { orderId, positionId: position.id }
}

const add = (desk: Desk, position: Position, order: MarketOrder, orderId: string): Fill => {
  const price = entryPriceOf(desk.market, order.instrument, order.side, desk.at)
  accrueSwap(desk.account.settings, desk.market, position, desk.at)
  const volume = position.volume.plus(order.volume)
  position.openPrice = position.openPrice
    .times(position.volume)
    .plus(price.times(order.volume))
    .div(volume)
    .round(10)
  position.volume = volume
  position.updatedAt = desk.at
  keepStops(position, order)
  enterOpening(desk, position, order, orderId, price)
  return { orderId, positionId: position.id }
}

const reduce = (desk: Desk, position: Position, order: MarketOrder, orderId: string): Fill => {
  const price = exitPriceOf(desk.market, position, desk.at)
  closeVolume(desk, position, order.volume, price, {
    orderId,
    entryType: 'DEAL_ENTRY_OUT',
    note: order.note,
  })
  noteOrder(desk, {
    orderId,
    positionId: position.identifier,
    side: order.side,
    position,
    volume: order.volume,
    price,
    note: order.note,
  })
  return { orderId, positionId: position.id }
}

/**
 * One deal closes the whole position and opens the rest on the other side; the position keeps its
 * id.
 */
const reverse = (desk: Desk, position: Position, order: MarketOrder, orderId: string): Fill => {
  const { account, market, at } = desk
  const { settings } = account
  const price = exitPriceOf(market, position, at)
  accrueSwap(settings, market, position, at)
  const closed = position.volume
  const rest = order.volume.minus(closed)
  const charged = commissionOf(desk.account.settings, position.instrument, closed)
  const opening = commissionOf(desk.account.settings, position.instrument, rest)
  const profit = profitOf(settings, market, position, closed, price, at)
  enterTrade(desk, position, {
    side: order.side,
    orderId,
    entryType: 'DEAL_ENTRY_INOUT',
    volume: order.volume,
    price,
    profit,
    commission: charged.plus(opening),
    swap: position.swap,
    note: order.note,
  })
  position.realizedProfit = position.realizedProfit.plus(profit)
  position.realizedCommission = position.realizedCommission
    .plus(position.entryCommission)
    .plus(charged)
  position.realizedSwap = position.realizedSwap.plus(position.swap)
  position.side = order.side
  position.volume = rest
  position.openPrice = price
  position.swap = zero
  position.swapUntil = at
  position.entryCommission = opening
  position.updatedAt = at
  // Levels of the old side make no sense on the new one.
  position.stopLoss = order.stopLoss
  position.takeProfit = order.takeProfit
  noteOrder(desk, {
    orderId,
    positionId: position.identifier,
    side: order.side,
    position,
    volume: order.volume,
    price,
    note: order.note,
  })
  return { orderId, positionId: position.id }
}

const keepStops = (position: Position, order: MarketOrder): void => {
  if (order.stopLoss !== undefined) position.stopLoss = order.stopLoss
  if (order.takeProfit !== undefined) position.takeProfit = order.takeProfit
}

const enterOpening = (
  desk: Desk,
  position: Position,
  order: MarketOrder,
  orderId: string,
  price: Decimal,
): void => {
  const entry = commissionOf(desk.account.settings, position.instrument, order.volume)
  position.entryCommission = position.entryCommission.plus(entry)
  enterTrade(desk, position, {
    side: order.side,
    orderId,
    entryType: 'DEAL_ENTRY_IN',
    volume: order.volume,
    price,
    profit: zero,
    commission: entry,
    swap: zero,
    note: order.note,
    stops: order,
  })
  noteOrder(desk, {
    orderId,
    positionId: position.identifier,
    side: order.side,
    position,
    volume: order.volume,
    price,
    note: order.note,
  })
}

const closeVolume = (
  desk: Desk,
  position: Position,
  volume: Decimal,
  price: Decimal,
  how: { readonly orderId: string; readonly entryType: EntryType; readonly note: Note },
): void => {
  const { account, market, at } = desk
  const { settings } = account
  accrueSwap(settings, market, position, at)
  const profit = profitOf(settings, market, position, volume, price, at)
  const swap = shareOf(position.swap, volume, position.volume, settings.currencyDigits)
  const entryShare = shareOf(
    position.entryCommission,
    volume,
    position.volume,
    settings.currencyDigits,
  )
  const exit = commissionOf(desk.account.settings, position.instrument, volume)
  enterTrade(desk, position, {
    ...how,
    side: opposite(position.side),
    volume,
    price,
    profit,
    commission: exit,
    swap,
  })
  position.volume = position.volume.minus(volume)
  position.updatedAt = at
  position.swap = position.swap.minus(swap)
  position.entryCommission = position.entryCommission.minus(entryShare)
  position.realizedProfit = position.realizedProfit.plus(profit)
  position.realizedCommission = position.realizedCommission.plus(entryShare).plus(exit)
  position.realizedSwap = position.realizedSwap.plus(swap)
  if (position.volume.eq(zero))
    account.positions = account.positions.filter((other) => other !== position)
  else if (settings.platform === 'mt4' && settings.mt4PartialTicket === 'new')
    position.id = takeOrderId(account)
}
