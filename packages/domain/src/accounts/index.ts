// Linked broker accounts: what a live read makes of one, whether orders may be placed on it, and
// its balance history.
export {
  accountPurposes,
  accountStatuses,
  historyIntervals,
  isDemo,
  isOvertaken,
  isSameLink,
  requireBrokerAccount,
  snapshotOf,
  withFailedRead,
  withReading,
  type Account,
  type AccountReading,
  type BalanceSnapshot,
  type BrokerAccount,
  type LinkedAccount,
  type TradeMode,
} from './account.ts'
export { requireNotHalted, type OperatorHalt } from './halt.ts'
export {
  checkThreshold,
  thresholdSeverities,
  thresholdTypes,
  type CheckedThreshold,
  type RiskThreshold,
  type ThresholdCheck,
} from './risk-threshold.ts'
