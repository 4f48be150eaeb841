// Every reply of every route, and every refusal that a route lists, is as the document says: its status, its fields and its headers.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { createFakeOperatorOrders, newAccount, newOrderUnderWay } from '@tradeport/domain/testing'
import { describe, expect, it } from 'vitest'
import { createOperatorApi } from '../src/index.ts'
import type { OperatorUseCases, Route, UseCases } from '../src/index.ts'
import { exampleOf } from '../src/errors.ts'
import { escapePointer, faultsOf, operator, partAt, replyTo, users } from './documents.ts'
import type { ApiDocument } from './documents.ts'
import {
  accountId,
  delivery,
  fakeEdge,
  fakeUseCases,
  jsonRequest,
  noStatistics,
  now,
  owner,
  pendingOrder,
  position,
  provenance,
  requestOf,
  run,
  runApi,
  scopelessKey,
  send,
  targetOf,
  webhook,
} from './fakes.ts'
import type { Answer, Running } from './fakes.ts'
import { operatorUseCases } from './operator-use-cases.ts'

const namedHeaders = [
  'location',
  'etag',
  'idempotent-replayed',
  'retry-after',
  'www-authenticate',
  'content-disposition',
  'x-skipped-positions',
]
const limitHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Expects a reply that the operation documents: its status, its body without any other field, and its headers. */
const expectDocumented = (api: ApiDocument, pointer: string, { status, headers, text, json }: Answer): void => {
  const responses = partAt(api, `${pointer}/responses`)
  expect(Object.keys(responses)).toContain(String(status))
  const { headers: documented = {}, content } = partAt(api, `${pointer}/responses/${status}`)
  const names = Object.keys(documented).map((name) => name.toLowerCase())
  expect([...namedHeaders, ...limitHeaders].filter((name) => headers[name] !== undefined && !names.includes(name))).toEqual([])
  const type = headers['content-type']?.split(';')[0] ?? ''
  if (text === '') return expect(content).toBeUndefined()
  expect(Object.keys(content)).toContain(type)
  const reference = responses[status].$ref ?? `#${pointer}/responses/${status}`
  const schema = `${reference.slice(1)}/content/${escapePointer(type)}/schema`
  expect(faultsOf(api, schema, type === 'application/json' ? json : text, true)).toEqual([])
}

const order = {
  ...pendingOrder,
  request: { ...pendingOrder.request, price: 1, stopLoss: 1, takeProfit: 2, comment: 'c', clientId: 'mine' },
}
const orders = [
  pendingOrder,
  { ...order, status: 'filled', fill: { price: 1.1, volume: 0.1, at: now, positionId: '42' } },
  { ...order, status: 'filled', fill: {} },
  { ...order, status: 'partially_filled', fill: { volume: 0.05 } },
  { ...order, status: 'rejected', reason: { code: 'VALIDATION', message: 'Invalid stops' } },
] as never[]

const interval = { lower: 1, upper: 2 }

/** Results with everything that the results of the other fakes leave out. */
const fullResults: Partial<UseCases> = {
  listOrders: (_, { page, limit }) => TE.right({ items: orders, page, limit, total: 5 }),
  getOrder: () => TE.right(orders[1] as never),
  modifyOrder: () => TE.right(orders[0] as never),
  cancelOrder: () => TE.right(orders[4] as never),
  getPosition: () => TE.right({ position: { ...position, stopLoss: 1, takeProfit: 2, marginUsed: 3 }, provenance }),
  closePosition: () =>
    TE.right({
      closed: {
        accountId,
        ticket: position.ticket,
        orderId: null,
        closedVolume: 0.1,
        remainingVolume: 0.1,
        remainingTicket: position.ticket,
        closePrice: null,
        realizedPnl: null,
        closedAt: null,
      },
      provenance,
    }),
  getTradeStatistics: () =>
    TE.right({
      statistics: { ...noStatistics, profitFactor: null, confidenceIntervals: { level: 0.95, winRate: interval, averageTrade: interval } },
      provenance,
      warnings: [{ code: 'mixed_currencies', currencies: ['USD', 'EUR'] }],
    } as never),
  listWebhookDeliveries: (_, __, { page, limit }) =>
    TE.right({
      items: [delivery, { ...delivery, failureReason: 'host_not_allowed', replayOf: delivery.id }],
      page,
      limit,
      total: 2,
    } as never),
  listWebhooks: () => TE.right([webhook, { ...webhook, lastSuccessAt: null, lastFailureAt: now }]),
  testWebhook: () => TE.right({ isSuccess: false, responseCode: 0, responseTimeMs: 12, failureReason: 'name_not_found' } as never),
}

describe('the API for users', () => {
  it.each(users.operations)('answers $route.method $route.path as documented', async ({ route, pointer }) => {
    for (const results of [{}, fullResults]) {
      await using api = await runApi(results)
      const reply = await send(api, targetOf(route), requestOf(route))
      expect([200, 201, 409, 501]).toContain(reply.status)
      expectDocumented(users, pointer, reply)
      const { etag } = reply.headers
      if (etag !== undefined) expectDocumented(users, pointer, await send(api, targetOf(route), { headers: { 'if-none-match': etag } }))
    }
  })

  it('answers the export as JSON as documented', async () => {
    await using api = await runApi()
    expectDocumented(users, '/paths/~1trades~1export/get', await send(api, '/api/v1/trades/export?format=json'))
  })

  it.each(users.operations)('answers every refusal of $route.method $route.path as documented', async ({ route, pointer }) => {
    for (const tag of route.refusals) {
      await using api = await runApi(refusing(fakeUseCases(), tag))
      const reply = await send(api, targetOf(route), requestOf(route))
      expect([tag, reply.status, reply.json.error?.code]).toEqual([tag, replyTo(tag).status, replyTo(tag).error.code])
      expectDocumented(users, pointer, reply)
    }
  })

  it.each(users.operations)('answers faulty requests to $route.method $route.path as documented', async ({ route, pointer }) => {
    await using api = await runApi()
    const { method, body } = route
    const tooLong = body === undefined ? 65_537 : 10_485_761
    // Node sends no Content-Length of its own with a GET.
    const withBody = (text: string) => ({ ...jsonRequest(method, {}, { 'content-length': String(text.length) }), body: text })
    const faulty = [
      jsonRequest(method, {}, { 'x-api-key': 'tp_live_bad', 'content-length': '2' }),
      jsonRequest(method, {}, { 'x-api-key': scopelessKey, 'content-length': '2' }),
      jsonRequest(method, {}, { 'idempotency-key': 'ü', 'content-length': '2' }),
      withBody('not JSON'),
      withBody(' '.repeat(tooLong)),
    ]
    for (const request of faulty) expectDocumented(users, pointer, await send(api, targetOf(route, 'unknown=1'), request))
    for (const request of faulty) expectDocumented(users, pointer, await send(api, targetOf(route), request))
  })
})

/** Use cases that all refuse, but the one that identifies the caller. */
const refusing = <U extends object>(useCases: U, tag: Parameters<typeof exampleOf>[0]): U => {
  const refuse = () => TE.left(exampleOf(tag))
  const names = Object.keys(useCases).filter((name) => !['identifyCaller', 'webhookHostIssues', 'idempotency'].includes(name))
  return { ...useCases, ...Object.fromEntries(names.map((name) => [name, refuse])) }
}

describe('the operator API', () => {
  const operatorToken = 'the-operator'
  const stored = newAccount(owner, { id: accountId })
  const underWay = newOrderUnderWay(stored, now - 3_600_000)

  const sample: Readonly<Record<string, unknown>> = {
    tenants: [{ id: owner.tenantId, name: 'Acme', providerToken: 'provider-secret' }],
    users: [{ id: owner.userId, tenantId: owner.tenantId, email: 'owner@example.com' }],
    accounts: [
      {
        id: accountId,
        userId: owner.userId,
        name: 'Main',
        brokerType: 'mt5',
        accountNumber: '5012345',
        server: 'Example-Demo',
        purpose: 'trading',
        isDemo: true,
        currency: 'USD',
        providerAccountId: 'p-1',
        region: 'london',
      },
    ],
    apiKeys: [{ id: 'k-1', userId: owner.userId }],
    accessTokens: [{ id: 't-1', userId: owner.userId, applicationId: 'app', scopes: ['trading:read'] }],
    desks: [{ id: 'd-1', tenantId: owner.tenantId, accounts: [accountId] }],
    traderLimits: [{ accountId, limits: { maxLotsPerOrder: 0.3 } }],
    challenges: [{ accountId, startedAt: '2026-10-01T00:00:00.000Z', status: 'failed' }],
  }
  const plan = { tenants: [{ id: owner.tenantId, providerToken: null }], accounts: [{ id: accountId, providerAccountId: 'p-2' }] }
  const requestBodies: Readonly<Record<string, unknown>> = {
    applyDocument: sample,
    planDocument: plan,
    finishOrder: { as: 'filled', reason: 'seen in the terminal', price: 1.1, volume: 0.1, position: '9' },
    rotateSecrets: { limit: 1 },
  }
  const ask = (api: Running, { method, path, operationId }: Route<never>, authorization = `Bearer ${operatorToken}`): Promise<Answer> => {
    const target = `/operator/v1${path.replace(':tenantId', owner.tenantId).replace(':orderId', underWay.order.id)}`
    const body = requestBodies[operationId]
    return send(api, target, { ...jsonRequest(method, body, { authorization }), ...(body === undefined ? { body: '' } : {}) })
  }
  const start = (useCases: OperatorUseCases): Promise<Running> => run(createOperatorApi(useCases, { ...fakeEdge(), operatorToken }))

  it('answers every route as documented', async () => {
    const underWayOrders = createFakeOperatorOrders()
    underWayOrders.put(underWay)
    await using api = await start(operatorUseCases(undefined, undefined, underWayOrders))
    for (const { route, pointer } of operator.operations) {
      const reply = await ask(api, route)
      expect([route.operationId, reply.status, reply.json.error]).toEqual([route.operationId, 200, null])
      expectDocumented(operator, pointer, reply)
    }
  })

  it.each(operator.operations)('answers every refusal of $route.method $route.path as documented', async ({ route, pointer }) => {
    for (const tag of route.refusals) {
      const useCases = refusing(operatorUseCases(), tag)
      await using api = await start({ ...useCases, checkService: TE.left(exampleOf(tag)) as never })
      const reply = await ask(api, route, tag === 'Unauthorized' ? 'Bearer wrong' : undefined)
      expect([tag, reply.status, reply.json.error?.code]).toEqual([tag, replyTo(tag).status, replyTo(tag).error.code])
      expectDocumented(operator, pointer, reply)
    }
  })
})
