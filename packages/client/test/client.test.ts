// What is sent, what is returned, and what is refused at once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type Client, createClient, isTradeportError, sleep } from '../src/index.ts'
import {
  type Answer,
  baseUrl,
  callWith,
  clientWith,
  cutOff,
  errorOf,
  hanging,
  lost,
  refusal,
  success,
} from './service.ts'

const failure = async (call: Promise<unknown>) => {
  const error = await errorOf(call)
  if (error === undefined) throw new Error('the method threw no error')
  return error
}

const order = {
  accountId: 'a',
  symbol: 'EURUSD',
  type: 'buy',
  orderType: 'market',
  volume: 0.1,
} as const

describe.concurrent('a method', () => {
  it('returns data, meta and headers', async () => {
    const { client } = clientWith([success([{ id: 'a' }], { version: '1.0.0' })])
    const { data, meta, headers } = await client.listAccounts()
    expect(data).toEqual([{ id: 'a' }])
    expect(meta.version).toBe('1.0.0')
    expect(headers.get('X-RateLimit-Remaining')).toBe('7')
  })

  it('sends its arguments in the path, the query and the body, escaped, without undefined ones', async () => {
    const { client, sent } = clientWith([success()])
    await client.listWebhookDeliveries('a/b c', { page: 2, status: undefined as never })
    await client.listTrades({
      symbol: 'A#B',
      startDate: '2026-01-31T09:30:00+01:00',
      cursor: null as never,
    })
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
    'refuses the id %j, which would lead to another route',
    async (id) => {
      const { client, sent } = clientWith([success()])
      await expect(client.deleteWebhook(id as string)).rejects.toThrow(
        /^id of deleteWebhook must be text/,
      )
      expect(sent).toEqual([])
    },
  )

  it.each([
    ['closePosition', 'volume', undefined],
    ['closePositions', 'symbol', undefined],
    ['changePositionLevels', 'stopLoss', Number.NaN],
    ['modifyOrder', 'takeProfit', -Infinity],
    ['placeOrder', 'stopLoss', Infinity],
    ['placeOrder', 'stopLoss', undefined],
    ['changePositionLevels', 'takeProfit', undefined],
    ['closePosition', 'volume', () => 0.1],
    ['closePosition', 'volume', Symbol('lots')],
    ['recoverWebhook', 'since', new Date(Number.NaN)],
  ] as const)('does not send %s with a %s of %s', async (operation, field, value) => {
    const { client, sent } = clientWith([success()])
    for (const body of [{ [field]: value }, { inner: { [field]: value } }])
      await expect(callWith(client, operation, body)).rejects.toThrow(
        `the ${field} of ${operation} is ${String(value)}, which JSON cannot hold: give a value, or leave it out.`,
      )
    expect(sent).toEqual([])
  })

  it('closes all of a position without a body, and nothing with a body that JSON would empty', async () => {
    const { client, sent } = clientWith([success()])
    await client.closePosition('p')
    const inherited: object = Object.create({ volume: 0.1 })
    await expect(client.closePosition('p', inherited)).rejects.toThrow('must be a plain object')
    expect(sent).toMatchObject([{ url: `${baseUrl}/positions/p/close`, body: {} }])
  })
})

describe('a credential', () => {
  it('is the API key, or the access token, which a function may return for each call', async () => {
    const tokens = ['one', 'two']
    const { client, sent } = clientWith([success()], {
      accessToken: async () => tokens.shift() ?? '',
    })
    await client.listAccounts()
    await client.listAccounts()
    await expect(client.listAccounts()).rejects.toThrow(/^accessToken must be/)
    expect(sent.map(({ headers }) => headers.get('Authorization'))).toEqual([
      'Bearer one',
      'Bearer two',
    ])
    expect(sent.every(({ headers }) => !headers.has('X-API-Key'))).toBe(true)
    const byKey = clientWith([success()])
    await byKey.client.listAccounts()
    expect(byKey.sent[0]?.headers.get('X-API-Key')).toBe('tp_live_key')
  })

  it.each<[string, () => Promise<string>, object]>([
    [
      'fails',
      () => Promise.reject(new Error('no issuer')),
      { code: 'NETWORK_FAILURE', cause: { message: 'no issuer' } },
    ],
    [
      'throws',
      () => {
        throw new Error('no issuer')
      },
      { code: 'NETWORK_FAILURE', idempotencyKey: expect.any(String) },
    ],
    [
      'is late',
      () => new Promise(() => undefined),
      {
        code: 'TIMED_OUT',
        message: 'placeOrder was not sent: accessToken() gave no token.',
      },
    ],
  ])('that %s sends nothing', async (_, accessToken, expected) => {
    const { client, sent } = clientWith([], { accessToken, timeoutMs: 20 })
    const error = await errorOf(client.placeOrder(order))
    expect(error).toMatchObject({ ...expected, outcome: 'not_done', attempts: 0 })
    const aborted = client.placeOrder(order, { signal: AbortSignal.abort() })
    expect([await errorOf(aborted), sent]).toMatchObject([{ code: 'ABORTED' }, []])
    await expect(client.getOrder('')).rejects.toThrow(TypeError)
  })
})

describe.concurrent('a POST', () => {
  it('has a key of its own', async () => {
    const { client, sent } = clientWith([success({ id: 'ord_1' })])
    await client.placeOrder(order)
    await client.placeOrder(order)
    const [one, other] = sent.map(({ headers }) => headers.get('Idempotency-Key'))
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect(other).not.toBe(one)
  })

  it('has the key of its caller, which is in the error', async () => {
    const { client, sent } = clientWith([lost], {
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
      /call placeOrder again within 24 hours with the same arguments and the idempotencyKey of/,
    )
    expect(sent[0]?.headers.get('Idempotency-Key')).toBe('signal-42')
    expect(JSON.stringify(error) + error.message + String(error.stack)).not.toContain('tp_live_key')
    await expect(client.placeOrder(order, { idempotencyKey: 'é' })).rejects.toThrow(
      /^idempotencyKey must be/,
    )
  })
})

const orderIn = (status: string) => success({ id: 'ord_1', status })
const pending = orderIn('pending')
const unavailable = refusal(503, 'SERVICE_UNAVAILABLE')
const place = async (answers: readonly Answer[]) => {
  const { client, sent } = clientWith(answers)
  return { placed: await client.placeOrder(order, { wait: 5 }), sent }
}

describe.concurrent('a placed order', () => {
  it.each([
    [0, 0, [orderIn('filled')]],
    [3, 700, [pending, pending, pending, orderIn('filled')]],
    [3, 700, [pending, lost, unavailable, orderIn('filled')]],
    [
      2,
      2_200,
      [pending, refusal(503, 'SERVICE_UNAVAILABLE', {}, { 'Retry-After': '2' }), orderIn('filled')],
    ],
  ])(
    'is sent with the wait of its caller, and read %s times in %s ms until it is not pending',
    async (reads, leastMs, answers) => {
      const { placed, sent } = await place(answers)
      expect((await placed.settled()).status).toBe('filled')
      expect(sent.map(({ url }) => url)).toEqual([
        `${baseUrl}/orders?wait=5`,
        ...Array.from({ length: reads }, () => `${baseUrl}/orders/ord_1`),
      ])
      expect((sent.at(-1)?.atMs ?? 0) - (sent[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(leastMs)
    },
  )

  it.each([
    [
      'TIMED_OUT',
      'The order ord_1 is still pending after 300 ms. Read it again later (getOrder).',
      pending,
    ],
    [
      'TIMED_OUT',
      'It is not known whether the order ord_1 is still pending after 300 ms: SERVICE_UNAVAILABLE, in words. Read',
      unavailable,
    ],
    [
      'TIMED_OUT',
      'It is not known whether the order ord_1 is still pending after 300 ms: getOrder got no answer within',
      hanging,
    ],
    [
      'RATE_LIMIT_EXCEEDED',
      'in words',
      refusal(429, 'RATE_LIMIT_EXCEEDED', {}, { 'Retry-After': '20' }),
    ],
    ['INSUFFICIENT_SCOPE', 'in words', refusal(403, 'INSUFFICIENT_SCOPE')],
  ])('whose state is not known in time is %s: %s', async (code, message, answer) => {
    const { placed } = await place([pending, answer])
    const startedAt = performance.now()
    const error = await failure(placed.settled({ timeoutMs: 300 }))
    expect(error).toMatchObject({ code, outcome: 'unknown' })
    expect(error.message).toContain(message)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  it('that its caller waits for no longer is ABORTED with an unknown outcome', async () => {
    const { placed } = await place([pending])
    const error = await failure(placed.settled({ signal: AbortSignal.timeout(50) }))
    expect(error).toMatchObject({ code: 'ABORTED', outcome: 'unknown' })
  })
})

describe('an error', () => {
  it('has the code, the details and the message of the service', async () => {
    const { client } = clientWith([refusal(400, 'INVALID_PRICE', { currentPrice: 1.08 })])
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
    expect(isTradeportError(new Error())).toBe(false)
  })

  it('of a DELETE that a browser may have repeated is unknown', async () => {
    const { client } = clientWith([
      refusal(409, 'ORDER_NOT_CANCELLABLE', { status: 'cancelled' }),
      refusal(409, 'ORDER_NOT_CANCELLABLE', { status: 'partially_filled' }),
      refusal(409, 'ORDER_NOT_CANCELLABLE', { status: 'filled' }),
      refusal(404, 'NOT_FOUND'),
    ])
    for (const outcome of ['unknown', 'unknown', 'not_done'])
      expect(await failure(client.cancelOrder('o'))).toMatchObject({ outcome })
    expect(await failure(client.deleteWebhook('w'))).toMatchObject({ outcome: 'unknown' })
  })

  it('has an unknown code as serviceCode', async () => {
    const { client } = clientWith([refusal(418, 'TEAPOT', { short: true })])
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
  ])('reports %s instead of an answer, after a write with what to do', async (_, answer) => {
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

  it('is TIMED_OUT after too long a time, and a write without a key is not sent again', async () => {
    const { client } = clientWith([hanging], { timeoutMs: 20 })
    const { signal } = new AbortController()
    const error = await failure(client.moveStopLoss('p', { value: 1 }, { signal }))
    expect(error).toMatchObject({ code: 'TIMED_OUT', outcome: 'unknown', attempts: 1 })
    expect(error.message).toMatch(
      /within 20 ms \(after 1 attempt\)\. The change may have been made/,
    )
  })

  it('is ABORTED by its caller, and says whether a write may have been done', async () => {
    const controller = new AbortController()
    const { client } = clientWith([
      refusal(429, 'RATE_LIMIT_EXCEEDED', { scope: 'endpoint' }, { 'Retry-After': '30' }),
    ])
    setTimeout(() => controller.abort(new Error('enough')), 20)
    const waiting = await failure(client.closePosition('p', {}, { signal: controller.signal }))
    expect(waiting).toMatchObject({ code: 'ABORTED', outcome: 'not_done', attempts: 1 })
    expect(waiting.cause).toMatchObject({ message: 'enough' })
    const before = await failure(client.closePosition('p', {}, { signal: AbortSignal.abort() }))
    expect(before).toMatchObject({ code: 'ABORTED', outcome: 'not_done' })
    const under = new AbortController()
    setTimeout(() => under.abort(), 20)
    const inProgress = await failure(
      clientWith([hanging]).client.closePosition('p', {}, { signal: under.signal }),
    )
    expect(inProgress).toMatchObject({ code: 'ABORTED', outcome: 'unknown' })
  })

  it.each([
    { 'Retry-After': '900' },
    // By the date of the answer.
    { Date: 'Sat, 21 Nov 2026 12:00:00 GMT', 'Retry-After': 'Sat, 21 Nov 2026 12:15:00 GMT' },
  ])('is thrown at once if Retry-After is too long: %j', async (headers) => {
    const { client, sent } = clientWith([
      refusal(429, 'RATE_LIMIT_EXCEEDED', { scope: 'suspension' }, headers),
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
  success(
    ids.map((id) => ({ id })),
    { pagination: { has_next: cursor !== undefined, total_pages: 2, cursor } },
  )

describe('a list', () => {
  it('returns items one by one, with the filters on every page, and reads no page early', async () => {
    const { client, sent } = clientWith([page(['1', '2'], 'next'), page(['3'])])
    const requested: [id: string, pages: number][] = []
    const events = client.listEvents.each({ accountId: 'a', after: 'evt_5' })
    expect(sent).toHaveLength(0)
    for await (const { id } of events) requested.push([id, sent.length])
    expect(requested).toEqual([
      ['1', 1],
      ['2', 1],
      ['3', 2],
    ])
    expect(sent.map(({ url }) => url)).toEqual([
      `${baseUrl}/events?accountId=a&after=evt_5&limit=100`,
      `${baseUrl}/events?accountId=a&after=next&limit=100`,
    ])
    const aborted = client.listEvents.each({}, { signal: AbortSignal.abort() })
    expect(await errorOf(aborted[Symbol.asyncIterator]().next())).toMatchObject({ code: 'ABORTED' })
  })
})

it.each([
  [{ order: 'desc' }, { order: 'desc', before: 'next' }],
  [{ before: 'evt_9' }, { before: 'next' }],
  [
    { before: 'evt_9', after: 'evt_5' },
    { before: 'evt_9', after: 'next' },
  ],
  [
    { before: 'evt_9', order: 'asc' },
    { before: 'evt_9', order: 'asc', after: 'next' },
  ],
] as const)('a log with %j is read on with %j', async (filters, then) => {
  const { client, sent } = clientWith([page(['2'], 'next'), page(['1'])])
  for await (const { id } of client.listEvents.each(filters)) expect(id).toMatch(/[12]/)
  const queries = sent.map(({ url }) => Object.fromEntries(new URL(url).searchParams))
  expect(queries).toEqual([filters, then].map((query) => ({ ...query, limit: '100' })))
})

const file = () =>
  new Response('id\r\n1\r\n', {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="trades_2026-11-21.csv"',
      'X-Skipped-Positions': '2',
      'X-Warnings': 'history_incomplete,other',
    },
  })
it.each([null, Number.NaN, {}, '', ' k', 'k\n', 'k'.repeat(256)])(
  'an idempotencyKey that is %j is a TypeError, and nothing is sent',
  async (idempotencyKey) => {
    const { client, sent } = clientWith([])
    const options = { idempotencyKey } as { readonly idempotencyKey: string }
    await expect(client.closePosition('p', {}, options)).rejects.toThrow(/^idempotencyKey must be/)
    expect(sent).toEqual([])
  },
)

it.each([
  ['signal-42', /^the options of placeOrder must be an object; got "signal-42"\.$/],
  [null, /^the options of placeOrder must be an object; got null\.$/],
  [{ idempotencykey: 'k' }, /^placeOrder has no option idempotencykey; the options are signal, /],
  [{ timeout: 5 }, /^placeOrder has no option timeout;/],
  [{ signal: new AbortController() }, /^signal must be an AbortSignal/],
])('the options %j are a TypeError, and nothing is sent', async (options, message) => {
  const { client, sent } = clientWith([])
  await expect(client.placeOrder({} as never, options as never)).rejects.toThrow(message)
  expect(sent).toEqual([])
})

it('a key is an option of a POST alone, and a wait of placeOrder', async () => {
  const { client, sent } = clientWith([])
  const options = { idempotencyKey: 'k' } as never
  for (const call of [
    client.moveStopLoss('p', { value: 1 }, options),
    client.getOrder('o', options),
    client.closePosition('p', {}, { wait: 5 } as never),
  ])
    await expect(call).rejects.toThrow(/ has no option (idempotencyKey|wait);/)
  expect(sent).toEqual([])
})

it('a signal of null is none, and a client has no other options and no fetch but a function', async () => {
  const { client } = clientWith([success()])
  await client.listAccounts({ signal: null } as never)
  const options = { baseUrl: 'https://trade.example.com/api/v1' }
  expect(() => createClient({ ...options, apikey: 'k' } as never)).toThrow(/no option apikey/)
  expect(() => client.events({ signal: {} as never })).toThrow(/^signal must be an AbortSignal/)
  const placing = clientWith([success({ id: 'o', status: 'pending' })]).client.placeOrder(order)
  for (const waiting of [{ timeout: 300 }, { signal: new AbortController() }])
    await expect((await placing).settled(waiting as never)).rejects.toThrow(TypeError)
  const unfit = createClient({ ...options, fetch: {} as never })
  await expect(unfit.listAccounts()).rejects.toThrow(/^fetch must be a function/)
})

describe('an export', () => {
  it('is a file with its name, as text or as a stream', async () => {
    const { client } = clientWith([file])
    const exported = await client.exportTrades({ format: 'csv' })
    expect(exported).toMatchObject({
      name: 'trades_2026-11-21.csv',
      contentType: 'text/csv; charset=utf-8',
      skippedPositions: 2,
      warnings: ['history_incomplete', 'other'],
    })
    expect(await exported.text()).toBe('id\r\n1\r\n')
    await expect(exported.text()).rejects.toThrow('the file was read already')
    const locked = await client.exportTrades()
    locked.stream.getReader()
    await expect(locked.text()).rejects.toThrow('the file was read already')
    let bytes = 0
    for await (const chunk of (await client.exportTrades()).stream) bytes += chunk.length
    expect(bytes).toBe(7)
  })

  it('keeps its stream while nothing else is held', async () => {
    const server = createServer((_, reply) => {
      reply.setHeader('Content-Disposition', 'attachment').end('id')
    }).listen()
    const { port } = server.address() as AddressInfo
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}/api/v1`, apiKey: 'tp_live_k' })
    const { stream } = await client.exportTrades()
    setFlagsFromString('--expose-gc')
    for (let times = 0; times < 10; times++) {
      runInNewContext('gc')()
      await sleep(10, undefined)
    }
    expect(await new Response(stream).text()).toBe('id')
    server.close()
  })

  it('throws if it is incomplete', async () => {
    const exported = await clientWith([cutOff]).client.exportTrades()
    expect(await failure(exported.text())).toMatchObject({
      code: 'NETWORK_FAILURE',
      operation: 'exportTrades',
    })
  })
})

const signInPage = () => new Response('Sign in')

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['an export', (client) => client.exportTrades()],
  ['a stream', (client) => client.events()[Symbol.asyncIterator]().next()],
])('a page of a proxy is not %s', async (_, read) => {
  expect(await failure(read(clientWith([signInPage]).client))).toMatchObject({
    code: 'UNREADABLE_ANSWER',
    excerpt: 'Sign in',
  })
})

describe('an option', () => {
  it.each([
    [{ baseUrl: 'trade.example.com' }, /^baseUrl must be the address/],
    [{ baseUrl: 'https://trade.example.com/api/v1?x=1' }, /^baseUrl must be the address/],
    [
      { baseUrl: 'https://trade.example.com' },
      /^baseUrl must end in \/api\/v1, .*; got "https:\/\/trade\.example\.com"\.$/,
    ],
    [{ baseUrl, timeoutMs: 0 }, /^timeoutMs must be a whole number from 1 to \d+; got 0\.$/],
    [{ baseUrl, retry: { attempts: 0 } }, /^retry\.attempts must be a whole number from 1/],
    [{ baseUrl, retry: { withinMs: Number.NaN } }, /^retry\.withinMs must be .* got NaN\.$/],
    [{ baseUrl, retry: { withinMs: 24 * 3_600_000 } }, /^retry\.withinMs .* 0 to 82800000; got/],
    [{ baseUrl, apiKey: '' }, /^apiKey must be/],
    // The messages contain neither the password nor the key.
    [
      { baseUrl: 'https://user:sekret@trade.example.com/api/v1' },
      /^baseUrl must not contain a user name or password: give apiKey or accessToken\.$/,
    ],
    [{ baseUrl, apiKey: 'tp_live_secret\n' }, /^apiKey must be (?!.*secret)/],
  ])('that is invalid is refused: %j', (options, message) => {
    expect(() => createClient(options)).toThrow(message)
  })

  it('that is a path is refused once it is called in Node', async () => {
    await expect(createClient({ baseUrl: '/api/v1' }).listSymbols()).rejects.toThrow(
      'baseUrl must be a URL that fetch can use; /api/v1/symbols is none here.',
    )
  })

  it('may be a path of the page, with a slash at its end', async () => {
    const { client, sent } = clientWith([success()], { baseUrl: '/api/v1/' })
    await client.listSymbols()
    expect(sent[0]?.url).toBe('/api/v1/symbols')
  })
})
