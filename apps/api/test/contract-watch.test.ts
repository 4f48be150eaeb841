// The contract watch reports every reply and request that the API's document does not allow.
import { createContractWatch } from '@tradeport/contract-watch'
import type { HeardReply } from '@tradeport/contract-watch'
import { createOpenApiDocument } from '@tradeport/http'
import { describe, expect, it } from 'vitest'

const document = createOpenApiDocument()

type Json = ReturnType<typeof JSON.parse>

/** The example that the document gives of a reply. */
const exampleOf = (path: string, method: 'get' | 'post', status: number): Json => {
  const response: Json = document.paths[path]?.[method]?.responses[status]
  return structuredClone(response.content['application/json'].example)
}
const headers = [
  ['X-Request-ID', 'req_1'],
  ['Content-Type', 'application/json; charset=utf-8'],
] as const

const faultsOf = (reply: Partial<HeardReply> & { readonly body?: object }): readonly string[] => {
  const watch = createContractWatch(document)
  const { body, ...parts } = reply
  watch.hearReply({
    method: 'GET',
    url: 'http://127.0.0.1:1/api/v1/accounts',
    sent: undefined,
    status: 200,
    headers,
    text: JSON.stringify(body ?? exampleOf('/accounts', 'get', 200)),
    ...parts,
  })
  return watch.takeFaults()
}

const refused = (code: string, details?: object): object => ({
  success: false,
  data: null,
  error: { code, message: 'No.', request_id: 'req_1', details },
})
const changed = (change: (body: Json) => void): object => {
  const body = exampleOf('/accounts', 'get', 200)
  change(body)
  return body
}

const order = { accountId: '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c', symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
const placed = (sent: object): readonly string[] =>
  faultsOf({
    method: 'POST',
    url: 'http://127.0.0.1:1/api/v1/orders?x=1',
    status: 201,
    sent: JSON.stringify(sent),
    body: exampleOf('/orders', 'post', 201),
  })

describe('a watch over the contract', () => {
  it('lets pass what is as the document says', () => {
    expect(faultsOf({})).toEqual([])
    expect(faultsOf({ status: 401, body: refused('UNAUTHORIZED'), headers: [...headers, ['WWW-Authenticate', 'Bearer']] })).toEqual([])
    expect(faultsOf({ url: 'http://127.0.0.1:1/api/v1/nowhere', status: 404, body: refused('NOT_FOUND') })).toEqual([])
    expect(
      faultsOf({ url: 'http://127.0.0.1:1/api/v1/accounts/a%2Fb/history', body: exampleOf('/accounts/{id}/history', 'get', 200) }),
    ).toEqual([])
    expect(placed(order)).toEqual([])
  })

  it.each([
    ['a field that it does not tell', changed(({ data }) => (data[0].secret = 1))],
    ['a field that it does not tell, in meta', changed(({ meta }) => (meta.pagination = {}))],
    ['a field that is missing', changed(({ data }) => delete data[0].leverage)],
    ['a null where it tells none', changed(({ data }) => (data[0].name = null))],
    ['a text that it does not list', changed(({ data }) => (data[0].status = 'sleeping'))],
    ['a time in another form', changed(({ data }) => (data[0].createdAt = '1.1.2026'))],
    ['an error beside data', changed((body) => (body.error = { code: 'NOT_FOUND', message: 'No.', request_id: 'req_1' }))],
  ])('finds %s', (_, body) => {
    expect(faultsOf({ body })).toHaveLength(1)
  })

  it('finds a status, a code, details, a header, a content type or a route that it does not tell', () => {
    expect(faultsOf({ status: 418 })).toEqual([expect.stringContaining('418 is not told')])
    expect(faultsOf({ status: 401, body: refused('NOT_FOUND') })).toHaveLength(1)
    const scopes = { required_any_of: ['accounts:read'] }
    expect(faultsOf({ status: 403, body: refused('INSUFFICIENT_SCOPE', scopes) })).toEqual([])
    for (const details of [undefined, {}, { ...scopes, more: 1 }, { required_any_of: [1] }])
      expect(faultsOf({ status: 403, body: refused('INSUFFICIENT_SCOPE', details) })).toHaveLength(1)
    expect(faultsOf({ headers: [...headers, ['Retry-After', '1']] })).toEqual([
      expect.stringContaining('the header retry-after is not told'),
    ])
    expect(faultsOf({ headers: [['Content-Type', 'text/html']] })).toEqual([expect.stringContaining('a body of text/html is not told')])
    expect(faultsOf({ url: 'http://127.0.0.1:1/api/v1/nowhere' })).toHaveLength(1)
    expect(faultsOf({ url: 'http://127.0.0.1:1/api/v1/nowhere', status: 404, body: { error: { code: 'GONE' } } })).toHaveLength(1)
  })

  it('finds a body that was accepted although the document forbids it', () => {
    expect(placed({ ...order, more: 1 })).toHaveLength(1)
    expect(placed({ ...order, volume: 11 })).toEqual([expect.stringContaining('a body was taken')])
    expect(placed({ ...order, type: undefined })).toHaveLength(1)
  })

  it('finds a delivery whose body or headers it does not tell so', () => {
    const described: Json = document.webhooks['order.created']
    const body: Json = described.post.requestBody.content['application/json'].example
    const sent = {
      'x-webhook-event': 'order.created',
      'x-webhook-signature': `sha256=${'0'.repeat(64)}`,
      'x-webhook-id': body.webhook_id,
      'x-webhook-timestamp': body.timestamp,
      'x-webhook-delivery-id': body.webhook_id,
      'user-agent': 'TradingPlatform-Webhook/1.0',
    }
    const found = (headers: object, changed: object): number => {
      const watch = createContractWatch(document)
      watch.hearDelivery({ headers: { ...sent, ...headers }, body: Buffer.from(JSON.stringify({ ...body, ...changed })) })
      return watch.takeFaults().length
    }
    expect(found({}, {})).toBe(0)
    expect(found({}, { data: { ...body.data, more: 1 } })).toBe(1)
    expect(found({}, { webhook_id: undefined })).toBe(1)
    expect(found({ 'x-webhook-signature': 'sha256=0' }, {})).toBe(1)
    expect(found({ 'x-webhook-delivery-id': undefined }, {})).toBe(1)
    expect(found({ 'x-webhook-event': 'order.lost' }, {})).toBe(1)
  })

  it('forgets what it was asked for', () => {
    const watch = createContractWatch(document)
    watch.hearReply({ method: 'GET', url: '/api/v1/accounts', sent: undefined, status: 418, headers, text: '' })
    expect(watch.takeFaults()).toHaveLength(1)
    expect(watch.takeFaults()).toEqual([])
  })
})
