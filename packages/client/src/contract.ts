// Made from the API's routes by `pnpm contract`; a test holds it against them. Not to be changed by hand.

/** A broker account that the user linked. */
export interface Account {
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly id: string
  /** The label that its user gave it. */
  readonly name: string
  /** The broker; null until it is confirmed. */
  readonly broker: string | null
  /** The code of the trading platform. mt4 and mt5 can be read and traded; paper is the demo paper book. */
  readonly brokerType: string
  /** The login at the broker. */
  readonly accountNumber: string
  /** The broker's server. */
  readonly server: string
  /**
   * Only accounts for trading accept orders.
   * @enum {string}
   */
  readonly purpose: 'trading' | 'introducing_broker' | 'trade_copier'
  /** True only for a confirmed demo account; no other accepts orders. */
  readonly isDemo: boolean
  /** The currency of all money of the account. */
  readonly currency: string
  /** The balance, without the result of open positions. */
  readonly balance: number
  /** The balance and the result of open positions. */
  readonly equity: number
  /** Margin in use. */
  readonly margin: number
  /** Free margin; null until it was read from the broker. */
  readonly freeMargin: number | null
  /** Equity in percent of the margin in use; null until it was read from the broker. */
  readonly marginLevel: number | null
  /** 100 means 1:100; null until it was read from the broker. */
  readonly leverage: number | null
  /**
   * Whether the broker can be read.
   * @enum {string}
   */
  readonly status: 'connected' | 'disconnected' | 'syncing' | 'error'
  /**
   * Format: date-time
   * When the figures were read from the broker; null for stored ones.
   */
  readonly liveDataUpdatedAt: string | null
  /**
   * Format: date-time
   * The last successful read from the broker, or createdAt without one.
   */
  readonly lastSyncAt: string
  /**
   * Format: date-time
   * In UTC.
   */
  readonly createdAt: string
  /**
   * Format: date-time
   * In UTC.
   */
  readonly updatedAt: string
}
/** What is posted for account.balance_changed. */
export interface AccountBalanceChangedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'account.balance_changed'
  /** The change. */
  readonly data: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** Before; null when it is not known. */
    readonly previous_balance: number | null
    /** After; null when it is not known. */
    readonly new_balance: number | null
    /** The difference. */
    readonly change_amount: number
    /** The difference in percent of the previous balance; null when that was 0 or is not known. */
    readonly change_percentage: number | null
    /** The balance and the result of open positions. */
    readonly equity: number
    /** Margin in use. */
    readonly margin: number
    /** Free margin; null when the broker did not report it. */
    readonly free_margin: number | null
    /** Why. */
    readonly change_reason: string
    /**
     * Format: date-time
     * In UTC.
     */
    readonly changed_at: string | null
    /** Equity in percent of the margin in use. */
    readonly margin_level?: number
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** Whether an account is halted: then no order is placed on it. */
export interface AccountHalt {
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /** Whether it is. */
  readonly halted: boolean
  readonly by: ('owner' | 'operator') | null
  /**
   * Format: date-time
   * Since when.
   */
  readonly since: string | null
  /** Why, as it was given. */
  readonly reason: string | null
  /** The cancellations of its orders, where they were to be cancelled. */
  readonly cancellations?: readonly CancelAttempt[]
  /** Why no order was cancelled. */
  readonly cancelError?: {
    /** As in the error of a reply. */
    readonly code: string
    /** The same in words. */
    readonly message: string
  }
  /** The closes of its positions, where they were to be closed. */
  readonly closes?: readonly CloseAttempt[]
  /** Why no position was closed. */
  readonly closeError?: {
    /** As in the error of a reply. */
    readonly code: string
    /** The same in words. */
    readonly message: string
  }
}
/** The figures of an account at a moment. */
export interface BalanceSnapshot {
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /** The balance, without the result of open positions. */
  readonly balance: number
  /** The balance and the result of open positions. */
  readonly equity: number
  /** Margin in use. */
  readonly margin: number
  /** Free margin; null until it was read from the broker. */
  readonly freeMargin: number | null
}
/** An instrument on its broker's terms. */
export interface BrokerInstrument {
  /** As the broker spells it. */
  readonly symbol: string
  /** Its name. */
  readonly description: string | null
  /** The smallest step of its price. */
  readonly tickSize: number
  /** Units in one lot. */
  readonly contractSize: number
  /** The fewest lots of an order. */
  readonly minVolume: number
  /** The most lots of an order. */
  readonly maxVolume: number
  /** The smallest step of a volume. */
  readonly volumeStep: number
  /** Decimals of its price. */
  readonly digits: number
  /** The smallest distance of a stop loss or take profit from the price, in points: steps of the last decimal. */
  readonly stopsLevel: number
  readonly tradeMode: ('disabled' | 'long_only' | 'short_only' | 'close_only' | 'full') | null
  /** The currency that is bought and sold. */
  readonly baseCurrency: string | null
  /** The currency of its prices. */
  readonly profitCurrency: string | null
  /** For a night, in the unit of the broker's terms. */
  readonly swapLong: number | null
  /** For a night, in the unit of the broker's terms. */
  readonly swapShort: number | null
  /** When it is traded. */
  readonly sessions: readonly {
    /**
     * The day.
     * @enum {string}
     */
    readonly day: 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'
    /** By the broker's clock. */
    readonly from: string
    /** By the broker's clock. */
    readonly to: string
  }[]
}
/** Who the caller is to the service. */
export interface Caller {
  /** The user of the credential. */
  readonly userId: string
  /** Their tenant. */
  readonly tenantId: string
  /**
   * The plan of the user, which sets the limits.
   * @enum {string}
   */
  readonly plan: 'free' | 'pro' | 'enterprise'
  /** What the credential may do. */
  readonly scopes: readonly (
    | 'accounts:read'
    | 'accounts:write'
    | 'market-data:read'
    | 'market-data:write'
    | 'trading:read'
    | 'trading:write'
    | 'orders:read'
    | 'orders:write'
    | 'positions:read'
    | 'positions:write'
    | 'history:read'
    | 'history:write'
    | 'webhooks:read'
    | 'webhooks:write'
    | 'finance:read'
    | 'finance:write'
    | 'ai-agents:read'
    | 'ai-agents:write'
    | 'position-insights:read'
    | 'position-insights:write'
    | 'shared-charts:read'
    | 'shared-charts:write'
  )[]
  /** The credential of the request. */
  readonly credential: {
    /**
     * What it is.
     * @enum {string}
     */
    readonly kind: 'api_key' | 'access_token'
    /** Its id, not the secret; empty for a JWT without `jti`. */
    readonly id: string
    /**
     * Format: date-time
     * When it expires; null: never.
     */
    readonly expiresAt: string | null
  }
  /** The plan's limits of the minute and the day. */
  readonly limits: readonly {
    /**
     * Whether it is of the plan or of the endpoint.
     * @enum {string}
     */
    readonly scope: 'tier' | 'endpoint'
    /**
     * Which limit of the plan it is.
     * @enum {string}
     */
    readonly window?: 'minute' | 'day'
    /** The most requests that it holds. */
    readonly limit: number
    /** Requests that are left, after this one. */
    readonly remaining: number
    /**
     * Format: date-time
     * When all of them are available again.
     */
    readonly resetAt: string
  }[]
  /** What this service can do beyond the API specification. */
  readonly capabilities: readonly string[]
}
/** The outcome of one of several cancellations. */
export interface CancelAttempt {
  /** The id of an order: ord_ and an opaque suffix. */
  readonly orderId: string
  /**
   * cancelled: what was not executed of it. filled: it was executed first. rejected: it was not cancelled. unknown: it may have been cancelled; read the order before you try again.
   * @enum {string}
   */
  readonly outcome: 'cancelled' | 'filled' | 'rejected' | 'unknown'
  /** Lots that were executed. */
  readonly filledVolume?: number
  /** As in the error of a reply. */
  readonly code?: string
  /** The same in words. */
  readonly message?: string
}
/** The prices of one period. */
export interface Candle {
  /**
   * Format: date-time
   * Its opening. Days, weeks and months begin by the broker's clock.
   */
  readonly time: string
  /** The first bid. */
  readonly open: number
  /** The highest bid. */
  readonly high: number
  /** The lowest bid. */
  readonly low: number
  /** The last bid. */
  readonly close: number
  /** How many ticks there were. */
  readonly volume: number
  /** False while the period lasts. */
  readonly complete: boolean
}
/** The new levels; one that is left out stays. */
export interface ChangeLevelsRequest {
  /** A price; null removes the stop loss. */
  readonly stopLoss?: number | null
  /** A price; null removes the take profit. */
  readonly takeProfit?: number | null
}
/** What to change. */
export interface ChangeWebhookRequest {
  /** Where to post events: https, on the public internet. The demo accepts http to its own machine as well. */
  readonly url?: string
  /** Which events; each counts once. */
  readonly eventTypes?: readonly (
    | 'trade.closed'
    | 'position.opened'
    | 'position.closed'
    | 'order.created'
    | 'order.filled'
    | 'order.cancelled'
    | 'account.balance_changed'
    | 'risk.threshold_breached'
    | 'order.rejected'
    | 'order.expired'
  )[]
  /** Whether events are delivered to it. */
  readonly enabled?: boolean
}
/** The outcome of one of several closes. */
export interface CloseAttempt {
  /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
  readonly positionId: string
  /**
   * rejected: nothing was closed. unknown: it may have been closed; read the position before you try again.
   * @enum {string}
   */
  readonly outcome: 'closed' | 'partially_closed' | 'rejected' | 'unknown'
  /** The broker's number of the closing order; null when it gave none, or its answer was lost. */
  readonly brokerOrderId?: string | null
  /** Lots that were closed. */
  readonly closedVolume?: number
  /** Lots that stay open; 0 when all was closed. */
  readonly remainingVolume?: number
  /** The new id of the rest. On MT4 a rest without it was not found yet, or is one of several that are alike: GET /positions shows them. */
  readonly remainingPositionId?: string
  /** Weighted by volume; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
  readonly closePrice?: number | null
  /** Profit of the close, before commission and swap; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
  readonly realizedPnl?: number | null
  /**
   * Format: date-time
   * When it was closed; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later.
   */
  readonly closedAt?: string | null
  /** As in the error of a reply. */
  readonly code?: string
  /** The same in words. */
  readonly message?: string
}
/** How much to close. */
export interface ClosePositionRequest {
  /** Lots, at most those that are open; all when left out. */
  readonly volume?: number
}
/** The outcome of a close. */
export interface ClosePositionResult {
  /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
  readonly id: string
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /** The broker's ticket of the position. */
  readonly brokerPositionId: string
  /** The broker's number of the closing order; null when it gave none, or its answer was lost. */
  readonly brokerOrderId: string | null
  /** Lots that were closed. */
  readonly closedVolume: number
  /** Lots that stay open; 0 when all was closed. */
  readonly remainingVolume: number
  /** The new id of the rest. On MT4 a rest without it was not found yet, or is one of several that are alike: GET /positions shows them. */
  readonly remainingPositionId?: string
  /** Weighted by volume; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
  readonly closePrice: number | null
  /** Profit of the close, before commission and swap; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
  readonly realizedPnl: number | null
  /**
   * Format: date-time
   * When it was closed; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later.
   */
  readonly closedAt: string | null
}
/** Which positions to close: those that match everything that is given. */
export interface ClosePositionsRequest {
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /** An instrument, in capitals. With `market-data` it is found as that of an order: EURUSD closes what is open in EURUSD.r. */
  readonly symbol?: string
  /**
   * The direction.
   * @enum {string}
   */
  readonly side?: 'buy' | 'sell'
  /**
   * Only those whose unrealizedPnl is above 0, or below 0.
   * @enum {string}
   */
  readonly only?: 'profit' | 'loss'
}
/** A webhook. */
export interface CreateWebhookRequest {
  /** Where to post events: https, on the public internet. The demo accepts http to its own machine as well. */
  readonly url: string
  /** Which events; each counts once. */
  readonly eventTypes: readonly (
    | 'trade.closed'
    | 'position.opened'
    | 'position.closed'
    | 'order.created'
    | 'order.filled'
    | 'order.cancelled'
    | 'account.balance_changed'
    | 'risk.threshold_breached'
    | 'order.rejected'
    | 'order.expired'
  )[]
  /** The key of the signatures; 64 hexadecimal characters are generated when it is left out. */
  readonly secret?: string
}
/** A webhook with a new secret, which no other reply shows. */
export interface CreatedWebhook {
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly id: string
  /** Where events are posted. */
  readonly url: string
  /** The events that are posted. */
  readonly eventTypes: readonly (
    | 'trade.closed'
    | 'position.opened'
    | 'position.closed'
    | 'order.created'
    | 'order.filled'
    | 'order.cancelled'
    | 'account.balance_changed'
    | 'risk.threshold_breached'
    | 'order.rejected'
    | 'order.expired'
  )[]
  /** To a webhook that is not enabled only tests and replays are sent. */
  readonly enabled: boolean
  /** Failed attempts to deliver in a row. */
  readonly failureCount: number
  /**
   * Format: date-time
   * When an attempt or a test last succeeded; null before the first.
   */
  readonly lastSuccessAt: string | null
  /**
   * Format: date-time
   * When an attempt last failed; null before the first.
   */
  readonly lastFailureAt: string | null
  /**
   * Format: date-time
   * In UTC.
   */
  readonly createdAt: string
  /**
   * Format: date-time
   * When its user last changed it.
   */
  readonly updatedAt: string
  /** The key of the signatures of what is posted. Keep it. */
  readonly secret: string
}
/** Which page this is; its cursor leads to the next. */
export interface CursorPagination {
  /** The page, counted from 1. */
  readonly page: number
  /** The maximum of items on a page. */
  readonly limit: number
  /** How many there are in all. */
  readonly total: number
  /** How many pages there are; 0 without any item. */
  readonly total_pages: number
  /** Whether a page follows. */
  readonly has_next: boolean
  /** Whether a page precedes. */
  readonly has_prev: boolean
  /** Leads to the next page with the same filters: meta.pagination.cursor of a page. */
  readonly cursor?: string
}
/** A webhook that was deleted. */
export interface DeletedWebhook {
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly id: string
  /**
   * It is deleted.
   * @enum {boolean}
   */
  readonly deleted: true
}
/** One record of the log of event deliveries. */
export interface Delivery {
  /**
   * Format: uuid
   * The id of a delivery, the same for all of its attempts.
   */
  readonly id: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhookId: string
  /** The id of the event, as in GET /events. */
  readonly eventId: string
  /**
   * An event type.
   * @enum {string}
   */
  readonly eventType:
    | 'trade.closed'
    | 'position.opened'
    | 'position.closed'
    | 'order.created'
    | 'order.filled'
    | 'order.cancelled'
    | 'account.balance_changed'
    | 'risk.threshold_breached'
    | 'order.rejected'
    | 'order.expired'
  /**
   * pending while another attempt is to come.
   * @enum {string}
   */
  readonly status: 'success' | 'failed' | 'pending'
  /** How many there were. */
  readonly attempts: number
  /** The status of the last answer; 0 without an answer, null before the first attempt. */
  readonly responseCode: number | null
  /** How long the last answer took, in milliseconds; null before the first attempt. */
  readonly responseTimeMs: number | null
  readonly failureReason:
    | (
        | 'host_unreachable'
        | 'lookup_failed'
        | 'connection_failed'
        | 'tls_failed'
        | 'answer_broken'
        | 'timed_out'
        | 'not_2xx'
        | 'webhook_disabled'
        | 'interrupted'
      )
    | null
  /**
   * Format: date-time
   * In UTC.
   */
  readonly createdAt: string
  /**
   * Format: date-time
   * When the last attempt began; null before the first.
   */
  readonly lastAttemptAt: string | null
  /**
   * Format: date-time
   * When the next attempt is scheduled; null once it is no longer pending.
   */
  readonly nextAttemptAt: string | null
  /**
   * Format: uuid
   * The delivery that this one sends again; null when it is no replay.
   */
  readonly replayOf: string | null
}
/** Something that happened, as the log has it. */
export interface Event {
  /** Event id; ids sort in event order. */
  readonly id: string
  /**
   * The event type.
   * @enum {string}
   */
  readonly event:
    | 'trade.closed'
    | 'position.opened'
    | 'position.closed'
    | 'order.created'
    | 'order.filled'
    | 'order.cancelled'
    | 'account.balance_changed'
    | 'risk.threshold_breached'
    | 'order.rejected'
    | 'order.expired'
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /**
   * Format: date-time
   * When it was recorded.
   */
  readonly timestamp: string
  /** As webhooks get it; the fields depend on the type. */
  readonly data: unknown
}
/** How to halt the account. */
export interface HaltAccountRequest {
  /** Why, for whoever reads it. */
  readonly reason?: string
  /** Whether to close every open position once it is halted. */
  readonly closePositions?: boolean
  /** Whether to cancel every open order, also one that turns out to be open later, while the halt stands. */
  readonly cancelOrders?: boolean
}
/** An instrument of the fixed list. */
export interface Instrument {
  /** In capitals. */
  readonly symbol: string
  /** Its name. */
  readonly description: string
  /**
   * Its class.
   * @enum {string}
   */
  readonly type: 'forex' | 'metal' | 'commodity' | 'index' | 'stock'
  /** The smallest step of its price. */
  readonly tickSize: number
  /** Units in one lot. */
  readonly contractSize: number
  /** Fraction of a position's value, 0.01 for 1:100. A placeholder, not the rate of any broker. */
  readonly marginRate: number
  /** When it is traded, in words. */
  readonly tradingHours: string
  /** The currency of its prices. */
  readonly currency: string
  /** Only of forex pairs. */
  readonly baseCurrency?: string
  /** Only of forex pairs. */
  readonly quoteCurrency?: string
}
/** The cursor leads to the next page. */
export interface ListPagination {
  /** The maximum of items on a page. */
  readonly limit: number
  /** Whether a page follows. */
  readonly has_next: boolean
  /** Leads to the next page with the same filters: meta.pagination.cursor of a page. */
  readonly cursor?: string
}
/** About the reply. */
export interface Meta {
  /**
   * Format: date-time
   * When the reply was made.
   */
  readonly timestamp: string
  /** The id of the request, as sent or as generated (`req_…`). */
  readonly request_id: string
  /**
   * The version of the API.
   * @enum {string}
   */
  readonly version: '1.0.0'
}
/** What to change. */
export interface ModifyOrderRequest {
  /** Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
  readonly price?: number
  /** A price. */
  readonly stopLoss?: number | null
  /** A price. */
  readonly takeProfit?: number | null
  /** For stop_limit: the price of the limit order that it becomes. */
  readonly stopLimitPrice?: number
  /** For timeInForce gtd: when the order expires. A date is its end, in UTC. */
  readonly expiresAt?: string
}
/** The new level. */
export interface MoveLevelRequest {
  /** A price. */
  readonly value: number
}
export interface Operations {
  /** Linked accounts, oldest first, with balances read live where the broker can be read. */
  readonly listAccounts: {
    /** Oldest first; empty when none is linked. */
    readonly data: readonly Account[]
  }
  /** Get an account. */
  readonly getAccount: {
    readonly data: Account
  }
  /** Balance snapshots of an account, newest first. */
  readonly listBalanceHistory: {
    readonly query?: {
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * Caps the count: 1h at 168, 1d at 365, 1w at 104. Nothing is aggregated.
       * @enum {string}
       */
      readonly interval?: '1h' | '1d' | '1w'
    }
    /** Newest first; empty when there is none. */
    readonly data: readonly BalanceSnapshot[]
  }
  /** Whether an account is halted, by whom and why. */
  readonly getHalt: {
    readonly data: AccountHalt
  }
  /** Halts an account: no order is placed on it, orders that are recorded and not yet sent are rejected, and positions can still be changed and closed. */
  readonly haltAccount: {
    readonly body?: HaltAccountRequest
    readonly data: AccountHalt
  }
  /** Lifts the owner's halt of an account. The operator's can only be lifted by the operator. */
  readonly liftHalt: {
    readonly data: AccountHalt
  }
  /** Records an order and answers it as pending; GET /orders/:id shows its outcome at the broker. */
  readonly placeOrder: {
    readonly query?: {
      /** Seconds: the reply is held back until the order is no longer pending, or that time is over. */
      readonly wait?: number
    }
    readonly body: PlaceOrderRequest
    readonly data: Order
  }
  /** Runs every check of a new order, and estimates what it would cost, without placing it. */
  readonly previewOrder: {
    readonly body: PreviewOrderRequest
    readonly data: OrderPreview
  }
  /** Orders, newest first. */
  readonly listOrders: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /**
       * Orders with this status.
       * @enum {string}
       */
      readonly status?:
        | 'pending'
        | 'open'
        | 'filled'
        | 'partially_filled'
        | 'cancelled'
        | 'rejected'
        | 'expired'
      /** The instrument. */
      readonly symbol?: string
      /** The caller's own reference, which the order carries. */
      readonly clientId?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * The page, counted from 1.
       * @default 1
       */
      readonly page?: number
      /**
       * The maximum of items on a page.
       * @default 20
       */
      readonly limit?: number
    }
    /** Newest first. */
    readonly data: readonly Order[]
    readonly meta: {
      readonly pagination: Pagination
    }
  }
  /** Get an order. */
  readonly getOrder: {
    readonly data: Order
  }
  /** Changes an open order at the broker, once; answers it as the broker now holds it. */
  readonly modifyOrder: {
    readonly body: ModifyOrderRequest
    readonly data: Order
  }
  /** Cancels an open order at the broker, or what is not executed of it, once. */
  readonly cancelOrder: {
    readonly data: Order
  }
  /** Cancels every open order of an account, each once, and answers how each ended. */
  readonly cancelOrders: {
    readonly query: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId: string
    }
    /** Oldest order first; empty where none is open. */
    readonly data: readonly CancelAttempt[]
  }
  /** Open positions, oldest first, read from the broker. */
  readonly listPositions: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /**
       * The page, counted from 1.
       * @default 1
       */
      readonly page?: number
      /**
       * The maximum of items on a page.
       * @default 20
       */
      readonly limit?: number
    }
    /** Oldest first. */
    readonly data: readonly Position[]
    readonly meta: {
      readonly provenance: Provenance
      readonly pagination: Pagination
    }
  }
  /** Get a position. */
  readonly getPosition: {
    readonly data: Position
    readonly meta: {
      readonly provenance: Provenance
    }
  }
  /** Moves the stop loss of a position on a demo account for trading; its take profit stays. */
  readonly moveStopLoss: {
    readonly body: MoveLevelRequest
    readonly data: Position
    readonly meta: {
      readonly provenance: Provenance
    }
  }
  /** Moves the take profit of a position on a demo account for trading; its stop loss stays. */
  readonly moveTakeProfit: {
    readonly body: MoveLevelRequest
    readonly data: Position
    readonly meta: {
      readonly provenance: Provenance
    }
  }
  /** Moves, sets or removes the stop loss and take profit of a position on a demo account for trading, both at once. */
  readonly changePositionLevels: {
    readonly body: ChangeLevelsRequest
    readonly data: Position
    readonly meta: {
      readonly provenance: Provenance
    }
  }
  /** Closes a position on a demo account for trading, or a part of it. With an Idempotency-Key it is closed once. */
  readonly closePosition: {
    readonly body: ClosePositionRequest
    readonly data: ClosePositionResult
    readonly meta: {
      readonly provenance: Provenance
    }
  }
  /** Closes every matching position of a demo account for trading as a whole. Each is tried once, and one that fails does not keep the others from being closed; with an Idempotency-Key all are tried once. */
  readonly closePositions: {
    readonly body: ClosePositionsRequest
    /** Oldest position first; empty where none matches. */
    readonly data: readonly CloseAttempt[]
  }
  /** Net profit, balance and drawdown over time. */
  readonly getTradeCurve: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * The maximum of points.
       * @default 500
       */
      readonly points?: number
    }
    readonly data: TradeCurve
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
    }
  }
  /** Statistics of closed trades by symbol, side, account, time or holding time. */
  readonly getTradeBreakdown: {
    readonly query: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * What the trades are grouped by.
       * @enum {string}
       */
      readonly by:
        | 'symbol'
        | 'side'
        | 'account'
        | 'month'
        | 'weekday'
        | 'hour'
        | 'weekday_hour'
        | 'holding'
        | 'result'
      /**
       * An IANA time zone, in which months, weekdays and hours are counted.
       * @default UTC
       */
      readonly timeZone?: string
    }
    readonly data: TradeBreakdown
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
    }
  }
  /** Bootstrap intervals of trade statistics. */
  readonly getRobustStatistics: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * How many resamples to draw.
       * @default 10000
       */
      readonly resamples?: number
    }
    readonly data: RobustStatistics
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
    }
  }
  /** Get the deals of a closed trade. */
  readonly getTradeDeals: {
    readonly query?: {
      /**
       * The page, counted from 1.
       * @default 1
       */
      readonly page?: number
      /**
       * The maximum of items on a page.
       * @default 1000
       */
      readonly limit?: number
    }
    readonly data: TradeDeals
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
      readonly pagination: Pagination
    }
  }
  /** Compare the deals of an account with its balance. */
  readonly getReconciliation: {
    readonly data: Reconciliation
    readonly meta: {
      readonly provenance: Provenance
    }
  }
  /** Closed trades, most recently closed first. */
  readonly listTrades: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * Trades with a net profit above 0 (profit), of 0 or below (loss), or all.
       * @default all
       * @enum {string}
       */
      readonly profitFilter?: 'profit' | 'loss' | 'all'
      /**
       * The maximum of items on a page.
       * @default 20
       */
      readonly limit?: number
      /** Leads to the next page with the same filters: meta.pagination.cursor of a page. */
      readonly cursor?: string
    }
    /** Most recently closed first. */
    readonly data: readonly Trade[]
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
      readonly pagination: CursorPagination
    }
  }
  /** Get trade statistics. */
  readonly getTradeStatistics: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * Whether to add further statistics.
       * @default false
       */
      readonly extended?: boolean
    }
    readonly data: TradeStatistics
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
    }
  }
  /** Closed trades as a file, most recently closed first. */
  readonly exportTrades: {
    readonly query?: {
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** An instrument, in capitals; it matches whatever case the broker uses. */
      readonly symbol?: string
      /** The earliest, included. */
      readonly startDate?: string
      /** The latest, included. */
      readonly endDate?: string
      /**
       * Trades with a net profit above 0 (profit), of 0 or below (loss), or all.
       * @default all
       * @enum {string}
       */
      readonly profitFilter?: 'profit' | 'loss' | 'all'
      /**
       * The format of the file.
       * @default csv
       * @enum {string}
       */
      readonly format?: 'csv' | 'json'
    }
  }
  /** Get a closed trade. */
  readonly getTrade: {
    readonly data: Trade
    readonly meta: {
      readonly provenance: TradeProvenance
      /** Left out when there is none. */
      readonly warnings?: readonly Warning[]
    }
  }
  /** List instruments: the fixed list, or with `accountId` a page of the broker's own, which come with `meta.pagination`. */
  readonly listSymbols: {
    readonly query?: {
      /**
       * Instruments of one type.
       * @enum {string}
       */
      readonly type?: 'forex' | 'metal' | 'commodity' | 'index' | 'stock'
      /** Text in the symbol or the description, in any case. */
      readonly search?: string
      /**
       * Format: uuid
       * A linked account, whose broker's instruments are listed.
       */
      readonly accountId?: string
      /** With accountId: the page, counted from 1. */
      readonly page?: number
      /** With accountId: the maximum of items on a page, by default 20. */
      readonly limit?: number
    }
    /** The fixed list, or with accountId a page of the broker's instruments. */
    readonly data: readonly Instrument[] | readonly BrokerInstrument[]
    readonly meta: {
      readonly pagination?: Pagination
    }
  }
  /** The current bid and ask of up to 50 instruments. */
  readonly listQuotes: {
    readonly query: {
      /** Instruments, in capitals, separated by commas. */
      readonly symbols: string
      /**
       * Format: uuid
       * A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments.
       */
      readonly accountId?: string
    }
    /** In the order of the request. */
    readonly data: readonly Quote[]
  }
  /** Quotes as they change, at most one a second of each instrument. */
  readonly streamQuotes: {
    readonly query: {
      /** Instruments, in capitals, separated by commas. */
      readonly symbols: string
      /**
       * Format: uuid
       * A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments.
       */
      readonly accountId?: string
    }
  }
  /** The current bid and ask of an instrument. */
  readonly getQuote: {
    readonly query?: {
      /**
       * Format: uuid
       * A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments.
       */
      readonly accountId?: string
    }
    readonly data: Quote
  }
  /** Candles of an instrument. With `startTime` the first from there, else the last up to `endTime`; both by opening time. */
  readonly listCandles: {
    readonly query: {
      /**
       * The length of a candle: 1m is a minute, 1M a month.
       * @enum {string}
       */
      readonly timeframe: '1m' | '5m' | '15m' | '30m' | '1h' | '4h' | '1d' | '1w' | '1M'
      /** The earliest, included. */
      readonly startTime?: string
      /** The latest, included. */
      readonly endTime?: string
      /**
       * The maximum of items on a page.
       * @default 100
       */
      readonly limit?: number
      /**
       * Format: uuid
       * A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments.
       */
      readonly accountId?: string
    }
    /** Oldest first. The current one is included. */
    readonly data: readonly Candle[]
  }
  /** Ticks of an instrument. With `startTime` the first from there, else the last up to `endTime`. MT4 accounts have none. */
  readonly listTicks: {
    readonly query?: {
      /** The earliest, included. */
      readonly startTime?: string
      /** The latest, included. */
      readonly endTime?: string
      /**
       * The maximum of items on a page.
       * @default 1000
       */
      readonly limit?: number
      /**
       * Format: uuid
       * A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments.
       */
      readonly accountId?: string
    }
    /** Oldest first. */
    readonly data: readonly Tick[]
  }
  /** The credential of the request: whose it is, what it may do, and what is left of its limits. */
  readonly getMe: {
    readonly data: Caller
  }
  /** The log of events, oldest first. */
  readonly listEvents: {
    readonly query?: {
      /** Only events of these types, separated by commas; without it all that the credential may read. */
      readonly types?: string
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** Only events after this one. */
      readonly after?: string
      /** Only events before this one; newest first. */
      readonly before?: string
      /**
       * Default: asc; desc when only `before` is given.
       * @enum {string}
       */
      readonly order?: 'asc' | 'desc'
      /**
       * The maximum of items on a page.
       * @default 100
       */
      readonly limit?: number
    }
    /** In the order of the page. */
    readonly data: readonly Event[]
    readonly meta: {
      readonly pagination: ListPagination
    }
  }
  /** Events as they are recorded. */
  readonly streamEvents: {
    readonly query?: {
      /** Only events of these types, separated by commas; without it all that the credential may read. */
      readonly types?: string
      /**
       * Format: uuid
       * The id of a linked account.
       */
      readonly accountId?: string
      /** Begin with what follows this event. */
      readonly after?: string
    }
  }
  /** Registers a webhook; only this reply shows its secret. Nothing is sent to its URL. */
  readonly createWebhook: {
    readonly body: CreateWebhookRequest
    readonly data: CreatedWebhook
  }
  /** All webhooks, oldest first, without their secrets. */
  readonly listWebhooks: {
    /** Oldest first. */
    readonly data: readonly Webhook[]
  }
  /** One webhook, without its secret. */
  readonly getWebhook: {
    readonly data: Webhook
  }
  /** Changes the URL or the event types of a webhook, or switches it on or off. */
  readonly changeWebhook: {
    readonly body: ChangeWebhookRequest
    readonly data: Webhook
  }
  /** Replaces the secret; only this reply shows the new one. Until `overlapHours` have passed `webhook-signature` holds the signatures of both secrets, newest first; `X-Webhook-Signature` is that of the new one at once. A further rotation ends the overlap of the one before. */
  readonly rotateWebhookSecret: {
    readonly body?: RotateWebhookSecretRequest
    readonly data: CreatedWebhook
  }
  /** Delete a webhook. */
  readonly deleteWebhook: {
    readonly data: DeletedWebhook
  }
  /** Posts one signed webhook.test to the webhook and reports its answer, after 30 seconds at most. */
  readonly testWebhook: {
    readonly data: WebhookTestResult
  }
  /** The log of event deliveries, newest first; empty while the capability events is off. */
  readonly listWebhookDeliveries: {
    readonly query?: {
      /**
       * Deliveries with this status.
       * @enum {string}
       */
      readonly status?: 'success' | 'failed' | 'pending'
      /**
       * The page, counted from 1.
       * @default 1
       */
      readonly page?: number
      /**
       * The maximum of items on a page.
       * @default 20
       */
      readonly limit?: number
    }
    /** Newest first. */
    readonly data: readonly Delivery[]
    readonly meta: {
      readonly pagination: Pagination
    }
  }
  /** Sends one logged delivery again, as a new one that is sent once and never retried. */
  readonly replayWebhookDelivery: {
    readonly data: Delivery
  }
  /** Delivers every event after `since` for which the webhook is registered and which it has not received: without a delivery, or with failed ones only. At most 10,000 at a call, oldest first; pending deliveries are not doubled, so that the call can be repeated for the rest. A webhook that is not enabled is refused. */
  readonly recoverWebhook: {
    readonly body: RecoverWebhookRequest
    readonly data: WebhookRecovery
  }
}
/** An order, from its being recorded to its outcome at the broker. */
export interface Order {
  /** The id of an order: ord_ and an opaque suffix. */
  readonly id: string
  /** The user who owns it. */
  readonly userId: string
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /** The instrument, as it was sent. */
  readonly symbol: string
  /**
   * The direction.
   * @enum {string}
   */
  readonly type: 'buy' | 'sell'
  /**
   * As it was sent.
   * @enum {string}
   */
  readonly orderType: 'market' | 'limit' | 'stop' | 'stop_limit'
  /** Lots. */
  readonly volume: number
  /** Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
  readonly price?: number
  /** For stop_limit: the price of the limit order that it becomes. */
  readonly stopLimitPrice?: number
  /**
   * How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.
   * @enum {string}
   */
  readonly timeInForce?: 'gtc' | 'day' | 'gtd'
  /**
   * Format: date-time
   * With timeInForce gtd: when the order expires.
   */
  readonly expiresAt?: string
  /** The broker's number of a pending order, once it is known. */
  readonly brokerOrderId?: string
  /** A price. */
  readonly stopLoss?: number
  /** A price. */
  readonly takeProfit?: number
  /** As it was sent. */
  readonly comment?: string
  /** The caller's own reference, which the order carries. */
  readonly clientId?: string
  /**
   * pending until the broker decides; open while the broker holds a limit, stop or stop-limit order; then filled, partially_filled, cancelled, rejected or expired.
   * @enum {string}
   */
  readonly status:
    | 'pending'
    | 'open'
    | 'filled'
    | 'partially_filled'
    | 'cancelled'
    | 'rejected'
    | 'expired'
  /** The price of the execution, where the broker showed it when the order ended; otherwise its position and its trade do. */
  readonly fillPrice?: number
  /** Lots that were executed, where the broker showed it when the order ended; otherwise its position and its trade do. */
  readonly filledVolume?: number
  /**
   * Format: date-time
   * When it was executed, where the broker showed it when the order ended; otherwise its position and its trade do.
   */
  readonly filledAt?: string
  /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
  readonly positionId?: string
  /**
   * Who cancelled it: its owner, the broker or somebody in its terminal, or a halt of the account.
   * @enum {string}
   */
  readonly cancelReason?: 'user' | 'broker' | 'halt'
  /**
   * Format: date-time
   * When it was cancelled.
   */
  readonly cancelledAt?: string
  /**
   * Format: date-time
   * When it expired.
   */
  readonly expiredAt?: string
  /** Why it was rejected. */
  readonly rejectReason?: {
    /** BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, ACCOUNT_RELINKED, NOT_PROVISIONED or UNSUPPORTED_BROKER when the account changed before it was sent, CHALLENGE_LOCKED when its challenge failed, ACCOUNT_HALTED when it was halted; FINISHED_BY_OPERATOR when an operator ended it; ORDER_STATE_ and the state in which the broker ended it; any other is the broker's. */
    readonly code: string
    /** The same in words. */
    readonly message: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly createdAt: string
  /**
   * Format: date-time
   * In UTC.
   */
  readonly updatedAt: string
}
/** What is posted for order.cancelled. */
export interface OrderCancelledEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'order.cancelled'
  /** The order. */
  readonly data: {
    /** The id of an order: ord_ and an opaque suffix. */
    readonly order_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /**
     * How the order is executed.
     * @enum {string}
     */
    readonly order_type: 'market' | 'limit' | 'stop' | 'stop_limit'
    /** Lots. */
    readonly volume: number
    /**
     * Format: date-time
     * In UTC.
     */
    readonly cancelled_at: string
    /**
     * Who cancelled it: its owner, the broker or somebody in its terminal, or a halt of the account.
     * @enum {string}
     */
    readonly cancel_reason: 'user' | 'broker' | 'halt'
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** What is posted for order.created. */
export interface OrderCreatedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'order.created'
  /** The order. */
  readonly data: {
    /** The id of an order: ord_ and an opaque suffix. */
    readonly order_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /**
     * How the order is executed.
     * @enum {string}
     */
    readonly order_type: 'market' | 'limit' | 'stop' | 'stop_limit'
    /** Lots. */
    readonly volume: number
    /**
     * Format: date-time
     * In UTC.
     */
    readonly created_at: string
    /** As it was sent. */
    readonly price?: number
    /** A price; left out when there is none. */
    readonly stop_loss?: number
    /** A price; left out when there is none. */
    readonly take_profit?: number
    /** The caller's own reference, which the order carries. */
    readonly client_id?: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** What is posted for order.expired. */
export interface OrderExpiredEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'order.expired'
  /** The order. */
  readonly data: {
    /** The id of an order: ord_ and an opaque suffix. */
    readonly order_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /**
     * How the order is executed.
     * @enum {string}
     */
    readonly order_type: 'market' | 'limit' | 'stop' | 'stop_limit'
    /** Lots. */
    readonly volume: number
    /**
     * Format: date-time
     * In UTC.
     */
    readonly expired_at: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** What is posted for order.filled. */
export interface OrderFilledEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'order.filled'
  /** The order, wholly or partly executed. */
  readonly data: {
    /** The id of an order: ord_ and an opaque suffix. */
    readonly order_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /**
     * How the order is executed.
     * @enum {string}
     */
    readonly order_type: 'market' | 'limit' | 'stop' | 'stop_limit'
    /** Lots. */
    readonly volume: number
    /** The price of the execution; null when the broker did not report it. */
    readonly fill_price: number | null
    /** Lots that were executed; null when the broker did not report it of a partial execution. */
    readonly filled_volume: number | null
    /**
     * Format: date-time
     * In UTC.
     */
    readonly filled_at: string
    /** As it was sent. */
    readonly requested_price?: number
    /** The cost of the execution, when known. */
    readonly fees?: number
    /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
    readonly position_id?: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** What would become of an order if it were placed now. */
export interface OrderPreview {
  /** Whether no check failed. */
  readonly allowed: boolean
  /** In their order: first those of placing, of which the first that fails is its refusal; then those of the instrument, which only the broker decides. */
  readonly checks: readonly {
    /**
     * What is checked.
     * @enum {string}
     */
    readonly name:
      | 'levels'
      | 'volume_per_order'
      | 'account_purpose'
      | 'demo_account'
      | 'halt'
      | 'provider_account'
      | 'order_type'
      | 'provider_token'
      | 'challenge'
      | 'symbol'
      | 'desk_limits'
      | 'trader_limits'
      | 'approval'
      | 'orders_per_day'
      | 'open_orders'
      | 'instrument'
      | 'trade_mode'
      | 'market_open'
      | 'volume_minimum'
      | 'volume_maximum'
      | 'volume_step'
      | 'price'
      | 'stop_loss'
      | 'take_profit'
      | 'margin'
    /** null: it cannot be said, for the reason in `message`. */
    readonly passed: boolean | null
    /** As in the error of a reply. */
    readonly code?: string
    /** The same in words. */
    readonly message?: string
    /** The figures, by the code. */
    readonly details?: unknown
  }[]
  /** In the account's currency. */
  readonly estimate: {
    /** The price at which it would be opened; null where the broker cannot say. */
    readonly price: number | null
    /** The spread; null where the broker cannot say. */
    readonly spread: number | null
    /** About the margin that it needs; null where the broker cannot say. */
    readonly margin: number | null
    /** Equity in percent of the margin in use with it; null where the broker cannot say. */
    readonly marginLevelAfter: number | null
    /** What is lost at its stop loss; null where the broker cannot say. */
    readonly riskAmount: number | null
    /** What is gained at its take profit; null where the broker cannot say. */
    readonly rewardAmount: number | null
  }
}
/** What is posted for order.rejected. */
export interface OrderRejectedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'order.rejected'
  /** The order. */
  readonly data: {
    /** The id of an order: ord_ and an opaque suffix. */
    readonly order_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /**
     * How the order is executed.
     * @enum {string}
     */
    readonly order_type: 'market' | 'limit' | 'stop' | 'stop_limit'
    /** Lots. */
    readonly volume: number
    /**
     * Format: date-time
     * In UTC.
     */
    readonly rejected_at: string
    /** The broker's code, or one of the service. */
    readonly reject_code: string
    /** The same for a person. */
    readonly reject_message: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** Which page this is. */
export interface Pagination {
  /** The page, counted from 1. */
  readonly page: number
  /** The maximum of items on a page. */
  readonly limit: number
  /** How many there are in all. */
  readonly total: number
  /** How many pages there are; 0 without any item. */
  readonly total_pages: number
  /** Whether a page follows. */
  readonly has_next: boolean
  /** Whether a page precedes. */
  readonly has_prev: boolean
}
/** A new order. */
export interface PlaceOrderRequest {
  /**
   * Format: uuid
   * A linked demo account for trading.
   */
  readonly accountId: string
  /** The instrument. */
  readonly symbol: string
  /**
   * The direction.
   * @enum {string}
   */
  readonly type: 'buy' | 'sell'
  /**
   * How it is executed: at once, or by the broker once the market reaches its price. stop_limit needs MT5.
   * @enum {string}
   */
  readonly orderType: 'market' | 'limit' | 'stop' | 'stop_limit'
  /** Lots. */
  readonly volume: number
  /** Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
  readonly price?: number
  /** For stop_limit: the price of the limit order that it becomes. */
  readonly stopLimitPrice?: number
  /**
   * How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.
   * @enum {string}
   */
  readonly timeInForce?: 'gtc' | 'day' | 'gtd'
  /** For timeInForce gtd: when the order expires. A date is its end, in UTC. */
  readonly expiresAt?: string
  /** A price. */
  readonly stopLoss?: number
  /** A price. */
  readonly takeProfit?: number
  /** Your own note; not sent to the broker. */
  readonly comment?: string
  /** The caller's own reference, which the order carries. */
  readonly clientId?: string
}
/** An open position, as its broker has it. */
export interface Position {
  /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
  readonly id: string
  /** The user who owns it. */
  readonly userId: string
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /** The instrument, as the broker spells it. */
  readonly symbol: string
  /**
   * The direction.
   * @enum {string}
   */
  readonly type: 'buy' | 'sell'
  /** Lots. */
  readonly volume: number
  /** The price at which it was opened, weighted by volume. */
  readonly entryPrice: number
  /** Charges are negative. */
  readonly swap: number
  /** Charges are negative. */
  readonly commission: number
  /** The broker's ticket of the position. */
  readonly brokerPositionId: string
  /** The price at which it would be closed now. */
  readonly currentPrice: number
  /** A price; left out when there is none. */
  readonly stopLoss?: number
  /** A price; left out when there is none. */
  readonly takeProfit?: number
  /** Result of the open volume, before swap and commission. */
  readonly unrealizedPnl: number
  /** Result of what was closed of it so far. */
  readonly realizedPnl: number
  /** Margin that the broker requires at the opening price; null when the provider could not compute it. */
  readonly marginUsed: number | null
  /**
   * Format: date-time
   * In UTC.
   */
  readonly openedAt: string
}
/** What is posted for position.closed. */
export interface PositionClosedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'position.closed'
  /** The close of the position, or of a part of it. */
  readonly data: {
    /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
    readonly position_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string | null
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /** Weighted by volume; null when not all opening deals are known. */
    readonly entry_price: number | null
    /** Lots that were closed; null when they are not known. */
    readonly closed_volume: number | null
    /** Lots that stay open; null when they are not known. */
    readonly remaining_volume: number | null
    /** Null when the broker did not report it. */
    readonly exit_price: number | null
    /** Before commission and swap. */
    readonly realized_pnl: number
    /** Whether a part stays open; null when that is not known. */
    readonly is_partial: boolean | null
    /**
     * Format: date-time
     * In UTC.
     */
    readonly closed_at: string | null
    /** Why, when known. */
    readonly exit_reason?: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** What is posted for position.opened. */
export interface PositionOpenedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'position.opened'
  /** The position. */
  readonly data: {
    /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
    readonly position_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string | null
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /** Weighted by volume; null when not all opening deals are known. */
    readonly entry_price: number | null
    /** Lots. */
    readonly volume: number | null
    /** Always null: deals, from which events come, do not show it. */
    readonly margin_used: number | null
    /**
     * Format: date-time
     * In UTC.
     */
    readonly opened_at: string | null
    /** A price; left out when there is none. */
    readonly stop_loss?: number
    /** A price; left out when there is none. */
    readonly take_profit?: number
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** A new order. */
export interface PreviewOrderRequest {
  /**
   * Format: uuid
   * A linked demo account for trading.
   */
  readonly accountId: string
  /** The instrument. */
  readonly symbol: string
  /**
   * The direction.
   * @enum {string}
   */
  readonly type: 'buy' | 'sell'
  /**
   * How it is executed: at once, or by the broker once the market reaches its price. stop_limit needs MT5.
   * @enum {string}
   */
  readonly orderType: 'market' | 'limit' | 'stop' | 'stop_limit'
  /** Lots. */
  readonly volume: number
  /** Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
  readonly price?: number
  /** For stop_limit: the price of the limit order that it becomes. */
  readonly stopLimitPrice?: number
  /**
   * How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.
   * @enum {string}
   */
  readonly timeInForce?: 'gtc' | 'day' | 'gtd'
  /** For timeInForce gtd: when the order expires. A date is its end, in UTC. */
  readonly expiresAt?: string
  /** A price. */
  readonly stopLoss?: number
  /** A price. */
  readonly takeProfit?: number
  /** Your own note; not sent to the broker. */
  readonly comment?: string
  /** The caller's own reference, which the order carries. */
  readonly clientId?: string
}
/** Where the data comes from and how old it is. */
export interface Provenance {
  /** The provider's name. */
  readonly source: string
  /** The accounts that were read. */
  readonly accounts: readonly string[]
  /**
   * Format: date-time
   * When they were read; of several reads the oldest.
   */
  readonly readAt: string
}
/** The current price of an instrument. */
export interface Quote {
  /** As it was asked for. */
  readonly symbol: string
  /** What a seller gets. */
  readonly bid: number
  /** What a buyer pays. */
  readonly ask: number
  /** ask - bid. */
  readonly spread: number
  /**
   * Format: date-time
   * When the broker quoted it.
   */
  readonly time: string
  /** Whether the quote is more than 60 seconds from now. */
  readonly stale: boolean
}
/** Whether the deals of an account add up to its balance. */
export interface Reconciliation {
  /** How many deals are kept. */
  readonly deals: number
  /**
   * Format: date-time
   * The earliest deal; null without any.
   */
  readonly firstDealAt: string | null
  /**
   * Format: date-time
   * The latest deal; null without any.
   */
  readonly lastDealAt: string | null
  /** What all deals together moved the balance by. */
  readonly sum: number
  /** The balance that the broker reported; null where they were not compared since deals last changed. */
  readonly balance: number | null
  /** balance less sum; null where they were not compared since deals last changed. */
  readonly difference: number | null
  /** Whether the deals explain the balance, and the history need not be read anew. A position that lacks deals may be skipped all the same. */
  readonly complete: boolean
  /**
   * Format: date-time
   * When both were compared; null where they were not compared since deals last changed.
   */
  readonly checkedAt: string | null
}
/** What to deliver again. */
export interface RecoverWebhookRequest {
  /** Events after this one, or after this time. */
  readonly since: string
}
/** What is posted for risk.threshold_breached. */
export interface RiskThresholdBreachedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'risk.threshold_breached'
  /** The breach. */
  readonly data: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /**
     * What is compared.
     * @enum {string}
     */
    readonly threshold_type:
      | 'equity_below'
      | 'margin_level_below'
      | 'daily_loss_above'
      | 'drawdown_above'
    /** In the currency of the account, or in percent. */
    readonly threshold_value: number
    /** The value now. */
    readonly current_value: number
    /**
     * How severe it is.
     * @enum {string}
     */
    readonly severity: 'warning' | 'critical'
    /** The same for a person. */
    readonly message: string
    /**
     * Format: date-time
     * In UTC.
     */
    readonly breached_at: string
    /** The positions that were open; left out when they could not be read. */
    readonly affected_positions?: readonly string[]
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** How far the statistics could have come out otherwise, from resamples of the trades. */
export interface RobustStatistics {
  /**
   * Bias-corrected and accelerated bootstrap intervals, at 95 %, of all figures but maxDrawdown.
   * @enum {string}
   */
  readonly method: 'bca'
  /** How many resamples were drawn. */
  readonly resamples: number
  /** Follows from the trades: the same trades have the same figures. */
  readonly seed: number
  /** How many trades there are. */
  readonly trades: number
  /** Null below 10 trades. A small sample in which rare large losses are missing looks better than it is. */
  readonly intervals: {
    /** The mean net profit, in money. An end is null where it cannot be given. */
    readonly expectancy: {
      /** The figure of the trades themselves. */
      readonly estimate: number | null
      /** The lower end. */
      readonly lower: number | null
      /** The upper end. */
      readonly upper: number | null
    }
    /** Winning trades in percent of all. An end is null where it cannot be given. */
    readonly winRate: {
      /** The figure of the trades themselves. */
      readonly estimate: number | null
      /** The lower end. */
      readonly lower: number | null
      /** The upper end. */
      readonly upper: number | null
    }
    /** Null with profit and no loss. An end is null where it cannot be given. */
    readonly profitFactor: {
      /** The figure of the trades themselves. */
      readonly estimate: number | null
      /** The lower end. */
      readonly lower: number | null
      /** The upper end. */
      readonly upper: number | null
    }
    /** Per trade, not annualised. An end is null where it cannot be given. */
    readonly sharpeRatio: {
      /** The figure of the trades themselves. */
      readonly estimate: number | null
      /** The lower end. */
      readonly lower: number | null
      /** The upper end. */
      readonly upper: number | null
    }
    /** The estimate is what happened; the ends are the 2.5 % and 97.5 % quantiles over random orders of the same trades. They may leave it outside, and say nothing about drawdowns to come. An end is null where it cannot be given. */
    readonly maxDrawdown: {
      /** The figure of the trades themselves. */
      readonly estimate: number | null
      /** The lower end. */
      readonly lower: number | null
      /** The upper end. */
      readonly upper: number | null
    }
  } | null
  /** The share of resamples whose sum is below 0; null below 10 trades. Resamples hold only what happened: without a losing trade it is 0, whatever may come. */
  readonly probabilityOfLoss: number | null
}
/** The new secret, and for how long the one before signs too. */
export interface RotateWebhookSecretRequest {
  /** The key of the signatures; 64 hexadecimal characters are generated when it is left out. */
  readonly secret?: string
  /**
   * For how many hours `webhook-signature` holds the signature of the previous secret too.
   * @default 24
   */
  readonly overlapHours?: number
}
/** One change of the price. */
export interface Tick {
  /**
   * Format: date-time
   * In UTC.
   */
  readonly time: string
  /** Null where the tick did not report it. */
  readonly bid: number | null
  /** Null where the tick did not report it. */
  readonly ask: number | null
}
/** A position whose whole volume is closed, folded from all of its deals. */
export interface Trade {
  /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
  readonly id: string
  /** The user who owns it. */
  readonly userId: string
  /**
   * Format: uuid
   * The id of a linked account.
   */
  readonly accountId: string
  /** The instrument, as the broker spells it. */
  readonly symbol: string
  /**
   * The direction.
   * @enum {string}
   */
  readonly type: 'buy' | 'sell'
  /** Lots. */
  readonly volume: number
  /** The price at which it was opened, weighted by volume. */
  readonly entryPrice: number
  /** Charges are negative. */
  readonly swap: number
  /** Charges are negative. */
  readonly commission: number
  /** The broker's ticket of the position. */
  readonly positionId: string
  /** The price at which it was closed, weighted by volume. */
  readonly exitPrice: number
  /** Before commission and swap. */
  readonly profit: number
  /** profit + commission + swap. */
  readonly netProfit: number
  /** Whole seconds from openedAt to closedAt, rounded down. */
  readonly holdingTime: number
  /**
   * Format: date-time
   * The first opening deal.
   */
  readonly openedAt: string
  /**
   * Format: date-time
   * The last closing deal.
   */
  readonly closedAt: string
  /** True when a closing deal had no volume, and volume is the volume opened; else absent. */
  readonly volumeEstimated?: boolean
}
/** The statistics of groups of trades. */
export interface TradeBreakdown {
  /** In the order of the keys, without empty groups. */
  readonly groups: readonly TradeGroup[]
}
/** What is posted for trade.closed. */
export interface TradeClosedEvent {
  /**
   * The event type.
   * @enum {string}
   */
  readonly event: 'trade.closed'
  /** The trade. */
  readonly data: {
    /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
    readonly trade_id: string
    /** The id of a position, and of the trade that it becomes. On MT4 the rest of a partial close has another. */
    readonly position_id: string
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly account_id: string
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /** Lots. */
    readonly volume: number
    /** The price at which it was opened, weighted by volume. */
    readonly entry_price: number
    /** The price at which it was closed, weighted by volume. */
    readonly exit_price: number
    /** Before commission and swap. */
    readonly profit: number
    /** The price's move in the trade's favour, in percent of entry_price. */
    readonly profit_percentage: number
    /** Charges are negative. */
    readonly swap: number
    /** Charges are negative. */
    readonly commission: number
    /** Whole seconds from opened_at to closed_at. */
    readonly holding_time_seconds: number
    /**
     * Format: date-time
     * In UTC.
     */
    readonly opened_at: string
    /**
     * Format: date-time
     * In UTC.
     */
    readonly closed_at: string
  }
  /**
   * Format: date-time
   * In UTC.
   */
  readonly timestamp: string
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly webhook_id: string
}
/** How net profit and balance grew, by closing order. */
export interface TradeCurve {
  /** At most `points`. The first, the last, and the peak and the trough of the deepest drawdown are always among them. */
  readonly points: readonly {
    /**
     * Format: date-time
     * When it closed.
     */
    readonly time: string
    /** The sum of the net profits up to here. */
    readonly netProfit: number
    /** The account's balance, with deposits and withdrawals; null over several accounts, and while it is not known. */
    readonly balance: number | null
    /** How far netProfit is below its highest value so far, from 0 on. */
    readonly drawdown: number
    /** In percent of the highest balance before it, deposits included, which withdrawals do not lower; null where balances are not known. */
    readonly drawdownPercent: number | null
  }[]
  /** What moved the balance but buys and sells: deposits, withdrawals and what the broker books by itself, whatever the symbol; null where balances are not known. */
  readonly cashFlows: {
    /** How many there are. */
    readonly count: number
    /** The sum of the amounts above 0. */
    readonly inflows: number
    /** The sum of the amounts below 0, as a positive magnitude. */
    readonly outflows: number
    /** By time. Of more than 500 the largest. */
    readonly points: readonly {
      /**
       * Format: date-time
       * When it was booked.
       */
      readonly time: string
      /** In money; below 0 where it left the account. */
      readonly amount: number
      /**
       * Why. A charge is a fee, a commission, a tax or interest, in either direction.
       * @enum {string}
       */
      readonly reason: 'deposit' | 'withdrawal' | 'charge' | 'correction' | 'other'
      /** The account's balance after everything of that millisecond. */
      readonly balance: number
    }[]
  } | null
  /** The deepest drawdown. */
  readonly maxDrawdown: {
    /** In money; 0 when there is none. */
    readonly amount: number
    /** In percent of the highest balance before it, deposits included, which withdrawals do not lower; null where balances are not known. */
    readonly percent: number | null
    /**
     * Format: date-time
     * The trade after which netProfit was at the peak, the last of several equal ones; null without a drawdown, and where netProfit was below 0 from the first trade on.
     */
    readonly peakAt: string | null
    /**
     * Format: date-time
     * The trade after which it was deepest; null when there is none.
     */
    readonly troughAt: string | null
    /**
     * Format: date-time
     * The trade after which netProfit was back at its peak; null when it is not yet.
     */
    readonly recoveredAt: string | null
  }
}
/** The deals that a trade was folded from, and the sums of all of them. */
export interface TradeDeals {
  /** A page, in the order in which they are folded: by time, then by number. */
  readonly deals: readonly {
    /** The broker's number of the deal. */
    readonly id: string
    /**
     * Format: date-time
     * When it was made.
     */
    readonly time: string
    /**
     * The direction.
     * @enum {string}
     */
    readonly type: 'buy' | 'sell'
    /**
     * Whether it opens or closes.
     * @enum {string}
     */
    readonly entry?: 'in' | 'out' | 'inout' | 'out_by'
    /** The broker's number of the order that made it. */
    readonly orderId?: string
    /** The instrument, as the broker spells it. */
    readonly symbol?: string
    /** Lots; left out where the broker does not report it. */
    readonly volume?: number
    /** The price of the deal. */
    readonly price?: number
    /** Before commission and swap. */
    readonly profit: number
    /** Charges are negative. */
    readonly commission: number
    /** Charges are negative. */
    readonly swap: number
    /**
     * Who or what caused it.
     * @enum {string}
     */
    readonly reason?:
      | 'stop_loss'
      | 'take_profit'
      | 'stop_out'
      | 'client'
      | 'expert'
      | 'mobile'
      | 'web'
      | 'other'
    /** Of an opening deal: the stop loss of its order. */
    readonly stopLoss?: number
    /** Of an opening deal: the take profit of its order. */
    readonly takeProfit?: number
  }[]
  /** Exact sums of all deals, each rounded once: the figures of the trade. */
  readonly sums: {
    /** Lots of the opening deals, as far as they report them. */
    readonly openedVolume: number
    /** Lots of the closing deals, as far as they report them. */
    readonly closedVolume: number
    /** Before commission and swap. */
    readonly profit: number
    /** Charges are negative. */
    readonly commission: number
    /** Charges are negative. */
    readonly swap: number
    /** profit + commission + swap. */
    readonly netProfit: number
  }
}
/** The trades of one key. */
export interface TradeGroup {
  /** The symbol, side or account, or in the zone the month (2026-11), weekday (1, Monday, to 7), hour (0 to 23) or both (1_09), the holding time (such as 1m_5m) or the result (such as -20_-10, under_-200 or over_400). */
  readonly key: string
  /** How many trades there are. */
  readonly totalTrades: number
  /** Trades with a net profit above 0. */
  readonly winningTrades: number
  /** Trades with a net profit of 0 or below. */
  readonly losingTrades: number
  /** Winning trades in percent of all. */
  readonly winRate: number
  /** totalProfit over totalLoss; null with profit and no loss, 0 with neither. */
  readonly profitFactor: number | null
  /** Mean of the winning trades. */
  readonly averageWin: number
  /** Mean of the losing trades. */
  readonly averageLoss: number
  /** The best trade. */
  readonly largestWin: number
  /** The worst trade. */
  readonly largestLoss: number
  /** Sum of the winning trades. */
  readonly totalProfit: number
  /** Sum of the losing trades. */
  readonly totalLoss: number
  /** totalProfit less totalLoss. */
  readonly netProfit: number
  /** The mean trade over its standard deviation, per trade, not annualised; 0 below two trades. */
  readonly sharpeRatio: number
  /** The deepest fall of the summed net profit from a peak, in money. */
  readonly maxDrawdown: number
  /** How sure the figures are. */
  readonly confidenceIntervals: {
    /** The level of both. */
    readonly level: number
    /** Wilson's interval of winRate, in percent; null without trades. */
    readonly winRate: {
      /** Its lower end. */
      readonly lower: number
      /** Its upper end. */
      readonly upper: number
    } | null
    /** Student's t interval of the mean net profit, in money; null below two trades. A small sample in which rare large losses are missing looks better than it is. */
    readonly averageTrade: {
      /** Its lower end. */
      readonly lower: number
      /** Its upper end. */
      readonly upper: number
    } | null
  }
  /** Whether there are 30 trades or more, so that the figures say something. */
  readonly enough: boolean
}
/** Where the trades come from, and which positions are missing. */
export interface TradeProvenance {
  /** The provider's name. */
  readonly source: string
  /** The accounts that were read. */
  readonly accounts: readonly string[]
  /**
   * Format: date-time
   * When they were read; of several reads the oldest.
   */
  readonly readAt: string
  /** Positions of these accounts whose deals could not be folded into a trade. */
  readonly skipped: readonly {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
    /** The broker's ticket of the position. */
    readonly positionId: string
    /**
     * Why it could not be folded into a trade.
     * @enum {string}
     */
    readonly reason:
      | 'unsupported_deal_entry_type'
      | 'no_open_deal'
      | 'zero_open_volume'
      | 'closed_exceeds_opened'
      | 'invalid_timestamp'
      | 'missing_symbol_or_times'
      | 'missing_price'
  }[]
}
/** Statistics over the net profits of closed trades. Losses are positive magnitudes. */
export interface TradeStatistics {
  /** How many trades there are. */
  readonly totalTrades: number
  /** Trades with a net profit above 0. */
  readonly winningTrades: number
  /** Trades with a net profit of 0 or below. */
  readonly losingTrades: number
  /** Winning trades in percent of all. */
  readonly winRate: number
  /** totalProfit over totalLoss; null with profit and no loss, 0 with neither. */
  readonly profitFactor: number | null
  /** Mean of the winning trades. */
  readonly averageWin: number
  /** Mean of the losing trades. */
  readonly averageLoss: number
  /** The best trade. */
  readonly largestWin: number
  /** The worst trade. */
  readonly largestLoss: number
  /** Sum of the winning trades. */
  readonly totalProfit: number
  /** Sum of the losing trades. */
  readonly totalLoss: number
  /** totalProfit less totalLoss. */
  readonly netProfit: number
  /** The mean trade over its standard deviation, per trade, not annualised; 0 below two trades. */
  readonly sharpeRatio: number
  /** The deepest fall of the summed net profit from a peak, in money. */
  readonly maxDrawdown: number
  /** How sure the figures are. */
  readonly confidenceIntervals: {
    /** The level of both. */
    readonly level: number
    /** Wilson's interval of winRate, in percent; null without trades. */
    readonly winRate: {
      /** Its lower end. */
      readonly lower: number
      /** Its upper end. */
      readonly upper: number
    } | null
    /** Student's t interval of the mean net profit, in money; null below two trades. A small sample in which rare large losses are missing looks better than it is. */
    readonly averageTrade: {
      /** Its lower end. */
      readonly lower: number
      /** Its upper end. */
      readonly upper: number
    } | null
  }
  /** The mean trade over its downside deviation from 0, per trade; null with profit and no loss. */
  readonly sortinoRatio?: number | null
  /** The mean net profit of a trade. */
  readonly expectancy?: number
  /** The mean holdingTime of the trades, in seconds. */
  readonly averageHoldingTime?: number
  /** The most winning trades in a row. */
  readonly longestWinStreak?: number
  /** The most losing trades in a row. */
  readonly longestLossStreak?: number
  /** netProfit over maxDrawdown; null with profit and no drawdown. */
  readonly recoveryFactor?: number | null
  /** maxDrawdown in percent of the highest balance before its trough, deposits included; null where balances are not known. Withdrawals do not lower that balance, and a smaller drawdown can have a larger drawdownPercent in the curve. */
  readonly maxDrawdownPercent?: number | null
}
/** Something to know about the trades, or about what was computed of them. */
export interface Warning {
  /**
   * The figures add up several currencies, or the history of an account may lack deals.
   * @enum {string}
   */
  readonly code: 'mixed_currencies' | 'history_incomplete'
  /** With mixed_currencies: of the accounts. */
  readonly currencies?: readonly string[]
  /** With history_incomplete: whose history it is. */
  readonly accounts?: readonly string[]
  /** The same for a person. */
  readonly message: string
}
/** Where which events are posted. */
export interface Webhook {
  /**
   * Format: uuid
   * The id of a webhook.
   */
  readonly id: string
  /** Where events are posted. */
  readonly url: string
  /** The events that are posted. */
  readonly eventTypes: readonly (
    | 'trade.closed'
    | 'position.opened'
    | 'position.closed'
    | 'order.created'
    | 'order.filled'
    | 'order.cancelled'
    | 'account.balance_changed'
    | 'risk.threshold_breached'
    | 'order.rejected'
    | 'order.expired'
  )[]
  /** To a webhook that is not enabled only tests and replays are sent. */
  readonly enabled: boolean
  /** Failed attempts to deliver in a row. */
  readonly failureCount: number
  /**
   * Format: date-time
   * When an attempt or a test last succeeded; null before the first.
   */
  readonly lastSuccessAt: string | null
  /**
   * Format: date-time
   * When an attempt last failed; null before the first.
   */
  readonly lastFailureAt: string | null
  /**
   * Format: date-time
   * In UTC.
   */
  readonly createdAt: string
  /**
   * Format: date-time
   * When its user last changed it.
   */
  readonly updatedAt: string
}
/** What is delivered again. */
export interface WebhookRecovery {
  /** How many deliveries were recorded. */
  readonly scheduled: number
}
/** The receiver's answer to a test. */
export interface WebhookTestResult {
  /** Whether it answered with a 2xx. */
  readonly success: boolean
  /** The status that it answered; 0 without an answer. */
  readonly responseCode: number
  /** Milliseconds from the first byte sent to the answer's head. */
  readonly responseTimeMs: number
  /**
   * Why the last attempt failed.
   * @enum {string}
   */
  readonly failureReason?:
    | 'host_unreachable'
    | 'lookup_failed'
    | 'connection_failed'
    | 'tls_failed'
    | 'answer_broken'
    | 'timed_out'
    | 'not_2xx'
    | 'webhook_disabled'
    | 'interrupted'
}
export interface Webhooks {
  readonly 'trade.closed': TradeClosedEvent
  readonly 'position.opened': PositionOpenedEvent
  readonly 'position.closed': PositionClosedEvent
  readonly 'order.created': OrderCreatedEvent
  readonly 'order.filled': OrderFilledEvent
  readonly 'order.cancelled': OrderCancelledEvent
  readonly 'account.balance_changed': AccountBalanceChangedEvent
  readonly 'risk.threshold_breached': RiskThresholdBreachedEvent
  readonly 'order.rejected': OrderRejectedEvent
  readonly 'order.expired': OrderExpiredEvent
}
