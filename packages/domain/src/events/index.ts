// Events about orders and positions, with the payloads that webhooks deliver.
export {
  orderCreated,
  outcomeEvents,
  thresholdBreached,
  type EventPayloads,
  type ServiceEvent,
} from './events.ts'
export { journalEvents } from './journal-events.ts'
export {
  eventScopes,
  parseEventId,
  startOfLog,
  type EventId,
  type LoggedEvent,
} from './event-log.ts'
