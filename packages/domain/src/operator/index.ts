// The operator's view: documents with their plans, lists of records, and the checks of the doctor.
export { usersAffectedBy, type AffectedUsers } from './apply.ts'
export {
  embeddedRisk,
  maxListedAccounts,
  type Durability,
  type LimiterStanding,
  type LimiterStatus,
  type ProviderStanding,
} from './health.ts'
export type { Listed, ListedAccount, ListedTenant, Slice, RecordCounts } from './listing.ts'
export type { PlannedChange } from './plan.ts'
export { challengeStatuses } from '../orders/limits.ts'
export {
  emptyDocument,
  marketDataFeedId,
  noChanges,
  sections,
  type AccountTraderLimits,
  type Changes,
  type Desk,
  type OperatorChanges,
  type OperatorDocument,
  type OperatorKeys,
  type OperatorRecords,
  type ProviderAccount,
  type Section,
  type User,
  type StoredAccessToken,
  type StoredApiKey,
  type StoredMarketDataFeed,
  type AccountSnapshot,
  type Challenge,
  type Tenant,
} from './records.ts'
export {
  type SealedSecret,
  type SecretKind,
  secretKinds,
  type SecretCounts,
} from './sealed-secrets.ts'
