// Events about orders and positions, with the payloads that webhooks deliver.
export type { EventPayloads } from './event-payloads.ts'
export { orderCreated, settlementEvents } from './order-events.ts'
export type { ServiceEvent } from './service-event.ts'
