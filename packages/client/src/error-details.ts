// The service's error codes, and what `details` holds for each.

interface BrokenLimit {
  readonly limit: string
  readonly allowed: number | readonly string[]
  readonly current: number | string
}

interface OfAccount {
  readonly accountId: string
}

/** By code; `undefined` where there are none. */
export interface ErrorDetails {
  VALIDATION_ERROR: {
    readonly issues: readonly { readonly path: string; readonly message: string }[]
  }
  UNAUTHORIZED: undefined
  INSUFFICIENT_SCOPE: { readonly required_any_of: readonly string[] }
  NOT_FOUND: undefined
  ACCOUNT_NOT_FOUND: undefined
  ACCOUNT_PURPOSE_RESTRICTED: undefined
  LIVE_ACCOUNT_RESTRICTED: undefined
  ORDER_TYPE_NOT_SUPPORTED: { readonly orderType: string }
  UNSUPPORTED_BROKER: OfAccount
  NOT_PROVISIONED: OfAccount
  BROKER_UNAVAILABLE: OfAccount
  BROKER_RATE_LIMITED: OfAccount
  CHALLENGE_LOCKED: undefined
  CHALLENGE_CHECK_UNAVAILABLE: undefined
  TRADER_LIMIT_BREACHED: BrokenLimit
  DESK_LIMIT_BREACHED: BrokenLimit
  APPROVAL_REQUIRED: { readonly approvalAboveLots: number }
  LIMIT_CHECK_UNAVAILABLE: undefined
  RISK_LIMIT_EXCEEDED: {
    readonly limit: 'volume_per_order' | 'orders_per_day' | 'open_orders'
    readonly allowed: number
    readonly current: number
    /** For the day's. */
    readonly resetsAt?: string
  }
  ORDER_IN_FLIGHT: undefined
  ORDER_NOT_MODIFIABLE: { readonly status: string }
  ORDER_NOT_CANCELLABLE: { readonly status: string }
  ACCOUNT_DISCONNECTED: OfAccount & { readonly status: string }
  POSITION_NOT_FOUND: undefined
  INVALID_PRICE: { readonly currentPrice: number }
  INVALID_VOLUME: { readonly volume: number; readonly openVolume: number }
  TRADE_REJECTED: { readonly brokerCode: string; readonly brokerMessage: string }
  BROKER_OUTCOME_UNKNOWN: OfAccount
  NOT_IMPLEMENTED: { readonly feature: string }
  TRADE_NOT_FOUND: undefined
  HISTORY_TOO_LARGE: OfAccount & { readonly limit: number }
  INVALID_CURSOR: undefined
  RATE_LIMIT_EXCEEDED:
    | { readonly scope: 'tier'; readonly window: 'minute' | 'day' }
    | { readonly scope: 'endpoint' }
    | { readonly scope: 'suspension' }
    | { readonly scope: 'address' }
    | { readonly scope: 'bodies' }
  WEBHOOK_LIMIT_REACHED: { readonly allowed: number }
  IDEMPOTENCY_KEY_REUSED: undefined
  IDEMPOTENCY_IN_PROGRESS: undefined
  PAYLOAD_TOO_LARGE: { readonly limitBytes: number }
  INTERNAL_ERROR: undefined
  /** Where something was sent that may have been recorded all the same, such as an order. */
  SERVICE_UNAVAILABLE: { readonly outcome: 'unknown' } | undefined
  INTERNAL_TIMEOUT: undefined
  HEADERS_TOO_LARGE: { readonly limitBytes: number; readonly limitHeaders: number }
  REQUEST_TIMEOUT: undefined
}

export type ServiceErrorCode = keyof ErrorDetails

const known: { readonly [Code in ServiceErrorCode]: 1 } = {
  VALIDATION_ERROR: 1,
  UNAUTHORIZED: 1,
  INSUFFICIENT_SCOPE: 1,
  NOT_FOUND: 1,
  ACCOUNT_NOT_FOUND: 1,
  ACCOUNT_PURPOSE_RESTRICTED: 1,
  LIVE_ACCOUNT_RESTRICTED: 1,
  ORDER_TYPE_NOT_SUPPORTED: 1,
  UNSUPPORTED_BROKER: 1,
  NOT_PROVISIONED: 1,
  BROKER_UNAVAILABLE: 1,
  BROKER_RATE_LIMITED: 1,
  CHALLENGE_LOCKED: 1,
  CHALLENGE_CHECK_UNAVAILABLE: 1,
  TRADER_LIMIT_BREACHED: 1,
  DESK_LIMIT_BREACHED: 1,
  APPROVAL_REQUIRED: 1,
  LIMIT_CHECK_UNAVAILABLE: 1,
  RISK_LIMIT_EXCEEDED: 1,
  ORDER_IN_FLIGHT: 1,
  ORDER_NOT_MODIFIABLE: 1,
  ORDER_NOT_CANCELLABLE: 1,
  ACCOUNT_DISCONNECTED: 1,
  POSITION_NOT_FOUND: 1,
  INVALID_PRICE: 1,
  INVALID_VOLUME: 1,
  TRADE_REJECTED: 1,
  BROKER_OUTCOME_UNKNOWN: 1,
  NOT_IMPLEMENTED: 1,
  TRADE_NOT_FOUND: 1,
  HISTORY_TOO_LARGE: 1,
  INVALID_CURSOR: 1,
  RATE_LIMIT_EXCEEDED: 1,
  WEBHOOK_LIMIT_REACHED: 1,
  IDEMPOTENCY_KEY_REUSED: 1,
  IDEMPOTENCY_IN_PROGRESS: 1,
  PAYLOAD_TOO_LARGE: 1,
  INTERNAL_ERROR: 1,
  SERVICE_UNAVAILABLE: 1,
  INTERNAL_TIMEOUT: 1,
  HEADERS_TOO_LARGE: 1,
  REQUEST_TIMEOUT: 1,
}

export const isKnownCode = (code: string): code is ServiceErrorCode => Object.hasOwn(known, code)

export const knownCodes = (): readonly string[] => Object.keys(known)
