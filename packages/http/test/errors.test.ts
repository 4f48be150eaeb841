// Every refusal as a reply: status, code, details, headers, and what is logged of it.
import type { Refusal, RefusalTag, UnavailableCause } from '@tradeport/domain/errors'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { exampleOf } from '../src/errors.ts'
import {
  accountId,
  fakeDependencies,
  type FakeDependencies,
  goodKey,
  runApi,
  send,
  lasting,
} from './fakes.ts'

// The status, the code, and the fields of the details. Keyed by tag, so that a refusal without a
// row does not compile.
const table: { readonly [T in RefusalTag]: string } = {
  ValidationError: '400 VALIDATION_ERROR issues',
  Unauthorized: '401 UNAUTHORIZED',
  InsufficientScope: '403 INSUFFICIENT_SCOPE required_any_of',
  NotFound: '404 NOT_FOUND',
  AccountNotFound: '404 ACCOUNT_NOT_FOUND',
  AccountPurposeRestricted: '403 ACCOUNT_PURPOSE_RESTRICTED',
  LiveAccountRestricted: '403 LIVE_ACCOUNT_RESTRICTED',
  AccountHalted: '403 ACCOUNT_HALTED accountId,by,since',
  OrderTypeNotSupported: '501 ORDER_TYPE_NOT_SUPPORTED orderType',
  OrderTypeNotSupportedByPlatform:
    '400 ORDER_TYPE_NOT_SUPPORTED_BY_PLATFORM orderType,timeInForce,platform',
  UnsupportedBroker: '400 UNSUPPORTED_BROKER accountId',
  NotProvisioned: '400 NOT_PROVISIONED accountId',
  BrokerUnavailable: '503 BROKER_UNAVAILABLE accountId',
  BrokerRateLimited: '429 BROKER_RATE_LIMITED accountId',
  ChallengeLocked: '403 CHALLENGE_LOCKED',
  ChallengeCheckUnavailable: '503 CHALLENGE_CHECK_UNAVAILABLE',
  TraderLimitBreached: '403 TRADER_LIMIT_BREACHED limit,allowed,current',
  DeskLimitBreached: '403 DESK_LIMIT_BREACHED limit,allowed,current',
  ApprovalRequired: '409 APPROVAL_REQUIRED approvalAboveLots',
  LimitCheckUnavailable: '503 LIMIT_CHECK_UNAVAILABLE',
  RiskLimitExceeded: '400 RISK_LIMIT_EXCEEDED limit,allowed,current',
  OrderInFlight: '409 ORDER_IN_FLIGHT',
  OrderNotModifiable: '400 ORDER_NOT_MODIFIABLE status',
  OrderNotCancellable: '400 ORDER_NOT_CANCELLABLE status',
  OrderNotPending: '409 ORDER_NOT_PENDING status',
  OrderChanged: '409 ORDER_CHANGED',
  AccountDisconnected: '503 ACCOUNT_DISCONNECTED accountId,status',
  PositionNotFound: '404 POSITION_NOT_FOUND',
  InvalidPrice: '400 INVALID_PRICE currentPrice',
  InvalidVolume: '400 INVALID_VOLUME volume,openVolume',
  TradeRejected: '422 TRADE_REJECTED brokerCode,brokerMessage',
  BrokerOutcomeUnknown: '504 BROKER_OUTCOME_UNKNOWN accountId',
  NotImplemented: '501 NOT_IMPLEMENTED feature',
  SymbolAmbiguous: '400 SYMBOL_AMBIGUOUS symbol,candidates',
  NotAvailableOnPlatform: '400 NOT_AVAILABLE_ON_PLATFORM feature,platform',
  TradeNotFound: '404 TRADE_NOT_FOUND',
  HistoryTooLarge: '422 HISTORY_TOO_LARGE accountId,limit',
  EventGone: '410 EVENT_GONE resumeAfter,oldest',
  StreamLimitReached: '429 STREAM_LIMIT_REACHED limit',
  InvalidCursor: '400 INVALID_CURSOR',
  RateLimitExceeded: '429 RATE_LIMIT_EXCEEDED scope,window',
  WebhookLimitReached: '409 WEBHOOK_LIMIT_REACHED allowed',
  IdempotencyKeyReused: '409 IDEMPOTENCY_KEY_REUSED',
  IdempotencyInProgress: '409 IDEMPOTENCY_IN_PROGRESS',
  PayloadTooLarge: '413 PAYLOAD_TOO_LARGE limitBytes',
  InternalError: '500 INTERNAL_ERROR',
  ServiceUnavailable: '503 SERVICE_UNAVAILABLE',
  InternalTimeout: '504 INTERNAL_TIMEOUT',
}
const tags = Object.keys(table) as readonly RefusalTag[]

const dependencies = fakeDependencies()
let listAccounts: UseCases['listAccounts']
const api = await lasting(runApi({ listAccounts: (caller) => listAccounts(caller) }, dependencies))

// A use case may be refused for its own refusals only; the reply is made in one place for all of
// them.
const replyTo = (useCase: unknown) => {
  dependencies.lines.length = 0
  listAccounts = useCase as never
  return send(api, '/api/v1/accounts', {
    headers: { 'x-api-key': goodKey, 'x-request-id': 'mine' },
  })
}
const logged = (status: number, code: string | undefined, more: object) => ({
  requestId: 'mine',
  method: 'GET',
  route: '/api/v1/accounts',
  status,
  durationMs: expect.any(Number),
  code,
  ...more,
})

it.each(tags)('the refusal %s has its status, code, details and headers', async (tag) => {
  const [status = '', code, details = ''] = table[tag].split(' ')
  const needsReason = tag.endsWith('Unavailable')
  const reason = 'hidden reason'
  const refusal = { ...exampleOf(tag), ...(needsReason && { reason }) }
  const reply = await replyTo(() => TE.left(refusal))
  expect(reply.status).toBe(Number(status))
  const { details: shown = {}, ...error } = reply.json.error ?? {}
  expect(error).toEqual({
    code,
    message: expect.stringMatching(/^\w.*\.$/),
    request_id: 'mine',
  })
  expect(Object.keys(shown).join()).toBe(details)
  for (const [name, value] of Object.entries(shown))
    if (name in refusal) expect(value).toEqual(refusal[name as never])
  expect(reply.text).not.toContain('hidden')
  expect(reply.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  // What the service never does, or could not prevent, needs nobody's attention.
  const fields = logged(reply.status, code, needsReason ? { reason } : {})
  expect(dependencies.lines).toMatchObject(
    needsReason || reply.status > 501
      ? [{ level: 'warn', fields, message: 'a request could not be answered' }]
      : [],
  )
})

const reason = 'hidden reason'
const risk = { limit: 'orders_per_day', allowed: 100, current: 100 } as const
const limited = (scope: 'tier' | 'bodies', seconds: number) => ({
  _tag: 'RateLimitExceeded' as const,
  exceeded: scope === 'tier' ? { scope, window: 'day' as const } : { scope },
  retryAfterSeconds: seconds,
})
it.each([
  [{ _tag: 'Unauthorized' }, undefined, { 'www-authenticate': 'Bearer' }],
  [
    { _tag: 'InsufficientScope', requiredAnyOf: ['history:read'] },
    { required_any_of: ['history:read'] },
    {},
  ],
  [
    { _tag: 'BrokerRateLimited', accountId, retryAfterSeconds: 7 },
    { accountId },
    { 'retry-after': '7' },
  ],
  [
    { _tag: 'RiskLimitExceeded', ...risk, resetsAt: Date.parse('2026-11-22') },
    { ...risk, resetsAt: '2026-11-22T00:00:00.000Z' },
    {},
  ],
  [
    { _tag: 'TradeRejected', code: 'CLOSED', message: 'Market is closed' },
    { brokerCode: 'CLOSED', brokerMessage: 'Market is closed' },
    {},
  ],
  [{ _tag: 'BrokerUnavailable', accountId, reason, isOrderMissing: true }, { accountId }, {}],
  [{ _tag: 'BrokerUnavailable', accountId, reason, symbol: 'EURUSD' }, { accountId }, {}],
  [limited('tier', 43_200), { scope: 'tier', window: 'day' }, { 'retry-after': '43200' }],
  [limited('bodies', 1), { scope: 'bodies' }, { 'retry-after': '1' }],
  [{ _tag: 'IdempotencyInProgress' }, undefined, { 'retry-after': '1' }],
  [{ _tag: 'ServiceUnavailable', reason, outcome: 'unknown' }, { outcome: 'unknown' }, {}],
  [{ _tag: 'ServiceUnavailable', reason, unread: 'token_keys' }, undefined, {}],
  [{ _tag: 'ServiceUnavailable', reason, retryAfterSeconds: 1 }, undefined, { 'retry-after': '1' }],
])('the refusal %j has the details %j and the headers %j', async (refusal, details, headers) => {
  const reply = await replyTo(() => TE.left(refusal))
  expect(reply.json.error?.details).toEqual(details)
  expect(reply.headers).toMatchObject(headers)
})

const brokerDown = (cause: UnavailableCause): Refusal => ({
  _tag: 'BrokerUnavailable',
  accountId,
  reason,
  cause,
})

it.each([
  [
    { _tag: 'ServiceUnavailable', reason, unread: 'candles' },
    /so many candles .* send the request again/,
  ],
  [
    { _tag: 'ServiceUnavailable', reason, unread: 'first_reply', outcome: 'unknown' },
    /repeating the key gives this answer again/,
  ],
  [{ _tag: 'ServiceUnavailable', reason, unread: 'calculation' }, /fewer resamples or a shorter/],
  [{ _tag: 'ServiceUnavailable', reason, unread: 'body' }, /fill the memory .* Try again/],
  [{ _tag: 'NotImplemented', feature: 'market-data', isFeedMissing: true }, /Send accountId/],
  [{ _tag: 'NotImplemented', feature: 'market-data' }, /not switched on/],
  [brokerDown('token_missing'), /no token .* tell the operator/],
  [brokerDown('token_unreadable'), /cannot read its token .* try again/],
])('the refusal %j says %s', async (refusal, message) => {
  expect((await replyTo(() => TE.left(refusal))).json.error?.message).toMatch(message)
})

const secretError = Object.assign(new Error('a secret is in here'), {
  detail: 'Key (comment)=(a secret) already exists.',
  // Koa would answer the message of such an error.
  expose: true,
  status: 418,
})
const throwing = (): never => {
  throw secretError
}
it.each([
  ['a use case that rejects', () => () => Promise.reject(secretError)],
  ['a use case that throws', throwing],
  ['a use case that throws text', () => () => Promise.reject('a secret is in here')],
  ['a refusal that nobody knows', () => TE.left({ _tag: 'a secret', reason: 'a secret' })],
  [
    'a result that cannot be written',
    () => TE.right([{ account: { createdAt: Number.NaN }, liveDataUpdatedAt: null }]),
  ],
])(
  'an unexpected error of %s is 500 without its text, and is logged with the request id',
  async (_, useCase) => {
    const reply = await replyTo(useCase)
    expect([reply.status, reply.json.error?.code]).toEqual([500, 'INTERNAL_ERROR'])
    expect(reply.text).not.toMatch(/secret|at .*\.ts/)
    const fields = logged(500, 'INTERNAL_ERROR', { err: expect.anything() as unknown })
    expect(dependencies.lines).toEqual([
      { level: 'error', fields, message: 'a request failed unexpectedly' },
    ])
  },
)

it.each<[string, Partial<UseCases>, Partial<FakeDependencies>]>([
  ['the credential', { identifyCaller: throwing }, {}],
  ['the limits', {}, { limiter: { decide: () => Promise.reject(secretError) } }],
])('an unexpected error of the check of %s is 500 without its text', async (_, useCases, parts) => {
  await using failing = await runApi(useCases, fakeDependencies(parts))
  const reply = await send(failing, '/api/v1/accounts')
  expect([reply.status, reply.text.includes('secret')]).toEqual([500, false])
})
