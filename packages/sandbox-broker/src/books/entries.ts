// The rows that a fill leaves behind: its deal and its order, in the provider's words.
import { brokerText, utcText } from '../numbers/clock-text.ts'
import { toNumber, type Decimal } from '../numbers/decimal.ts'
import type { Market } from '../market/market.ts'
import { enterDeal, enterOrder, takeDealId, type Account } from './account.ts'
import type { Position, Side } from './position.ts'

/** The account that trades, the market it trades on, and when. */
export type Desk = { readonly account: Account; readonly market: Market; readonly at: number }

/**
 * Who or what made an order, as it stands behind DEAL_REASON_, ORDER_REASON_ and POSITION_REASON_.
 */
export type TradeReason = 'CLIENT' | 'EXPERT' | 'MOBILE' | 'WEB' | 'SL' | 'TP' | 'SO'

/** What a trader says of an order besides what to trade. */
export type Note = {
  readonly comment?: string | undefined
  readonly clientId?: string | undefined
  readonly magic?: number | undefined
  readonly reason: TradeReason
}

export type EntryType = 'DEAL_ENTRY_IN' | 'DEAL_ENTRY_OUT' | 'DEAL_ENTRY_INOUT'

/** Enters a deal that trades. */
export const enterTrade = (
  desk: Desk,
  position: Position,
  deal: {
    readonly side: Side
    readonly orderId: string
    readonly entryType: EntryType
    readonly volume: Decimal
    readonly price: Decimal
    readonly profit: Decimal
    readonly commission: Decimal
    readonly swap: Decimal
    readonly note: Note
    readonly stops?: {
      readonly stopLoss?: Decimal | undefined
      readonly takeProfit?: Decimal | undefined
    }
  },
): void => {
  const { settings } = desk.account
  const { stopLoss, takeProfit } = deal.stops ?? position
  // Were the ticket kept after a partial close, two closing deals could not be told apart by a
  // shared id.
  const shared =
    settings.platform === 'mt4' &&
    settings.mt4DealIds === 'shared' &&
    settings.mt4PartialTicket === 'new'
  const { comment, clientId } = deal.note
  enterDeal(desk.account, {
    id: shared ? position.id : takeDealId(desk.account),
    ...timesOf(desk),
    type: deal.side === 'buy' ? 'DEAL_TYPE_BUY' : 'DEAL_TYPE_SELL',
    entryType: deal.entryType,
    symbol: position.symbol,
    magic: deal.note.magic ?? position.magic,
    volume: toNumber(deal.volume),
    price: toNumber(deal.price),
    commission: toNumber(deal.commission),
    swap: toNumber(deal.swap),
    profit: toNumber(deal.profit),
    positionId: position.identifier,
    orderId: deal.orderId,
    reason: `DEAL_REASON_${deal.note.reason}`,
    ...(comment !== undefined && { comment }),
    ...(clientId !== undefined && { clientId }),
    ...(stopLoss !== undefined && { stopLoss: toNumber(stopLoss) }),
    ...(takeProfit !== undefined && { takeProfit: toNumber(takeProfit) }),
  })
}

/** Enters a filled order into the history. */
export const noteOrder = (
  desk: Desk,
  order: {
    readonly orderId: string
    readonly positionId: string
    readonly side: Side
    readonly position: Position
    readonly volume: Decimal
    readonly price: Decimal
    readonly note: Note
  },
): void => {
  const { platform, time, brokerTime } = timesOf(desk)
  const { comment, clientId } = order.note
  enterOrder(desk.account, {
    id: order.orderId,
    platform,
    type: order.side === 'buy' ? 'ORDER_TYPE_BUY' : 'ORDER_TYPE_SELL',
    state: 'ORDER_STATE_FILLED',
    symbol: order.position.symbol,
    magic: order.note.magic ?? order.position.magic,
    time,
    brokerTime,
    doneTime: time,
    doneBrokerTime: brokerTime,
    openPrice: toNumber(order.price),
    volume: toNumber(order.volume),
    currentVolume: 0,
    positionId: order.positionId,
    reason: `ORDER_REASON_${order.note.reason}`,
    fillingMode: 'ORDER_FILLING_FOK',
    expirationType: 'ORDER_TIME_GTC',
    ...(comment !== undefined && { comment }),
    ...(clientId !== undefined && { clientId }),
  })
}

/** The fields that say when and where, which all rows begin with. */
export const timesOf = ({ account, at }: Desk) => ({
  platform: account.settings.platform,
  time: utcText(at),
  brokerTime: brokerText(at),
})
