// The types of the API's routes by name, from contract.ts, which is generated.
import type { Event, Meta, Operations, Webhooks } from './contract.ts'

/** The operationId of a route, which is the name of its method. */
export type Operation = keyof Operations

type Field<Op extends Operation, Name, Without = never> = Name extends keyof Operations[Op]
  ? NonNullable<Operations[Op][Name]>
  : Without

/** An event of the log; its `data` is what webhooks get. */
export type LogEvent = {
  readonly [Name in keyof Webhooks]: Omit<Event, 'event' | 'data'> &
    Pick<Webhooks[Name], 'event' | 'data'>
}[keyof Webhooks]

/** The `data` of a reply; `never` where a route has none. */
export type DataOf<Op extends Operation> = Op extends 'listEvents'
  ? readonly LogEvent[]
  : Field<Op, 'data'>
/** The `meta` of a reply: what every reply has, and pagination or provenance where the route adds them. */
export type MetaOf<Op extends Operation> = Meta & Field<Op, 'meta', unknown>
/** The query of a route: what its method gets after the ids. */
export type QueryOf<Op extends Operation> = Field<Op, 'query'>
/** The JSON body of a route: what its method gets after the ids. */
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

/** What placeOrder and previewOrder get: volumes in lots, prices in the quote currency. */
export type NewOrder = BodyOf<'placeOrder'>
/** What createWebhook gets. */
export type NewWebhook = BodyOf<'createWebhook'>

/** What is delivered to webhooks. */
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
