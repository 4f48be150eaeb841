// The types of the API's routes and schemas by name, from contract.ts, which is generated.
import type { components, operations, webhooks } from './contract.ts'

/** The operationId of a route, which is the name of its method. */
export type Operation = keyof operations

interface Content<Body> {
  readonly content: { readonly 'application/json': Body }
}
type Json<Response> = Response extends Content<infer Body> ? Body : never

type Success<Op extends Operation> = operations[Op] extends { readonly responses: infer All }
  ? Json<All[keyof All]>
  : never

// Distributes, so that no body has no field.
type Field<Body, Name extends string> = Body extends { readonly [N in Name]: infer Value }
  ? Value
  : never

export type DataOf<Op extends Operation> = Field<Success<Op>, 'data'>
export type MetaOf<Op extends Operation> = Field<Success<Op>, 'meta'>
export type QueryOf<Op extends Operation> = operations[Op] extends {
  readonly parameters: { readonly query?: infer Query }
}
  ? NonNullable<Query>
  : never
export type BodyOf<Op extends Operation> = operations[Op] extends {
  readonly requestBody?: infer Sent
}
  ? Json<NonNullable<Sent>>
  : never

/** What a method resolves to. */
export interface Reply<Data, Meta> {
  readonly data: Data
  readonly meta: Meta
  /** X-RateLimit-*, Idempotent-Replayed, Location and others. */
  readonly headers: Headers
}

/** What the method of a route resolves to. A route without data yet always throws. */
export type ReplyOf<Op extends Operation> = Reply<DataOf<Op>, MetaOf<Op>>

type Schemas = components['schemas']

export type Account = Schemas['Account']
export type BalanceSnapshot = Schemas['BalanceSnapshot']
export type Order = Schemas['Order']
export type NewOrder = BodyOf<'placeOrder'>
export type Position = Schemas['Position']
export type ClosePositionResult = Schemas['ClosePositionResult']
export type Trade = Schemas['Trade']
export type TradeStatistics = Schemas['TradeStatistics']
export type Instrument = Schemas['Instrument']
export type BrokerInstrument = Schemas['BrokerInstrument']
export type Quote = Schemas['Quote']
export type Candle = Schemas['Candle']
export type Tick = Schemas['Tick']
export type Webhook = Schemas['Webhook']
export type CreatedWebhook = Schemas['CreatedWebhook']
export type NewWebhook = BodyOf<'createWebhook'>
export type WebhookTestResult = Schemas['WebhookTestResult']
export type Delivery = Schemas['Delivery']

export type EventName = keyof webhooks | 'webhook.test'

/** The body of a delivery, by event. */
export type EventBody<Name extends EventName> = Name extends keyof webhooks
  ? Json<webhooks[Name]['post']['requestBody']>
  : TestEvent

/** The event that testWebhook posts. */
export interface TestEvent {
  readonly event: 'webhook.test'
  readonly data: { readonly message: string; readonly timestamp: string }
  readonly timestamp: string
  readonly webhook_id: string
}
