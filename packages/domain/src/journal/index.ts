// The kept deals of an account, what to read next of the broker's history, and how the two differ.
export {
  balanceAmounts,
  cashFlowReason,
  dealKey,
  dealReasons,
  isPlaced,
  type BrokerDeal,
  type ChangedDeal,
  type CashFlowKind,
  type DealKey,
  type DealKind,
  type DealReason,
  type DealsPage,
  type DealsWindow,
} from './broker-deal.ts'
export { differenceOf, type JournalState, type Reread } from './journal-state.ts'
