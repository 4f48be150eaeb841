// The types of the API's routes by name, from contract.ts, which is generated.
import type { Meta, Operations, Webhooks } from './contract.ts'

/** The operationId of a route, which is the name of its method. */
export type Operation = keyof Operations

type Field<Op extends Operation, Name, Without = never> = Name extends keyof Operations[Op]
  ? NonNullable<Operations[Op][Name]>
  : Without

export type DataOf<Op extends Operation> = Field<Op, 'data'>
export type MetaOf<Op extends Operation> = Meta & Field<Op, 'meta', unknown>
export type QueryOf<Op extends Operation> = Field<Op, 'query'>
export type BodyOf<Op extends Operation> = Field<Op, 'body'>

/** What a method resolves to. */
export interface Reply<Data, Meta> {
  readonly data: Data
  readonly meta: Meta
  /** X-RateLimit-*, Idempotent-Replayed, Location and others. */
  readonly headers: Headers
}

/** What the method of a route resolves to. A route without data yet always throws. */
export type ReplyOf<Op extends Operation> = Reply<DataOf<Op>, MetaOf<Op>>

export type NewOrder = BodyOf<'placeOrder'>
export type NewWebhook = BodyOf<'createWebhook'>

export type EventName = keyof Webhooks | 'webhook.test'

/** The body of a delivery, by event. */
export type EventBody<Name extends EventName> = Name extends keyof Webhooks
  ? Webhooks[Name]
  : TestEvent

/** The event that testWebhook posts. */
interface TestEvent {
  readonly event: 'webhook.test'
  readonly data: { readonly message: string; readonly timestamp: string }
  readonly timestamp: string
  readonly webhook_id: string
}
