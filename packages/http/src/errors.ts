// What every refusal looks like on the wire: one row for each tag, so that a refusal without a row
// does not compile.
import { maxBodyBytes } from './body/read-body.ts'
import type {
  BreachedLimit,
  ExceededRiskLimit,
  RateLimitScope,
  Refusal,
} from '@tradeport/domain/errors'
import { accountId, lots } from './fields.ts'
import {
  anything,
  decimal,
  list,
  object,
  oneOf,
  optional,
  seldom,
  text,
  time,
  whole,
} from './schema.ts'
import type { Fields, Schema } from './schema.ts'

export type RefusalTag = Refusal['_tag']
export type RefusalOf<T extends RefusalTag> = Extract<Refusal, { readonly _tag: T }>

/** Thrown by a middleware to end the request with this refusal. */
export class Refused extends Error {
  readonly refusal: Refusal
  readonly reply: ErrorReply

  constructor(refusal: Refusal) {
    super(refusal._tag)
    this.refusal = refusal
    // Made here, so that a refusal that cannot be written is an unexpected failure like any other.
    this.reply = errorReply(refusal)
  }
}

interface Row<R> {
  readonly status: number
  /** For a person: what was wrong, and what to do. */
  readonly message: string | ((refusal: R) => string)
  /** For programs: fields of the refusal, or of what `detailsOf` makes of it. */
  readonly details?: Schema<unknown>
  readonly detailsOf?: (refusal: R) => object | undefined
  /** Some refusals with this tag have none. */
  readonly areDetailsSeldom?: true
  /** Fields of the refusal that the document's example needs besides the details. */
  readonly example?: Partial<Omit<R, '_tag'>>
  /** Besides Retry-After, which a refusal has that knows when to try again. */
  readonly headers?: Readonly<Record<string, string>>
  /** Only the operator API answers it. */
  readonly isForOperators?: true
}

interface More<R> extends Omit<Row<R>, 'status' | 'message' | 'details'> {
  readonly details?: Fields
}

const row = <R>(
  status: number,
  message: Row<R>['message'],
  { details, ...more }: More<R> = {},
): Row<R> => ({
  status,
  message,
  ...(details && { details: object('For programs.', details) }),
  ...more,
})

/** `ACCOUNT_NOT_FOUND` for AccountNotFound. */
export const codeOf = (tag: RefusalTag): string => tag.replace(/(?<=.)[A-Z]/g, '_$&').toUpperCase()

const ofAccount = { details: { accountId } }
const ofStatus = { details: { status: text('The status of the order.', 'filled') } }
const breachedLimit = {
  details: {
    limit: text('The name of the limit.', 'maxLotsPerOrder'),
    allowed: anything('The most, or the symbols that are allowed.', 5),
    current: anything('What was asked for, or what is open and under way without it.', 6),
  },
}

const limitText = ({ limit, allowed, current }: BreachedLimit): string =>
  typeof allowed === 'number' ? `${limit} is ${allowed}` : `${limit} does not include ${current}`

const riskTexts: {
  readonly [Limit in ExceededRiskLimit['limit']]: (exceeded: ExceededRiskLimit) => string
} = {
  volume_per_order: ({ allowed, current }) =>
    `volume must be at most ${allowed} lots; got ${current}.`,
  orders_per_day: ({ allowed }) =>
    `You have placed ${allowed} orders today (UTC), which is the most for a day. Try again after details.resetsAt.`,
  open_orders: ({ allowed }) =>
    `You have ${allowed} orders pending or open, which is the most. Wait until one has ended.`,
}

const seconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`

const tokenRefused = 'the provider refused the token that the operator of this service configured'

const rateTexts: { readonly [S in RateLimitScope['scope']]: string } = {
  tier: "Your plan's requests are used up.",
  endpoint: 'The requests for this endpoint are used up.',
  suspension: 'This credential is suspended because too many of its requests were refused.',
  address: 'Too many requests with a bad credential came from your address.',
  bodies:
    'Two large or slow bodies are being received for this credential, which is the most at a time.',
}

export const errorTable: { readonly [Tag in RefusalTag]: Row<RefusalOf<Tag>> } = {
  ValidationError: row(
    400,
    ({ issues }) => {
      const messages = issues.slice(0, 3).map(({ message }) => message)
      return `${messages.join('; ')}${issues.length > 3 ? `; and ${issues.length - 3} more` : ''}.`
    },
    {
      details: {
        issues: list(
          object('One fault.', {
            path: text('The field, parameter or header.', 'limit'),
            message: text(
              'What it must be and what it got.',
              'limit must be a whole number from 1 to 100; got "0"',
            ),
          }),
          'Every fault of the request, in the order in which they were found.',
        ),
      },
    },
  ),
  Unauthorized: row(
    401,
    ({ isOperators }) =>
      isOperators === true
        ? "The operator's token is missing or wrong. Send it in Authorization: Bearer."
        : 'No valid credential was sent. Send an API key in X-API-Key or an access token in Authorization: Bearer, never in the query or the body. It may also be unknown, expired, revoked or not allowed from this address.',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  ),
  InsufficientScope: row(
    403,
    ({ requiredAnyOf }) =>
      `The credential lacks the scope. Use one with ${requiredAnyOf.join(' or ')}.`,
    {
      details: {
        required_any_of: list(text('A scope.', 'trading:read'), 'One of these scopes is needed.'),
      },
      detailsOf: ({ requiredAnyOf }) => ({ required_any_of: requiredAnyOf }),
      example: { requiredAnyOf: ['trading:read', 'history:read'] },
    },
  ),
  NotFound: row(
    404,
    ({ what, hint = 'Check both: case matters, and no path ends in a slash.' }) =>
      what === 'route'
        ? `No route has this method and path. ${hint}`
        : `There is no ${what} with this name or id. Check how it is written.`,
    { example: { what: 'record' } },
  ),
  AccountNotFound: row(
    404,
    'You have linked no account with this id. GET /accounts lists your accounts.',
  ),
  AccountPurposeRestricted: row(
    403,
    'The account is not for trading. Use one whose purpose is trading.',
  ),
  LiveAccountRestricted: row(
    403,
    'The account is live, and only demo accounts can be traded here. Use one whose isDemo is true.',
  ),
  OrderTypeNotSupported: row(
    501,
    ({ orderType }) =>
      `Orders of type ${orderType} are not available yet. Nothing was checked or recorded; send orderType market.`,
    { details: { orderType: text('The type that was sent.', 'limit') } },
  ),
  UnsupportedBroker: row(
    400,
    ({ accountId: id }) =>
      `Account ${id} is not on a supported trading platform. Name another with accountId.`,
    ofAccount,
  ),
  NotProvisioned: row(
    400,
    ({ accountId: id }) => `Account ${id} is not connected to its broker. Reconnect it in the app.`,
    ofAccount,
  ),
  BrokerUnavailable: row(
    503,
    ({ accountId: id, cause }) =>
      cause === 'token_refused'
        ? `The broker of account ${id} cannot be reached: ${tokenRefused}. Nothing was sent; tell the operator.`
        : `The broker of account ${id} cannot be reached. Nothing was sent; try again.`,
    ofAccount,
  ),
  BrokerRateLimited: row(
    429,
    ({ accountId: id, retryAfterSeconds }) =>
      `The broker limits the requests for account ${id}. Nothing was changed; try again in ${seconds(retryAfterSeconds)}.`,
    { ...ofAccount, example: { retryAfterSeconds: 7 } },
  ),
  ChallengeLocked: row(
    403,
    'The newest challenge of the account has failed, so that it accepts no new orders.',
  ),
  ChallengeCheckUnavailable: row(
    503,
    'The challenges of the account cannot be read. No order was placed; try again.',
  ),
  TraderLimitBreached: row(
    403,
    (breach) => `The order breaks a limit of the trader: ${limitText(breach)}.`,
    breachedLimit,
  ),
  DeskLimitBreached: row(
    403,
    (breach) => `The order breaks a limit of the desk: ${limitText(breach)}.`,
    breachedLimit,
  ),
  ApprovalRequired: row(
    409,
    ({ approvalAboveLots }) =>
      `Orders above ${approvalAboveLots} lots need the head trader's approval. Nothing was queued; send at most ${approvalAboveLots} lots.`,
    { details: { approvalAboveLots: decimal('The most lots without it.', 2) } },
  ),
  LimitCheckUnavailable: row(503, ({ cause }) =>
    cause === 'token_refused'
      ? `The open positions that the limits of the account apply to cannot be read: ${tokenRefused}. No order was placed; tell the operator.`
      : 'The limits of the account, or its open positions, cannot be read. No order was placed; try again.',
  ),
  RiskLimitExceeded: row(400, (exceeded) => riskTexts[exceeded.limit](exceeded), {
    details: {
      limit: oneOf(['volume_per_order', 'orders_per_day', 'open_orders'], 'The name of the limit.'),
      allowed: decimal('The most.', 10),
      current: decimal('What there is, or what was sent.', 10.5),
      resetsAt: seldom(time('When the count of the day starts anew.')),
    },
  }),
  OrderInFlight: row(
    409,
    'The order is on its way to the broker and can be neither changed nor cancelled. GET /orders/:id shows its outcome.',
  ),
  OrderNotModifiable: row(
    400,
    ({ status }) => `The order is ${status}; only an open order can be changed.`,
    ofStatus,
  ),
  OrderNotCancellable: row(
    400,
    ({ status }) => `The order is ${status}; only an open order can be cancelled.`,
    ofStatus,
  ),
  OrderNotPending: row(
    409,
    ({ status }) => `The order is ${status}; only a pending order can be ended by hand.`,
    {
      ...ofStatus,
      isForOperators: true,
    },
  ),
  OrderChanged: row(
    409,
    'The order changed at the same moment and was left as it is. Read it again before you end it.',
    {
      isForOperators: true,
    },
  ),
  AccountDisconnected: row(
    503,
    ({ accountId: id, status }) =>
      status === 'disconnected'
        ? `Account ${id} is disconnected from its broker. Reconnect it in the app.`
        : `Account ${id} cannot be read from its broker. Try again, or reconnect it in the app.`,
    { details: { accountId, status: text('Its status.', 'disconnected') } },
  ),
  PositionNotFound: row(
    404,
    'You have no open position with this id. It may be closed: GET /trades lists closed ones.',
  ),
  InvalidPrice: row(
    400,
    ({ level, side, value, currentPrice }) =>
      `${level} must be ${(level === 'stopLoss') === (side === 'buy') ? 'below' : 'above'} the current price ${currentPrice} for a ${side}; got ${value}.`,
    {
      details: { currentPrice: decimal('The price that the level is compared with.', 1.08655) },
      example: { level: 'stopLoss', side: 'buy', value: 1.09 },
    },
  ),
  InvalidVolume: row(
    400,
    ({ volume, openVolume }) =>
      `volume must be at most the ${openVolume} lots that are open; got ${volume}. Send {} to close all.`,
    { details: { volume: decimal('The lots that were sent.', 0.5), openVolume: lots } },
  ),
  TradeRejected: row(
    422,
    ({ code, message }) =>
      `The broker refused the change, and nothing was changed: ${message} (${code}).`,
    {
      details: {
        brokerCode: text("The broker's code.", 'TRADE_RETCODE_MARKET_CLOSED'),
        brokerMessage: text("The broker's words.", 'Market is closed'),
      },
      detailsOf: ({ code, message }) => ({ brokerCode: code, brokerMessage: message }),
      example: { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' },
    },
  ),
  BrokerOutcomeUnknown: row(
    504,
    'The broker did not confirm the change; it may have been made. Read the position before you try again.',
    ofAccount,
  ),
  NotImplemented: row(
    501,
    ({ feature }) => `The request is valid, but ${feature} is not available yet.`,
    {
      details: { feature: text('What is not available.', 'market-data') },
    },
  ),
  TradeNotFound: row(
    404,
    'You have no closed trade with this id. It may still be open: GET /positions lists open ones.',
  ),
  HistoryTooLarge: row(
    422,
    ({ accountId: id, limit }) =>
      `Account ${id} has more than ${limit} deals, which is the most that is read; no partial result is given. Name another account with accountId.`,
    { details: { accountId, limit: whole('The most deals that are read.', 20_000) } },
  ),
  InvalidCursor: row(
    400,
    'The cursor cannot be read, or belongs to other filters. Send meta.pagination.cursor of the previous page with the filters of that page, or start without one.',
  ),
  RateLimitExceeded: row(
    429,
    ({ exceeded: { scope }, retryAfterSeconds }) =>
      `${rateTexts[scope]} Try again in ${seconds(retryAfterSeconds)}${scope === 'tier' || scope === 'endpoint' ? '; earlier requests count towards a suspension' : ''}.`,
    {
      details: {
        scope: oneOf(
          ['tier', 'endpoint', 'suspension', 'address', 'bodies'],
          "Which limit is used up: the plan's, the endpoint's, a suspension, your address's, or that of bodies at a time.",
        ),
        window: optional(oneOf(['minute', 'day'], "Which of the plan's limits.")),
      },
      detailsOf: ({ exceeded }) => exceeded,
      example: { exceeded: { scope: 'tier', window: 'minute' }, retryAfterSeconds: 1 },
    },
  ),
  WebhookLimitReached: row(
    409,
    ({ allowed }) =>
      `You have ${allowed} webhooks, which is the most. Delete one that you no longer need.`,
    {
      details: { allowed: whole('The most.', 10) },
    },
  ),
  IdempotencyKeyReused: row(
    409,
    'This Idempotency-Key was sent with another request within 24 hours. Send the same request again, or use a new key.',
  ),
  IdempotencyInProgress: row(
    409,
    'The first request with this Idempotency-Key is still being answered. Send it again in a second, with the same key.',
    { headers: { 'Retry-After': '1' } },
  ),
  PayloadTooLarge: row(413, ({ limitBytes }) => `The body must be at most ${limitBytes} bytes.`, {
    details: { limitBytes: whole('The most bytes.', maxBodyBytes) },
  }),
  InternalError: row(
    500,
    'Something went wrong in the service. If the request was to change something, check whether it did before you send it again; give support the request id.',
  ),
  ServiceUnavailable: row(
    503,
    ({ unread, outcome }) =>
      outcome === 'unknown'
        ? 'The service lost its database while it recorded this, which may have been recorded. Look for it before you send it again; with the same Idempotency-Key it can be sent again.'
        : `The service cannot ${unread === 'token_keys' ? 'read the keys that would prove the access token' : 'do this'} now. Try again.`,
    {
      details: { outcome: oneOf(['unknown'], 'What was being recorded may have been recorded.') },
      detailsOf: ({ outcome }) => outcome && { outcome },
      areDetailsSeldom: true,
    },
  ),
  InternalTimeout: row(504, 'A part of the service did not answer in time. Try again.'),
}

export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** As it stands in the envelope, but for the request's id. */
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown }
}

export const errorReply = (refusal: Refusal): ErrorReply => {
  // The row is that of the refusal's own tag, which the compiler cannot follow through a union.
  const { status, message, details, detailsOf, headers } = errorTable[
    refusal._tag
  ] as unknown as Row<Refusal>
  const found = detailsOf === undefined ? refusal : detailsOf(refusal)
  return {
    status,
    headers: {
      ...headers,
      ...('retryAfterSeconds' in refusal && { 'Retry-After': String(refusal.retryAfterSeconds) }),
    },
    error: {
      code: codeOf(refusal._tag),
      message: typeof message === 'string' ? message : message(refusal),
      ...(found && details && { details: details.encode(found) }),
    },
  }
}

/** A refusal with this tag, for the document. */
export const exampleOf = (tag: RefusalTag): Refusal => {
  const { details, areDetailsSeldom, example } = errorTable[tag]
  return { _tag: tag, ...(areDetailsSeldom ? {} : Object(details?.example)), ...example } as Refusal
}
