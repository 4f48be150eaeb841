// The API's document: served to everybody, about every route, without a fault that a linter sees.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { accountNotFound, webhookEventTypes } from '@tradeport/domain'
import redocly from '@redocly/cli/package.json' with { type: 'json' }
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiRoutes, createOpenApiDocument } from '../src/index.ts'
import type { Operation } from '../src/index.ts'
import { errorTable } from '../src/replies/error-table.ts'
import { openRoute } from '../src/routing/route.ts'
import { goodKey, runApi, send, untold } from './fakes.ts'
import type { Running } from './fakes.ts'

const document = createOpenApiDocument()
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]: [string, Operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
)

type Json = ReturnType<typeof JSON.parse>

const resolved = (node: Json): Json =>
  node.$ref === undefined
    ? node
    : node.$ref
        .slice(2)
        .split('/')
        .reduce((at: Json, name: string) => at[name], document)

const codesOf = (operationId: string): object => {
  const responses = operations.find(({ operation }) => operation.operationId === operationId)?.operation.responses ?? {}
  const refusals = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  return Object.fromEntries(
    refusals.map(([status, response]) => [status, Object.keys(resolved(response).content['application/json'].examples).toSorted()]),
  )
}

describe('the document of the API', () => {
  it('has an operation for every route, and no other', () => {
    const routes = apiRoutes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    expect(operations.map(({ name }) => name).toSorted()).toEqual(routes.toSorted())
  })

  it('calls its operations by these names, which generated clients go by', () => {
    expect(operations.map(({ operation }) => operation.operationId)).toEqual([
      'listAccounts',
      'getAccount',
      'listBalanceHistory',
      'placeOrder',
      'listOrders',
      'getOrder',
      'modifyOrder',
      'cancelOrder',
      'listPositions',
      'getPosition',
      'moveStopLoss',
      'moveTakeProfit',
      'closePosition',
      'listTrades',
      'getTradeStatistics',
      'exportTrades',
      'getTrade',
      'listSymbols',
      'getQuote',
      'listCandles',
      'listTicks',
      'createWebhook',
      'listWebhooks',
      'getWebhook',
      'changeWebhook',
      'deleteWebhook',
      'testWebhook',
      'listWebhookDeliveries',
      'replayWebhookDelivery',
      'getOpenApiDocument',
    ])
  })

  it.each(operations)('tells of $name who may ask, what a success and every refusal looks like, and of the request id', ({ operation }) => {
    const isPublic = operation.tags.some((tag) => ['Market data', 'Document'].includes(tag))
    expect(operation.security).toEqual([...(isPublic ? [{}] : []), { apiKey: [] }, { accessToken: [] }])
    expect(operation['x-required-any-of'] === undefined).toBe(isPublic)
    const statuses = Object.keys(operation.responses)
    expect(statuses).toEqual(expect.arrayContaining(isPublic ? ['429', '500', 'default'] : ['401', '403', '429', '500', '503', 'default']))
    const isNotThere = ['getQuote', 'listCandles', 'listTicks'].includes(operation.operationId)
    expect(statuses.filter((status) => status.startsWith('20'))).toHaveLength(isNotThere ? 0 : 1)
    for (const response of Object.values(operation.responses)) expect(resolved(response).headers).toHaveProperty('X-Request-ID')
  })

  it('knows every code of the error table but those for operators, each answered by a route, and two of what never reaches one', () => {
    const codes = new Set(Object.values(errorTable).flatMap(({ code, isForOperators }) => (isForOperators === true ? [] : [code])))
    const told = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses)
        .filter(([status]) => Number(status) >= 400)
        .flatMap(([, response]) => Object.keys(resolved(response).content['application/json'].examples)),
    )
    expect(new Set(told)).toEqual(codes)
    expect(new Set(document.components.schemas['Error']?.properties?.['code']?.enum)).toEqual(
      new Set([...codes, 'HEADERS_TOO_LARGE', 'REQUEST_TIMEOUT']),
    )
  })

  it('tells the codes of a route by status (4.5, section 7)', () => {
    expect(codesOf('listTrades')).toEqual({
      400: ['INVALID_CURSOR', 'NOT_PROVISIONED', 'UNSUPPORTED_BROKER', 'VALIDATION_ERROR'],
      401: ['UNAUTHORIZED'],
      403: ['INSUFFICIENT_SCOPE'],
      404: ['ACCOUNT_NOT_FOUND'],
      422: ['HISTORY_TOO_LARGE'],
      429: ['BROKER_RATE_LIMITED', 'RATE_LIMIT_EXCEEDED'],
      500: ['INTERNAL_ERROR'],
      503: ['BROKER_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
    })
    expect(codesOf('getQuote')).toEqual({
      400: ['VALIDATION_ERROR'],
      404: ['NOT_FOUND'],
      429: ['RATE_LIMIT_EXCEEDED'],
      500: ['INTERNAL_ERROR'],
      501: ['NOT_IMPLEMENTED'],
    })
  })

  it('tells of the eight events what is posted, with which headers (section 6)', () => {
    expect(Object.keys(document.webhooks)).toEqual(webhookEventTypes)
    for (const item of Object.values(document.webhooks))
      expect(item.post?.parameters?.map((parameter) => 'name' in parameter && parameter.name)).toEqual([
        'X-Webhook-Signature',
        'X-Webhook-Id',
        'X-Webhook-Event',
        'X-Webhook-Timestamp',
        'X-Webhook-Delivery-Id',
        'User-Agent',
      ])
  })

  it('has no fault that a linter sees, its examples included', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tradeport-'))
    try {
      await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
      const report = await lint(folder)
      expect(report.problems).toEqual([])
      expect(report.totals).toMatchObject({ errors: 0, warnings: 0 })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

describe('GET /api/v1/openapi.json', () => {
  let api: Running
  beforeAll(async () => {
    api = await runApi()
  })
  afterAll(() => api[Symbol.asyncDispose]())

  it('answers the document to everybody, without the envelope', async () => {
    const reply = await send(api, '/api/v1/openapi.json', { headers: {} })
    expect(reply).toMatchObject({ status: 200, json: document })
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=60',
      vary: 'Authorization, X-API-Key',
      'x-content-type-options': 'nosniff',
    })
    expect(reply.headers['x-request-id']).toBeDefined()
  })

  it('answers 304 to whoever holds it', async () => {
    const { etag = '' } = (await send(api, '/api/v1/openapi.json')).headers
    const again = await send(api, '/api/v1/openapi.json', { headers: { 'if-none-match': `"other", W/${etag}` } })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    expect((await send(api, '/api/v1/openapi.json', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  it('counts against the limits of a good credential, as every public route does', async () => {
    const reply = await send(api, '/api/v1/openapi.json', { headers: { 'x-api-key': goodKey } })
    expect(reply.headers['x-ratelimit-limit']).toBe('300')
  })
})

const useCase = () => TE.left(accountNotFound)

describe('the record of a route', () => {
  const record = { ...untold, method: 'GET', path: '/', access: { kind: 'public' }, present: (nothing: never) => nothing } as const

  it('names exactly the refusals of its use case, or does not compile', () => {
    expect(openRoute({ ...record, refusals: ['AccountNotFound'], useCase }).refusals).toContain('AccountNotFound')
    // @ts-expect-error: one is missing
    openRoute({ ...record, refusals: [], useCase })
    // @ts-expect-error: one cannot be
    openRoute({ ...record, refusals: ['AccountNotFound', 'TradeNotFound'], useCase })
  })
})

const linter = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), redocly.bin.redocly)

const lint = async (folder: string): Promise<Json> => {
  const args = [linter, 'lint', 'openapi.json', '--extends', 'recommended', '--format', 'json']
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  // It ends with 1 where it finds faults, which its report tells better.
  const report = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env, maxBuffer: 100_000_000 }, (_, stdout) => resolve(stdout))
  })
  return JSON.parse(report)
}
