// The routes of the API, and the client's methods, whose types follow from them.
import type { BodyOf, DataOf, Operation, QueryOf, ReplyOf } from './contract-types.ts'
import type { FollowOptions, LogEvent, QuotesOptions, QuoteUpdate } from './events.ts'
import type { ExportedFile } from './exported-file.ts'
import type { CallOptions, PlaceOptions, PostOptions } from './options.ts'
import type { Paging } from './pages.ts'
import type { PlacedOrder } from './placed-order.ts'

export interface Route {
  /** The method and the path, in which each `:name` is one argument. */
  readonly route: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`
  /** The argument after those of the path. */
  readonly input?: 'query' | 'body' | 'optional-body'
  /** Other than the envelope. */
  readonly reply?: 'file' | 'stream'
  readonly paging?: Paging
  /** A POST that changes nothing, so that it gets no Idempotency-Key by itself. */
  readonly changesNothing?: true
  /** What to do if the outcome of a write without a key is unknown. */
  readonly ifUnknown?: string
}

const readPosition =
  'The change may have been made: read the position (getPosition) before you try again.'
const readOrder = 'The change may have been made: read the order (getOrder) before you try again.'

export const routes = {
  /** The credential: whose it is, what it may do, and what is left of its limits. */
  getMe: { route: 'GET /me' },

  /** Linked accounts, oldest first, with live balances where the broker can be read. */
  listAccounts: { route: 'GET /accounts' },
  /** One linked account. ACCOUNT_DISCONNECTED if it cannot be read now. */
  getAccount: { route: 'GET /accounts/:id' },
  /** Balance snapshots, newest first. */
  listBalanceHistory: { route: 'GET /accounts/:id/history', input: 'query' },

  /** Whether an account is halted, by whom and why. */
  getHalt: { route: 'GET /accounts/:id/halt' },
  /** Halts an account: no order is placed on it. Its positions can still be changed and closed. */
  haltAccount: { route: 'POST /accounts/:id/halt', input: 'optional-body' },
  /** Lifts the owner's halt; the operator's can only be lifted by the operator. */
  liftHalt: {
    route: 'DELETE /accounts/:id/halt',
    ifUnknown: 'The halt may have been lifted: lift it again, which changes nothing then.',
  },

  /**
   * Records an order, which is then placed; `settled` of the reply waits for its outcome. It is
   * sent again with the same Idempotency-Key if the connection fails, so that it is placed at most
   * once. A request that timed out is sent again only within `retry.withinMs`.
   */
  placeOrder: { route: 'POST /orders', input: 'body' },
  /** Runs every check of a new order, and estimates what it would cost, without placing it. */
  previewOrder: { route: 'POST /orders/preview', input: 'body', changesNothing: true },
  /** Orders, newest first. Filtered by status, `each` may miss those whose status changes. */
  listOrders: { route: 'GET /orders', input: 'query', paging: 'pages' },
  getOrder: { route: 'GET /orders/:id' },
  /** Changes an order that the broker holds; null removes a level. */
  modifyOrder: { route: 'PUT /orders/:id', input: 'body', ifUnknown: readOrder },
  /** Cancels an order that the broker holds. */
  cancelOrder: { route: 'DELETE /orders/:id', ifUnknown: readOrder },
  /** Cancels every open order of an account, and answers how each ended. */
  cancelOrders: {
    route: 'DELETE /orders',
    input: 'query',
    ifUnknown: 'Orders may be cancelled: list the open ones (listOrders) before you try again.',
  },

  /** Open positions, oldest first. `each` returns every position that stays open during it. */
  // A position that is closed moves all younger ones one place towards the first page.
  listPositions: { route: 'GET /positions', input: 'query', paging: 'pages-from-the-last' },
  getPosition: { route: 'GET /positions/:id' },
  /**
   * Moves the stop loss; the take profit stays. Sent once: after an error whose outcome is unknown,
   * read the position.
   */
  moveStopLoss: { route: 'PUT /positions/:id/sl', input: 'body', ifUnknown: readPosition },
  /**
   * Moves the take profit; the stop loss stays. Sent once: after an error whose outcome is unknown,
   * read the position.
   */
  moveTakeProfit: { route: 'PUT /positions/:id/tp', input: 'body', ifUnknown: readPosition },
  /**
   * Moves, sets or removes (null) both levels at once; one that is left out stays. Sent once: after
   * an error whose outcome is unknown, read the position.
   */
  changePositionLevels: {
    route: 'PUT /positions/:id/levels',
    input: 'body',
    ifUnknown: readPosition,
  },
  /** Closes every matching position of an account, each at most once. */
  closePositions: { route: 'POST /positions/close', input: 'body' },
  /**
   * Closes a volume of a position, or all of it, at most once. After BROKER_OUTCOME_UNKNOWN,
   * read the position.
   */
  closePosition: { route: 'POST /positions/:id/close', input: 'optional-body' },

  /** The instruments: the fixed list, or with accountId a page of the broker's own. */
  listSymbols: { route: 'GET /symbols', input: 'query' },
  /**
   * The current price: of the account's broker, or without accountId of the operator's feed.
   * NOT_IMPLEMENTED where there is none.
   */
  getQuote: { route: 'GET /quotes/:symbol', input: 'query' },
  /** The current prices of up to 50 symbols. `client.quotes` follows them as they change. */
  listQuotes: { route: 'GET /quotes', input: 'query' },
  /** Candles, oldest first: the first from startTime on, or the last up to endTime. */
  listCandles: { route: 'GET /candles/:symbol', input: 'query' },
  /** Ticks, oldest first: the first from startTime on, or the last up to endTime. */
  listTicks: { route: 'GET /ticks/:symbol', input: 'query' },

  /** Closed trades, most recently closed first. `each` returns each once while others close. */
  listTrades: { route: 'GET /trades', input: 'query', paging: 'cursor' },
  /** Statistics of closed trades. meta.warnings and meta.provenance.skipped say what is missing. */
  getTradeStatistics: { route: 'GET /trades/stats', input: 'query' },
  /** Statistics of groups of trades, by symbol, side, account, time or holding time. */
  getTradeBreakdown: { route: 'GET /trades/breakdown', input: 'query' },
  /** Bootstrap intervals of the statistics. Takes up to a few seconds, two at a time. */
  getRobustStatistics: { route: 'GET /trades/robust', input: 'query' },
  /** A page of the deals that a trade was folded from, with the sums of all. */
  getTradeDeals: { route: 'GET /trades/:id/deals', input: 'query' },
  /** Whether the deals of an account add up to its balance. */
  getReconciliation: { route: 'GET /accounts/:id/reconciliation' },
  /** Net profit, balance and drawdown over time, in at most `points` points. */
  getTradeCurve: { route: 'GET /trades/curve', input: 'query' },
  /** Closed trades as a CSV or JSON file. */
  exportTrades: { route: 'GET /trades/export', input: 'query', reply: 'file' },
  getTrade: { route: 'GET /trades/:id' },

  /** The log of events, oldest first unless `order` says desc. `client.events` follows it. */
  listEvents: { route: 'GET /events', input: 'query', paging: 'after' },

  /** Registers a webhook. Only this reply shows its secret: keep it for readWebhook. */
  createWebhook: { route: 'POST /webhooks', input: 'body' },
  /** All webhooks, oldest first. */
  listWebhooks: { route: 'GET /webhooks' },
  getWebhook: { route: 'GET /webhooks/:id' },
  changeWebhook: {
    route: 'PUT /webhooks/:id',
    input: 'body',
    ifUnknown: 'The change may have been made: read the webhook (getWebhook) before you try again.',
  },
  /** Replaces the secret. Only this reply shows the new one. */
  rotateWebhookSecret: { route: 'POST /webhooks/:id/rotate-secret', input: 'optional-body' },
  deleteWebhook: {
    route: 'DELETE /webhooks/:id',
    ifUnknown: 'The webhook may be deleted: look for it (listWebhooks) before you try again.',
  },
  /** Posts one webhook.test now and returns the receiver's answer, after 30 seconds at most. */
  testWebhook: { route: 'POST /webhooks/:id/test' },
  /**
   * The log of event deliveries, newest first. Filtered by status, `each` may miss those whose
   * status changes.
   */
  listWebhookDeliveries: { route: 'GET /webhooks/:id/deliveries', input: 'query', paging: 'pages' },
  /** Sends a logged delivery again, once. */
  replayWebhookDelivery: { route: 'POST /webhooks/:id/deliveries/:deliveryId/replay' },
  /** Delivers every event after `since` that the webhook has not received. */
  recoverWebhook: { route: 'POST /webhooks/:id/recover', input: 'body' },
} as const satisfies Readonly<Record<string, Route>>

/** What `events` and `quotes` read. */
const streams: Readonly<Record<'streamEvents' | 'streamQuotes', Route>> = {
  streamEvents: { route: 'GET /events/stream', input: 'query', reply: 'stream' },
  streamQuotes: { route: 'GET /quotes/stream', input: 'query', reply: 'stream' },
}

export const routeOf = (operation: Operation): Route =>
  operation in streams ? streams[operation as keyof typeof streams] : routes[operation as Name]

type Routes = typeof routes
type Name = keyof Routes

type Ids<Op extends Name> = Routes[Op]['route'] extends `${string}:${infer Rest}`
  ? Rest extends `${string}:${string}`
    ? [id: string, secondId: string]
    : [id: string]
  : []
type Input<Op extends Name> = Routes[Op] extends { readonly input: 'body' }
  ? [body: BodyOf<Op>]
  : Routes[Op] extends { readonly input: 'optional-body' }
    ? [body?: BodyOf<Op>]
    : Routes[Op] extends { readonly input: 'query' }
      ? object extends QueryOf<Op>
        ? [query?: QueryOf<Op>]
        : [query: QueryOf<Op>]
      : []
/** What the method of a route is called with before its options. */
export type ArgsOf<Op extends Name> = [...Ids<Op>, ...Required<Input<Op>>]
type Options<Op extends Name> = Routes[Op]['route'] extends `POST ${string}`
  ? Op extends 'placeOrder'
    ? PlaceOptions
    : PostOptions
  : CallOptions
type Result<Op extends Name> = Routes[Op] extends { readonly reply: 'file' }
  ? ExportedFile
  : Op extends 'placeOrder'
    ? PlacedOrder
    : ReplyOf<Op>

type Method<Op extends Name> = (
  ...args: [...Ids<Op>, ...Input<Op>, options?: Options<Op>]
) => Promise<Result<Op>>

type Filters<Op extends Name> = Omit<QueryOf<Op>, 'page' | 'limit' | 'cursor'>

/** A list: one page of it when called, every item of it with `each`. */
export type List<Op extends Name> = Method<Op> & {
  /** Every item once. A page is read when its first item is needed. */
  readonly each: (
    ...args: [...Ids<Op>, filters?: Filters<Op>, options?: CallOptions]
  ) => AsyncIterable<DataOf<Op> extends readonly (infer Item)[] ? Item : never>
}

/**
 * A method for each route, `events` and `quotes`. Times are ISO 8601 text. Every method throws
 * TradeportError, and TypeError for an invalid argument.
 */
export type Client = {
  readonly [Op in Name]: Routes[Op] extends { readonly paging: Paging } ? List<Op> : Method<Op>
} & {
  /**
   * Events as they are recorded, after `after` or from now on, each once and in the order of the
   * log. It connects again by itself and ends only with the loop, or by an error: EVENT_GONE where
   * events after `after` may have been cleared away, a refusal of the credential, ABORTED.
   */
  readonly events: (options?: FollowOptions) => AsyncIterable<LogEvent>
  /**
   * Quotes as they change, at most one a second of each symbol, beginning with the current ones. It
   * connects again by itself and ends only with the loop, or by an error.
   */
  readonly quotes: (options: QuotesOptions) => AsyncIterable<QuoteUpdate>
}
