// Fake use cases that answer immediately, dependencies with a fixed clock, a server on a free port.
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import {
  type Credential,
  programOf,
  type RateVerdict,
  type Scope,
  scopes,
} from '@tradeport/domain/access'
import { refuse, type Issue } from '@tradeport/domain/errors'
import { type EventId, type LoggedEvent } from '@tradeport/domain/events'
import { filterInstruments } from '@tradeport/domain/market'
import type { OrderId } from '@tradeport/domain/orders'
import type { AccountId, DeliveryId, TenantId, UserId } from '@tradeport/domain/primitives'
import {
  type ClosedPosition,
  getMe,
  type EventStream,
  type ShownQuote,
  type TradeExport,
  type TradeProvenance,
} from '@tradeport/domain/use-cases'
import type { WebhookDelivery } from '@tradeport/domain/webhooks'
import type { Clock, IdempotencyStore, IdempotencyGuard } from '@tradeport/domain/ports'
import type { Position } from '@tradeport/domain/positions'
import type { BrokerDeal } from '@tradeport/domain/journal'
import {
  extendedStatistics,
  groupStatistics,
  robustStatistics,
  tradeCurve,
  tradeStatistics,
} from '@tradeport/domain/statistics'
import type { ClosedTrade } from '@tradeport/domain/trades'
import {
  createFakeIdempotencyStore,
  createFakeRecords,
  instrumentTerms,
  newAccount,
  newOrderOn,
  newWebhook,
  openPosition,
} from '@tradeport/testkit'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type Koa from 'koa'
import { afterAll } from 'vitest'
import {
  type AnsweredRequest,
  type ApiDependencies,
  createApi,
  listen,
  type Listener,
  type ListenOptions,
  type Route,
  type UseCases,
} from '../src/index.ts'

export const now = Date.parse('2026-11-21T10:11:12.345Z')

export const accountId = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId
export const owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }

export const account = newAccount(owner, {
  id: accountId,
  broker: null,
  figures: { ...newAccount(owner).figures, equity: 10_001.5, margin: -0 },
  provider: { providerAccountId: 'a-secret-place', region: null },
})

export const position: Position = {
  ...openPosition({ commission: -0, openedAt: Date.parse('2026-11-20T00:00:00.001Z') }),
  accountId,
  userId: owner.userId,
  marginUsed: null,
}

export const closedPosition: ClosedPosition = {
  accountId,
  ticket: position.ticket,
  brokerOrderId: '99',
  closedVolume: 0.1,
  remainingVolume: 0,
  closePrice: 1.2,
  realizedPnl: 10,
  closedAt: Date.parse('2026-11-21T10:11:10.001Z'),
}

export const ownHalt = O.some({ by: 'owner', since: now, reason: null } as const)

export const closedTrade = (
  positionId: string,
  parts: Partial<ClosedTrade['trade']> = {},
): ClosedTrade => ({
  accountId,
  userId: owner.userId,
  closingDealId: `d-${positionId}`,
  trade: {
    positionId,
    symbol: 'EURUSD',
    side: 'sell',
    volume: 0.3,
    entryPrice: 1.23456,
    exitPrice: 1.2,
    profit: 12.3,
    commission: -0.7,
    swap: -0.1,
    netProfit: 11.5,
    openedAt: Date.parse('2026-11-19T00:00:00.000Z'),
    closedAt: Date.parse('2026-11-19T01:00:00.999Z'),
    holdingTime: 3_600,
    ...parts,
  },
})

export const pendingOrder = {
  ...newOrderOn(account, Date.parse('2026-11-21T10:00:00.001Z')),
  id: 'ord_0123456789abcdefghij' as OrderId,
}

/** Of the nth event of a log. */
export const eventIdOf = (n: number): EventId => `evt_${String(n).padStart(20, '0')}` as EventId

export const webhook = newWebhook(owner, Date.parse('2026-11-19T00:00:00.002Z'), {
  eventTypes: ['trade.closed', 'order.filled'],
  lastSuccessAt: Date.parse('2026-11-20T00:00:00.001Z'),
})

export const delivery: WebhookDelivery = {
  id: '0d1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as DeliveryId,
  webhookId: webhook.id,
  eventId: eventIdOf(7),
  eventType: 'order.filled',
  status: 'failed',
  attempts: 5,
  responseCode: 503,
  responseTimeMs: 12,
  failureReason: 'not_2xx',
  createdAt: Date.parse('2026-11-20T00:00:00.001Z'),
  lastAttemptAt: Date.parse('2026-11-20T01:21:00.002Z'),
  nextAttemptAt: null,
  replayOf: null,
}

export const webhookSecret = 'a-webhook-secret-of-its-own'

export const webhookBody = { url: webhook.url, eventTypes: webhook.eventTypes }

/** The body that `pendingOrder` answers. */
export const orderBody = {
  accountId,
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
}

export const provenance: TradeProvenance = {
  source: 'metaapi',
  accounts: [accountId],
  readAt: now - 1_000,
  skipped: [{ accountId, positionId: '7', reason: 'no_open_deal' }],
}

const deal: BrokerDeal = {
  id: '7',
  kind: 'sell',
  side: 'sell',
  entry: 'out',
  positionId: '1',
  profit: 10,
  commission: -0.5,
  swap: 0,
  time: now,
}
export const dealSums = {
  openedVolume: 0.1,
  closedVolume: 0.1,
  profit: 10,
  commission: -0.5,
  swap: 0,
  netProfit: 9.5,
}
const reconciliation = {
  deals: 2,
  firstDealAt: now,
  lastDealAt: now,
  sum: 10_000,
  balance: 10_000.5,
  difference: 0.5,
  complete: false,
  checkedAt: now,
}
const noResults = { netProfits: [], closedAt: [], holdingTimes: [] }
export const noStatistics = tradeStatistics([])

export const credential = (
  held: readonly Scope[],
  parts: Partial<Credential> = {},
): Credential => ({
  kind: 'api_key',
  id: 'k-1',
  owner,
  applicationId: null,
  plan: 'free',
  scopes: new Set(held),
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
  ...parts,
})

/** The caller behind the good key and the good token. */
export const caller = { owner, program: programOf(credential([])) }

export const goodKey = 'tp_live_good'
export const scopelessKey = 'tp_live_scopeless'
export const goodToken = 'a-good-token'

/** A use case that has this result, whatever it is given. */
const answers =
  <A>(result: A) =>
  () =>
    TE.right(result)

// As the real use cases do, before what cannot be undone.
const answersOnce =
  <A>(result: A) =>
  (_: unknown, { begin }: IdempotencyGuard) =>
    pipe(
      begin,
      TE.map(() => result),
    )

export const fakeIdempotency = (clock: Clock = { now: () => now }): IdempotencyStore =>
  createFakeIdempotencyStore(createFakeRecords(), clock)

const loggedEvent: LoggedEvent = {
  id: eventIdOf(7),
  type: 'order.rejected',
  accountId,
  recordedAt: now,
  data: { order_id: 'ord_1' },
}

const prices = { open: 1.1, high: 1.2, low: 1.05, close: 1.15 }
const quoteOf = (symbol: string): ShownQuote => ({
  symbol,
  bid: 1.1,
  ask: 1.1002,
  spread: 0.0002,
  time: now,
  stale: false,
})

async function* batchesOf<A>(...batches: readonly A[]): AsyncGenerator<A> {
  yield* batches
}

/** A stream that ends after these batches. */
const streamOf = (...batches: readonly (readonly LoggedEvent[])[]): EventStream => ({
  batches: batchesOf(...batches.map((events) => ({ events, readTo: loggedEvent.id }))),
  startsAfter: eventIdOf(1),
  isOver: () => false,
  close: () => undefined,
})

/** Every read returns all pages again. */
export const exportOf = (...pages: readonly (readonly ClosedTrade[])[]): TradeExport => ({
  pages: {
    async *[Symbol.asyncIterator]() {
      yield* pages
    },
  },
  provenance,
  exportedAt: now,
})

export const fakeUseCases = ({
  idempotency = fakeIdempotency(),
  ...parts
}: Partial<UseCases> = {}): UseCases => ({
  idempotency,
  identifyCaller: ({ apiKey, accessToken }) => {
    if (accessToken !== undefined)
      return accessToken === goodToken
        ? TE.right(credential(scopes))
        : TE.left(refuse('Unauthorized'))
    if (apiKey === goodKey) return TE.right(credential(scopes))
    return apiKey === scopelessKey ? TE.right(credential([])) : TE.left(refuse('Unauthorized'))
  },
  getMe: getMe(['trading-tools']),
  listAccounts: answers([{ account, liveDataUpdatedAt: null }]),
  getAccount: answers({ account, liveDataUpdatedAt: now }),
  listBalanceHistory: answers([
    { timestamp: now, balance: 1, equity: 2, margin: 3, freeMargin: null },
  ]),
  listPositions: (_, { query: { page, limit } }) =>
    TE.right({ data: [position], pagination: { page, limit, total: 1 }, provenance }),
  getPosition: answers({ data: position, provenance }),
  getHalt: answers({ accountId, halt: ownHalt }),
  haltAccount: answersOnce({ accountId, halt: ownHalt }),
  liftHalt: answers({ accountId, halt: O.none }),
  moveStopLoss: (_, { body }) =>
    TE.right({ data: { ...position, stopLoss: body.value }, provenance }),
  moveTakeProfit: (_, { body }) =>
    TE.right({ data: { ...position, takeProfit: body.value }, provenance }),
  changePositionLevels: (_, { body: { stopLoss, takeProfit } }) =>
    TE.right({
      data: { ...position, ...(stopLoss && { stopLoss }), ...(takeProfit && { takeProfit }) },
      provenance,
    }),
  closePosition: answersOnce({ data: closedPosition, provenance }),
  closePositions: answersOnce([
    { accountId, ticket: position.ticket, result: E.right(closedPosition) },
  ]),
  listTrades: (_, { query: { limit } }) =>
    TE.right({
      data: [closedTrade('1')],
      pagination: { total: 1, before: 0, limit, cursor: undefined },
      provenance,
    }),
  getTrade: answers({ data: closedTrade('1'), provenance }),
  getTradeStatistics: (_, { query: { extended = false } }) =>
    TE.right({
      data: extended ? extendedStatistics(noResults, null) : noStatistics,
      provenance,
    }),
  getTradeBreakdown: answers({
    data: groupStatistics([{ key: 'EURUSD', netProfits: [1, -2] }]),
    provenance,
  }),
  getRobustStatistics: (_, { query: { resamples } }) =>
    TE.right({
      data: robustStatistics(Float64Array.of(...noResults.netProfits), resamples),
      provenance,
    }),
  getTradeDeals: answers({
    data: { deals: [deal], sums: dealSums },
    pagination: { page: 1, limit: 1_000, total: 1 },
    provenance,
  }),
  getReconciliation: answers({ data: reconciliation, provenance }),
  getTradeCurve: answers({ data: tradeCurve(noResults, null, null, 500), provenance }),
  exportTrades: answers(exportOf([closedTrade('2'), closedTrade('1')])),
  listSymbols: (_, { query: { accountId: of, page = 1, limit = 100, ...filter } }) =>
    TE.right(
      of === undefined
        ? { data: filterInstruments(filter) }
        : { data: [instrumentTerms('EURUSD')], pagination: { page, limit, total: 1 } },
    ),
  getQuote: (_, { symbol }) => TE.right(quoteOf(symbol)),
  listQuotes: (_, { query }) => TE.right(query.symbols.map(quoteOf)),
  streamQuotes: (_, { query }) =>
    TE.right({ batches: batchesOf(query.symbols.map(quoteOf)), close: () => undefined }),
  listCandles: answers([{ ...prices, time: now, volume: 12, complete: false }]),
  listTicks: answers([{ time: now, bid: 1.1, ask: null }]),
  placeOrder: placeOrderIn(idempotency),
  previewOrder: answersOnce({
    allowed: false,
    checks: [
      { name: 'volume_per_order', passed: true },
      {
        name: 'approval',
        passed: false,
        because: refuse('ApprovalRequired', { approvalAboveLots: 0.1 }),
      },
      { name: 'market_open', passed: null },
      {
        name: 'volume_step',
        passed: false,
        because: { code: 'INVALID_VOLUME', message: 'Too fine.', details: { volumeStep: 0.5 } },
      },
    ],
    estimate: {
      price: 1.1,
      spread: 0.1,
      margin: null,
      marginLevelAfter: null,
      riskAmount: 12.34,
      rewardAmount: null,
    },
  }),
  listOrders: (_, { query: { page, limit } }) =>
    TE.right({ data: [pendingOrder], pagination: { page, limit, total: 1 } }),
  getOrder: answers(pendingOrder),
  modifyOrder: answers(pendingOrder),
  cancelOrders: answers([]),
  cancelOrder: answers(pendingOrder),
  listEvents: answers({
    data: [loggedEvent],
    pagination: { limit: 100, hasNext: false, cursor: loggedEvent.id },
  }),
  streamEvents: () => TE.right(streamOf([loggedEvent])),
  createWebhook: answersOnce({ webhook, secret: webhookSecret }),
  listWebhooks: answers([webhook]),
  getWebhook: answers(webhook),
  changeWebhook: answers(webhook),
  deleteWebhook: answers({ id: webhook.id, deleted: true }),
  testWebhook: answersOnce({
    success: true,
    responseCode: 200,
    responseTimeMs: 12,
  }),
  listWebhookDeliveries: (_, { query: { page, limit } }) =>
    TE.right({ data: [], pagination: { page, limit, total: 0 } }),
  replayWebhookDelivery: answersOnce(delivery),
  rotateWebhookSecret: answersOnce({ webhook, secret: webhookSecret }),
  recoverWebhook: answersOnce({ scheduled: 3 }),
  ...parts,
})

/** Records nothing, but stores the reply with the claim, as the order store does. */
export const placeOrderIn =
  ({ storeReply }: IdempotencyStore): UseCases['placeOrder'] =>
  ({ owner: placing }, { body: { type: side, ...request }, keyedReply }) => {
    const order = { ...pendingOrder, request: { ...request, side } }
    if (keyedReply === undefined) return TE.right(order)
    return pipe(
      storeReply(placing, keyedReply.claim, keyedReply.replyOf(order)),
      TE.map(() => order),
    )
  }

interface LogLine {
  readonly level: 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

export interface FakeDependencies extends ApiDependencies {
  readonly lines: LogLine[]
  readonly answered: AnsweredRequest[]
}

/** The verdict of a limiter that admits everybody. */
export const admitted: RateVerdict = {
  limit: 300,
  remaining: 299,
  resetSeconds: now / 1_000 + 1,
  standings: [
    {
      exceeded: { scope: 'tier', window: 'minute' },
      limit: 300,
      remaining: 299,
      fullAt: now + 600,
      waitMs: 0,
    },
    { exceeded: { scope: 'endpoint' }, limit: 100, remaining: 0, fullAt: now + 600, waitMs: 600 },
  ],
  refusal: null,
}

export const fakeDependencies = (parts: Partial<ApiDependencies> = {}): FakeDependencies => {
  const lines: LogLine[] = []
  const answered: AnsweredRequest[] = []
  let ids = 0
  return {
    clock: { now: () => now },
    capabilities: 'all',
    limiter: { decide: () => admitted },
    webhookReach: {
      allowsAddress: () => false,
      allowsLocalNames: false,
      allowsHttpOnLoopback: false,
    },
    newRequestId: () => `req_${(ids += 1)}`,
    isDraining: () => false,
    yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
    log: {
      warn: (fields, message) => lines.push({ level: 'warn', fields, message }),
      error: (fields, message) => lines.push({ level: 'error', fields, message }),
    },
    lines,
    onAnswered: (request) => answered.push(request),
    answered,
    ...parts,
  }
}

export interface Running extends AsyncDisposable {
  readonly origin: string
  readonly port: number
  readonly end: Listener['end']
}

export const run = async (app: Koa, options: Partial<ListenOptions> = {}) => {
  const { port, end } = await listen(
    app,
    { host: '127.0.0.1', port: 0 },
    { newRequestId: () => 'req_unread', ...options },
  )
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    end,
    [Symbol.asyncDispose]: async () => void (await end(0)),
  }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: ReplyBody
}

/** The fields of an envelope that tests read. */
interface ReplyBody {
  readonly success: boolean
  readonly data: never
  readonly meta?: Readonly<Record<string, unknown>>
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details?: { readonly issues?: readonly Issue[] }
    readonly request_id: string
  } | null
}

export interface SentRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | string[]>>
  readonly body?: string | Uint8Array
}

/** A JSON body with a credential that passes everywhere. */
export const jsonRequest = (
  method: string,
  body: unknown,
  headers: SentRequest['headers'] = {},
): SentRequest => ({
  method,
  headers: { 'x-api-key': goodKey, 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** A request that the route accepts, made of its examples, apart from its target. */
export const requestOf = (
  { method, body }: Pick<Route, 'method'> & Partial<Pick<Route, 'body'>>,
  headers: SentRequest['headers'] = {},
): SentRequest =>
  body === undefined
    ? { method, headers: { 'x-api-key': goodKey, ...headers } }
    : jsonRequest(method, body.example, headers)

/** Sends the request target unchanged; fetch would normalise it. */
export const send = (
  { port }: Running,
  target: string,
  { method = 'GET', headers = { 'x-api-key': goodKey }, body }: SentRequest = {},
) =>
  new Promise<Reply>((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path: target, method, headers: { ...headers }, agent: false },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('error', reject)
        response.on('end', () => {
          const isJson =
            response.headers['content-type']?.startsWith('application/json') === true && text !== ''
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: (isJson ? JSON.parse(text) : null) as ReplyBody,
          })
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })

/** The API over fake use cases, with its dependencies, which have the log lines. */
export const runApi = async (
  parts: Partial<UseCases> = {},
  dependencies: FakeDependencies = fakeDependencies(),
  options: Partial<ListenOptions> = {},
) => ({
  ...(await run(createApi(fakeUseCases(parts), dependencies), options)),
  dependencies,
})

/** What is started here runs until the tests of the file, or of the suite, have ended. */
export const lasting = async <A extends AsyncDisposable>(starting: Promise<A>) => {
  const started = await starting
  afterAll(() => started[Symbol.asyncDispose]())
  return started
}

/** The faults of a reply, which must be a VALIDATION_ERROR. */
export const issuesOf = ({ status, json }: Reply): readonly Issue[] => {
  if (status !== 400 || json.error?.code !== 'VALIDATION_ERROR')
    throw new Error(`expected 400 VALIDATION_ERROR; got ${status} ${json.error?.code ?? ''}`)
  return json.error.details?.issues ?? []
}

/** A target of the route, made of its examples. */
export const targetOf = ({ path, params, query }: Route, more = '', prefix = '/api/v1') => {
  const required = Object.entries(query)
    .filter(([, field]) => !('fallback' in field))
    .map(([name, { example }]) => `${name}=${String(example)}`)
  const search = [...required, ...(more === '' ? [] : [more])].join('&')
  return `${prefix}${path.replace(/:(\w+)/g, (_, name: string) => String(params[name]?.example))}?${search}`
}
