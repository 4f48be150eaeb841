// The types of the client's methods, and what the generated table of routes does not say of them.
import type { Operations } from './contract.ts'
import type { routes } from './contract-tables.ts'
import type { BodyOf, DataOf, LogEvent, Operation, QueryOf, ReplyOf } from './contract-types.ts'
import type { FollowOptions, QuotesOptions, QuoteUpdate } from './events.ts'
import type { ExportedFile } from './exported-file.ts'
import type { CallOptions, PlaceOptions, PostOptions } from './options.ts'
import type { Paging } from './pages.ts'
import type { PlacedOrder } from './placed-order.ts'

/** A row of the generated table. */
export interface Route {
  /** The method and the path, in which each `:name` is one argument. */
  readonly route: string
  /** The argument after those of the path. */
  readonly input?: 'query' | 'body' | 'optional-body'
  /** Other than the envelope. */
  readonly reply?: 'file' | 'stream'
}

/** How `each` of a list reads the pages. */
const pagings = {
  listOrders: 'pages',
  // A position that is closed moves all younger ones one place towards the first page.
  listPositions: 'pages-from-the-last',
  listTrades: 'cursor',
  listEvents: 'after',
  listWebhookDeliveries: 'pages',
} as const satisfies { readonly [Op in Operation]?: Paging }

export const pagingOf = (operation: Operation): Paging | undefined =>
  (pagings as { readonly [Op in Operation]?: Paging })[operation]

const readPosition =
  'The change may have been made: read the position (getPosition) before you try again.'
const readOrder = 'The change may have been made: read the order (getOrder) before you try again.'

/**
 * What to do if the outcome of a write is unknown. Every write but a POST needs an entry: it has no
 * Idempotency-Key with which it could be repeated.
 */
export const adviceIfUnknown: { readonly [Op in Operation]?: string } & {
  readonly [Op in WriteWithoutKey]: string
} = {
  liftHalt: 'The halt may have been lifted: lift it again, which changes nothing then.',
  modifyOrder: readOrder,
  cancelOrder: readOrder,
  cancelOrders: 'Orders may be cancelled: list the open ones (listOrders) before you try again.',
  moveStopLoss: readPosition,
  moveTakeProfit: readPosition,
  changePositionLevels: readPosition,
  changeWebhook:
    'The change may have been made: read the webhook (getWebhook) before you try again.',
  deleteWebhook: 'The webhook may be deleted: look for it (listWebhooks) before you try again.',
}

type Routes = typeof routes
type WriteWithoutKey = {
  [Op in Operation]: Routes[Op]['route'] extends `${'PUT' | 'DELETE'} ${string}` ? Op : never
}[Operation]

/** The operations that are methods. `events` and `quotes` read the others, the streams. */
type Methods = Omit<Operations, 'streamEvents' | 'streamQuotes'>
type Name = keyof Methods

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
  /**
   * Every item once. A page is read when its first item is needed; of positions, all pages are read
   * before the first item.
   */
  readonly each: (
    ...args: [...Ids<Op>, filters?: Filters<Op>, options?: CallOptions]
  ) => AsyncIterable<DataOf<Op> extends readonly (infer Item)[] ? Item : never>
}

/**
 * A method for each route, `events` and `quotes`. Times are ISO 8601 text. Every method throws
 * TradeportError, and TypeError for an invalid argument.
 */
export type Client = {
  readonly [Op in keyof Methods]: Op extends keyof typeof pagings ? List<Op> : Method<Op>
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
