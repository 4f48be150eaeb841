// An account's books as plain JSON, and back: what a state file keeps of it besides what its
// options make anyway.
import { decimal } from '../numbers/decimal.ts'
import type { Market } from '../market/market.ts'
import type { DealRow, OrderRow } from '../rows.ts'
import { enterDeal, enterOrder, type Account, type PlacedOrder } from './account.ts'
import type { Position } from './position.ts'

type DecimalField =
  | 'volume'
  | 'openPrice'
  | 'swap'
  | 'entryCommission'
  | 'realizedProfit'
  | 'realizedCommission'
  | 'realizedSwap'

type SavedPosition = Omit<Position, DecimalField | 'stopLoss' | 'takeProfit' | 'instrument'> &
  Readonly<Record<DecimalField, string>> & {
    readonly stopLoss?: string
    readonly takeProfit?: string
  }

export type AccountSnapshot = {
  readonly positions: readonly SavedPosition[]
  readonly deals: readonly DealRow[]
  readonly orders: readonly OrderRow[]
  readonly placed: readonly PlacedOrder[]
  readonly nextOrder: number
  readonly nextDeal: number
}

export const snapshotOf = (account: Account): AccountSnapshot => ({
  positions: account.positions.map(savePosition),
  deals: account.newDeals,
  orders: account.newOrders,
  placed: account.placed,
  nextOrder: account.nextOrder,
  nextDeal: account.nextDeal,
})

/** Brings an account that was just made from its options to where it was left. */
export const restore = (account: Account, market: Market, saved: AccountSnapshot): void => {
  for (const row of saved.deals) enterDeal(account, row)
  for (const row of saved.orders) enterOrder(account, row)
  account.positions = saved.positions.map((position) => loadPosition(account, market, position))
  account.placed = saved.placed.map((order) => ({ ...order, wait: { ...order.wait } }))
  account.nextOrder = saved.nextOrder
  account.nextDeal = saved.nextDeal
}

const savePosition = ({
  instrument: _instrument,
  stopLoss,
  takeProfit,
  ...position
}: Position): SavedPosition => ({
  ...position,
  volume: position.volume.toString(),
  openPrice: position.openPrice.toString(),
  swap: position.swap.toString(),
  entryCommission: position.entryCommission.toString(),
  realizedProfit: position.realizedProfit.toString(),
  realizedCommission: position.realizedCommission.toString(),
  realizedSwap: position.realizedSwap.toString(),
  ...(stopLoss !== undefined && { stopLoss: stopLoss.toString() }),
  ...(takeProfit !== undefined && { takeProfit: takeProfit.toString() }),
})

const loadPosition = (account: Account, market: Market, saved: SavedPosition): Position => {
  const instrument = market.instruments.get(saved.symbol)
  if (instrument === undefined)
    throw new Error(
      `Account ${account.settings.id} holds ${saved.symbol}, which the sandbox no longer trades`,
    )
  return {
    ...saved,
    instrument,
    volume: decimal(saved.volume),
    openPrice: decimal(saved.openPrice),
    swap: decimal(saved.swap),
    entryCommission: decimal(saved.entryCommission),
    realizedProfit: decimal(saved.realizedProfit),
    realizedCommission: decimal(saved.realizedCommission),
    realizedSwap: decimal(saved.realizedSwap),
    stopLoss: saved.stopLoss === undefined ? undefined : decimal(saved.stopLoss),
    takeProfit: saved.takeProfit === undefined ? undefined : decimal(saved.takeProfit),
    comment: saved.comment,
    clientId: saved.clientId,
  }
}
