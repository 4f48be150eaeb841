// Every refusal as a reply: status, code, details, headers, and what is logged of it.
import {
  accountDisconnected,
  accountNotFound,
  accountPurposeRestricted,
  approvalRequired,
  brokerOutcomeUnknown,
  brokerUnavailable,
  challengeCheckUnavailable,
  challengeLocked,
  deskLimitBreached,
  historyTooLarge,
  idempotencyInProgress,
  idempotencyKeyReused,
  insufficientScope,
  internalError,
  internalTimeout,
  invalidCursor,
  invalidPrice,
  invalidVolume,
  limitCheckUnavailable,
  liveAccountRestricted,
  notFound,
  notImplemented,
  notProvisioned,
  orderChanged,
  orderInFlight,
  orderNotCancellable,
  orderNotModifiable,
  orderNotPending,
  orderTypeNotSupported,
  outcomeUnknown,
  payloadTooLarge,
  positionNotFound,
  rateLimitExceeded,
  riskLimitExceeded,
  serviceUnavailable,
  tokenKeysUnavailable,
  tradeNotFound,
  tradeRejected,
  traderLimitBreached,
  unauthorized,
  unsupportedBroker,
  validationError,
  webhookLimitReached,
} from '@tradeport/domain/errors'
import type { BrokerRateLimited, Refusal } from '@tradeport/domain/errors'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { accountId, fakeEdge, goodKey, runApi, send } from './fakes.ts'
import type { Answer, FakeEdge, Running } from './fakes.ts'

const rateLimited: BrokerRateLimited = {
  _tag: 'BrokerRateLimited',
  accountId,
  retryAfterSeconds: 7,
}
const issues = [{ path: 'limit', message: 'limit must be a whole number' }]

const maxOpenLots = { limit: 'maxOpenLots', allowed: 20, current: 19.5 }
const allowedSymbols = { limit: 'allowedSymbols', allowed: ['EURUSD', 'GBPUSD'], current: 'XAUUSD' }
const volumePerOrder = { limit: 'volume_per_order', allowed: 10, current: 10.01 } as const
const ordersPerDay = { limit: 'orders_per_day', allowed: 100, current: 100 } as const
const openOrders = { limit: 'open_orders', allowed: 50, current: 51 } as const

const marketClosed = {
  brokerCode: 'TRADE_RETCODE_MARKET_CLOSED',
  brokerMessage: 'Market is closed',
}

/** The refusal, its status and code, its details, and headers of its own. */
type Row<R> = readonly [
  refusal: R,
  answer: string,
  details?: object | undefined,
  headers?: Record<string, string>,
]
type Tag = Refusal['_tag']

const after = (seconds: string) => ({ 'retry-after': seconds })
const limited = (exceeded: Parameters<typeof rateLimitExceeded>[0], seconds: number) =>
  [
    rateLimitExceeded(exceeded, seconds),
    '429 RATE_LIMIT_EXCEEDED',
    exceeded,
    after(String(seconds)),
  ] as const

// Keyed by tag, so that a refusal without a row does not compile.
const table: { readonly [T in Tag]: readonly Row<Extract<Refusal, { readonly _tag: T }>>[] } = {
  ValidationError: [[validationError(issues), '400 VALIDATION_ERROR', { issues }]],
  Unauthorized: [[unauthorized, '401 UNAUTHORIZED', undefined, { 'www-authenticate': 'Bearer' }]],
  InsufficientScope: [
    [
      insufficientScope(['history:read']),
      '403 INSUFFICIENT_SCOPE',
      { required_any_of: ['history:read'] },
    ],
  ],
  NotFound: [[notFound('symbol'), '404 NOT_FOUND']],
  AccountNotFound: [[accountNotFound, '404 ACCOUNT_NOT_FOUND']],
  AccountPurposeRestricted: [[accountPurposeRestricted, '403 ACCOUNT_PURPOSE_RESTRICTED']],
  LiveAccountRestricted: [[liveAccountRestricted, '403 LIVE_ACCOUNT_RESTRICTED']],
  OrderTypeNotSupported: [
    [
      orderTypeNotSupported('stop_limit'),
      '501 ORDER_TYPE_NOT_SUPPORTED',
      { orderType: 'stop_limit' },
    ],
  ],
  UnsupportedBroker: [[unsupportedBroker(accountId), '400 UNSUPPORTED_BROKER', { accountId }]],
  NotProvisioned: [[notProvisioned(accountId), '400 NOT_PROVISIONED', { accountId }]],
  BrokerUnavailable: [
    [brokerUnavailable(accountId, 'hidden reason'), '503 BROKER_UNAVAILABLE', { accountId }],
    [
      brokerUnavailable(accountId, 'hidden reason', 'token_refused'),
      '503 BROKER_UNAVAILABLE',
      { accountId },
    ],
  ],
  BrokerRateLimited: [[rateLimited, '429 BROKER_RATE_LIMITED', { accountId }, after('7')]],
  ChallengeLocked: [[challengeLocked, '403 CHALLENGE_LOCKED']],
  ChallengeCheckUnavailable: [
    [challengeCheckUnavailable('hidden reason'), '503 CHALLENGE_CHECK_UNAVAILABLE'],
  ],
  TraderLimitBreached: [
    [traderLimitBreached(maxOpenLots), '403 TRADER_LIMIT_BREACHED', maxOpenLots],
  ],
  DeskLimitBreached: [
    [deskLimitBreached(allowedSymbols), '403 DESK_LIMIT_BREACHED', allowedSymbols],
  ],
  ApprovalRequired: [[approvalRequired(2.5), '409 APPROVAL_REQUIRED', { approvalAboveLots: 2.5 }]],
  LimitCheckUnavailable: [
    [limitCheckUnavailable('hidden reason'), '503 LIMIT_CHECK_UNAVAILABLE'],
    [limitCheckUnavailable('hidden reason', 'token_refused'), '503 LIMIT_CHECK_UNAVAILABLE'],
  ],
  RiskLimitExceeded: [
    [riskLimitExceeded(volumePerOrder), '400 RISK_LIMIT_EXCEEDED', volumePerOrder],
    [
      riskLimitExceeded({ ...ordersPerDay, resetsAt: Date.parse('2026-11-22') }),
      '400 RISK_LIMIT_EXCEEDED',
      { ...ordersPerDay, resetsAt: '2026-11-22T00:00:00.000Z' },
    ],
    [riskLimitExceeded(openOrders), '400 RISK_LIMIT_EXCEEDED', openOrders],
  ],
  OrderInFlight: [[orderInFlight, '409 ORDER_IN_FLIGHT']],
  OrderNotModifiable: [
    [
      orderNotModifiable('partially_filled'),
      '400 ORDER_NOT_MODIFIABLE',
      { status: 'partially_filled' },
    ],
  ],
  OrderNotCancellable: [
    [orderNotCancellable('rejected'), '400 ORDER_NOT_CANCELLABLE', { status: 'rejected' }],
  ],
  OrderNotPending: [[orderNotPending('filled'), '409 ORDER_NOT_PENDING', { status: 'filled' }]],
  OrderChanged: [[orderChanged, '409 ORDER_CHANGED']],
  AccountDisconnected: [
    [
      accountDisconnected(accountId, 'disconnected'),
      '503 ACCOUNT_DISCONNECTED',
      { accountId, status: 'disconnected' },
    ],
    [
      accountDisconnected(accountId, 'error'),
      '503 ACCOUNT_DISCONNECTED',
      { accountId, status: 'error' },
    ],
  ],
  PositionNotFound: [[positionNotFound, '404 POSITION_NOT_FOUND']],
  InvalidPrice: [
    [
      invalidPrice({ level: 'stopLoss', side: 'buy', value: 1.2, currentPrice: 1.1 }),
      '400 INVALID_PRICE',
      { currentPrice: 1.1 },
    ],
  ],
  InvalidVolume: [
    [invalidVolume(0.3, 0.2), '400 INVALID_VOLUME', { volume: 0.3, openVolume: 0.2 }],
  ],
  TradeRejected: [
    [
      tradeRejected(marketClosed.brokerCode, marketClosed.brokerMessage),
      '422 TRADE_REJECTED',
      marketClosed,
    ],
  ],
  BrokerOutcomeUnknown: [
    [brokerOutcomeUnknown(accountId), '504 BROKER_OUTCOME_UNKNOWN', { accountId }],
  ],
  NotImplemented: [
    [notImplemented('market-data'), '501 NOT_IMPLEMENTED', { feature: 'market-data' }],
  ],
  TradeNotFound: [[tradeNotFound, '404 TRADE_NOT_FOUND']],
  HistoryTooLarge: [
    [historyTooLarge(accountId, 20_000), '422 HISTORY_TOO_LARGE', { accountId, limit: 20_000 }],
  ],
  InvalidCursor: [[invalidCursor, '400 INVALID_CURSOR']],
  RateLimitExceeded: [
    limited({ scope: 'tier', window: 'minute' }, 1),
    limited({ scope: 'tier', window: 'day' }, 43_200),
    limited({ scope: 'endpoint' }, 360),
    limited({ scope: 'suspension' }, 900),
    limited({ scope: 'address' }, 60),
    limited({ scope: 'bodies' }, 1),
  ],
  WebhookLimitReached: [[webhookLimitReached(10), '409 WEBHOOK_LIMIT_REACHED', { allowed: 10 }]],
  IdempotencyKeyReused: [[idempotencyKeyReused, '409 IDEMPOTENCY_KEY_REUSED']],
  IdempotencyInProgress: [
    [idempotencyInProgress, '409 IDEMPOTENCY_IN_PROGRESS', undefined, after('1')],
  ],
  PayloadTooLarge: [
    [payloadTooLarge(10_485_760), '413 PAYLOAD_TOO_LARGE', { limitBytes: 10_485_760 }],
  ],
  InternalError: [[internalError, '500 INTERNAL_ERROR']],
  ServiceUnavailable: [
    [serviceUnavailable('hidden reason'), '503 SERVICE_UNAVAILABLE'],
    [outcomeUnknown('hidden reason'), '503 SERVICE_UNAVAILABLE', { outcome: 'unknown' }],
    [tokenKeysUnavailable('hidden reason'), '503 SERVICE_UNAVAILABLE'],
    [
      { ...serviceUnavailable('hidden reason'), retryAfterSeconds: 1 },
      '503 SERVICE_UNAVAILABLE',
      undefined,
      after('1'),
    ],
  ],
  InternalTimeout: [[internalTimeout, '504 INTERNAL_TIMEOUT']],
}
const rows: readonly Row<Refusal>[] = Object.values<readonly Row<Refusal>[]>(table).flat()

let edge: FakeEdge
let listAccounts: UseCases['listAccounts']
let api: Running
beforeAll(async () => {
  edge = fakeEdge()
  api = await runApi({ listAccounts: (caller) => listAccounts(caller) }, edge)
})
afterAll(() => api[Symbol.asyncDispose]())

// A use case may be refused for its own refusals only; the reply is made in one place for all of
// them.
const replyTo = (useCase: unknown): Promise<Answer> => {
  edge.lines.length = 0
  listAccounts = useCase as never
  return send(api, '/api/v1/accounts', {
    headers: { 'x-api-key': goodKey, 'x-request-id': 'mine' },
  })
}

it.for(rows)('the refusal %j is answered %s', async ([refusal, answer, details, headers = {}]) => {
  const [status, code] = answer.split(' ')
  const reply = await replyTo(() => TE.left(refusal))
  expect(reply.status).toBe(Number(status))
  expect(reply.json).toEqual({
    success: false,
    data: null,
    error: {
      code,
      message: expect.stringMatching(/^\w.*\.$/) as string,
      ...(details === undefined ? {} : { details }),
      request_id: 'mine',
    },
  })
  expect(reply.text).not.toContain('hidden')
  expect(reply.headers).toMatchObject({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  // What the service never does, or could not prevent, needs nobody's attention.
  const isLogged = 'reason' in refusal || (reply.status > 501 && refusal._tag !== 'InternalError')
  const fields = {
    requestId: 'mine',
    method: 'GET',
    route: '/api/v1/accounts',
    status: reply.status,
    durationMs: expect.any(Number) as number,
    code,
  }
  expect(edge.lines).toMatchObject(
    isLogged
      ? [
          {
            level: 'warn',
            fields: { ...fields, ...('reason' in refusal && { reason: refusal.reason }) },
            message: 'a request could not be answered',
          },
        ]
      : [],
  )
})

it.each([
  ['a use case that rejects', () => () => Promise.reject(new Error('a secret is in here'))],
  [
    'a use case that throws',
    () => {
      throw new Error('a secret is in here')
    },
  ],
  [
    'a result that cannot be written',
    () => TE.right([{ account: { createdAt: Number.NaN }, liveDataUpdatedAt: null }]),
  ],
])(
  'an unexpected error of %s is 500 without its text, and is logged with the request id',
  async (_, useCase) => {
    const reply = await replyTo(useCase)
    expect([reply.status, reply.json.error?.code, reply.json.error?.request_id]).toEqual([
      500,
      'INTERNAL_ERROR',
      'mine',
    ])
    expect(reply.text).not.toMatch(/secret|at .*\.ts/)
    const fields = {
      err: expect.any(Error) as Error,
      requestId: 'mine',
      method: 'GET',
      route: '/api/v1/accounts',
      status: 500,
      durationMs: expect.any(Number) as number,
      code: 'INTERNAL_ERROR',
    }
    expect(edge.lines).toEqual([
      { level: 'error', fields, message: 'a request failed unexpectedly' },
    ])
  },
)
