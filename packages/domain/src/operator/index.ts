// The operator's view: documents with their plans, lists of records, and the checks of the doctor.
export { usersAffectedBy } from './affected-users.ts'
export type { AffectedUsers } from './affected-users.ts'
export { embeddedRisk, maxListedJournals } from './health.ts'
export type { ClockReading, Durability, LimiterStanding, ProviderStanding } from './health.ts'
export type {
  Listed,
  ListedAccount,
  ListedTenant,
  OwnedListRequest,
  Slice,
  TenantCounts,
} from './listing.ts'
export { challengeStatuses, emptyDocument } from './records.ts'
export type {
  AccountTraderLimits,
  Changes,
  Desk,
  OperatorChanges,
  OperatorDocument,
  OperatorKeys,
  OperatorRecords,
  User,
} from './records.ts'
export type { ResealedBatch, SealedSecret, SecretKind, SecretsCensus } from './sealed-secrets.ts'
