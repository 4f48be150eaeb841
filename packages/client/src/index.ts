// The package's entry: the client, its errors, and what a receiver of webhooks needs.
export { createClient, newIdempotencyKey } from './client.ts'
export type * from './contract.ts'
export type {
  BodyOf,
  DataOf,
  EventBody,
  EventName,
  LogEvent,
  MetaOf,
  NewOrder,
  NewWebhook,
  Operation,
  QueryOf,
  Reply,
  ReplyOf,
} from './contract-types.ts'
export {
  isTradeportError,
  type ErrorDetails,
  type NoAnswerError,
  type ServiceError,
  type ServiceErrorCode,
  type TradeportError,
  type UnknownCodeError,
  type UnreadableAnswerError,
} from './errors.ts'
export type { FollowOptions, QuotesOptions, QuoteUpdate } from './events.ts'
export type { ExportedFile } from './exported-file.ts'
export type {
  CallOptions,
  ClientOptions,
  PlaceOptions,
  PostOptions,
  RetryPolicy,
} from './options.ts'
export type { PlacedOrder, SettledOptions } from './placed-order.ts'
export { sleep } from './send.ts'
export type { ArgsOf, Client, List } from './routes.ts'
export {
  readWebhook,
  verifyWebhook,
  type KnownEvent,
  type RawBody,
  type ReceivedWebhook,
  type UnknownEvent,
  type WebhookEvent,
} from './webhooks.ts'
