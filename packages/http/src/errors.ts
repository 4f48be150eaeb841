// What every refusal looks like on the wire: one row for each tag, so that a refusal without a row
// does not compile.
import {
  type BreachedLimit,
  codeOf,
  type ExceededRiskLimit,
  type RateLimitScope,
  type Refusal,
  type RefusalTag,
  type UnavailableCause,
} from '@tradeport/domain/errors'
import * as E from 'fp-ts/lib/Either.js'
import { accountId, halter, lots, maxBodyBytes, symbol } from './fields.ts'
import {
  anything,
  decimal,
  type Fields,
  list,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  text,
  time,
  whole,
} from './schema.ts'

/** Thrown anywhere in a request, to end it with this refusal. */
export class RefusalError extends Error {
  readonly refusal: Refusal
  readonly reply: ErrorReply

  constructor(refusal: Refusal) {
    super(refusal._tag)
    this.refusal = refusal
    // Made here, so that a refusal that cannot be written is an unexpected failure like any other.
    this.reply = errorReply(refusal)
  }
}

export const orThrow = <A>(result: E.Either<Refusal, A>): A => {
  if (E.isLeft(result)) throw new RefusalError(result.left)
  return result.right
}

type Row<R> = readonly [
  status: number,
  /** For a person: what was wrong, and what to do. */
  message: string | ((refusal: R) => string),
  /** For programs: fields of the refusal, or of what `detailsOf` makes of it. */
  details?: Fields | undefined,
  more?: {
    readonly detailsOf?: (refusal: R) => object
    /** Fields of the refusal that the document's example needs in addition to the details. */
    readonly example?: Partial<Omit<R, '_tag'>>
    /** In addition to Retry-After, which every refusal with `retryAfterSeconds` has. */
    readonly headers?: Readonly<Record<string, string>>
  },
]

const ofAccount = { accountId }
const ofStatus = { status: text('The status of the order.', 'filled') }
const breachedLimit = {
  limit: text('The name of the limit.', 'maxLotsPerOrder'),
  allowed: anything('The maximum, or the symbols that are allowed.', 5),
  current: anything('The requested value, or current usage excluding this order.', 6),
}

const limitText = ({ limit, allowed, current }: BreachedLimit): string =>
  typeof allowed === 'number' ? `${limit} is ${allowed}` : `${limit} does not include ${current}`

const riskText = ({ limit, allowed, current }: ExceededRiskLimit): string =>
  ({
    volume_per_order: `volume must be at most ${allowed} lots; got ${current}.`,
    orders_per_day: `You have placed ${allowed} orders today (UTC), which is the maximum for a day. Try again after details.resetsAt.`,
    open_orders: `You have ${allowed} orders pending or open, which is the maximum. Wait until one has ended.`,
  })[limit]

const seconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`

const causeTexts: { readonly [Cause in UnavailableCause]: string } = {
  token_refused: 'the provider refused the token that the operator of this service configured',
  token_missing: 'the operator of this service has configured no token for the provider',
  token_unreadable: 'this service cannot read its token for the provider now',
}

const causeText = (
  { cause }: { readonly cause?: UnavailableCause | undefined },
  effect: string,
): string =>
  `${cause === undefined ? '' : `: ${causeTexts[cause]}`}. ${effect}; ${
    cause === undefined || cause === 'token_unreadable' ? 'try again' : 'tell the operator'
  }.`

const rateTexts: { readonly [S in RateLimitScope['scope']]: string } = {
  tier: "Your plan's requests are used up.",
  endpoint: 'The requests for this endpoint are used up.',
  suspension: 'This credential is suspended because too many of its requests were refused.',
  address: 'Too many requests with a bad credential came from your address.',
  bodies:
    'Two large or slow bodies are being received for this credential, which is the maximum at a time.',
  calculations: 'Two calculations of yours are under way, which is the maximum at a time.',
}

const unreadTexts: {
  readonly [What in NonNullable<Refusal<'ServiceUnavailable'>['unread']>]: string
} = {
  token_keys: 'read the keys that would prove the access token now. Try again.',
  provider_account: 'read the account at the provider now. Try again.',
  first_reply:
    'say what the first request with this Idempotency-Key did; repeating the key gives this answer again. Read positions and orders (or what else it was to change) before you use a new key.',
  candles:
    'read so many candles in one request. What was read is kept: send the request again to go on from there, or name a shorter range.',
  calculation:
    'finish this calculation within the time for one. Ask for fewer resamples or a shorter range.',
  body: 'receive the body now, because others fill the memory for bodies. Try again.',
}

export const errorTable: { readonly [Tag in RefusalTag]: Row<Refusal<Tag>> } = {
  ValidationError: [
    400,
    ({ issues }) => {
      const messages = issues.slice(0, 3).map(({ message }) => message)
      return `${messages.join('; ')}${issues.length > 3 ? `; and ${issues.length - 3} more` : ''}.`
    },
    {
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
  ],
  Unauthorized: [
    401,
    ({ isOperators }) =>
      isOperators === true
        ? "The operator's token is missing or wrong. Send it in Authorization: Bearer."
        : 'The credential is missing, unknown, expired, revoked or not allowed from this address. Send an API key in X-API-Key or an access token in Authorization: Bearer, never in the query or the body.',
    undefined,
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  ],
  InsufficientScope: [
    403,
    ({ requiredAnyOf }) =>
      `The credential lacks the scope. Use one with ${requiredAnyOf.join(' or ')}.`,
    {
      required_any_of: list(text('A scope.', 'trading:read'), 'One of these scopes is needed.'),
    },
    {
      detailsOf: ({ requiredAnyOf }) => ({ required_any_of: requiredAnyOf }),
      example: { requiredAnyOf: ['trading:read'] },
    },
  ],
  NotFound: [
    404,
    ({
      what,
      name,
      hint = 'Check the method and the path: paths are case-sensitive and have no trailing slash.',
    }) =>
      what === 'route'
        ? `No route has this method and path. ${hint}`
        : name === undefined
          ? `You have no such ${what}. Check its id.`
          : `There is no ${what} ${JSON.stringify(name)}. Check how it is written.`,
    undefined,
    { example: { what: 'record' } },
  ],
  AccountNotFound: [
    404,
    'You have linked no account with this id. GET /accounts lists your accounts.',
  ],
  AccountPurposeRestricted: [
    403,
    'The account is not for trading. Use one whose purpose is trading.',
  ],
  LiveAccountRestricted: [
    403,
    'The broker does not confirm that this is a demo account, and only those can be traded here. Use one whose isDemo is true.',
  ],
  AccountHalted: [
    403,
    ({ halt: { by, reason } }) =>
      `The account is halted by its ${by}${reason === null ? '' : ` (${reason})`} and accepts no new orders. ${by === 'owner' ? 'DELETE /accounts/:id/halt lifts it' : 'Ask the operator to lift it'}.`,
    {
      accountId,
      by: halter,
      since: time('Since when.'),
    },
    {
      detailsOf: ({ accountId: halted, halt }) => ({ accountId: halted, ...halt }),
      example: {
        halt: { by: 'owner', since: Date.parse('2026-11-20T14:05:09.000Z'), reason: 'news' },
      },
    },
  ],
  OrderTypeNotSupported: [
    501,
    (refusal) =>
      `Orders of type ${refusal.orderType} are switched off in this service. This request was not carried out. If you sent it before they were, that order may exist: look it up by GET /orders before you send orderType market.`,
    { orderType: text('The type that was sent.', 'limit') },
  ],
  OrderTypeNotSupportedByPlatform: [
    400,
    ({ orderType, timeInForce, platform }) =>
      orderType === 'stop_limit'
        ? `The account is on ${platform.toUpperCase()}, which has no stop_limit orders. Use limit or stop.`
        : `The account is on ${platform.toUpperCase()}, which has no orders with timeInForce ${timeInForce}. Use gtc or gtd.`,
    {
      orderType: text('The type that was sent.', 'stop_limit'),
      timeInForce: text('The time in force that was sent, or gtc.', 'gtc'),
      platform: text('The platform of the account.', 'mt4'),
    },
  ],
  UnsupportedBroker: [
    400,
    (refusal) =>
      `Account ${refusal.accountId} is not on a supported trading platform. Use another.`,
    ofAccount,
  ],
  NotProvisioned: [
    400,
    (refusal) =>
      `Account ${refusal.accountId} has no connection to its broker. Ask the operator of this service to link it.`,
    ofAccount,
  ],
  BrokerUnavailable: [
    503,
    (refusal) =>
      refusal.isOrderMissing
        ? 'The broker does not hold the order any more, and does not show yet how it ended. Nothing was changed; try again.'
        : refusal.symbol === undefined
          ? `The broker of account ${refusal.accountId} cannot be reached${causeText(refusal, 'Nothing was changed')}`
          : `The broker of account ${refusal.accountId} does not give ${refusal.symbol} now. Nothing was changed; try again.`,
    ofAccount,
  ],
  BrokerRateLimited: [
    429,
    (refusal) =>
      `The broker limits the requests for account ${refusal.accountId}. Nothing was changed; try again in ${seconds(refusal.retryAfterSeconds)}.`,
    ofAccount,
    { example: { retryAfterSeconds: 7 } },
  ],
  ChallengeLocked: [
    403,
    'The newest challenge of the account has failed, so it accepts no new orders. Use another account; open orders can still be changed and cancelled.',
  ],
  ChallengeCheckUnavailable: [
    503,
    'The challenges of the account cannot be read. No order was placed; try again.',
  ],
  TraderLimitBreached: [
    403,
    (breach) => `The order breaks a limit of the trader: ${limitText(breach)}.`,
    breachedLimit,
  ],
  DeskLimitBreached: [
    403,
    (breach) => `The order breaks a limit of the desk: ${limitText(breach)}.`,
    breachedLimit,
  ],
  ApprovalRequired: [
    409,
    (refusal) =>
      `Orders above ${refusal.approvalAboveLots} lots need the head trader's approval. Nothing was queued; send at most ${refusal.approvalAboveLots} lots.`,
    { approvalAboveLots: decimal('The maximum of lots without it.', 2) },
  ],
  LimitCheckUnavailable: [
    503,
    (refusal) =>
      refusal.isOfAnother === true && refusal.cause === undefined
        ? 'The positions of another account on the trading desk cannot be read. No order was placed; try again, or ask the operator to take that account off the desk.'
        : `The limits of the account, or its open positions, cannot be read${causeText(refusal, 'No order was placed')}`,
  ],
  RiskLimitExceeded: [
    400,
    riskText,
    {
      limit: oneOf(['volume_per_order', 'orders_per_day', 'open_orders'], 'The name of the limit.'),
      allowed: decimal('The maximum.', 10),
      current: decimal('The present count, or the volume that was sent.', 10.5),
      ...partial({ resetsAt: time('When the count of the day starts again.') }),
    },
  ],
  OrderInFlight: [
    409,
    'The order is on its way to the broker, and can be neither changed nor ended until the answer has come or some time has passed. Read it to see its outcome.',
  ],
  OrderNotModifiable: [
    400,
    (refusal) => `The order is ${refusal.status}; only an open order can be changed.`,
    ofStatus,
  ],
  OrderNotCancellable: [
    400,
    (refusal) => `The order is ${refusal.status}; only an open order can be cancelled.`,
    ofStatus,
  ],
  OrderNotPending: [
    409,
    (refusal) =>
      `The order is ${refusal.status}; only a pending or open order can be ended by hand.`,
    ofStatus,
  ],
  OrderChanged: [
    409,
    'The order changed at the same moment and was left as it is. Read it again before you end it.',
  ],
  AccountDisconnected: [
    503,
    (refusal) =>
      `Account ${refusal.accountId} ${refusal.status === 'disconnected' ? 'is disconnected' : 'cannot be read'} from its broker${refusal.cause === undefined ? '. Try again; if that does not help, ask the operator of this service.' : causeText(refusal, 'Nothing was changed')}`,
    { accountId, status: text('Its status.', 'disconnected') },
  ],
  PositionNotFound: [
    404,
    'You have no open position with this id. It may be closed (GET /trades lists closed ones), or open under another id, which MT4 gives it when a part is closed, and other platforms may when it is reversed (GET /positions lists open ones).',
  ],
  InvalidPrice: [
    400,
    ({ level, side, value, currentPrice, price }) =>
      `${level} must be ${(level === 'stopLoss') === (side === 'buy') ? 'below' : 'above'} the ${price === undefined ? `current price ${currentPrice}` : `order's price ${price}`} for a ${side}; got ${value}.`,
    {
      currentPrice: optional(
        decimal('The price that the level of a position is compared with.', 1.08655),
      ),
      ...partial({
        price: decimal('The price that the level of a pending order is compared with.'),
      }),
    },
    { example: { level: 'stopLoss', side: 'buy', value: 1.09, currentPrice: 1.08655 } },
  ],
  InvalidVolume: [
    400,
    (refusal) =>
      `volume must be at most the ${refusal.openVolume} lots that are open; got ${refusal.volume}. Send {} to close all.`,
    { volume: decimal('The lots that were sent.', 0.5), openVolume: lots },
  ],
  TradeRejected: [
    422,
    (refusal) =>
      `The broker refused the change, and nothing was changed: ${refusal.message} (${refusal.code}).`,
    {
      brokerCode: text("The broker's code.", 'TRADE_RETCODE_MARKET_CLOSED'),
      brokerMessage: text("The broker's message.", 'Market is closed'),
    },
    {
      detailsOf: ({ code, message }) => ({ brokerCode: code, brokerMessage: message }),
      example: { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' },
    },
  ],
  BrokerOutcomeUnknown: [
    504,
    'The broker did not confirm the change; it may have been made. Read the position or the order before you try again.',
    ofAccount,
  ],
  NotImplemented: [
    501,
    (refusal) =>
      refusal.isFeedMissing === true
        ? 'The operator of this service provides no prices without an account. Send accountId, with a credential.'
        : `The request is valid, but ${refusal.feature} is not switched on. Ask the operator of this service.`,
    { feature: text('What is not available.', 'market-data') },
  ],
  SymbolAmbiguous: [
    400,
    ({ symbol: wanted, candidates }) =>
      `The broker has several symbols that ${wanted} could mean: ${candidates.join(', ')}. Name one of them, in capitals.`,
    {
      symbol,
      candidates: list(text('As the broker spells it.', 'EURUSD.r'), 'Symbols of the broker.'),
    },
  ],
  NotAvailableOnPlatform: [
    400,
    ({ feature, platform }) =>
      `Accounts of this kind (${platform}) have no ${feature} at the provider. Name another account with accountId.`,
    {
      feature: text('What is not available.', 'ticks'),
      platform: text('The platform.', 'mt4'),
    },
  ],
  TradeNotFound: [
    404,
    'You have no closed trade with this id. It may still be open: GET /positions lists open ones.',
  ],
  HistoryTooLarge: [
    422,
    (refusal) =>
      `Account ${refusal.accountId} has more than ${refusal.limit} deals, which is the maximum that is read; no partial result is given. Name another account with accountId.`,
    { accountId, limit: whole('The maximum of deals that are read.', 20_000) },
  ],
  EventGone: [
    410,
    'Events after this event or time were cleared away, or the event never existed. To get every event that is kept, continue after details.resumeAfter; expect that earlier ones are missing.',
    {
      resumeAfter: text(
        'What to continue after: the last event that was cleared away.',
        'evt_0000000000413f9a6c1e07d2b58c',
      ),
      oldest: nullable(
        text(
          'The oldest event that is kept; null when there is none.',
          'evt_0000000000423f9a6c1e07d2b58c',
        ),
      ),
    },
  ],
  StreamLimitReached: [
    429,
    ({ limit }) =>
      `${limit} streams are open, which is the most at a time. Close one, or try again.`,
    { limit: whole('The most at a time.', 5) },
  ],
  InvalidCursor: [
    400,
    'The cursor cannot be read, or belongs to other filters or another user. Send the cursor of the previous page with the filters of that page, or start without one.',
  ],
  RateLimitExceeded: [
    429,
    ({ exceeded: { scope }, retryAfterSeconds }) => {
      const isSuspending = scope === 'tier' || scope === 'endpoint'
      return `${rateTexts[scope]} Try again in ${seconds(retryAfterSeconds)}${isSuspending ? '; retrying sooner counts towards a suspension' : ''}.`
    },
    {
      scope: oneOf(
        ['tier', 'endpoint', 'suspension', 'address', 'bodies', 'calculations'],
        "Which limit is used up: the plan's, the endpoint's, a suspension, your address's, or that of bodies or of calculations at a time.",
      ),
      window: optional(oneOf(['minute', 'day'], "Which of the plan's limits.")),
    },
    {
      detailsOf: ({ exceeded }) => exceeded,
      example: { exceeded: { scope: 'tier', window: 'minute' }, retryAfterSeconds: 1 },
    },
  ],
  WebhookLimitReached: [
    409,
    (refusal) =>
      `You have ${refusal.allowed} webhooks, which is the maximum. Delete one that you no longer need.`,
    { allowed: whole('The maximum.', 10) },
  ],
  IdempotencyKeyReused: [
    409,
    'This Idempotency-Key was sent with another request within 24 hours. Send the same request again, or use a new key.',
  ],
  IdempotencyInProgress: [
    409,
    'The first request with this Idempotency-Key is not answered yet. Send it again in a second, with the same key.',
    undefined,
    { headers: { 'Retry-After': '1' } },
  ],
  PayloadTooLarge: [
    413,
    (refusal) => `The body must be at most ${refusal.limitBytes} bytes.`,
    { limitBytes: whole('The maximum of bytes.', maxBodyBytes) },
  ],
  InternalError: [
    500,
    'Something went wrong in the service. If the request was to change something, check whether it did before you send it again; give support the request id.',
  ],
  ServiceUnavailable: [
    503,
    ({ unread, outcome }) =>
      outcome === 'unknown' && unread === undefined
        ? 'The service could not confirm the change, which may or may not have been made. A POST with an Idempotency-Key may be sent again with the same key; check any other write before you send it again.'
        : `The service cannot ${unread === undefined ? 'do this now. Try again.' : unreadTexts[unread]}`,
    partial({
      outcome: oneOf(['unknown'], 'The change may or may not have been made.'),
    }),
  ],
  InternalTimeout: [
    504,
    'An earlier change of the same position or order is still under way, so that this one was not begun. Nothing was sent for it; try again.',
  ],
}

export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** As in the envelope, without the request's id. */
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown }
}

// The row is that of the refusal's own tag, which the compiler cannot follow through a union.
export const rowOf = (tag: RefusalTag) => errorTable[tag] as unknown as Row<Refusal>

export const errorReply = (refusal: Refusal): ErrorReply => {
  const [status, message, details = {}, { detailsOf, headers } = {}] = rowOf(refusal._tag)
  const found = object('', details).encode((detailsOf?.(refusal) ?? refusal) as never) as object
  return {
    status,
    headers: {
      ...headers,
      ...('retryAfterSeconds' in refusal && { 'Retry-After': String(refusal.retryAfterSeconds) }),
    },
    error: {
      code: codeOf(refusal._tag),
      message: typeof message === 'string' ? message : message(refusal),
      ...(Object.keys(found).length > 0 && { details: found }),
    },
  }
}

/** A refusal with this tag, for the document. */
export const exampleOf = (tag: RefusalTag): Refusal => {
  const [, , details = {}, { example } = {}] = rowOf(tag)
  return { _tag: tag, ...Object(object('', details).example), ...example } as Refusal
}

export const apiVersion = '1.0.0'

/** HTTPS is the proxy's, and Strict-Transport-Security with it. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

export const errorEnvelope = ({ error }: Pick<ErrorReply, 'error'>, requestId: string): object => ({
  success: false,
  data: null,
  error: { ...error, request_id: requestId },
})

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/**
 * Whether If-None-Match names this tag, by weak comparison. Koa's own check also heeds
 * Cache-Control: no-cache, which fetch adds to such requests, and which is for caches on the way.
 */
export const matchesEtag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((tag) => opaque(tag) === '*' || opaque(tag) === opaque(etag))
