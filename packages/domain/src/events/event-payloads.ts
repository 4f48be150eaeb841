// The data of each event, as receivers see it: snake_case, times in ISO 8601; an optional field
// without a value is left out.
import type { WebhookEventType } from '../webhooks/webhook.ts'

type Deal = { readonly account_id: string; readonly symbol: string; readonly type: 'buy' | 'sell' }

type OrderData = Deal & {
  readonly order_id: string
  readonly order_type: 'market'
  readonly volume: number
}

/**
 * What the deals of a position do not say is null, as where a broker's history begins after the
 * position was opened.
 */
type PositionData = Omit<Deal, 'symbol'> & {
  readonly position_id: string
  readonly symbol: string | null
  readonly entry_price: number | null
}

export interface EventPayloads extends Record<WebhookEventType, object> {
  readonly 'trade.closed': Deal & {
    readonly trade_id: string
    readonly position_id: string
    readonly entry_price: number
    readonly volume: number
    readonly exit_price: number
    readonly profit: number
    readonly profit_percentage: number
    readonly swap: number
    readonly commission: number
    readonly holding_time_seconds: number
    readonly opened_at: string
    readonly closed_at: string
  }
  readonly 'position.opened': PositionData & {
    readonly volume: number | null
    readonly margin_used: number | null
    readonly opened_at: string | null
    readonly stop_loss?: number | undefined
    readonly take_profit?: number | undefined
  }
  readonly 'position.closed': PositionData & {
    readonly closed_volume: number | null
    readonly remaining_volume: number | null
    readonly exit_price: number | null
    readonly realized_pnl: number
    readonly is_partial: boolean | null
    readonly closed_at: string | null
    readonly exit_reason?: string | undefined
  }
  readonly 'order.created': OrderData & {
    readonly created_at: string
    readonly price?: number | undefined
    readonly stop_loss?: number | undefined
    readonly take_profit?: number | undefined
    readonly client_id?: string | undefined
  }
  readonly 'order.filled': OrderData & {
    /** Null when the broker did not say. */
    readonly fill_price: number | null
    readonly filled_volume: number | null
    readonly filled_at: string
    readonly requested_price?: number | undefined
    readonly fees?: number | undefined
    readonly position_id?: string | undefined
  }
  readonly 'order.cancelled': OrderData & {
    readonly cancelled_at: string
    readonly cancel_reason?: string | undefined
  }
  readonly 'account.balance_changed': {
    readonly account_id: string
    readonly previous_balance: number
    readonly new_balance: number
    readonly change_amount: number
    /** Null where the previous balance was 0. */
    readonly change_percentage: number | null
    readonly equity: number
    readonly margin: number
    /** Null where the broker did not say. */
    readonly free_margin: number | null
    readonly change_reason: string
    readonly changed_at: string | null
    readonly margin_level?: number | undefined
  }
  readonly 'risk.threshold_breached': {
    readonly account_id: string
    readonly threshold_type: string
    readonly threshold_value: unknown
    readonly current_value: unknown
    readonly severity: string
    readonly message: string
    readonly breached_at: string
    readonly affected_positions?: unknown
  }
}
