// The deals that are kept of an account: what to read next of the broker's history, how it differs,
// and the events of new deals.
export { dealKey } from './broker-deal.ts'
export type { BrokerDeal, DealKind, DealReason, DealsWindow } from './broker-deal.ts'
export { journalEvents } from './journal-events.ts'
export type { JournalState } from './journal-state.ts'
