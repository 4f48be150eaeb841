// The broker's checks of a trade, and the replies that they lead to.
import { isNetting, type Moment, type Side } from './account.ts'
import { type Instrument, pointOf } from './market.ts'
import { decimal, type Decimal, zero } from './numbers.ts'
import { entryPriceOf, figuresOf, marginOf } from './positions.ts'
import { type Result, resultReply } from './return-codes.ts'
import type { TradeReply } from './rows.ts'
import type { Levels } from './trade-request.ts'

/** How a trade deviates from its request. */
export type TradeFault = {
  /**
   * Fills only this part of the request, and reports so; of a pending order this part at each price
   * that reaches it.
   */
  readonly fillFraction?: number | undefined
  /** The ticket that was given out when the order was placed. */
  readonly orderId?: string | undefined
}

export const result = (
  moment: Moment,
  what: Result,
  tickets: { readonly orderId?: string; readonly positionId?: string } = {},
): TradeReply => resultReply(moment.account.settings.platform, what, tickets)

const fitsStep = (instrument: Instrument, volume: Decimal): boolean =>
  volume.gt(zero) && volume.mod(instrument.volumeStep).eq(zero)

export const fitsVolume = (instrument: Instrument, volume: Decimal): boolean =>
  fitsStep(instrument, volume) &&
  volume.gte(instrument.minVolume) &&
  volume.lte(instrument.maxVolume)

export const filledVolume = (
  instrument: Instrument,
  requested: Decimal,
  { fillFraction }: Pick<TradeFault, 'fillFraction'>,
): Decimal => {
  if (fillFraction === undefined) return requested
  const steps = requested.times(fillFraction).div(instrument.volumeStep).round(0, 0)
  const filled = steps.times(instrument.volumeStep)
  return filled.lt(instrument.minVolume) ? decimal(instrument.minVolume) : filled
}

/** The least distance that the broker requires between prices. */
export const leastDistanceOf = (instrument: Instrument): Decimal =>
  decimal(instrument.stopsLevel).times(pointOf(instrument))

/**
 * Levels are prices of the symbol, lie on the right side of a price, and no nearer to it than the
 * broker allows.
 * @param price which would close the position, or at which a pending order opens one
 */
export const areStopsValid = (
  instrument: Instrument,
  side: Side,
  price: Decimal,
  { stopLoss, takeProfit }: Levels,
): boolean => {
  const least = leastDistanceOf(instrument)
  const isBelow = (level: Decimal): boolean => price.minus(level).gte(least)
  const isAbove = (level: Decimal): boolean => level.minus(price).gte(least)
  const [isStop, isTarget] = side === 'buy' ? [isBelow, isAbove] : [isAbove, isBelow]
  const isPrice = (level: Decimal): boolean => level.round(instrument.digits).gt(zero)
  return (
    (stopLoss === undefined || (isPrice(stopLoss) && isStop(stopLoss))) &&
    (takeProfit === undefined || (isPrice(takeProfit) && isTarget(takeProfit)))
  )
}

export const hasMoneyFor = (
  moment: Moment,
  instrument: Instrument,
  { side, volume }: { readonly side: Side; readonly volume: Decimal },
): boolean => {
  const { account } = moment
  const price = entryPriceOf(moment, instrument, side)
  const margin = (lots: Decimal): Decimal => marginOf(moment, instrument, lots, price)
  const held = isNetting(account)
    ? account.positions.find((position) => position.symbol === instrument.symbol)
    : undefined
  const { freeMargin } = figuresOf(moment)
  if (held === undefined || held.side === side) return margin(volume).lte(freeMargin)
  // Against a held position only what is left beyond it needs money, and the held position's margin
  // comes free.
  return (
    volume.lte(held.volume) ||
    margin(volume.minus(held.volume)).lte(freeMargin.plus(margin(held.volume)))
  )
}

export const rounded = (instrument: Instrument, { stopLoss, takeProfit }: Levels): Levels => ({
  stopLoss: stopLoss?.round(instrument.digits),
  takeProfit: takeProfit?.round(instrument.digits),
})
