// The methods of the client, one for each route of the API and named for its operationId.
import type { BodyOf, DataOf, QueryOf, ReplyOf } from './contract-types.ts'
import type { ExportedFile } from './exported-file.ts'
import type { Operation } from './routes.ts'
import type { CallOptions as AnyCallOptions } from './settings.ts'

export type CallOptions = Omit<AnyCallOptions, 'idempotencyKey'>
/** Of a POST, which is carried out once for one key. */
export type PostOptions = AnyCallOptions

type Asked<Op extends Operation> = Promise<ReplyOf<Op>>

type ItemOf<Data> = Data extends readonly (infer Item)[] ? Item : never
type Items<Op extends Operation> = AsyncIterable<ItemOf<DataOf<Op>>>
/** The filters of a list: which page is read is the walk's own affair. */
type FiltersOf<Op extends Operation> = Omit<QueryOf<Op>, 'page' | 'limit' | 'cursor'>

/** A list: one page of it when called, every item of it with `each`. */
export interface List<Op extends Operation> {
  (query?: QueryOf<Op>, options?: CallOptions): Asked<Op>
  /** Every item, once, read page by page as they are asked for. */
  readonly each: (filters?: FiltersOf<Op>, options?: CallOptions) => Items<Op>
}

/** A list of what belongs to something with an id. */
export interface ListOf<Op extends Operation> {
  (id: string, query?: QueryOf<Op>, options?: CallOptions): Asked<Op>
  /** Every item, once, read page by page as they are asked for. */
  readonly each: (id: string, filters?: FiltersOf<Op>, options?: CallOptions) => Items<Op>
}

/**
 * Times are ISO 8601 text, as the API has them, both in what is sent and in what comes. Every
 * method throws TradeportError, and TypeError where an argument cannot be.
 */
export interface Client {
  /** Linked accounts, oldest first, with balances read live where the broker can be read. */
  readonly listAccounts: (options?: CallOptions) => Asked<'listAccounts'>
  /** One linked account. ACCOUNT_DISCONNECTED where it cannot be read now. */
  readonly getAccount: (id: string, options?: CallOptions) => Asked<'getAccount'>
  /** Balance snapshots, newest first. */
  readonly listBalanceHistory: (
    id: string,
    query?: QueryOf<'listBalanceHistory'>,
    options?: CallOptions,
  ) => Asked<'listBalanceHistory'>

  /**
   * Records a market order, which is then placed; getOrder shows its outcome. Sent again when an
   * answer is lost, with one Idempotency-Key, so that it is placed once at most.
   */
  readonly placeOrder: (order: BodyOf<'placeOrder'>, options?: PostOptions) => Asked<'placeOrder'>
  /**
   * Orders, newest first. Filtered by status, those that change theirs during a walk may be missed.
   */
  readonly listOrders: List<'listOrders'>
  readonly getOrder: (id: string, options?: CallOptions) => Asked<'getOrder'>
  /** Changes an open order. No order is open today, so that none can be changed. */
  readonly modifyOrder: (
    id: string,
    change: BodyOf<'modifyOrder'>,
    options?: CallOptions,
  ) => Asked<'modifyOrder'>
  /** Cancels an open order. No order is open today, so that none can be cancelled. */
  readonly cancelOrder: (id: string, options?: CallOptions) => Asked<'cancelOrder'>

  /**
   * Open positions, oldest first. `each` gives every position that is open all the while, whatever
   * is closed meanwhile.
   */
  readonly listPositions: List<'listPositions'>
  readonly getPosition: (id: string, options?: CallOptions) => Asked<'getPosition'>
  /**
   * Moves the stop loss; the take profit stays. Sent once: after an error whose outcome is unknown,
   * read the position.
   */
  readonly moveStopLoss: (
    id: string,
    level: BodyOf<'moveStopLoss'>,
    options?: CallOptions,
  ) => Asked<'moveStopLoss'>
  /**
   * Moves the take profit; the stop loss stays. Sent once: after an error whose outcome is unknown,
   * read the position.
   */
  readonly moveTakeProfit: (
    id: string,
    level: BodyOf<'moveTakeProfit'>,
    options?: CallOptions,
  ) => Asked<'moveTakeProfit'>
  /**
   * Closes so many lots of a position, or all of it with {}; once at most, however often it is
   * sent. After BROKER_OUTCOME_UNKNOWN, read the position.
   */
  readonly closePosition: (
    id: string,
    close: BodyOf<'closePosition'>,
    options?: PostOptions,
  ) => Asked<'closePosition'>

  /** The instruments. Needs no credential. */
  readonly listSymbols: (
    query?: QueryOf<'listSymbols'>,
    options?: CallOptions,
  ) => Asked<'listSymbols'>
  /** Not available yet: NOT_IMPLEMENTED. */
  readonly getQuote: (symbol: string, options?: CallOptions) => Asked<'getQuote'>
  /** Not available yet: NOT_IMPLEMENTED. */
  readonly listCandles: (
    symbol: string,
    query: QueryOf<'listCandles'>,
    options?: CallOptions,
  ) => Asked<'listCandles'>
  /** Not available yet: NOT_IMPLEMENTED. */
  readonly listTicks: (
    symbol: string,
    query?: QueryOf<'listTicks'>,
    options?: CallOptions,
  ) => Asked<'listTicks'>

  /**
   * Closed trades, most recently closed first. `each` neither repeats nor leaves out a trade when
   * others close meanwhile.
   */
  readonly listTrades: List<'listTrades'>
  /**
   * Statistics of closed trades; look at meta.warnings, and at meta.provenance.skipped for what is
   * not in them.
   */
  readonly getTradeStatistics: (
    query?: QueryOf<'getTradeStatistics'>,
    options?: CallOptions,
  ) => Asked<'getTradeStatistics'>
  /** Closed trades as a CSV or JSON file. */
  readonly exportTrades: (
    query?: QueryOf<'exportTrades'>,
    options?: CallOptions,
  ) => Promise<ExportedFile>
  readonly getTrade: (id: string, options?: CallOptions) => Asked<'getTrade'>

  /** Registers a webhook. Only this reply shows its secret: keep it for readWebhook. */
  readonly createWebhook: (
    webhook: BodyOf<'createWebhook'>,
    options?: PostOptions,
  ) => Asked<'createWebhook'>
  /** All webhooks, oldest first. */
  readonly listWebhooks: (options?: CallOptions) => Asked<'listWebhooks'>
  readonly getWebhook: (id: string, options?: CallOptions) => Asked<'getWebhook'>
  readonly changeWebhook: (
    id: string,
    change: BodyOf<'changeWebhook'>,
    options?: CallOptions,
  ) => Asked<'changeWebhook'>
  readonly deleteWebhook: (id: string, options?: CallOptions) => Asked<'deleteWebhook'>
  /** Posts one webhook.test now and reports how it was answered, after 30 seconds at most. */
  readonly testWebhook: (id: string, options?: PostOptions) => Asked<'testWebhook'>
  /** The log of event deliveries, newest first. */
  readonly listWebhookDeliveries: ListOf<'listWebhookDeliveries'>
  /** Sends a logged delivery again, once. */
  readonly replayWebhookDelivery: (
    id: string,
    deliveryId: string,
    options?: PostOptions,
  ) => Asked<'replayWebhookDelivery'>
}
