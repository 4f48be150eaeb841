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
  type AccountLink,
  type OperatorHalt,
  type TradeMode,
} from './account.ts'
export {
  thresholdSeverities,
  thresholdTypes,
  type CheckedThreshold,
  type RiskThreshold,
  type ThresholdBreach,
} from './risk-threshold.ts'
