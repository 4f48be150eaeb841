// API keys, access tokens and scopes, rate limits, and what an idempotency key means for a request.
export { apiKeyPrefix, apiKeyRequirement, generateApiKey, isApiKey } from './api-key.ts'
export { plans, programOf } from './credential.ts'
export type {
  CallingProgram,
  Credential,
  CredentialHash,
  ProgramId,
  UserPlan,
} from './credential.ts'
export { answerOfHeldKey, claimLapseMs, heldKeyStates, keyLifetimeMs } from './idempotency-key.ts'
export type { Claimed, HeldKey, IdempotencyClaim, KeptReply } from './idempotency-key.ts'
export {
  caughtUp,
  decideRate,
  movedTo,
  rateStateEnds,
  rateVerdict,
  refusalWindowMs,
  stricterRateState,
  suspendingRefusals,
  suspensionMs,
  unusedRateState,
} from './rate-decision.ts'
export type { RateDecision, RateOutcome, RateState, RateVerdict } from './rate-decision.ts'
export { endpointBucket, minuteBucket, rateSubjectKey, tiers } from './rate-limits.ts'
export type { EndpointLimit, RateSubject } from './rate-limits.ts'
export { isScope, requireScope, scopes } from './scopes.ts'
export type { Scope } from './scopes.ts'
