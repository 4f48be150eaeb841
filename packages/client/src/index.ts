// The package's entry: the client, its errors, and what a receiver of webhooks needs.
export { createClient } from './client.ts'
export { isTradeportError } from './errors.ts'
export { readWebhook } from './webhooks.ts'
export { verifyWebhookSignature } from './signature.ts'
export type { Reply } from './answer.ts'
export type {
  Account,
  BalanceSnapshot,
  ClosePositionResult,
  CreatedWebhook,
  DataOf,
  Delivery,
  EventBody,
  EventName,
  Instrument,
  MetaOf,
  NewOrder,
  NewWebhook,
  Order,
  Position,
  QueryOf,
  ReplyOf,
  Trade,
  TradeStatistics,
  Webhook,
  WebhookTestResult,
} from './contract-types.ts'
export type { ErrorDetails, ServiceErrorCode } from './error-details.ts'
export type {
  NoAnswerError,
  ServiceError,
  TradeportError,
  UnknownCodeError,
  UnreadableAnswerError,
} from './errors.ts'
export type { ExportedFile } from './exported-file.ts'
export type { CallOptions, Client, List, ListOf, PostOptions } from './methods.ts'
export type { RetryPolicy } from './retry.ts'
export type { Operation } from './routes.ts'
export type { ClientOptions } from './settings.ts'
export type { RawBody } from './signature.ts'
export type { KnownEvent, ReceivedWebhook, UnknownEvent, WebhookEvent } from './webhooks.ts'
