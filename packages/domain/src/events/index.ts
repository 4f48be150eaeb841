// Events about orders, positions, trades, balances and risk, with their payloads.
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
