// How every refusal looks on the wire: one row per tag, so that a refusal without a row does not compile (section 7; decision 4).
import { toIso } from '@tradeport/domain'
import type { BreachedLimit, ExceededRiskLimit, InvalidPrice, RateLimitScope, Refusal } from '@tradeport/domain'
import {
  detailsAtTimesOf,
  detailsOf,
  ofAccount,
  ofAllowed,
  ofApproval,
  ofBrokenLimit,
  ofBytes,
  ofDisconnected,
  ofFeature,
  ofHistory,
  ofIssues,
  ofOrderStatus,
  ofOrderType,
  ofOutcome,
  ofPrice,
  ofRateLimit,
  ofRejection,
  ofRiskLimit,
  ofScopes,
  ofVolume,
} from './error-details.ts'
import type { Details } from './error-details.ts'

interface Row<R> {
  readonly status: number
  readonly code: string
  /** The operator API alone answers it, so that the users' API does not document it. */
  readonly isForOperators?: true
  /** For a person: what was wrong, and what to do. */
  readonly message: (refusal: R) => string
  readonly details?: Details<R>
  readonly headers?: (refusal: R) => Readonly<Record<string, string>>
  /** For the log alone, where the operator should know. */
  readonly reason?: (refusal: R) => object
}

type ErrorTable = { readonly [Tag in Refusal['_tag']]: Row<Extract<Refusal, { readonly _tag: Tag }>> }

const detailsOfBreach = ({ limit, allowed, current }: BreachedLimit): BreachedLimit => ({ limit, allowed, current })

const breachOf = ({ limit, allowed, current }: BreachedLimit): string =>
  typeof allowed === 'number' ? `${limit} allows ${allowed}` : `${limit} does not name ${current}`

const riskMessages: { readonly [Limit in ExceededRiskLimit['limit']]: (exceeded: ExceededRiskLimit) => string } = {
  volume_per_order: ({ allowed, current }) => `An order takes at most ${allowed} lots; got ${current}.`,
  orders_per_day: ({ allowed }) => `You have made the ${allowed} orders that a UTC day takes. Wait for the next, at details.resetsAt.`,
  open_orders: ({ allowed }) => `You have ${allowed} orders pending or open, which is as many as there may be. Wait until one is settled.`,
}

const levelNames = { stopLoss: 'The stop loss', takeProfit: 'The take profit' } as const

const rightSideOf = ({ level, side }: InvalidPrice): string =>
  `For a ${side} it must be ${(level === 'stopLoss') === (side === 'buy') ? 'below' : 'above'} it.`

const rateMessages: { readonly [S in RateLimitScope['scope']]: (again: string) => string } = {
  tier: (again) => `Your plan's requests are used up. ${again}; asking before then counts towards a suspension.`,
  endpoint: (again) => `The requests that this endpoint takes are used up. ${again}; asking before then counts towards a suspension.`,
  suspension: (again) => `Requests of this credential were refused too often, so all of them are refused now. ${again}.`,
}

const seconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`

export const errorTable: ErrorTable = {
  ValidationError: {
    status: 400,
    code: 'VALIDATION_ERROR',
    message: ({ issues }) => `The request has ${issues.length === 1 ? 'a fault' : `${issues.length} faults`}: ${summary(issues)}.`,
    details: detailsOf(ofIssues, ({ issues }) => ({ issues })),
  },
  Unauthorized: {
    status: 401,
    code: 'UNAUTHORIZED',
    message: ({ isOperators }) =>
      isOperators === true
        ? "The operator's token was not sent, or another: send it in Authorization: Bearer."
        : 'No valid credential was sent. Send an API key in X-API-Key or an access token in Authorization: Bearer, never in the query or the body; it may also be unknown, expired, revoked or not allowed from this address.',
    headers: () => ({ 'WWW-Authenticate': 'Bearer' }),
  },
  InsufficientScope: {
    status: 403,
    code: 'INSUFFICIENT_SCOPE',
    message: ({ requiredAnyOf }) => `The credential lacks the scope. Use one that was granted ${requiredAnyOf.join(' or ')}.`,
    details: detailsOf(ofScopes, ({ requiredAnyOf }) => ({ required_any_of: requiredAnyOf })),
  },
  NotFound: {
    status: 404,
    code: 'NOT_FOUND',
    message: ({ what }) =>
      what === 'route'
        ? 'No route has this method and path. Check both: case counts, and no path ends in a slash.'
        : `There is no such ${what}. Check how it is written.`,
  },
  AccountNotFound: {
    status: 404,
    code: 'ACCOUNT_NOT_FOUND',
    message: () => 'No account with this id is linked by you. GET /accounts lists those that are.',
  },
  AccountPurposeRestricted: {
    status: 403,
    code: 'ACCOUNT_PURPOSE_RESTRICTED',
    message: () => 'The account is not classified for trading. Name one whose purpose is trading.',
  },
  LiveAccountRestricted: {
    status: 403,
    code: 'LIVE_ACCOUNT_RESTRICTED',
    message: () => 'The account is live, and only demo accounts are traded here. Name one whose isDemo is true.',
  },
  OrderTypeNotSupported: {
    status: 501,
    code: 'ORDER_TYPE_NOT_SUPPORTED',
    message: ({ orderType }) =>
      `Orders of type ${orderType} are not available yet. Nothing was checked or recorded; send orderType market.`,
    details: detailsOf(ofOrderType, ({ orderType }) => ({ orderType })),
  },
  UnsupportedBroker: {
    status: 400,
    code: 'UNSUPPORTED_BROKER',
    message: ({ accountId }) =>
      `Account ${accountId} is not on a supported trading platform, so its broker cannot be read. Name another with accountId.`,
    details: detailsOf(ofAccount, ({ accountId }) => ({ accountId })),
  },
  NotProvisioned: {
    status: 400,
    code: 'NOT_PROVISIONED',
    message: ({ accountId }) => `Account ${accountId} is not connected to its broker. Reconnect it in the app.`,
    details: detailsOf(ofAccount, ({ accountId }) => ({ accountId })),
  },
  BrokerUnavailable: {
    status: 503,
    code: 'BROKER_UNAVAILABLE',
    message: ({ accountId }) => `The broker of account ${accountId} cannot be read now. Nothing was sent to it; try again.`,
    details: detailsOf(ofAccount, ({ accountId }) => ({ accountId })),
    reason: ({ accountId, reason }) => ({ accountId, reason }),
  },
  BrokerRateLimited: {
    status: 429,
    code: 'BROKER_RATE_LIMITED',
    message: ({ accountId, retryAfterSeconds }) =>
      `The broker limits how often account ${accountId} is asked. Nothing was changed; try again in ${seconds(retryAfterSeconds)}.`,
    details: detailsOf(ofAccount, ({ accountId }) => ({ accountId })),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
  },
  ChallengeLocked: {
    status: 403,
    code: 'CHALLENGE_LOCKED',
    message: () => 'The newest challenge of the account has failed, so it takes no new orders.',
  },
  ChallengeCheckUnavailable: {
    status: 503,
    code: 'CHALLENGE_CHECK_UNAVAILABLE',
    message: () => 'The challenges of the account cannot be read now. No order was placed; try again.',
    reason: ({ reason }) => ({ reason }),
  },
  TraderLimitBreached: {
    status: 403,
    code: 'TRADER_LIMIT_BREACHED',
    message: (breached) => `The order breaks a limit of the trader: ${breachOf(breached)}. The head trader sets it.`,
    details: detailsOf(ofBrokenLimit, detailsOfBreach),
  },
  DeskLimitBreached: {
    status: 403,
    code: 'DESK_LIMIT_BREACHED',
    message: (breached) => `The order breaks a limit of the desk: ${breachOf(breached)}. The head trader sets it.`,
    details: detailsOf(ofBrokenLimit, detailsOfBreach),
  },
  ApprovalRequired: {
    status: 409,
    code: 'APPROVAL_REQUIRED',
    message: ({ approvalAboveLots }) =>
      `Orders above ${approvalAboveLots} lots need the head trader's approval. Nothing was queued; send at most ${approvalAboveLots} lots.`,
    details: detailsOf(ofApproval, ({ approvalAboveLots }) => ({ approvalAboveLots })),
  },
  LimitCheckUnavailable: {
    status: 503,
    code: 'LIMIT_CHECK_UNAVAILABLE',
    message: () => 'The limits on the account, or what they are held against, cannot be read now. No order was placed; try again.',
    reason: ({ reason }) => ({ reason }),
  },
  RiskLimitExceeded: {
    status: 400,
    code: 'RISK_LIMIT_EXCEEDED',
    message: (exceeded) => riskMessages[exceeded.limit](exceeded),
    details: detailsOf(ofRiskLimit, ({ limit, allowed, current, resetsAt }) => ({
      limit,
      allowed,
      current,
      ...(resetsAt === undefined ? {} : { resetsAt: toIso(resetsAt) }),
    })),
  },
  OrderInFlight: {
    status: 409,
    code: 'ORDER_IN_FLIGHT',
    message: () =>
      'The order is on its way to the broker and can be neither changed nor cancelled. GET /orders/:id shows what becomes of it.',
  },
  OrderNotModifiable: {
    status: 400,
    code: 'ORDER_NOT_MODIFIABLE',
    message: ({ status }) => `The order is ${status}; only an open order can be changed.`,
    details: detailsOf(ofOrderStatus, ({ status }) => ({ status })),
  },
  OrderNotCancellable: {
    status: 400,
    code: 'ORDER_NOT_CANCELLABLE',
    message: ({ status }) => `The order is ${status}; only an open order can be cancelled.`,
    details: detailsOf(ofOrderStatus, ({ status }) => ({ status })),
  },
  OrderNotPending: {
    status: 409,
    code: 'ORDER_NOT_PENDING',
    isForOperators: true,
    message: ({ status }) => `The order is ${status}; only a pending order can be ended by hand.`,
    details: detailsOf(ofOrderStatus, ({ status }) => ({ status })),
  },
  OrderChanged: {
    status: 409,
    code: 'ORDER_CHANGED',
    isForOperators: true,
    message: () => 'The order changed at the same moment and was left as it is. Look at it again before you end it.',
  },
  AccountDisconnected: {
    status: 503,
    code: 'ACCOUNT_DISCONNECTED',
    message: ({ accountId, status }) =>
      status === 'disconnected'
        ? `Account ${accountId} is disconnected from its broker. Reconnect it in the app.`
        : `Account ${accountId} cannot be read from its broker now. Try again, or reconnect it in the app.`,
    details: detailsOf(ofDisconnected, ({ accountId, status }) => ({ accountId, status })),
  },
  PositionNotFound: {
    status: 404,
    code: 'POSITION_NOT_FOUND',
    message: () => 'No open position of yours has this id. It may be closed: GET /trades shows closed ones.',
  },
  InvalidPrice: {
    status: 400,
    code: 'INVALID_PRICE',
    message: (wrong) =>
      `${levelNames[wrong.level]} ${wrong.value} is on the wrong side of the current price ${wrong.currentPrice}. ${rightSideOf(wrong)}`,
    details: detailsOf(ofPrice, ({ currentPrice }) => ({ currentPrice })),
  },
  InvalidVolume: {
    status: 400,
    code: 'INVALID_VOLUME',
    message: ({ volume, openVolume }) =>
      `The position has ${openVolume} lots open; ${volume} cannot be closed. Send at most ${openVolume}, or {} to close all.`,
    details: detailsOf(ofVolume, ({ volume, openVolume }) => ({ volume, openVolume })),
  },
  TradeRejected: {
    status: 422,
    code: 'TRADE_REJECTED',
    message: ({ code, message }) => `The broker refused the change, and nothing was changed: ${message} (${code}).`,
    details: detailsOf(ofRejection, ({ code, message }) => ({ brokerCode: code, brokerMessage: message })),
  },
  BrokerOutcomeUnknown: {
    status: 504,
    code: 'BROKER_OUTCOME_UNKNOWN',
    message: () => 'The broker did not confirm the change; it may have been made. Read the position before you try again.',
    details: detailsOf(ofAccount, ({ accountId }) => ({ accountId })),
  },
  NotImplemented: {
    status: 501,
    code: 'NOT_IMPLEMENTED',
    message: ({ feature }) => `The request is valid, but ${feature} is not available yet.`,
    details: detailsOf(ofFeature, ({ feature }) => ({ feature })),
  },
  TradeNotFound: {
    status: 404,
    code: 'TRADE_NOT_FOUND',
    message: () => 'No closed trade of yours has this id. It may still be open: GET /positions shows open ones.',
  },
  HistoryTooLarge: {
    status: 422,
    code: 'HISTORY_TOO_LARGE',
    message: ({ accountId, limit }) =>
      `The history of account ${accountId} has more than ${limit} deals, which is as many as are read; no partial result is given. Name another account with accountId.`,
    details: detailsOf(ofHistory, ({ accountId, limit }) => ({ accountId, limit })),
  },
  InvalidCursor: {
    status: 400,
    code: 'INVALID_CURSOR',
    message: () =>
      'The cursor cannot be read, or was given for other filters. Send meta.pagination.cursor of the previous page with the filters of that page, or start without one.',
  },
  RateLimitExceeded: {
    status: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    message: ({ exceeded, retryAfterSeconds }) => rateMessages[exceeded.scope](`Try again in ${seconds(retryAfterSeconds)}`),
    details: detailsOf(ofRateLimit, ({ exceeded }) => exceeded),
    headers: ({ retryAfterSeconds }) => ({ 'Retry-After': String(retryAfterSeconds) }),
  },
  WebhookLimitReached: {
    status: 409,
    code: 'WEBHOOK_LIMIT_REACHED',
    message: ({ allowed }) => `You have ${allowed} webhooks, which is as many as there may be. Delete one that you need no more.`,
    details: detailsOf(ofAllowed, ({ allowed }) => ({ allowed })),
  },
  IdempotencyKeyReused: {
    status: 409,
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: () => 'This Idempotency-Key was sent with another body within 24 hours. Send the body of then, or a new key for a new order.',
  },
  IdempotencyInProgress: {
    status: 409,
    code: 'IDEMPOTENCY_IN_PROGRESS',
    message: () => 'The first request with this Idempotency-Key is still being answered. Send it again in a second, with the same key.',
    headers: () => ({ 'Retry-After': '1' }),
  },
  PayloadTooLarge: {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: ({ limitBytes }) => `The body is too large. Send at most ${limitBytes} bytes.`,
    details: detailsOf(ofBytes, ({ limitBytes }) => ({ limitBytes })),
  },
  InternalError: {
    status: 500,
    code: 'INTERNAL_ERROR',
    message: () =>
      'Something went wrong on our side. If the request was to change something, look whether it was done before you send it again; tell support the request id if it happens again.',
  },
  ServiceUnavailable: {
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    message: ({ unread, outcome }) =>
      outcome === 'unknown'
        ? 'The service lost its database while it recorded this, so that it may stand. Look for it before you send it again; an order can be sent again with the same Idempotency-Key.'
        : `The service cannot read ${unread === 'token_keys' ? 'the keys that would prove the access token' : 'its records'} now. Try again.`,
    details: detailsAtTimesOf(ofOutcome, ({ outcome }) => (outcome === undefined ? undefined : { outcome })),
    reason: ({ reason }) => ({ reason }),
  },
  InternalTimeout: {
    status: 504,
    code: 'INTERNAL_TIMEOUT',
    message: () => 'The service did not get an answer in time from a part of its own. Try again.',
  },
}

export interface ErrorReply {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details: object | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly reason: object | undefined
}

export const errorReply = (refusal: Refusal): ErrorReply => {
  // The row is the one of the refusal's own tag, which the compiler cannot follow through a union.
  const row = errorTable[refusal._tag] as Row<Refusal>
  return {
    status: row.status,
    code: row.code,
    message: row.message(refusal),
    details: row.details?.of(refusal),
    headers: row.headers?.(refusal) ?? {},
    reason: row.reason?.(refusal),
  }
}

const summarised = 3

const summary = (issues: readonly { readonly message: string }[]): string => {
  const named = issues.slice(0, summarised).map(({ message }) => message)
  return issues.length > summarised ? `${named.join('; ')}; and ${issues.length - summarised} more` : named.join('; ')
}
