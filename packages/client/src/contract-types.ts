// What the contract says of each route, as types with names; contract.ts is generated from the API's document.
import type { Reply } from './answer.ts'
import type { components, operations, webhooks } from './contract.ts'
import type { Operation } from './routes.ts'

type Json<Response> = Response extends {
  readonly content: { readonly 'application/json': infer Body }
}
  ? Body
  : never

type Responses<Op extends Operation> = operations[Op] extends { readonly responses: infer All }
  ? All
  : never
type Success<Op extends Operation> = Json<Responses<Op>[keyof Responses<Op>]>

type FieldOf<Body, Name extends string> = Body extends { readonly [N in Name]: infer Field }
  ? Field
  : never

export type DataOf<Op extends Operation> = FieldOf<Success<Op>, 'data'>
export type MetaOf<Op extends Operation> = FieldOf<Success<Op>, 'meta'>
export type QueryOf<Op extends Operation> = operations[Op] extends {
  readonly parameters: { readonly query?: infer Query }
}
  ? NonNullable<Query>
  : never
export type BodyOf<Op extends Operation> = operations[Op] extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer Body } }
}
  ? Body
  : never

/** What the method of a route resolves to. A route that gives no data yet always throws. */
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
export type Webhook = Schemas['Webhook']
export type CreatedWebhook = Schemas['CreatedWebhook']
export type NewWebhook = BodyOf<'createWebhook'>
export type WebhookTestResult = Schemas['WebhookTestResult']
export type Delivery = Schemas['Delivery']

export type EventName = keyof webhooks | 'webhook.test'

/** The body of a delivery, by event. */
export type EventBody<Name extends EventName> = Name extends keyof webhooks
  ? webhooks[Name] extends {
      readonly post: {
        readonly requestBody: { readonly content: { readonly 'application/json': infer Body } }
      }
    }
    ? Body
    : never
  : TestEvent

/** What testWebhook has posted. */
export interface TestEvent {
  readonly event: 'webhook.test'
  readonly data: { readonly message: string; readonly timestamp: string }
  readonly timestamp: string
  readonly webhook_id: string
}
