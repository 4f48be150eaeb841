// Values that everything else is made of: ids, instants, lots, exact sums, pages.
export { parseEmailAddress } from './email-address.ts'
export type { EmailAddress } from './email-address.ts'
export { sumExactly } from './exact-sum.ts'
export { fillOfExecutions } from './executions.ts'
export type { Execution } from './executions.ts'
export {
  formatPositionId,
  parseAccountId,
  parseDeliveryId,
  parseTenantId,
  parseTicket,
  parseUserId,
  parseWebhookId,
} from './ids.ts'
export type { AccountId, DeliveryId, Owner, TenantId, Ticket, UserId, WebhookId } from './ids.ts'
export {
  createIsoWriter,
  dayMs,
  hourMs,
  minuteMs,
  parseInstant,
  secondMs,
  toIso,
  toUtcDay,
} from './instant.ts'
export type { Instant, RangeEdge } from './instant.ts'
export { compareLots, lotsWithout, roundLots } from './lots.ts'
export type { Page } from './pages.ts'
export { parseSymbolFilter, symbolFilterPattern } from './symbol-filter.ts'
export type { SymbolFilter } from './symbol-filter.ts'
