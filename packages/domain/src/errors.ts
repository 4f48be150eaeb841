// Every refusal that the service can answer: its tag, and what the reply's details and the log need
// of it, never a secret. `packages/http/src/errors.ts` maps each to a status, a code and a message.
import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AccountId } from './primitives/ids.ts'
import { wholeSeconds, type Instant } from './primitives/instant.ts'
import type { LevelName, Side } from './primitives/prices.ts'

/** One fault of a request: where it is (`limit`, `body.volume`) and what is accepted there. */
export interface Issue {
  readonly path: string
  readonly message: string
}

/**
 * Why a broker cannot be read, where that is not the broker's doing: the provider answered 401 to the
 * tenant's token, the tenant has none, or this service cannot read it.
 */
export type UnavailableCause = 'token_refused' | 'token_missing' | 'token_unreadable'

/** A limit that the head trader set for the account: which, and what it allows. */
export interface BreachedLimit {
  readonly limit: string
  readonly allowed: number | readonly string[]
  /**
   * Of a limit on single orders, the lots or symbol of this one; of a limit on what is open, the
   * positions or lots that are open or under way without it.
   */
  readonly current: number | string
}

export const haltedBy = ['owner', 'operator'] as const

/** While it lasts no order is placed on the account. */
export interface Halt {
  /** The operator's cannot be lifted by the owner. */
  readonly by: (typeof haltedBy)[number]
  readonly since: Instant
  readonly reason: string | null
}

export interface ExceededRiskLimit {
  readonly limit: 'volume_per_order' | 'orders_per_day' | 'open_orders'
  readonly allowed: number
  readonly current: number
  /** When the count of the next day begins. */
  readonly resetsAt?: Instant
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
 * credential are being received as may be at a time. `calculations`: as many of the user's are
 * under way as may be. None of them counts towards a suspension.
 */
export type RateLimitScope =
  | LimiterScope
  | { readonly scope: 'address' }
  | { readonly scope: 'bodies' }
  | { readonly scope: 'calculations' }

type None = object
interface OfAccount {
  readonly accountId: AccountId
}
interface OfStatus {
  readonly status: string
  /** Lots, of an order that was executed. */
  readonly filledVolume?: number | undefined
}
interface WithReason {
  /** For the log and the operator. Callers do not see it. */
  readonly reason: string
}
interface WithCause extends WithReason {
  readonly cause?: UnavailableCause | undefined
}

/** The fields of each refusal, by its tag. */
interface RefusalFields {
  ValidationError: {
    /** Every fault at once, never empty. */
    readonly issues: readonly Issue[]
  }
  Unauthorized: {
    /** The route requires the operator's token, not a user's credential. */
    readonly isOperators?: true
  }
  InsufficientScope: { readonly requiredAnyOf: readonly string[] }
  NotFound: {
    /** What was looked for, as a noun for the message: `route`, `symbol`, `order`, `webhook`. */
    readonly what: string
    /** What the caller called it, where that is not an id. */
    readonly name?: string
    /** What the caller probably meant, as a sentence. */
    readonly hint?: string
  }
  AccountNotFound: None
  AccountPurposeRestricted: None
  LiveAccountRestricted: None
  /** The account accepts no orders until whoever halted it lifts that. */
  AccountHalted: OfAccount & { readonly halt: Halt }
  OrderTypeNotSupported: { readonly orderType: string }
  /** The account's platform has no such orders. */
  OrderTypeNotSupportedByPlatform: {
    readonly orderType: string
    readonly timeInForce: string
    readonly platform: string
  }
  UnsupportedBroker: OfAccount
  NotProvisioned: OfAccount
  BrokerUnavailable: OfAccount &
    WithCause & {
      /** The broker was reached, and shows neither that it holds the order nor how it ended. */
      readonly isOrderMissing?: true
      /** What was to be read, as the broker spells it. */
      readonly symbol?: string
      /** The provider never gives what was to be read of such an account. */
      readonly isUnsupported?: true
    }
  BrokerRateLimited: OfAccount & {
    /** Whole seconds, at least 1. */
    readonly retryAfterSeconds: number
  }
  ChallengeLocked: None
  ChallengeCheckUnavailable: WithReason
  TraderLimitBreached: BreachedLimit
  DeskLimitBreached: BreachedLimit
  ApprovalRequired: { readonly approvalAboveLots: number }
  LimitCheckUnavailable: WithCause & {
    /** The positions of another account of the desk cannot be read. */
    readonly isOfAnother?: boolean
    /** Where the provider said how long to wait. */
    readonly retryAfterSeconds?: number
  }
  RiskLimitExceeded: ExceededRiskLimit
  OrderInFlight: None
  OrderNotModifiable: OfStatus
  OrderNotCancellable: OfStatus
  /** An operator tried to end an order that has ended already. */
  OrderNotPending: OfStatus
  /** The order was written by somebody else between being read and being written. */
  OrderChanged: None
  AccountDisconnected: OfAccount &
    Pick<WithCause, 'cause'> & { readonly status: 'disconnected' | 'error' }
  PositionNotFound: None
  /** A stop loss or take profit on the wrong side of the price. */
  InvalidPrice: {
    readonly level: LevelName
    readonly side: Side
    readonly value: number
    /** Of the position, or of the pending order. */
    readonly currentPrice?: number
    readonly price?: number
  }
  /** More lots to close than the position has. */
  InvalidVolume: { readonly volume: number; readonly openVolume: number }
  /** The broker refused a change: its code and words. */
  TradeRejected: {
    readonly code: string
    readonly message: string
    /** Users of the provider report that changes refused with this code were made. */
    readonly isDoubted?: true
  }
  /** A change was sent, and it is unknown whether the broker made it. */
  BrokerOutcomeUnknown: OfAccount
  NotImplemented: {
    readonly feature: string
    /** It is on, and the operator has chosen no feed. */
    readonly isFeedMissing?: true
  }
  /** The broker lists several symbols that could be meant. */
  SymbolAmbiguous: { readonly symbol: string; readonly candidates: readonly string[] }
  /** There is none for accounts of this platform, or of this kind on it. */
  NotAvailableOnPlatform: { readonly feature: string; readonly platform: string }
  TradeNotFound: None
  HistoryTooLarge: OfAccount & {
    /** The most deals of an account of which trades are shown: 20,000. */
    readonly limit: number
  }
  InvalidCursor: None
  /** Events after the one to continue after were cleared away, or it never existed. */
  EventGone: {
    /** What to continue after to get every event that is kept. */
    readonly resumeAfter: string
    /** Null where the log is empty. */
    readonly oldest: string | null
  }
  /** As many event streams are open as may be, of the credential or of the instance. */
  StreamLimitReached: {
    readonly limit: number
    /** Whole seconds. */
    readonly retryAfterSeconds: number
  }
  RateLimitExceeded: {
    readonly exceeded: RateLimitScope
    /** Until a request would pass. Whole seconds, at least 1. */
    readonly retryAfterSeconds: number
  }
  /** The user has as many webhooks as there may be. */
  WebhookLimitReached: { readonly allowed: number }
  IdempotencyKeyReused: None
  IdempotencyInProgress: None
  PayloadTooLarge: { readonly limitBytes: number }
  InternalError: None
  ServiceUnavailable: WithReason & {
    /**
     * What cannot be read where it is not the service's own records. Of `candles` a request has read
     * as many pages as it may, which are kept. A `calculation` ran too long. `first_reply`: the first request with the same
     * Idempotency-Key left none. For a `body` there was no memory.
     */
    readonly unread?:
      | 'token_keys'
      | 'provider_account'
      | 'candles'
      | 'calculation'
      | 'first_reply'
      | 'body'
    /** The connection was lost between a write and its answer: the write may have been made. */
    readonly outcome?: 'unknown'
    /** When to try again, where that is known. Whole seconds, at least 1. */
    readonly retryAfterSeconds?: number
  }
  InternalTimeout: None
}

type Flat<A> = { readonly [Key in keyof A]: A[Key] }

export type RefusalTag = keyof RefusalFields

/**
 * An expected failure as data. `Refusal<'InvalidPrice' | 'InvalidVolume'>` is one of the two,
 * `Refusal` any.
 */
export type Refusal<Tag extends RefusalTag = RefusalTag> = Tag extends RefusalTag
  ? Flat<{ readonly _tag: Tag } & RefusalFields[Tag]>
  : never

/** What every store can fail with. */
export type ServiceUnavailable = Refusal<'ServiceUnavailable'>

/**
 * A task that succeeds, or is refused with one of the tags. Whatever reads a store may find it
 * unavailable: `AsyncResult<Account>` is what a store returns, and
 * `AsyncResult<Account, 'AccountNotFound'>` a use case.
 */
export type AsyncResult<A, Tag extends RefusalTag = never> = TaskEither<
  Refusal<Tag | 'ServiceUnavailable'>,
  A
>

/**
 * What a read from the broker can fail with: never that something was refused or may have happened.
 */
export type BrokerReadTag =
  | 'UnsupportedBroker'
  | 'NotProvisioned'
  | 'BrokerUnavailable'
  | 'BrokerRateLimited'
export type BrokerReadError = Refusal<BrokerReadTag>

/** `refuse('AccountNotFound')`, `refuse('InvalidVolume', { volume, openVolume })`. */
export const refuse = <Tag extends RefusalTag>(
  tag: Tag,
  ...[fields]: object extends RefusalFields[Tag]
    ? [fields?: RefusalFields[Tag]]
    : [fields: RefusalFields[Tag]]
): Refusal<Tag> => ({ _tag: tag, ...fields }) as Refusal<Tag>

/** Whether the broker may have made the change, or the database the write, that got no answer. */
export const isOutcomeUnknown = (refusal: Refusal): boolean =>
  refusal._tag === 'BrokerOutcomeUnknown' ||
  (refusal._tag === 'ServiceUnavailable' && refusal.outcome === 'unknown')

/** `ACCOUNT_NOT_FOUND` for AccountNotFound. */
export const codeOf = (tag: string): string => tag.replace(/(?<=.)[A-Z]/g, '_$&').toUpperCase()

/** One fault of a request. */
export const invalid = (path: string, message: string): Refusal<'ValidationError'> =>
  refuse('ValidationError', { issues: [{ path, message }] })

/** Refuses a request that has faults. */
export const requireNoIssues = (
  issues: readonly Issue[],
): E.Either<Refusal<'ValidationError'>, void> =>
  issues.length === 0 ? E.right(undefined) : E.left(refuse('ValidationError', { issues }))

/**
 * The broker refused a request until later.
 * @param retryAt when the next request may be sent; the refusal has the wait in whole seconds,
 * rounded up, at least 1
 */
export const brokerRateLimited = (
  accountId: AccountId,
  retryAt: Instant,
  now: Instant,
): Refusal<'BrokerRateLimited'> =>
  refuse('BrokerRateLimited', { accountId, retryAfterSeconds: wholeSeconds(retryAt - now) })
