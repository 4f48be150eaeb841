// Values that everything else is made of: ids, instants, lots, exact sums, pages.
export { parseEmailAddress, type EmailAddress } from './email-address.ts'
export { roundAmount, sumExactly } from './exact-sum.ts'
export { fillOfExecutions, type Execution } from './lots.ts'
export {
  formatPositionId,
  isSameOwner,
  ownerKey,
  parseAccountId,
  parseDeliveryId,
  parseTenantId,
  parseTicket,
  parseUserId,
  parseWebhookId,
  type AccountId,
  type DeliveryId,
  type Owner,
  type TenantId,
  type Ticket,
  type UserId,
  type WebhookId,
} from './ids.ts'
export {
  dayMs,
  hourMs,
  minuteMs,
  parseInstant,
  secondMs,
  startOfUtcDay,
  toIso,
  toUtcDay,
  type Instant,
  type RangeEdge,
} from './instant.ts'
export { pageOf, type Page } from './pages.ts'
export {
  isSymbolMatch,
  parseSymbolFilter,
  symbolFilterPattern,
  type SymbolFilter,
} from './symbol-filter.ts'
export { compareTickets } from './tickets.ts'
