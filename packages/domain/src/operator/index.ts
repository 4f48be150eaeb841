// The operator's view: documents with their plans, lists of records, and the checks of the doctor.
export { usersAffectedBy, type AffectedUsers } from './apply.ts'
export { embeddedRisk, maxListedJournals } from './health.ts'
export type { Durability, LimiterStanding, ProviderStanding } from './health.ts'
export type {
  Listed,
  ListedAccount,
  ListedTenant,
  OwnedListRequest,
  Slice,
  TenantCounts,
} from './listing.ts'
export { challengeStatuses } from '../orders/limits.ts'
export { emptyDocument, marketDataFeedId, noChanges } from './records.ts'
export type {
  AccountTraderLimits,
  Changes,
  Desk,
  OperatorChanges,
  OperatorDocument,
  OperatorKeys,
  OperatorRecords,
  ProviderAccount,
  User,
  StoredAccessToken,
  StoredApiKey,
  StoredMarketDataFeed,
  AccountSnapshot,
  Challenge,
  Tenant,
} from './records.ts'
export type { SealedSecret, SecretKind } from './sealed-secrets.ts'
export { secretKinds } from './sealed-secrets.ts'
