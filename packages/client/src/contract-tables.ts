// Made from the API's routes by `pnpm contract`; a test holds it against them. Not to be changed by hand.

export const routes = {
  listAccounts: { route: 'GET /accounts' },
  getAccount: { route: 'GET /accounts/:id' },
  listBalanceHistory: { route: 'GET /accounts/:id/history', input: 'query' },
  getHalt: { route: 'GET /accounts/:id/halt' },
  haltAccount: { route: 'POST /accounts/:id/halt', input: 'optional-body' },
  liftHalt: { route: 'DELETE /accounts/:id/halt' },
  placeOrder: { route: 'POST /orders', input: 'body' },
  previewOrder: { route: 'POST /orders/preview', input: 'body' },
  listOrders: { route: 'GET /orders', input: 'query' },
  getOrder: { route: 'GET /orders/:id' },
  modifyOrder: { route: 'PUT /orders/:id', input: 'body' },
  cancelOrder: { route: 'DELETE /orders/:id' },
  cancelOrders: { route: 'DELETE /orders', input: 'query' },
  listPositions: { route: 'GET /positions', input: 'query' },
  getPosition: { route: 'GET /positions/:id' },
  moveStopLoss: { route: 'PUT /positions/:id/sl', input: 'body' },
  moveTakeProfit: { route: 'PUT /positions/:id/tp', input: 'body' },
  changePositionLevels: { route: 'PUT /positions/:id/levels', input: 'body' },
  closePosition: { route: 'POST /positions/:id/close', input: 'optional-body' },
  closePositions: { route: 'POST /positions/close', input: 'body' },
  getTradeCurve: { route: 'GET /trades/curve', input: 'query' },
  getTradeBreakdown: { route: 'GET /trades/breakdown', input: 'query' },
  getRobustStatistics: { route: 'GET /trades/robust', input: 'query' },
  getTradeDeals: { route: 'GET /trades/:id/deals', input: 'query' },
  getReconciliation: { route: 'GET /accounts/:id/reconciliation' },
  listTrades: { route: 'GET /trades', input: 'query' },
  getTradeStatistics: { route: 'GET /trades/stats', input: 'query' },
  exportTrades: { route: 'GET /trades/export', input: 'query', reply: 'file' },
  getTrade: { route: 'GET /trades/:id' },
  listSymbols: { route: 'GET /symbols', input: 'query' },
  listQuotes: { route: 'GET /quotes', input: 'query' },
  streamQuotes: { route: 'GET /quotes/stream', input: 'query', reply: 'stream' },
  getQuote: { route: 'GET /quotes/:symbol', input: 'query' },
  listCandles: { route: 'GET /candles/:symbol', input: 'query' },
  listTicks: { route: 'GET /ticks/:symbol', input: 'query' },
  getMe: { route: 'GET /me' },
  listEvents: { route: 'GET /events', input: 'query' },
  streamEvents: { route: 'GET /events/stream', input: 'query', reply: 'stream' },
  createWebhook: { route: 'POST /webhooks', input: 'body' },
  listWebhooks: { route: 'GET /webhooks' },
  getWebhook: { route: 'GET /webhooks/:id' },
  changeWebhook: { route: 'PUT /webhooks/:id', input: 'body' },
  rotateWebhookSecret: { route: 'POST /webhooks/:id/rotate-secret', input: 'optional-body' },
  deleteWebhook: { route: 'DELETE /webhooks/:id' },
  testWebhook: { route: 'POST /webhooks/:id/test' },
  listWebhookDeliveries: { route: 'GET /webhooks/:id/deliveries', input: 'query' },
  replayWebhookDelivery: { route: 'POST /webhooks/:id/deliveries/:deliveryId/replay' },
  recoverWebhook: { route: 'POST /webhooks/:id/recover', input: 'body' },
} as const

export const errorCodes = [
  'VALIDATION_ERROR',
  'UNAUTHORIZED',
  'INSUFFICIENT_SCOPE',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
  'ACCOUNT_NOT_FOUND',
  'ACCOUNT_DISCONNECTED',
  'IDEMPOTENCY_KEY_REUSED',
  'IDEMPOTENCY_IN_PROGRESS',
  'ACCOUNT_HALTED',
  'INVALID_PRICE',
  'ORDER_TYPE_NOT_SUPPORTED_BY_PLATFORM',
  'ACCOUNT_PURPOSE_RESTRICTED',
  'LIVE_ACCOUNT_RESTRICTED',
  'UNSUPPORTED_BROKER',
  'NOT_PROVISIONED',
  'BROKER_UNAVAILABLE',
  'CHALLENGE_CHECK_UNAVAILABLE',
  'CHALLENGE_LOCKED',
  'SYMBOL_AMBIGUOUS',
  'LIMIT_CHECK_UNAVAILABLE',
  'DESK_LIMIT_BREACHED',
  'TRADER_LIMIT_BREACHED',
  'APPROVAL_REQUIRED',
  'RISK_LIMIT_EXCEEDED',
  'NOT_FOUND',
  'ORDER_IN_FLIGHT',
  'BROKER_RATE_LIMITED',
  'TRADE_REJECTED',
  'BROKER_OUTCOME_UNKNOWN',
  'INTERNAL_TIMEOUT',
  'ORDER_NOT_MODIFIABLE',
  'ORDER_NOT_CANCELLABLE',
  'POSITION_NOT_FOUND',
  'INVALID_VOLUME',
  'HISTORY_TOO_LARGE',
  'TRADE_NOT_FOUND',
  'INVALID_CURSOR',
  'NOT_IMPLEMENTED',
  'STREAM_LIMIT_REACHED',
  'NOT_AVAILABLE_ON_PLATFORM',
  'EVENT_GONE',
  'WEBHOOK_LIMIT_REACHED',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'ORDER_TYPE_NOT_SUPPORTED',
] as const

export interface DocumentedDetails {
  /** What the message says, as values. */
  readonly VALIDATION_ERROR: {
    /** Every fault of the request, in the order in which they were found. */
    readonly issues: readonly {
      /** The field, parameter or header. */
      readonly path: string
      /** What it must be and what it got. */
      readonly message: string
    }[]
  }
  /** What the message says, as values. */
  readonly INSUFFICIENT_SCOPE: {
    /** One of these scopes is needed. */
    readonly required_any_of: readonly string[]
  }
  /** What the message says, as values. */
  readonly PAYLOAD_TOO_LARGE: {
    /** The maximum of bytes. */
    readonly limitBytes: number
  }
  /** What the message says, as values. */
  readonly RATE_LIMIT_EXCEEDED: {
    /**
     * Which limit is used up: the plan's, the endpoint's, a suspension, your address's, or that of bodies or of calculations at a time.
     * @enum {string}
     */
    readonly scope: 'tier' | 'endpoint' | 'suspension' | 'address' | 'bodies' | 'calculations'
    /**
     * Which of the plan's limits.
     * @enum {string}
     */
    readonly window?: 'minute' | 'day'
  }
  /** What the message says, as values. */
  readonly SERVICE_UNAVAILABLE: {
    /**
     * The change may or may not have been made.
     * @enum {string}
     */
    readonly outcome?: 'unknown'
  }
  /** What the message says, as values. */
  readonly ACCOUNT_DISCONNECTED: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
    /** Its status. */
    readonly status: string
  }
  /** What the message says, as values. */
  readonly UNSUPPORTED_BROKER: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
  }
  /** What the message says, as values. */
  readonly NOT_PROVISIONED: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
  }
  /** What the message says, as values. */
  readonly RISK_LIMIT_EXCEEDED: {
    /**
     * The name of the limit.
     * @enum {string}
     */
    readonly limit: 'volume_per_order' | 'orders_per_day' | 'open_orders'
    /** The maximum. */
    readonly allowed: number
    /** The present count, or the volume that was sent. */
    readonly current: number
    /**
     * Format: date-time
     * When the count of the day starts again.
     */
    readonly resetsAt?: string
  }
  /** What the message says, as values. */
  readonly DESK_LIMIT_BREACHED: {
    /** The name of the limit. */
    readonly limit: string
    /** The maximum, or the symbols that are allowed. */
    readonly allowed: unknown
    /** The requested value, or current usage excluding this order. */
    readonly current: unknown
  }
  /** What the message says, as values. */
  readonly TRADER_LIMIT_BREACHED: {
    /** The name of the limit. */
    readonly limit: string
    /** The maximum, or the symbols that are allowed. */
    readonly allowed: unknown
    /** The requested value, or current usage excluding this order. */
    readonly current: unknown
  }
  /** What the message says, as values. */
  readonly APPROVAL_REQUIRED: {
    /** The maximum of lots without it. */
    readonly approvalAboveLots: number
  }
  /** What the message says, as values. */
  readonly ORDER_TYPE_NOT_SUPPORTED: {
    /** The type that was sent. */
    readonly orderType: string
  }
  /** What the message says, as values. */
  readonly BROKER_UNAVAILABLE: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
  }
  /** What the message says, as values. */
  readonly ORDER_NOT_MODIFIABLE: {
    /** The status of the order. */
    readonly status: string
  }
  /** What the message says, as values. */
  readonly INVALID_PRICE: {
    /** The price that the level of a position is compared with. */
    readonly currentPrice?: number
    /** The price that the level of a pending order is compared with. */
    readonly price?: number
  }
  /** What the message says, as values. */
  readonly TRADE_REJECTED: {
    /** The broker's code. */
    readonly brokerCode: string
    /** The broker's message. */
    readonly brokerMessage: string
  }
  /** What the message says, as values. */
  readonly BROKER_RATE_LIMITED: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
  }
  /** What the message says, as values. */
  readonly BROKER_OUTCOME_UNKNOWN: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
  }
  /** What the message says, as values. */
  readonly ORDER_NOT_CANCELLABLE: {
    /** The status of the order. */
    readonly status: string
  }
  /** What the message says, as values. */
  readonly INVALID_VOLUME: {
    /** The lots that were sent. */
    readonly volume: number
    /** Lots. */
    readonly openVolume: number
  }
  /** What the message says, as values. */
  readonly HISTORY_TOO_LARGE: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
    /** The maximum of deals that are read. */
    readonly limit: number
  }
  /** What the message says, as values. */
  readonly NOT_IMPLEMENTED: {
    /** What is not available. */
    readonly feature: string
  }
  /** What the message says, as values. */
  readonly WEBHOOK_LIMIT_REACHED: {
    /** The maximum. */
    readonly allowed: number
  }
  /** What the message says, as values. */
  readonly ACCOUNT_HALTED: {
    /**
     * Format: uuid
     * The id of a linked account.
     */
    readonly accountId: string
    /**
     * Who halted it.
     * @enum {string}
     */
    readonly by: 'owner' | 'operator'
    /**
     * Format: date-time
     * Since when.
     */
    readonly since: string
  }
  /** What the message says, as values. */
  readonly ORDER_TYPE_NOT_SUPPORTED_BY_PLATFORM: {
    /** The type that was sent. */
    readonly orderType: string
    /** The time in force that was sent, or gtc. */
    readonly timeInForce: string
    /** The platform of the account. */
    readonly platform: string
  }
  /** What the message says, as values. */
  readonly SYMBOL_AMBIGUOUS: {
    /** The instrument, as the broker spells it. */
    readonly symbol: string
    /** Symbols of the broker. */
    readonly candidates: readonly string[]
  }
  /** What the message says, as values. */
  readonly STREAM_LIMIT_REACHED: {
    /** The most at a time. */
    readonly limit: number
  }
  /** What the message says, as values. */
  readonly NOT_AVAILABLE_ON_PLATFORM: {
    /** What is not available. */
    readonly feature: string
    /** The platform. */
    readonly platform: string
  }
  /** What the message says, as values. */
  readonly EVENT_GONE: {
    /** What to continue after: the last event that was cleared away. */
    readonly resumeAfter: string
    /** The oldest event that is kept; null when there is none. */
    readonly oldest: string | null
  }
}
