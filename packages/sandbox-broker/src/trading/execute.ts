// Carrying out a trade request at one moment: the broker's checks in order, then the fill. Nothing
// is awaited, so trades of an account never interleave.
import { decimal, zero, type Decimal } from '../numbers/decimal.ts'
import type { Desk } from '../books/entries.ts'
import { fillClose, fillMarketOrder } from '../books/fills.ts'
import { entryPriceOf, opposite, type Position } from '../books/position.ts'
import { figuresOf, marginOf } from '../books/valuation.ts'
import { pointOf, type Instrument } from '../market/instruments.ts'
import type { TradeReply } from '../rows.ts'
import { resultReply, type Result } from './return-codes.ts'
import type { Levels, TradeRequest } from './trade-request.ts'

export type TradeOutcome =
  | { readonly kind: 'reply'; readonly reply: TradeReply }
  | { readonly kind: 'symbol-not-found' }

/** How a fault bends a trade. */
export type Bend = {
  /** Fills only this part of what was asked, and says so. */
  readonly fillFraction?: number | undefined
  /** The ticket that was given out when the order was placed. */
  readonly orderId?: string | undefined
}

type Request<Action extends TradeRequest['action']> = Extract<TradeRequest, { action: Action }>

export const executeTrade = (desk: Desk, request: TradeRequest, bend: Bend = {}): TradeOutcome => {
  if (!desk.account.settings.tradeAllowed) return result(desk, 'investor')
  const carryOut = CARRY_OUT[request.action] as (
    desk: Desk,
    request: TradeRequest,
    bend: Bend,
  ) => TradeOutcome
  return carryOut(desk, request, bend)
}

/**
 * What stands in the way of opening, or undefined. The same checks serve an order that is placed
 * first and filled later.
 */
export const refusalToOpen = (desk: Desk, request: Request<'open'>): TradeOutcome | undefined => {
  const instrument = desk.market.instruments.get(request.symbol)
  if (instrument === undefined) return unknownSymbol(desk)
  if (!fitsVolume(instrument, request.volume)) return result(desk, 'invalidVolume')
  if (!desk.market.isOpen(instrument.symbol)) return result(desk, 'marketClosed')
  if (!areStopsValid(desk, instrument, request.side, request.levels))
    return result(desk, 'invalidStops')
  return hasMoneyFor(desk, instrument, request) ? undefined : result(desk, 'noMoney')
}

const open = (desk: Desk, request: Request<'open'>, bend: Bend): TradeOutcome => {
  const refusal = refusalToOpen(desk, request)
  const instrument = desk.market.instruments.get(request.symbol)
  if (refusal !== undefined || instrument === undefined) return refusal ?? unknownSymbol(desk)
  const { side, symbol, note } = request
  const volume = filledVolume(instrument, request.volume, bend)
  const fill = fillMarketOrder(desk, {
    symbol,
    instrument,
    side,
    volume,
    ...rounded(instrument, request.levels),
    note,
    orderId: bend.orderId,
  })
  return result(desk, volume.lt(request.volume) ? 'partlyDone' : 'done', fill)
}

/** Replaces both levels: one that is left out is taken away. */
const modify = (desk: Desk, request: Request<'modify'>): TradeOutcome => {
  const position = findPosition(desk, request.positionId)
  if (position === undefined) return result(desk, 'positionNotFound')
  if (!desk.market.isOpen(position.instrument.symbol)) return result(desk, 'marketClosed')
  const levels = rounded(position.instrument, request.levels)
  const tickets = { positionId: position.id }
  if (isSame(levels.stopLoss, position.stopLoss) && isSame(levels.takeProfit, position.takeProfit))
    return result(
      desk,
      desk.account.settings.mt4NoChanges === 'no-result' ? 'noResult' : 'noChanges',
      tickets,
    )
  if (!areStopsValid(desk, position.instrument, position.side, levels))
    return result(desk, 'invalidStops')
  position.stopLoss = levels.stopLoss
  position.takeProfit = levels.takeProfit
  position.updatedAt = desk.at
  desk.account.revision++
  return result(desk, 'done', tickets)
}

const close = (desk: Desk, request: Request<'close'>, bend: Bend): TradeOutcome => {
  const position = findPosition(desk, request.positionId)
  if (position === undefined) return result(desk, 'positionNotFound')
  const asked = request.volume ?? position.volume
  if (asked.gt(position.volume)) return result(desk, 'invalidCloseVolume')
  // A position may hold any volume, and can always be closed whole.
  if (!asked.eq(position.volume) && !fitsVolume(position.instrument, asked))
    return result(desk, 'invalidVolume')
  if (!desk.market.isOpen(position.instrument.symbol)) return result(desk, 'marketClosed')
  const volume = filledVolume(position.instrument, asked, bend)
  return result(
    desk,
    volume.lt(asked) ? 'partlyDone' : 'done',
    fillClose(desk, position, volume, request.note, { orderId: bend.orderId }),
  )
}

const result = (
  desk: Desk,
  what: Result,
  tickets: { readonly orderId?: string; readonly positionId?: string } = {},
): TradeOutcome => ({
  kind: 'reply',
  reply: resultReply(desk.account.settings.platform, what, tickets),
})

const unknownSymbol = (desk: Desk): TradeOutcome =>
  desk.account.settings.unknownSymbol === 'not-found'
    ? { kind: 'symbol-not-found' }
    : result(desk, 'invalid')

const findPosition = (desk: Desk, id: string): Position | undefined =>
  desk.account.positions.find((position) => position.id === id)

const fitsStep = (instrument: Instrument, volume: Decimal): boolean =>
  volume.gt(zero) && volume.mod(instrument.volumeStep).eq(zero)

const fitsVolume = (instrument: Instrument, volume: Decimal): boolean =>
  fitsStep(instrument, volume) &&
  volume.gte(instrument.minVolume) &&
  volume.lte(instrument.maxVolume)

const filledVolume = (instrument: Instrument, asked: Decimal, { fillFraction }: Bend): Decimal => {
  if (fillFraction === undefined) return asked
  const steps = asked.times(fillFraction).div(instrument.volumeStep).round(0, 0)
  const filled = steps.times(instrument.volumeStep)
  return filled.lt(instrument.minVolume) ? decimal(instrument.minVolume) : filled
}

/**
 * Levels are prices of the symbol, lie on the right side of the price that would close the
 * position, and no nearer than the broker allows.
 */
const areStopsValid = (
  desk: Desk,
  instrument: Instrument,
  side: Position['side'],
  { stopLoss, takeProfit }: Levels,
): boolean => {
  const price = entryPriceOf(desk.market, instrument, opposite(side), desk.at)
  const least = decimal(instrument.stopsLevel).times(pointOf(instrument))
  const isBelow = (level: Decimal): boolean => price.minus(level).gte(least)
  const isAbove = (level: Decimal): boolean => level.minus(price).gte(least)
  const [isStop, isTarget] = side === 'buy' ? [isBelow, isAbove] : [isAbove, isBelow]
  const isPrice = (level: Decimal): boolean => level.round(instrument.digits).gt(zero)
  return (
    (stopLoss === undefined || (isPrice(stopLoss) && isStop(stopLoss))) &&
    (takeProfit === undefined || (isPrice(takeProfit) && isTarget(takeProfit)))
  )
}

const hasMoneyFor = (desk: Desk, instrument: Instrument, request: Request<'open'>): boolean => {
  const { account, market, at } = desk
  const { settings } = account
  const price = entryPriceOf(market, instrument, request.side, at)
  const margin = (volume: Decimal): Decimal =>
    marginOf(settings, market, instrument, volume, price, at)
  const isNetting = settings.marginMode !== 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING'
  const held = isNetting
    ? account.positions.find((position) => position.symbol === request.symbol)
    : undefined
  const { freeMargin } = figuresOf(account, market, at)
  if (held === undefined || held.side === request.side)
    return margin(request.volume).lte(freeMargin)
  // Against a held position only what is left beyond it needs money, and the held position's margin
  // comes free.
  return (
    request.volume.lte(held.volume) ||
    margin(request.volume.minus(held.volume)).lte(freeMargin.plus(margin(held.volume)))
  )
}

const rounded = (instrument: Instrument, { stopLoss, takeProfit }: Levels): Levels => ({
  stopLoss: stopLoss?.round(instrument.digits),
  takeProfit: takeProfit?.round(instrument.digits),
})

const isSame = (a: Decimal | undefined, b: Decimal | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.eq(b)

const CARRY_OUT: {
  readonly [Action in TradeRequest['action']]: (
    desk: Desk,
    request: Request<Action>,
    bend: Bend,
  ) => TradeOutcome
} = {
  open,
  modify,
  close,
}
