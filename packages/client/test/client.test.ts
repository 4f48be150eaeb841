// The client against a fetch that is a function of the test: what is sent, what is given back, and
// what is refused at once.
import { describe, expect, it } from 'vitest'
import { createClient, isTradeportError } from '../src/index.ts'
import type { ClientOptions, TradeportError } from '../src/index.ts'
import { refusal, success } from './support/scripted.ts'

const baseUrl = 'https://trade.example.com/api/v1'

interface Sent {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  readonly body: unknown
}

/** A client whose requests are kept and answered in turn, the last answer again and again. */
const clientWith = (
  answers: readonly (() => Response | Promise<Response>)[],
  options: Partial<ClientOptions> = {},
) => {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (url, { method = '', headers, body } = {}) => {
    if (typeof url !== 'string') throw new TypeError('the client asks for addresses as text')
    sent.push({
      url,
      method,
      headers: new Headers(headers),
      body: typeof body === 'string' ? JSON.parse(body) : body,
    })
    const next = answers[Math.min(sent.length, answers.length) - 1]
    if (next === undefined) throw new Error('no answer is scripted')
    return next()
  }
  return { client: createClient({ baseUrl, apiKey: 'tp_live_key', fetch, ...options }), sent }
}

const ok =
  (data: unknown = [], meta: object = {}) =>
  () =>
    new Response(success(data, meta), { headers: { 'X-RateLimit-Remaining': '7' } })
const refused =
  (status: number, code: string, details?: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(refusal(code, details), { status, headers })

const failure = async (promise: Promise<unknown>): Promise<TradeportError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isTradeportError(error)) throw new Error(`not a TradeportError: ${String(error)}`)
  return error
}

/** Waits until it is called off. */
const neverAnswering: typeof globalThis.fetch = (_, { signal } = {}) =>
  new Promise((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason as Error)),
  )

const order = {
  accountId: 'a',
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
} as const

describe('a method', () => {
  it('gives data, meta and headers', async () => {
    const { client } = clientWith([ok([{ id: 'a' }], { version: '1.0.0' })])
    const { data, meta, headers } = await client.listAccounts()
    expect(data).toEqual([{ id: 'a' }])
    expect(meta.version).toBe('1.0.0')
    expect(headers.get('X-RateLimit-Remaining')).toBe('7')
  })

  it('puts its arguments into the path, the query and the body, escaped, and leaves out what is undefined', async () => {
    const { client, sent } = clientWith([ok()])
    await client.listWebhookDeliveries('a/b c', { page: 2, status: undefined as never })
    await client.listTrades({ symbol: 'A#B', startDate: '2026-01-31T09:30:00+01:00' })
    await client.moveStopLoss('p:1', { value: 1.09 })
    expect(sent.map(({ url }) => url)).toEqual([
      `${baseUrl}/webhooks/a%2Fb%20c/deliveries?page=2`,
      `${baseUrl}/trades?symbol=A%23B&startDate=2026-01-31T09%3A30%3A00%2B01%3A00`,
      `${baseUrl}/positions/p%3A1/sl`,
    ])
    expect(sent[2]).toMatchObject({ method: 'PUT', body: { value: 1.09 } })
    expect(sent[2]?.headers.get('Content-Type')).toBe('application/json')
  })

  it.each(['', '.', '..', undefined, 7])(
    'refuses %j as an id, which would lead to another route',
    async (id) => {
      const { client, sent } = clientWith([ok()])
      await expect(client.deleteWebhook(id as string)).rejects.toThrow(
        /deleteWebhook takes id as text/,
      )
      expect(sent).toEqual([])
    },
  )

  it('refuses to close with a volume that is undefined, which would close everything', async () => {
    const { client, sent } = clientWith([ok()])
    await expect(client.closePosition('p', { volume: undefined as never })).rejects.toThrow(
      /Send \{\} to close all/,
    )
    await expect(client.closePosition('p', undefined as never)).rejects.toThrow(/takes a body/)
    expect(sent).toEqual([])
  })
})

describe('a credential', () => {
  it('is the key, or the token where there is one, which a function may give anew for each call', async () => {
    const tokens = ['one', 'two']
    const { client, sent } = clientWith([ok()], { accessToken: async () => tokens.shift() ?? '' })
    await client.listAccounts()
    await client.listAccounts()
    expect(sent.map(({ headers }) => headers.get('Authorization'))).toEqual([
      'Bearer one',
      'Bearer two',
    ])
    expect(sent.every(({ headers }) => !headers.has('X-API-Key'))).toBe(true)
    const byKey = clientWith([ok()])
    await byKey.client.listAccounts()
    expect(byKey.sent[0]?.headers.get('X-API-Key')).toBe('tp_live_key')
  })

  it('need not be there', async () => {
    const { client, sent } = clientWith([ok()], { apiKey: undefined })
    await client.listSymbols()
    expect([...(sent[0]?.headers.keys() ?? [])]).toEqual([])
  })
})

describe('a POST', () => {
  it('gets one key for each call, kept over all tries', async () => {
    const { client, sent } = clientWith([
      () => Promise.reject(new TypeError('fetch failed')),
      refused(503, 'SERVICE_UNAVAILABLE'),
      refused(409, 'IDEMPOTENCY_IN_PROGRESS', undefined, { 'Retry-After': '1' }),
      ok({ id: 'ord_1' }),
    ])
    await client.placeOrder(order)
    await client.placeOrder(order)
    const keys = sent.map(({ headers }) => headers.get('Idempotency-Key'))
    expect(keys).toHaveLength(5)
    expect(new Set(keys.slice(0, 4)).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[4]).not.toBe(keys[0])
  })

  it('is sent with the key of its caller, which its error carries', async () => {
    const { client, sent } = clientWith([() => Promise.reject(new TypeError('fetch failed'))], {
      retry: { attempts: 1 },
    })
    const error = await failure(client.placeOrder(order, { idempotencyKey: 'signal-42' }))
    expect(error).toMatchObject({
      code: 'NETWORK_FAILURE',
      outcome: 'unknown',
      idempotencyKey: 'signal-42',
      attempts: 1,
    })
    expect(error.message).toMatch(
      /call placeOrder again with the same arguments and the idempotencyKey of this error/,
    )
    expect(sent[0]?.headers.get('Idempotency-Key')).toBe('signal-42')
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toContain('tp_live_key')
    await expect(client.placeOrder(order, { idempotencyKey: 'é' })).rejects.toThrow(
      /idempotencyKey takes/,
    )
  })
})

describe('an error', () => {
  it('has the code, the details and the words of the service', async () => {
    const { client } = clientWith([refused(400, 'INVALID_PRICE', { currentPrice: 1.08 })])
    const error = await failure(client.moveStopLoss('p', { value: 2 }))
    if (error.code !== 'INVALID_PRICE') throw error
    expect(error.details.currentPrice).toBe(1.08)
    expect(error).toMatchObject({
      name: 'TradeportError',
      status: 400,
      requestId: 'req_1',
      operation: 'moveStopLoss',
      outcome: 'not_done',
    })
    expect(error.message).toBe('INVALID_PRICE, in words.')
    expect(error).toBeInstanceOf(Error)
  })

  it('tells of a code that it does not know', async () => {
    const { client } = clientWith([refused(418, 'TEAPOT', { short: true })])
    const error = await failure(client.getOrder('o'))
    expect(error).toMatchObject({
      code: 'UNKNOWN_CODE',
      serviceCode: 'TEAPOT',
      details: { short: true },
      status: 418,
    })
  })

  it.each([
    ['a page', () => new Response('<html>hello')],
    ['JSON of something else', () => new Response('{"ok":true}')],
    [
      'a redirect',
      () =>
        new Response(null, { status: 302, headers: { Location: 'https://elsewhere.example.com' } }),
    ],
  ])('tells of %s in place of an answer, after a write with what to do', async (_, answer) => {
    const { client, sent } = clientWith([answer])
    expect(await failure(client.listAccounts())).toMatchObject({
      code: 'UNREADABLE_ANSWER',
      outcome: 'not_done',
    })
    const error = await failure(client.moveStopLoss('p', { value: 1 }))
    expect(error).toMatchObject({ code: 'UNREADABLE_ANSWER', outcome: 'unknown' })
    expect(error.message).toMatch(/read the position \(getPosition\) before you try again/)
    expect(sent).toHaveLength(2)
  })

  it('is TIMED_OUT when no answer came in time, and a write without a key is then not sent again', async () => {
    const client = createClient({ baseUrl, fetch: neverAnswering, timeoutMs: 20 })
    const error = await failure(client.moveStopLoss('p', { value: 1 }))
    expect(error).toMatchObject({ code: 'TIMED_OUT', outcome: 'unknown', attempts: 1 })
    expect(error.message).toMatch(
      /within 20 ms \(after 1 attempt\)\. The change may have been made/,
    )
  })

  it('is ABORTED when its caller calls it off, and says whether a write may have been done', async () => {
    const controller = new AbortController()
    const { client } = clientWith([
      refused(429, 'RATE_LIMIT_EXCEEDED', { scope: 'endpoint' }, { 'Retry-After': '30' }),
    ])
    setTimeout(() => controller.abort(new Error('enough')), 20)
    const waiting = await failure(client.closePosition('p', {}, { signal: controller.signal }))
    expect(waiting).toMatchObject({ code: 'ABORTED', outcome: 'not_done', attempts: 1 })
    expect(waiting.cause).toMatchObject({ message: 'enough' })
    const before = await failure(client.closePosition('p', {}, { signal: AbortSignal.abort() }))
    expect(before).toMatchObject({ code: 'ABORTED', outcome: 'not_done' })
    const under = new AbortController()
    setTimeout(() => under.abort(), 20)
    const underWay = await failure(
      createClient({ baseUrl, fetch: neverAnswering }).closePosition(
        'p',
        {},
        { signal: under.signal },
      ),
    )
    expect(underWay).toMatchObject({ code: 'ABORTED', outcome: 'unknown' })
  })

  it.each<Record<string, string>>([
    { 'Retry-After': '900' },
    // By the date of the answer.
    { Date: 'Sat, 21 Nov 2026 12:00:00 GMT', 'Retry-After': 'Sat, 21 Nov 2026 12:15:00 GMT' },
  ])('comes at once where Retry-After asks for more time than there is: %j', async (headers) => {
    const { client, sent } = clientWith([
      refused(429, 'RATE_LIMIT_EXCEEDED', { scope: 'suspension' }, headers),
    ])
    expect(await failure(client.listAccounts())).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      retryAfterSeconds: 900,
      attempts: 1,
    })
    expect(sent).toHaveLength(1)
  })
})

const page = (ids: readonly string[], cursor?: string) =>
  ok(
    ids.map((id) => ({ id })),
    { pagination: { has_next: cursor !== undefined, total_pages: 2, cursor } },
  )

describe('a list', () => {
  it('gives its items one by one, with its filters on every page, and reads no page before it is asked for', async () => {
    const { client, sent } = clientWith([page(['1', '2'], 'next'), page(['3'])])
    const requested: [id: string, pages: number][] = []
    const trades = client.listTrades.each({ symbol: 'EURUSD' })
    expect(sent).toHaveLength(0)
    for await (const { id } of trades) requested.push([id, sent.length])
    expect(requested).toEqual([
      ['1', 1],
      ['2', 1],
      ['3', 2],
    ])
    expect(sent.map(({ url }) => url)).toEqual([
      `${baseUrl}/trades?symbol=EURUSD&limit=100`,
      `${baseUrl}/trades?symbol=EURUSD&limit=100&cursor=next`,
    ])
  })
})

const file = () =>
  new Response('id\r\n1\r\n', {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="trades_2026-11-21.csv"',
      'X-Skipped-Positions': '2',
    },
  })
const broken = () =>
  new Response(
    new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) }),
  )

describe('an export', () => {
  it('is a file with its name, as text or as a stream', async () => {
    const { client } = clientWith([file])
    const exported = await client.exportTrades({ format: 'csv' })
    expect(exported).toMatchObject({
      name: 'trades_2026-11-21.csv',
      contentType: 'text/csv; charset=utf-8',
      skippedPositions: 2,
    })
    expect(await exported.text()).toBe('id\r\n1\r\n')
    let bytes = 0
    for await (const chunk of (await client.exportTrades()).stream) bytes += chunk.length
    expect(bytes).toBe(7)
  })

  it('throws where it did not come whole', async () => {
    const exported = await clientWith([broken]).client.exportTrades()
    expect(await failure(exported.text())).toMatchObject({
      code: 'NETWORK_FAILURE',
      operation: 'exportTrades',
    })
  })
})

describe('an option', () => {
  it.each([
    [{ baseUrl: 'trade.example.com' }, /^baseUrl takes the address/],
    [{ baseUrl: 'https://trade.example.com/api/v1?x=1' }, /^baseUrl takes the address/],
    [{ baseUrl, timeoutMs: 0 }, /^timeoutMs takes a whole number from 1 to \d+; got 0\.$/],
    [{ baseUrl, retry: { attempts: 0 } }, /^retry\.attempts takes a whole number from 1/],
    [{ baseUrl, retry: { withinMs: Number.NaN } }, /^retry\.withinMs takes .* got NaN\.$/],
    [{ baseUrl, apiKey: '' }, /^apiKey takes/],
    // Neither a password nor a key is repeated.
    [
      { baseUrl: 'https://user:sekret@trade.example.com/api/v1' },
      /^baseUrl takes no user name and no password: give apiKey or accessToken\.$/,
    ],
    [{ baseUrl, apiKey: 'tp_live_secret\n' }, /^apiKey takes (?!.*secret)/],
  ])('that cannot be is refused: %j', (options, message) => {
    expect(() => createClient(options)).toThrow(message)
  })

  it('may be a path of the page in a browser, with or without a slash at its end', async () => {
    const { client, sent } = clientWith([ok()], { baseUrl: '/api/v1/' })
    await client.listSymbols()
    expect(sent[0]?.url).toBe('/api/v1/symbols')
  })
})
