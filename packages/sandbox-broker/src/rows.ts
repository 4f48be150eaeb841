// The provider's own rows, as its REST writes them. Optional fields are left out when absent, never
// null.

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

export type MarginMode = 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING' | 'ACCOUNT_MARGIN_MODE_RETAIL_NETTING'
export type TradeMode =
  | 'ACCOUNT_TRADE_MODE_DEMO'
  | 'ACCOUNT_TRADE_MODE_CONTEST'
  | 'ACCOUNT_TRADE_MODE_REAL'
export type Platform = 'mt4' | 'mt5'

export type PositionRow = {
  readonly id: string
  readonly platform: Platform
  readonly type: 'POSITION_TYPE_BUY' | 'POSITION_TYPE_SELL'
  readonly symbol: string
  readonly magic: number
  readonly time: string
  readonly brokerTime: string
  readonly updateTime: string
  readonly openPrice: number
  readonly currentPrice: number
  readonly currentTickValue: number
  readonly stopLoss?: number
  readonly takeProfit?: number
  readonly volume: number
  readonly swap: number
  readonly realizedSwap: number
  readonly unrealizedSwap: number
  readonly commission: number
  readonly realizedCommission: number
  readonly unrealizedCommission: number
  readonly profit: number
  readonly unrealizedProfit: number
  readonly realizedProfit: number
  readonly comment?: string
  readonly clientId?: string
  readonly reason: string
}

/**
 * A deal as it is served. Loaded histories may carry any further fields, and may lack most of
 * these.
 */
export type DealRow = { readonly id: string; readonly [field: string]: Json | undefined }

export type PendingType = `ORDER_TYPE_${'BUY' | 'SELL'}_${'LIMIT' | 'STOP' | 'STOP_LIMIT'}`

/** A pending order, or one that is done, as it is served. */
export type OrderRow = { readonly id: string; readonly [field: string]: Json | undefined }

/** A history as a file holds it: deals just as the provider would serve them. */
export type HistoryFile = {
  readonly platform?: string
  readonly marginMode?: string
  readonly currency?: string
  readonly deals: readonly DealRow[]
}

export type TradeReply = {
  readonly numericCode: number
  readonly stringCode: string
  readonly message: string
  readonly orderId?: string
  readonly positionId?: string
}

/** A row of a history and its time, epoch milliseconds; -Infinity where that cannot be read. */
export type Entry<Row> = { readonly at: number; readonly row: Row }

/**
 * Rows with start <= time < end, and those without a readable time, which belong to every range.
 */
export const between = <Row>(
  entries: readonly Entry<Row>[],
  start: number,
  end: number,
): readonly Entry<Row>[] =>
  entries.filter(({ at }) => at === -Infinity || (at >= start && at < end))
