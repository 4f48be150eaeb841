// The client conforms to the API's document: its methods and its events. Its error codes are
// generated.
import { createClient, readWebhook } from '@tradeport/client'
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
