// Deals as the provider serves them, for histories that say exactly what a test needs.
import type { DealRow, HistoryFile } from '@tradeport/sandbox-broker'

export interface TradeRow {
  readonly positionId: string
  readonly symbol?: string
  readonly side?: 'buy' | 'sell'
  /** Lots. */
  readonly volume?: number
  readonly profit?: number
  /** Charged when it is opened. */
  readonly commission?: number
  readonly swap?: number
  readonly openedAt: string
  readonly closedAt: string
}

/** The two deals of a position that was opened and closed at once. */
export const tradeDeals = (trade: TradeRow): readonly DealRow[] => {
  const { positionId, symbol = 'EURUSD', side = 'buy', volume = 0.1 } = trade
  const common = { platform: 'mt5', positionId, symbol, volume }
  return [
    {
      ...common,
      id: `${positionId}1`,
      type: typeOf(side),
      entryType: 'DEAL_ENTRY_IN',
      time: trade.openedAt,
      price: 1.1,
      profit: 0,
      commission: trade.commission ?? 0,
      swap: 0,
    },
    {
      ...common,
      id: `${positionId}2`,
      type: typeOf(side === 'buy' ? 'sell' : 'buy'),
      entryType: 'DEAL_ENTRY_OUT',
      time: trade.closedAt,
      price: 1.2,
      profit: trade.profit ?? 0,
      commission: 0,
      swap: trade.swap ?? 0,
    },
  ]
}

export const depositDeal = (id: string, time: string, amount: number): DealRow => ({
  id,
  platform: 'mt5',
  type: 'DEAL_TYPE_BALANCE',
  time,
  profit: amount,
  commission: 0,
  swap: 0,
})

export const historyOf = (deals: readonly DealRow[], currency = 'USD'): HistoryFile => ({
  platform: 'mt5',
  marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
  currency,
  deals,
})

const typeOf = (side: 'buy' | 'sell') => (side === 'buy' ? 'DEAL_TYPE_BUY' : 'DEAL_TYPE_SELL')
