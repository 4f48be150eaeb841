// Every refusal the service can answer, one tagged type each. A refusal is data: it holds what the
// reply's details need and never a secret. How it looks on the wire is the HTTP adapter's table.
import type { AccountId } from './primitives/ids.ts'
import { wholeSeconds } from './primitives/instant.ts'
import type { Instant } from './primitives/instant.ts'

/** One fault of a request: where it stands (`limit`, `body.volume`) and what the place takes. */
export interface Issue {
  readonly path: string
  readonly message: string
}

export interface ValidationError {
  readonly _tag: 'ValidationError'
  /** Every fault at once, never empty. */
  readonly issues: readonly Issue[]
}
export interface Unauthorized {
  readonly _tag: 'Unauthorized'
  /** That the operator's token was asked for, and not a user's credential. */
  readonly isOperators?: true
}
export interface InsufficientScope {
  readonly _tag: 'InsufficientScope'
  readonly requiredAnyOf: readonly string[]
}
export interface NotFound {
  readonly _tag: 'NotFound'
  /** What was looked for, as a noun for the message: `route`, `symbol`, `order`, `webhook`. */
  readonly what: string
  /** What the caller probably meant, as a sentence. */
  readonly hint?: string
}
export interface AccountNotFound {
  readonly _tag: 'AccountNotFound'
}
export interface AccountPurposeRestricted {
  readonly _tag: 'AccountPurposeRestricted'
}
export interface LiveAccountRestricted {
  readonly _tag: 'LiveAccountRestricted'
}
export interface OrderTypeNotSupported {
  readonly _tag: 'OrderTypeNotSupported'
  readonly orderType: string
}
export interface UnsupportedBroker {
  readonly _tag: 'UnsupportedBroker'
  readonly accountId: AccountId
}
export interface NotProvisioned {
  readonly _tag: 'NotProvisioned'
  readonly accountId: AccountId
}
/**
 * Why a broker cannot be read, where the operator of this service has to act: the provider answered
 * 401 to the token that the operator configured.
 */
export type UnavailableCause = 'token_refused'
export interface BrokerUnavailable {
  readonly _tag: 'BrokerUnavailable'
  readonly accountId: AccountId
  /** For the log and the operator, never with a secret in it. */
  readonly reason: string
  readonly cause?: UnavailableCause
}
export interface BrokerRateLimited {
  readonly _tag: 'BrokerRateLimited'
  readonly accountId: AccountId
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number
}
export interface ChallengeLocked {
  readonly _tag: 'ChallengeLocked'
}
export interface ChallengeCheckUnavailable {
  readonly _tag: 'ChallengeCheckUnavailable'
  readonly reason: string
}
/** A limit that the head trader set for the account: which, and what it allows. */
export interface BreachedLimit {
  readonly limit: string
  readonly allowed: number | readonly string[]
  /**
   * The order's lots or symbol where the limit is on the order; what is open and under way without
   * it where the limit is on the book.
   */
  readonly current: number | string
}
export interface TraderLimitBreached extends BreachedLimit {
  readonly _tag: 'TraderLimitBreached'
}
export interface DeskLimitBreached extends BreachedLimit {
  readonly _tag: 'DeskLimitBreached'
}
export interface ApprovalRequired {
  readonly _tag: 'ApprovalRequired'
  readonly approvalAboveLots: number
}
export interface LimitCheckUnavailable {
  readonly _tag: 'LimitCheckUnavailable'
  readonly reason: string
  readonly cause?: UnavailableCause
}
export interface ExceededRiskLimit {
  readonly limit: 'volume_per_order' | 'orders_per_day' | 'open_orders'
  readonly allowed: number
  readonly current: number
  /** When the day's count begins anew. */
  readonly resetsAt?: Instant
}
export interface RiskLimitExceeded extends ExceededRiskLimit {
  readonly _tag: 'RiskLimitExceeded'
}
export interface OrderInFlight {
  readonly _tag: 'OrderInFlight'
}
export interface OrderNotModifiable {
  readonly _tag: 'OrderNotModifiable'
  readonly status: string
}
export interface OrderNotCancellable {
  readonly _tag: 'OrderNotCancellable'
  readonly status: string
}
/** An operator asked to end an order that has ended already. */
export interface OrderNotPending {
  readonly _tag: 'OrderNotPending'
  readonly status: string
}
/** The order was written by somebody else between being read and being written. */
export interface OrderChanged {
  readonly _tag: 'OrderChanged'
}
export interface AccountDisconnected {
  readonly _tag: 'AccountDisconnected'
  readonly accountId: AccountId
  readonly status: 'disconnected' | 'error'
}
export interface PositionNotFound {
  readonly _tag: 'PositionNotFound'
}
/** A stop loss or take profit on the wrong side of the price. */
export interface InvalidPrice {
  readonly _tag: 'InvalidPrice'
  readonly level: 'stopLoss' | 'takeProfit'
  readonly side: 'buy' | 'sell'
  readonly value: number
  readonly currentPrice: number
}
/** More lots to close than the position has. */
export interface InvalidVolume {
  readonly _tag: 'InvalidVolume'
  readonly volume: number
  readonly openVolume: number
}
/** The broker said no to a change: its code and words. */
export interface TradeRejected {
  readonly _tag: 'TradeRejected'
  readonly code: string
  readonly message: string
}
/** A change was sent, and nothing tells whether it was made. */
export interface BrokerOutcomeUnknown {
  readonly _tag: 'BrokerOutcomeUnknown'
  readonly accountId: AccountId
}
export interface NotImplemented {
  readonly _tag: 'NotImplemented'
  readonly feature: string
}
export interface TradeNotFound {
  readonly _tag: 'TradeNotFound'
}
export interface HistoryTooLarge {
  readonly _tag: 'HistoryTooLarge'
  readonly accountId: AccountId
  /** The most deals that are read: 20,000. */
  readonly limit: number
}
export interface InvalidCursor {
  readonly _tag: 'InvalidCursor'
}
/**
 * Which decision of the rate limiter refused a request: the limit of the plan (and which of its
 * windows), of the endpoint, or a suspension.
 */
export type LimiterScope =
  | { readonly scope: 'tier'; readonly window: 'minute' | 'day' }
  | { readonly scope: 'endpoint' }
  | { readonly scope: 'suspension' }
/**
 * `address`: too many failed credentials from one address. `bodies`: as many request bodies of the
 * credential are being received as may be at a time. Neither counts towards a suspension.
 */
export type RateLimitScope =
  | LimiterScope
  | { readonly scope: 'address' }
  | { readonly scope: 'bodies' }
export interface RateLimitExceeded<Scope extends RateLimitScope = RateLimitScope> {
  readonly _tag: 'RateLimitExceeded'
  readonly exceeded: Scope
  /** Until a request would pass. Whole seconds, at least 1. */
  readonly retryAfterSeconds: number
}
/** The user has as many webhooks as there may be. */
export interface WebhookLimitReached {
  readonly _tag: 'WebhookLimitReached'
  readonly allowed: number
}
export interface IdempotencyKeyReused {
  readonly _tag: 'IdempotencyKeyReused'
}
export interface IdempotencyInProgress {
  readonly _tag: 'IdempotencyInProgress'
}
export interface PayloadTooLarge {
  readonly _tag: 'PayloadTooLarge'
  readonly limitBytes: number
}
export interface InternalError {
  readonly _tag: 'InternalError'
}
export interface ServiceUnavailable {
  readonly _tag: 'ServiceUnavailable'
  /** For the log; callers are told only what cannot be read. */
  readonly reason: string
  /** What cannot be read where it is not the service's own records. */
  readonly unread?: 'token_keys'
  /**
   * The connection was lost between a write and the word of it: what was to be written may stand.
   */
  readonly outcome?: 'unknown'
  /** When to try again, where that is known. Whole seconds, at least 1. */
  readonly retryAfterSeconds?: number
}
export interface InternalTimeout {
  readonly _tag: 'InternalTimeout'
}

/**
 * What a read from the broker can fail with. It can never say that something was refused or may
 * have happened.
 */
export type BrokerReadError =
  | UnsupportedBroker
  | NotProvisioned
  | BrokerUnavailable
  | BrokerRateLimited

/**
 * What a change at the broker can fail with: beside what a read can, that the broker refused it,
 * that there is nothing to change, or that it may have happened.
 */
export type BrokerChangeError =
  | BrokerReadError
  | PositionNotFound
  | TradeRejected
  | BrokerOutcomeUnknown

export type Refusal =
  | ValidationError
  | Unauthorized
  | InsufficientScope
  | NotFound
  | AccountNotFound
  | AccountPurposeRestricted
  | LiveAccountRestricted
  | OrderTypeNotSupported
  | UnsupportedBroker
  | NotProvisioned
  | BrokerUnavailable
  | BrokerRateLimited
  | ChallengeLocked
  | ChallengeCheckUnavailable
  | TraderLimitBreached
  | DeskLimitBreached
  | ApprovalRequired
  | LimitCheckUnavailable
  | RiskLimitExceeded
  | OrderInFlight
  | OrderNotModifiable
  | OrderNotCancellable
  | OrderNotPending
  | OrderChanged
  | AccountDisconnected
  | PositionNotFound
  | InvalidPrice
  | InvalidVolume
  | TradeRejected
  | BrokerOutcomeUnknown
  | NotImplemented
  | TradeNotFound
  | HistoryTooLarge
  | InvalidCursor
  | RateLimitExceeded
  | WebhookLimitReached
  | IdempotencyKeyReused
  | IdempotencyInProgress
  | PayloadTooLarge
  | InternalError
  | ServiceUnavailable
  | InternalTimeout

export const validationError = (issues: readonly Issue[]): ValidationError => ({
  _tag: 'ValidationError',
  issues,
})
export const unauthorized: Unauthorized = { _tag: 'Unauthorized' }
export const insufficientScope = (requiredAnyOf: readonly string[]): InsufficientScope => ({
  _tag: 'InsufficientScope',
  requiredAnyOf,
})
export const notFound = (what: string): NotFound => ({ _tag: 'NotFound', what })
export const accountNotFound: AccountNotFound = { _tag: 'AccountNotFound' }
export const unsupportedBroker = (accountId: AccountId): UnsupportedBroker => ({
  _tag: 'UnsupportedBroker',
  accountId,
})
export const accountPurposeRestricted: AccountPurposeRestricted = {
  _tag: 'AccountPurposeRestricted',
}
export const liveAccountRestricted: LiveAccountRestricted = { _tag: 'LiveAccountRestricted' }
export const orderTypeNotSupported = (orderType: string): OrderTypeNotSupported => ({
  _tag: 'OrderTypeNotSupported',
  orderType,
})
export const challengeLocked: ChallengeLocked = { _tag: 'ChallengeLocked' }
export const challengeCheckUnavailable = (reason: string): ChallengeCheckUnavailable => ({
  _tag: 'ChallengeCheckUnavailable',
  reason,
})
export const traderLimitBreached = (limit: BreachedLimit): TraderLimitBreached => ({
  _tag: 'TraderLimitBreached',
  ...limit,
})
export const deskLimitBreached = (limit: BreachedLimit): DeskLimitBreached => ({
  _tag: 'DeskLimitBreached',
  ...limit,
})
export const approvalRequired = (approvalAboveLots: number): ApprovalRequired => ({
  _tag: 'ApprovalRequired',
  approvalAboveLots,
})
export const limitCheckUnavailable = (
  reason: string,
  cause?: UnavailableCause,
): LimitCheckUnavailable => ({
  _tag: 'LimitCheckUnavailable',
  reason,
  ...(cause !== undefined && { cause }),
})
export const riskLimitExceeded = (limit: ExceededRiskLimit): RiskLimitExceeded => ({
  _tag: 'RiskLimitExceeded',
  ...limit,
})
export const orderInFlight: OrderInFlight = { _tag: 'OrderInFlight' }
export const orderNotModifiable = (status: string): OrderNotModifiable => ({
  _tag: 'OrderNotModifiable',
  status,
})
export const orderNotCancellable = (status: string): OrderNotCancellable => ({
  _tag: 'OrderNotCancellable',
  status,
})
export const orderNotPending = (status: string): OrderNotPending => ({
  _tag: 'OrderNotPending',
  status,
})
export const orderChanged: OrderChanged = { _tag: 'OrderChanged' }
export const idempotencyKeyReused: IdempotencyKeyReused = { _tag: 'IdempotencyKeyReused' }
export const idempotencyInProgress: IdempotencyInProgress = { _tag: 'IdempotencyInProgress' }
export const notProvisioned = (accountId: AccountId): NotProvisioned => ({
  _tag: 'NotProvisioned',
  accountId,
})
export const brokerUnavailable = (
  accountId: AccountId,
  reason: string,
  cause?: UnavailableCause,
): BrokerUnavailable => ({
  _tag: 'BrokerUnavailable',
  accountId,
  reason,
  ...(cause !== undefined && { cause }),
})
export const accountDisconnected = (
  accountId: AccountId,
  status: 'disconnected' | 'error',
): AccountDisconnected => ({
  _tag: 'AccountDisconnected',
  accountId,
  status,
})
export const positionNotFound: PositionNotFound = { _tag: 'PositionNotFound' }
export const invalidPrice = (wrong: Omit<InvalidPrice, '_tag'>): InvalidPrice => ({
  _tag: 'InvalidPrice',
  ...wrong,
})
export const invalidVolume = (volume: number, openVolume: number): InvalidVolume => ({
  _tag: 'InvalidVolume',
  volume,
  openVolume,
})
export const tradeRejected = (code: string, message: string): TradeRejected => ({
  _tag: 'TradeRejected',
  code,
  message,
})
export const brokerOutcomeUnknown = (accountId: AccountId): BrokerOutcomeUnknown => ({
  _tag: 'BrokerOutcomeUnknown',
  accountId,
})
export const notImplemented = (feature: string): NotImplemented => ({
  _tag: 'NotImplemented',
  feature,
})
export const tradeNotFound: TradeNotFound = { _tag: 'TradeNotFound' }
export const historyTooLarge = (accountId: AccountId, limit: number): HistoryTooLarge => ({
  _tag: 'HistoryTooLarge',
  accountId,
  limit,
})
export const invalidCursor: InvalidCursor = { _tag: 'InvalidCursor' }
export const rateLimitExceeded = <Scope extends RateLimitScope>(
  exceeded: Scope,
  retryAfterSeconds: number,
): RateLimitExceeded<Scope> => ({
  _tag: 'RateLimitExceeded',
  exceeded,
  retryAfterSeconds,
})
export const webhookLimitReached = (allowed: number): WebhookLimitReached => ({
  _tag: 'WebhookLimitReached',
  allowed,
})
export const payloadTooLarge = (limitBytes: number): PayloadTooLarge => ({
  _tag: 'PayloadTooLarge',
  limitBytes,
})
export const internalError: InternalError = { _tag: 'InternalError' }
export const serviceUnavailable = (reason: string): ServiceUnavailable => ({
  _tag: 'ServiceUnavailable',
  reason,
})
/** What was to be written may have been, for all that is known. */
export const outcomeUnknown = (reason: string): ServiceUnavailable => ({
  _tag: 'ServiceUnavailable',
  reason,
  outcome: 'unknown',
})
/**
 * The keys of the issuer of access tokens cannot be read, so that a token can be neither believed
 * nor refused.
 */
export const tokenKeysUnavailable = (reason: string): ServiceUnavailable => ({
  _tag: 'ServiceUnavailable',
  reason,
  unread: 'token_keys',
})
export const internalTimeout: InternalTimeout = { _tag: 'InternalTimeout' }

/**
 * The broker asked to wait.
 * @param retryAt when it may be asked again; the wait is told in whole seconds, rounded up, at
 * least 1
 */
export const brokerRateLimited = (
  accountId: AccountId,
  retryAt: Instant,
  now: Instant,
): BrokerRateLimited => ({
  _tag: 'BrokerRateLimited',
  accountId,
  retryAfterSeconds: wholeSeconds(retryAt - now),
})
