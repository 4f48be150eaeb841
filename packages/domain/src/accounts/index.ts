// Linked broker accounts: what a live read makes of one, whether orders may be placed on it, and
// its balance history.
export {
  accountPurposes,
  accountStatuses,
  isDemo,
  isOvertaken,
  isSameLink,
  requireBrokerAccount,
  withFailedRead,
  withReading,
} from './account.ts'
export type { Account, AccountReading, BrokerAccount, LinkedAccount, TradeMode } from './account.ts'
export { historyIntervals, snapshotOf } from './balance-history.ts'
export type { BalanceSnapshot } from './balance-history.ts'
