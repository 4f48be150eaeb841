// What every refusal looks like on the wire: one row for each tag, so that a refusal without a row does not compile.
import { maxBodyBytes } from './body/read-body.ts'
import type { AccountId, BreachedLimit, ExceededRiskLimit, RateLimitScope, Refusal } from '@tradeport/domain'
import { exampleAccountId } from './examples.ts'
import { anything, decimal, list, object, oneOf, optional, text, time, whole } from './schema.ts'
import type { AnySchema, Schema } from './schema.ts'

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

/** For programs: the fields of the refusal, or of what `of` makes of it, that the shape names. */
interface Details<R> {
  readonly shape: AnySchema
  readonly of: (refusal: R) => object | undefined
  /** Some refusals with this tag have none. */
  readonly isSeldom: boolean
}

interface More<R> {
  /** Shown in the document; left out when the refusal has no fields. */
  readonly example?: Omit<R, '_tag'>
  readonly details?: Details<R>
  readonly headers?: (refusal: R) => Readonly<Record<string, string>>
  /** Only the operator API answers it. */
  readonly isForOperators?: true
}

interface Row<R> extends More<R> {
  readonly status: number
  /** For a person: what was wrong, and what to do. */
  readonly message: string | ((refusal: R) => string)
}

const row = <R>(status: number, message: Row<R>['message'], more: More<R> = {}): Row<R> => ({ status, message, ...more })

/** `ACCOUNT_NOT_FOUND` for AccountNotFound. */
export const codeOf = (tag: RefusalTag): string => tag.replace(/(?<=.)[A-Z]/g, '_$&').toUpperCase()

const details = <D extends object, R extends D>(shape: Schema<D>): Details<R> => ({ shape, of: (refusal) => refusal, isSeldom: false })

const detailsFrom = <D extends object, R>(shape: Schema<D>, of: (refusal: R) => D | undefined, isSeldom = false): Details<R> => ({
  shape,
  of,
  isSeldom,
})

const accountId = exampleAccountId as AccountId
const account = text('The account.', exampleAccountId)
const ofAccount = object('Which account.', { accountId: account })
const ofStatus = object('The state of the order.', { status: text('Its status.', 'filled') })
const ofLimit = object('Which limit.', {
  limit: text('Its name.', 'maxLotsPerOrder'),
  allowed: anything('The most, or the symbols that are allowed.', 5),
  current: anything('What was asked for, or what is open and under way without it.', 6),
})

const limitText = ({ limit, allowed, current }: BreachedLimit): string =>
  typeof allowed === 'number' ? `${limit} is ${allowed}` : `${limit} does not include ${current}`

const riskTexts: { readonly [Limit in ExceededRiskLimit['limit']]: (exceeded: ExceededRiskLimit) => string } = {
  volume_per_order: ({ allowed, current }) => `volume must be at most ${allowed} lots; got ${current}.`,
  orders_per_day: ({ allowed }) =>
    `You have placed ${allowed} orders today (UTC), which is the most for a day. Try again after details.resetsAt.`,
  open_orders: ({ allowed }) => `You have ${allowed} orders pending or open, which is the most. Wait until one has ended.`,
}

const seconds = (count: number): string => `${count} ${count === 1 ? 'second' : 'seconds'}`
const retryAfter = ({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) => ({ 'Retry-After': String(retryAfterSeconds) })

const tokenRefused = 'the provider refused the token that the operator of this service configured'

const rateTexts: { readonly [S in RateLimitScope['scope']]: string } = {
  tier: "Your plan's requests are used up.",
  endpoint: 'The requests for this endpoint are used up.',
  suspension: 'This credential is suspended because too many of its requests were refused.',
  address: 'Too many requests with a bad credential came from your address.',
  bodies: 'Two large or slow bodies are being received for this credential, which is the most at a time.',
}

export const errorTable: { readonly [Tag in RefusalTag]: Row<RefusalOf<Tag>> } = {
  ValidationError: row(
    400,
    ({ issues }) =>
      `${issues
        .slice(0, 3)
        .map(({ message }) => message)
        .join('; ')}${issues.length > 3 ? `; and ${issues.length - 3} more` : ''}.`,
    {
      example: { issues: [{ path: 'limit', message: 'limit must be a whole number from 1 to 100; got "0"' }] },
      details: details(
        object('Every fault of the request.', {
          issues: list(
            object('One fault.', {
              path: text('The field, parameter or header.', 'limit'),
              message: text('What it must be and what it got.', 'limit must be a whole number from 1 to 100; got "0"'),
            }),
            'In the order in which they were found.',
          ),
        }),
      ),
    },
  ),
  Unauthorized: row(
    401,
    ({ isOperators }) =>
      isOperators === true
        ? "The operator's token is missing or wrong. Send it in Authorization: Bearer."
        : 'No valid credential was sent. Send an API key in X-API-Key or an access token in Authorization: Bearer, never in the query or the body. It may also be unknown, expired, revoked or not allowed from this address.',
    { headers: () => ({ 'WWW-Authenticate': 'Bearer' }) },
  ),
  InsufficientScope: row(403, ({ requiredAnyOf }) => `The credential lacks the scope. Use one with ${requiredAnyOf.join(' or ')}.`, {
    example: { requiredAnyOf: ['trading:read', 'history:read'] },
    details: detailsFrom(
      object('The scopes that would pass.', { required_any_of: list(text('A scope.', 'trading:read'), 'One of them is needed.') }),
      ({ requiredAnyOf }) => ({ required_any_of: requiredAnyOf }),
    ),
  }),
  NotFound: row(
    404,
    ({ what, hint = 'Check both: case matters, and no path ends in a slash.' }) =>
      what === 'route'
        ? `No route has this method and path. ${hint}`
        : `There is no ${what} with this name or id. Check how it is written.`,
    { example: { what: 'record' } },
  ),
  AccountNotFound: row(404, 'You have linked no account with this id. GET /accounts lists your accounts.'),
  AccountPurposeRestricted: row(403, 'The account is not for trading. Use one whose purpose is trading.'),
  LiveAccountRestricted: row(403, 'The account is live, and only demo accounts can be traded here. Use one whose isDemo is true.'),
  OrderTypeNotSupported: row(
    501,
    ({ orderType }) => `Orders of type ${orderType} are not available yet. Nothing was checked or recorded; send orderType market.`,
    {
      example: { orderType: 'limit' },
      details: details(object('What is not available.', { orderType: text('The type that was sent.', 'limit') })),
    },
  ),
  UnsupportedBroker: row(400, ({ accountId: id }) => `Account ${id} is not on a supported trading platform. Name another with accountId.`, {
    example: { accountId },
    details: details(ofAccount),
  }),
  NotProvisioned: row(400, ({ accountId: id }) => `Account ${id} is not connected to its broker. Reconnect it in the app.`, {
    example: { accountId },
    details: details(ofAccount),
  }),
  BrokerUnavailable: row(
    503,
    ({ accountId: id, cause }) =>
      cause === 'token_refused'
        ? `The broker of account ${id} cannot be reached: ${tokenRefused}. Nothing was sent; tell the operator.`
        : `The broker of account ${id} cannot be reached. Nothing was sent; try again.`,
    { example: { accountId, reason: '' }, details: details(ofAccount) },
  ),
  BrokerRateLimited: row(
    429,
    ({ accountId: id, retryAfterSeconds }) =>
      `The broker limits the requests for account ${id}. Nothing was changed; try again in ${seconds(retryAfterSeconds)}.`,
    { example: { accountId, retryAfterSeconds: 7 }, details: details(ofAccount), headers: retryAfter },
  ),
  ChallengeLocked: row(403, 'The newest challenge of the account has failed, so that it accepts no new orders.'),
  ChallengeCheckUnavailable: row(503, 'The challenges of the account cannot be read. No order was placed; try again.', {
    example: { reason: '' },
  }),
  TraderLimitBreached: row(403, (breach) => `The order breaks a limit of the trader: ${limitText(breach)}.`, {
    example: { limit: 'maxLotsPerOrder', allowed: 5, current: 6 },
    details: details(ofLimit),
  }),
  DeskLimitBreached: row(403, (breach) => `The order breaks a limit of the desk: ${limitText(breach)}.`, {
    example: { limit: 'allowedSymbols', allowed: ['EURUSD', 'GBPUSD'], current: 'XAUUSD' },
    details: details(ofLimit),
  }),
  ApprovalRequired: row(
    409,
    ({ approvalAboveLots }) =>
      `Orders above ${approvalAboveLots} lots need the head trader's approval. Nothing was queued; send at most ${approvalAboveLots} lots.`,
    {
      example: { approvalAboveLots: 2 },
      details: details(object('What needs no approval.', { approvalAboveLots: decimal('The most lots without it.', 2) })),
    },
  ),
  LimitCheckUnavailable: row(
    503,
    ({ cause }) =>
      cause === 'token_refused'
        ? `The open positions that the limits of the account apply to cannot be read: ${tokenRefused}. No order was placed; tell the operator.`
        : 'The limits of the account, or its open positions, cannot be read. No order was placed; try again.',
    { example: { reason: '' } },
  ),
  RiskLimitExceeded: row(400, (exceeded) => riskTexts[exceeded.limit](exceeded), {
    example: { limit: 'volume_per_order', allowed: 10, current: 10.5 },
    details: details(
      object('Which limit of the service.', {
        limit: oneOf(['volume_per_order', 'orders_per_day', 'open_orders'], 'Its name.'),
        allowed: decimal('The most.', 10),
        current: decimal('What there is, or what was sent.', 10.5),
        resetsAt: optional(time('When the count of the day starts anew.', '2026-11-21T00:00:00.000Z')),
      }),
    ),
  }),
  OrderInFlight: row(
    409,
    'The order is on its way to the broker and can be neither changed nor cancelled. GET /orders/:id shows its outcome.',
  ),
  OrderNotModifiable: row(400, ({ status }) => `The order is ${status}; only an open order can be changed.`, {
    example: { status: 'filled' },
    details: details(ofStatus),
  }),
  OrderNotCancellable: row(400, ({ status }) => `The order is ${status}; only an open order can be cancelled.`, {
    example: { status: 'filled' },
    details: details(ofStatus),
  }),
  OrderNotPending: row(409, ({ status }) => `The order is ${status}; only a pending order can be ended by hand.`, {
    example: { status: 'filled' },
    details: details(ofStatus),
    isForOperators: true,
  }),
  OrderChanged: row(409, 'The order changed at the same moment and was left as it is. Read it again before you end it.', {
    isForOperators: true,
  }),
  AccountDisconnected: row(
    503,
    ({ accountId: id, status }) =>
      status === 'disconnected'
        ? `Account ${id} is disconnected from its broker. Reconnect it in the app.`
        : `Account ${id} cannot be read from its broker. Try again, or reconnect it in the app.`,
    {
      example: { accountId, status: 'disconnected' },
      details: details(object('Which account, and its status.', { accountId: account, status: text('Its status.', 'disconnected') })),
    },
  ),
  PositionNotFound: row(404, 'You have no open position with this id. It may be closed: GET /trades lists closed ones.'),
  InvalidPrice: row(
    400,
    ({ level, side, value, currentPrice }) =>
      `${level} must be ${(level === 'stopLoss') === (side === 'buy') ? 'below' : 'above'} the current price ${currentPrice} for a ${side}; got ${value}.`,
    {
      example: { level: 'stopLoss', side: 'buy', value: 1.09, currentPrice: 1.08655 },
      details: details(object('What the level is compared with.', { currentPrice: decimal('The current price.', 1.08655) })),
    },
  ),
  InvalidVolume: row(
    400,
    ({ volume, openVolume }) => `volume must be at most the ${openVolume} lots that are open; got ${volume}. Send {} to close all.`,
    {
      example: { volume: 0.5, openVolume: 0.2 },
      details: details(
        object('What was sent, and what is open.', {
          volume: decimal('The lots that were sent.', 0.5),
          openVolume: decimal('The open lots.', 0.2),
        }),
      ),
    },
  ),
  TradeRejected: row(422, ({ code, message }) => `The broker refused the change, and nothing was changed: ${message} (${code}).`, {
    example: { code: 'TRADE_RETCODE_MARKET_CLOSED', message: 'Market is closed' },
    details: detailsFrom(
      object("The broker's answer.", {
        brokerCode: text('Its code.', 'TRADE_RETCODE_MARKET_CLOSED'),
        brokerMessage: text('Its words.', 'Market is closed'),
      }),
      ({ code, message }) => ({ brokerCode: code, brokerMessage: message }),
    ),
  }),
  BrokerOutcomeUnknown: row(504, 'The broker did not confirm the change; it may have been made. Read the position before you try again.', {
    example: { accountId },
    details: details(ofAccount),
  }),
  NotImplemented: row(501, ({ feature }) => `The request is valid, but ${feature} is not available yet.`, {
    example: { feature: 'market-data' },
    details: details(object('What is not available.', { feature: text('Its name.', 'market-data') })),
  }),
  TradeNotFound: row(404, 'You have no closed trade with this id. It may still be open: GET /positions lists open ones.'),
  HistoryTooLarge: row(
    422,
    ({ accountId: id, limit }) =>
      `Account ${id} has more than ${limit} deals, which is the most that is read; no partial result is given. Name another account with accountId.`,
    {
      example: { accountId, limit: 20_000 },
      details: details(
        object('Which account, and the limit.', { accountId: account, limit: whole('The most deals that are read.', 20_000) }),
      ),
    },
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
      example: { exceeded: { scope: 'tier', window: 'minute' }, retryAfterSeconds: 1 },
      details: detailsFrom(
        object('Which limit is used up.', {
          scope: oneOf(
            ['tier', 'endpoint', 'suspension', 'address', 'bodies'],
            "The plan's, the endpoint's, a suspension, your address's, or that of bodies at a time.",
          ),
          window: optional(oneOf(['minute', 'day'], "Which of the plan's limits.")),
        }),
        ({ exceeded }) => exceeded,
      ),
      headers: retryAfter,
    },
  ),
  WebhookLimitReached: row(409, ({ allowed }) => `You have ${allowed} webhooks, which is the most. Delete one that you no longer need.`, {
    example: { allowed: 10 },
    details: details(object('The limit.', { allowed: whole('The most.', 10) })),
  }),
  IdempotencyKeyReused: row(
    409,
    'This Idempotency-Key was sent with another request within 24 hours. Send the same request again, or use a new key.',
  ),
  IdempotencyInProgress: row(
    409,
    'The first request with this Idempotency-Key is still being answered. Send it again in a second, with the same key.',
    { headers: () => ({ 'Retry-After': '1' }) },
  ),
  PayloadTooLarge: row(413, ({ limitBytes }) => `The body must be at most ${limitBytes} bytes.`, {
    example: { limitBytes: maxBodyBytes },
    details: details(object('The limit.', { limitBytes: whole('The most bytes.', maxBodyBytes) })),
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
      example: { reason: '' },
      details: detailsFrom(
        object('Present where something was being recorded.', { outcome: oneOf(['unknown'], 'It may have been recorded.') }),
        ({ outcome }) => (outcome === undefined ? undefined : { outcome }),
        true,
      ),
      headers: ({ retryAfterSeconds }) => (retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
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
  const row = errorTable[refusal._tag] as unknown as Row<Refusal>
  const found = row.details?.of(refusal)
  const written = found === undefined ? {} : { details: row.details?.shape.encode(found as never) }
  const message = typeof row.message === 'string' ? row.message : row.message(refusal)
  return { status: row.status, headers: row.headers?.(refusal) ?? {}, error: { code: codeOf(refusal._tag), message, ...written } }
}
