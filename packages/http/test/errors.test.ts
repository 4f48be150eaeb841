// Every refusal on the wire, row by row (section 7; decisions 4, 6 and 7).
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
  tradeNotFound,
  tradeRejected,
  traderLimitBreached,
  unauthorized,
  unsupportedBroker,
  validationError,
  webhookLimitReached,
} from '@tradeport/domain'
import type { BrokerRateLimited, Refusal } from '@tradeport/domain'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../src/replies/error-table.ts'
import { openRoute } from '../src/routing/route.ts'
import type { RefusalTag } from '../src/routing/route-refusals.ts'
import { mount } from '../src/routing/mount.ts'
import { accountId, fakeEdge, run, runApi, send, untold } from './fakes.ts'
import type { Answer, FakeEdge } from './fakes.ts'

const rateLimited: BrokerRateLimited = { _tag: 'BrokerRateLimited', accountId, retryAfterSeconds: 7 }
const issues = [{ path: 'limit', message: 'limit takes a whole number' }]

const maxOpenLots = { limit: 'maxOpenLots', allowed: 20, current: 19.5 }
const allowedSymbols = { limit: 'allowedSymbols', allowed: ['EURUSD', 'GBPUSD'], current: 'XAUUSD' }
const volumePerOrder = { limit: 'volume_per_order', allowed: 10, current: 10.01 } as const
const ordersPerDay = { limit: 'orders_per_day', allowed: 100, current: 100 } as const
const openOrders = { limit: 'open_orders', allowed: 50, current: 51 } as const

const marketClosed = { brokerCode: 'TRADE_RETCODE_MARKET_CLOSED', brokerMessage: 'Market is closed' }

type Row = readonly [refusal: Refusal, status: number, code: string, details?: object | undefined, headers?: Record<string, string>]

const rows: readonly Row[] = [
  [validationError(issues), 400, 'VALIDATION_ERROR', { issues }],
  [unauthorized, 401, 'UNAUTHORIZED', undefined, { 'www-authenticate': 'Bearer' }],
  [insufficientScope(['trading:read', 'history:read']), 403, 'INSUFFICIENT_SCOPE', { required_any_of: ['trading:read', 'history:read'] }],
  [notFound('symbol'), 404, 'NOT_FOUND'],
  [accountNotFound, 404, 'ACCOUNT_NOT_FOUND'],
  [accountPurposeRestricted, 403, 'ACCOUNT_PURPOSE_RESTRICTED'],
  [liveAccountRestricted, 403, 'LIVE_ACCOUNT_RESTRICTED'],
  [orderTypeNotSupported('stop_limit'), 501, 'ORDER_TYPE_NOT_SUPPORTED', { orderType: 'stop_limit' }],
  [unsupportedBroker(accountId), 400, 'UNSUPPORTED_BROKER', { accountId }],
  [notProvisioned(accountId), 400, 'NOT_PROVISIONED', { accountId }],
  [brokerUnavailable(accountId, 'hidden reason'), 503, 'BROKER_UNAVAILABLE', { accountId }],
  [rateLimited, 429, 'BROKER_RATE_LIMITED', { accountId }, { 'retry-after': '7' }],
  [challengeLocked, 403, 'CHALLENGE_LOCKED'],
  [challengeCheckUnavailable('hidden reason'), 503, 'CHALLENGE_CHECK_UNAVAILABLE'],
  [traderLimitBreached(maxOpenLots), 403, 'TRADER_LIMIT_BREACHED', maxOpenLots],
  [deskLimitBreached(allowedSymbols), 403, 'DESK_LIMIT_BREACHED', allowedSymbols],
  [approvalRequired(2.5), 409, 'APPROVAL_REQUIRED', { approvalAboveLots: 2.5 }],
  [limitCheckUnavailable('hidden reason'), 503, 'LIMIT_CHECK_UNAVAILABLE'],
  [riskLimitExceeded(volumePerOrder), 400, 'RISK_LIMIT_EXCEEDED', volumePerOrder],
  [
    riskLimitExceeded({ ...ordersPerDay, resetsAt: Date.parse('2026-11-22') }),
    400,
    'RISK_LIMIT_EXCEEDED',
    { ...ordersPerDay, resetsAt: '2026-11-22T00:00:00.000Z' },
  ],
  [riskLimitExceeded(openOrders), 400, 'RISK_LIMIT_EXCEEDED', openOrders],
  [orderInFlight, 409, 'ORDER_IN_FLIGHT'],
  [orderNotModifiable('partially_filled'), 400, 'ORDER_NOT_MODIFIABLE', { status: 'partially_filled' }],
  [orderNotCancellable('rejected'), 400, 'ORDER_NOT_CANCELLABLE', { status: 'rejected' }],
  [orderNotPending('filled'), 409, 'ORDER_NOT_PENDING', { status: 'filled' }],
  [orderChanged, 409, 'ORDER_CHANGED'],
  [accountDisconnected(accountId, 'disconnected'), 503, 'ACCOUNT_DISCONNECTED', { accountId, status: 'disconnected' }],
  [accountDisconnected(accountId, 'error'), 503, 'ACCOUNT_DISCONNECTED', { accountId, status: 'error' }],
  [positionNotFound, 404, 'POSITION_NOT_FOUND'],
  [invalidPrice({ level: 'stopLoss', side: 'buy', value: 1.2, currentPrice: 1.1 }), 400, 'INVALID_PRICE', { currentPrice: 1.1 }],
  [invalidVolume(0.3, 0.2), 400, 'INVALID_VOLUME', { volume: 0.3, openVolume: 0.2 }],
  [tradeRejected(marketClosed.brokerCode, marketClosed.brokerMessage), 422, 'TRADE_REJECTED', marketClosed],
  [brokerOutcomeUnknown(accountId), 504, 'BROKER_OUTCOME_UNKNOWN', { accountId }],
  [notImplemented('market-data'), 501, 'NOT_IMPLEMENTED', { feature: 'market-data' }],
  [tradeNotFound, 404, 'TRADE_NOT_FOUND'],
  [historyTooLarge(accountId, 20_000), 422, 'HISTORY_TOO_LARGE', { accountId, limit: 20_000 }],
  [invalidCursor, 400, 'INVALID_CURSOR'],
  [
    rateLimitExceeded({ scope: 'tier', window: 'minute' }, 1),
    429,
    'RATE_LIMIT_EXCEEDED',
    { scope: 'tier', window: 'minute' },
    { 'retry-after': '1' },
  ],
  [
    rateLimitExceeded({ scope: 'tier', window: 'day' }, 43_200),
    429,
    'RATE_LIMIT_EXCEEDED',
    { scope: 'tier', window: 'day' },
    { 'retry-after': '43200' },
  ],
  [rateLimitExceeded({ scope: 'endpoint' }, 360), 429, 'RATE_LIMIT_EXCEEDED', { scope: 'endpoint' }, { 'retry-after': '360' }],
  [rateLimitExceeded({ scope: 'suspension' }, 900), 429, 'RATE_LIMIT_EXCEEDED', { scope: 'suspension' }, { 'retry-after': '900' }],
  [webhookLimitReached(10), 409, 'WEBHOOK_LIMIT_REACHED', { allowed: 10 }],
  [idempotencyKeyReused, 409, 'IDEMPOTENCY_KEY_REUSED'],
  [idempotencyInProgress, 409, 'IDEMPOTENCY_IN_PROGRESS', undefined, { 'retry-after': '1' }],
  [payloadTooLarge(10_485_760), 413, 'PAYLOAD_TOO_LARGE', { limitBytes: 10_485_760 }],
  [internalError, 500, 'INTERNAL_ERROR'],
  [serviceUnavailable('hidden reason'), 503, 'SERVICE_UNAVAILABLE'],
  [outcomeUnknown('hidden reason'), 503, 'SERVICE_UNAVAILABLE', { outcome: 'unknown' }],
  [internalTimeout, 504, 'INTERNAL_TIMEOUT'],
]

const answerTo = async (refusal: Refusal, edge: FakeEdge = fakeEdge()): Promise<Answer> => {
  const route = openRoute({
    ...untold,
    method: 'GET',
    path: '/refusal',
    refusals: Object.keys(errorTable) as RefusalTag[],
    access: { kind: 'public' },
    useCase: () => TE.left(refusal),
    present: (nothing: never) => nothing,
  })
  await using app = await run(mount({ prefix: '', routes: [route], useCases: {}, door: openDoor, edge }))
  return await send(app, '/refusal')
}
const openDoor = () => Promise.resolve({ outcome: E.right(undefined) })

describe('a refusal', () => {
  it('of every kind is in this table', () => {
    expect([...new Set(rows.map(([{ _tag }]) => _tag))]).toEqual(Object.keys(errorTable))
  })

  it.each(rows.map((row) => ({ tag: row[0]._tag, row })))('$tag is told with its status, code, details and headers', async ({ row }) => {
    const [refusal, status, code, details, headers = {}] = row
    const reply = await answerTo(refusal)
    expect(reply.status).toBe(status)
    expect(JSON.parse(reply.text)).toEqual({
      success: false,
      data: null,
      error: {
        code,
        message: expect.stringMatching(/^[A-Z].*\.$/) as string,
        ...(details === undefined ? {} : { details }),
        request_id: reply.headers['x-request-id'],
      },
    })
    expect(reply.headers).toMatchObject({
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
    })
  })

  it.each([
    brokerUnavailable(accountId, 'hidden reason'),
    challengeCheckUnavailable('hidden reason'),
    limitCheckUnavailable('hidden reason'),
    serviceUnavailable('hidden reason'),
  ])('$_tag tells its reason to the log and not to the caller', async (refusal) => {
    const edge = fakeEdge()
    const reply = await answerTo(refusal, edge)
    expect(reply.text).not.toContain('hidden')
    expect(edge.lines).toEqual([
      {
        level: 'warn',
        fields: expect.objectContaining({ reason: 'hidden reason', requestId: reply.headers['x-request-id'] }) as object,
        message: 'a request could not be answered',
      },
    ])
  })
})

describe('an error of ours', () => {
  it.each([
    ['a use case that rejects', () => () => Promise.reject(new Error('a secret is in here'))],
    [
      'a use case that throws',
      () => {
        throw new Error('a secret is in here')
      },
    ],
    ['data that no JSON can hold', () => TE.right([{ account: { createdAt: Number.NaN }, liveDataUpdatedAt: null }] as never)],
  ])('by %s is 500 without a word of it, and is logged under the request id', async (_, listAccounts) => {
    const api = await runApi({ listAccounts })
    await using _api = api
    const reply = await send(api, '/api/v1/accounts', { headers: { 'x-api-key': 'tp_live_good', 'x-request-id': 'mine' } })
    expect([reply.status, reply.json.error?.code, reply.json.error?.request_id]).toEqual([500, 'INTERNAL_ERROR', 'mine'])
    expect(reply.text).not.toMatch(/secret|at .*\.ts/)
    expect(api.edge.lines).toEqual([
      {
        level: 'error',
        fields: {
          err: expect.any(Error) as Error,
          requestId: 'mine',
          method: 'GET',
          route: '/api/v1/accounts',
          status: 500,
          durationMs: expect.any(Number) as number,
        },
        message: 'a request failed unexpectedly',
      },
    ])
  })

  it.each([undefined, () => 1])('stands for data that is no JSON value: %s', async (data) => {
    const route = openRoute({
      ...untold,
      method: 'GET',
      path: '/nothing',
      refusals: [],
      access: { kind: 'public' },
      useCase: () => TE.right(undefined),
      present: () => ({ kind: 'data', data: data as never }),
    })
    await using app = await run(mount({ prefix: '', routes: [route], useCases: {}, door: openDoor, edge: fakeEdge() }))
    expect(await send(app, '/nothing')).toMatchObject({ status: 500, json: { error: { code: 'INTERNAL_ERROR' } } })
  })
})
