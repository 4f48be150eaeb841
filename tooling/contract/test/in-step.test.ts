// The client conforms to the API's document: its methods, its error codes and its events.
import {
  createClient,
  isTradeportError,
  readWebhook,
  type ErrorDetails,
  type ServiceErrorCode,
  type TradeportError,
} from '@tradeport/client'
import { createOpenApiDocument } from '@tradeport/http'
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'

type Json = ReturnType<typeof JSON.parse>

const document: Json = createOpenApiDocument()
const baseUrl = 'http://service/api/v1'

interface Documented {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly operation: Json
}

const operations: readonly Documented[] = Object.entries<Json>(document.paths).flatMap(
  ([path, item]) =>
    Object.entries<Json>(item).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
    })),
)

/** Calls a method with an argument of every kind that it takes, and gives what it sent. */
const requestSentFor = async ({ operationId, path, operation }: Documented) => {
  const sent: { url: string; init: RequestInit }[] = []
  const fetch: typeof globalThis.fetch = async (url, init = {}) => {
    sent.push({ url: new Request(url).url, init })
    const headers = { 'Content-Disposition': 'attachment' }
    return new Response('{"success":true,"data":null,"meta":{}}', { headers })
  }
  const client: Json = createClient({ baseUrl, fetch })
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `the-${name}`)
  const hasQuery = parametersIn(operation, 'query').length > 0
  const input = operation.requestBody === undefined ? { name: 'value' } : { field: 1 }
  await client[operationId](
    ...ids,
    ...(hasQuery || operation.requestBody !== undefined ? [input] : []),
  )
  return sent
}

const parametersIn = ({ parameters = [] }: Json, place: string): readonly Json[] =>
  parameters.filter((one: Json) => one.in === place)

/** A stream is not one reply. */
const methodNames: Readonly<Record<string, string>> = {
  streamEvents: 'events',
  streamQuotes: 'quotes',
}

describe('the methods', () => {
  it('are one for each operation, and none besides', () => {
    expect(Object.keys(createClient({ baseUrl })).toSorted()).toEqual(
      operations.map(({ operationId }) => methodNames[operationId] ?? operationId).toSorted(),
    )
    expect(operations.length).toBeGreaterThan(20)
  })

  const called = operations.filter(({ operationId }) => !(operationId in methodNames))

  it.each(called)('$operationId sends $method $path', async (documented) => {
    const [request, ...more] = await requestSentFor(documented)
    const path = documented.path.replaceAll(/\{(\w+)\}/g, 'the-$1')
    const hasBody = documented.operation.requestBody !== undefined
    const hasQuery = parametersIn(documented.operation, 'query').length > 0
    expect(more).toEqual([])
    expect(request?.init.method).toBe(documented.method)
    expect(request?.url).toBe(`${baseUrl}${path}${hasQuery && !hasBody ? '?name=value' : ''}`)
    expect(request?.init.body).toBe(hasBody ? '{"field":1}' : undefined)
    const hasKey = parametersIn(documented.operation, 'header').some(
      ({ name }) => name === 'Idempotency-Key',
    )
    // A preview does nothing that could be done twice.
    const sendsKey = hasKey && documented.operationId !== 'previewOrder'
    expect(new Headers(request?.init.headers).has('Idempotency-Key')).toBe(sendsKey)
  })

  it('walk through every list that has pages', () => {
    const client: Json = createClient({ baseUrl })
    // The list of symbols has pages only with an account, and the deals of a trade come with sums.
    const notWalked = ['listSymbols', 'getTradeDeals']
    const paged = operations.filter(
      ({ operationId, operation }) =>
        !notWalked.includes(operationId) &&
        parametersIn(operation, 'query').some(({ name }) =>
          ['page', 'cursor', 'before'].includes(name),
        ),
    )
    const walked = Object.keys(client).filter((name) => client[name].each !== undefined)
    expect(walked.toSorted()).toEqual(paged.map(({ operationId }) => operationId).toSorted())
  })
})

/** The error that a method throws for a refusal. */
const thrownFor = async (status: number, error: object): Promise<TradeportError> => {
  const fetch: typeof globalThis.fetch = async () =>
    new Response(JSON.stringify({ success: false, data: null, error }), { status })
  const thrown: unknown = await createClient({ baseUrl, fetch, retry: { attempts: 1 } })
    .listAccounts()
    .catch((one: unknown) => one)
  if (!isTradeportError(thrown)) throw thrown
  return thrown
}

describe('the errors', () => {
  const codes: readonly ServiceErrorCode[] = document.components.schemas.Error.properties.code.enum

  it.each(codes)('know %s', async (code) => {
    expect(await thrownFor(400, { code, message: 'why', request_id: 'r' })).toMatchObject({
      code,
      message: 'why',
    })
  })

  it('know no other', () => {
    // A service without the capability pending-orders answers it.
    const all = new Set([...codes, 'ORDER_TYPE_NOT_SUPPORTED'])
    expect(Object.keys(fieldsOfDetails).toSorted()).toEqual([...all].toSorted())
  })

  it('have the details that the document shows of each', () => {
    const shown = new Map<string, readonly string[]>()
    for (const error of examplesOf(document))
      shown.set(error.code, Object.keys(error.details ?? {}))
    expect([...shown.keys()].length).toBeGreaterThan(30)
    for (const [code, fields] of shown)
      expect(fields, code).toEqual(
        fieldsOfDetails[code as ServiceErrorCode].slice(0, fields.length),
      )
  })
})

/** Every error that stands in an example of the document. */
const examplesOf = (value: Json): readonly Json[] => {
  if (typeof value !== 'object' || value === null) return []
  if (value.success === false && typeof value.error?.code === 'string') return [value.error]
  return Object.values<Json>(value).flatMap(examplesOf)
}

type KeysOf<Details> = Details extends undefined ? never : keyof Details

/** In the order in which the service writes them; those that are not always there last. */
const fieldsOfDetails: {
  readonly [Code in ServiceErrorCode]: readonly KeysOf<ErrorDetails[Code]>[]
} = {
  VALIDATION_ERROR: ['issues'],
  UNAUTHORIZED: [],
  INSUFFICIENT_SCOPE: ['required_any_of'],
  NOT_FOUND: [],
  ACCOUNT_NOT_FOUND: [],
  ACCOUNT_PURPOSE_RESTRICTED: [],
  LIVE_ACCOUNT_RESTRICTED: [],
  ACCOUNT_HALTED: ['accountId', 'by', 'since'],
  ORDER_TYPE_NOT_SUPPORTED: ['orderType'],
  ORDER_TYPE_NOT_SUPPORTED_BY_PLATFORM: ['orderType', 'timeInForce', 'platform'],
  UNSUPPORTED_BROKER: ['accountId'],
  NOT_PROVISIONED: ['accountId'],
  BROKER_UNAVAILABLE: ['accountId'],
  BROKER_RATE_LIMITED: ['accountId'],
  CHALLENGE_LOCKED: [],
  CHALLENGE_CHECK_UNAVAILABLE: [],
  TRADER_LIMIT_BREACHED: ['limit', 'allowed', 'current'],
  DESK_LIMIT_BREACHED: ['limit', 'allowed', 'current'],
  APPROVAL_REQUIRED: ['approvalAboveLots'],
  LIMIT_CHECK_UNAVAILABLE: [],
  RISK_LIMIT_EXCEEDED: ['limit', 'allowed', 'current', 'resetsAt'],
  ORDER_IN_FLIGHT: [],
  ORDER_NOT_MODIFIABLE: ['status'],
  ORDER_NOT_CANCELLABLE: ['status'],
  ACCOUNT_DISCONNECTED: ['accountId', 'status'],
  POSITION_NOT_FOUND: [],
  INVALID_PRICE: ['currentPrice', 'price'],
  INVALID_VOLUME: ['volume', 'openVolume'],
  TRADE_REJECTED: ['brokerCode', 'brokerMessage'],
  BROKER_OUTCOME_UNKNOWN: ['accountId'],
  NOT_IMPLEMENTED: ['feature'],
  SYMBOL_AMBIGUOUS: ['symbol', 'candidates'],
  NOT_AVAILABLE_ON_PLATFORM: ['feature', 'platform'],
  TRADE_NOT_FOUND: [],
  HISTORY_TOO_LARGE: ['accountId', 'limit'],
  INVALID_CURSOR: [],
  EVENT_GONE: ['resumeAfter', 'oldest'],
  STREAM_LIMIT_REACHED: ['limit'],
  RATE_LIMIT_EXCEEDED: ['scope', 'window'],
  WEBHOOK_LIMIT_REACHED: ['allowed'],
  IDEMPOTENCY_KEY_REUSED: [],
  IDEMPOTENCY_IN_PROGRESS: [],
  PAYLOAD_TOO_LARGE: ['limitBytes'],
  INTERNAL_ERROR: [],
  SERVICE_UNAVAILABLE: [],
  INTERNAL_TIMEOUT: [],
  HEADERS_TOO_LARGE: ['limitBytes', 'limitHeaders'],
  REQUEST_TIMEOUT: [],
}

const read = (event: string) => {
  const timestamp = new Date().toISOString()
  const body = JSON.stringify({ event, data: {}, timestamp, webhook_id: 'w' })
  const signature = `sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}`
  return readWebhook({ secret: 'secret', body, headers: { 'x-webhook-signature': signature } })
}

describe('the events', () => {
  it.each([...Object.keys(document.webhooks), 'webhook.test'])('know %s', async (event) => {
    expect(await read(event)).toMatchObject({ event })
  })
})
