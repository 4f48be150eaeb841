// The capability `market-data` over a real port: prices of an account's broker and of the operator's
// feed, candles that are read once, and streams of quotes that share their reads.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, keyOf, linkDocument, newAccountUuid, openDesk } from './support/desk.ts'
import { operate, request, useTestService, type Json } from './support/service.ts'

const [main, suffixed, old, trading] = [1, 2, 3, 4].map(newAccountUuid) as [
  string,
  string,
  string,
  string,
]
const trader = linkDocument({
  user: 'u-1',
  scopes: ['market-data:read'],
  accounts: [
    { id: main, providerAccountId: 'main' },
    { id: suffixed, providerAccountId: 'suffixed' },
    { id: old, providerAccountId: 'old', brokerType: 'mt4' },
  ],
})
const hour = 3_600_000
/** A whole hour of yesterday. */
const noon = Math.floor(Date.now() / (24 * hour)) * 24 * hour - 12 * hour
const gap = { from: noon - 3 * hour, to: noon - hour }
const symbols = { 'EURUSD.r': 'EURUSD', 'XAUUSD.r': 'XAUUSD', XAUUSDm: 'XAUUSD' }
const service = useTestService(
  [
    { id: 'main', candleGaps: [gap] },
    { id: 'suffixed', symbols },
    { id: 'trading', symbols },
    { id: 'old', platform: 'mt4' },
  ],
  { environment: { CAPABILITIES: 'market-data' } },
)
beforeAll(() =>
  service.setUp(
    trader,
    linkDocument({ user: 'u-2', scopes: ['market-data:read'] }),
    linkDocument({ user: 'u-3', scopes: ['accounts:read'] }),
    linkDocument({ user: 'u-4', accounts: [{ id: trading, providerAccountId: 'trading' }] }),
  ),
)

const get = async (path: string, user: string | null = 'u-1') => {
  const { status, body } = await request(`${service.apiUrl}/api/v1${path}`, {
    headers: user === null ? {} : { 'X-API-Key': keyOf(user) },
  })
  return { status, data: body.data, code: body.error?.code, error: body.error }
}
const setFeed = (marketDataFeed: object | null) => service.setUp({ marketDataFeed })
const iso = (time: number) => new Date(time).toISOString()
const countOf = (route: string, account = 'main') =>
  service.sandbox.requests.count({ account, route })

it('prices come from the account, in the spelling of its broker, for its owner alone', async () => {
  service.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
  for (const account of [main, suffixed])
    expect((await get(`/quotes/EURUSD?accountId=${account}`)).data).toMatchObject({
      symbol: 'EURUSD',
      bid: 1.1,
      ask: 1.1002,
      spread: 0.0002,
      stale: false,
    })
  expect(await get(`/quotes/XAUUSD?accountId=${suffixed}`)).toMatchObject({
    status: 400,
    code: 'SYMBOL_AMBIGUOUS',
    error: { details: { candidates: ['XAUUSD.r', 'XAUUSDm'] } },
  })
  expect(await get(`/quotes?symbols=EURUSD,GBPUSD&accountId=${suffixed}`)).toMatchObject({
    status: 404,
    error: { code: 'NOT_FOUND', message: expect.stringContaining('"GBPUSD"') },
  })
  expect(countOf('price', 'suffixed')).toBe(1)
  const { data } = await get(`/symbols?accountId=${suffixed}&search=eur`)
  expect(data).toMatchObject([
    { symbol: 'EURUSD.r', digits: 5, minVolume: 0.01, tradeMode: 'full', stopsLevel: 10 },
  ])
  const path = `/quotes/EURUSD?accountId=${main}`
  expect([
    (await get(path, null)).code,
    (await get(path, 'u-2')).code,
    (await get(path, 'u-3')).code,
    (await get(`/ticks/EURUSD?accountId=${old}`)).code,
    (await get(`/quotes/EURUSD?accountId=${old}`)).status,
  ]).toEqual([
    'UNAUTHORIZED',
    'ACCOUNT_NOT_FOUND',
    'INSUFFICIENT_SCOPE',
    'NOT_AVAILABLE_ON_PLATFORM',
    200,
  ])
})

it("the operator's feed serves the listed instruments to anybody, until it is unset", async () => {
  expect((await get('/quotes/US500', null)).code).toBe('NOT_IMPLEMENTED')
  await setFeed({ accountId: main })
  // Which feed there is was cached for a second.
  await eventually(
    () => get('/quotes/US500', null),
    ({ status }) => status === 200,
  )
  const { data } = await get('/quotes?symbols=EURUSD,US500', null)
  expect(data).toMatchObject([{ symbol: 'EURUSD' }, { symbol: 'US500' }])
  expect(await get('/candles/US500?timeframe=1d&limit=3', null)).toMatchObject({ status: 200 })
  expect(await get('/quotes/DAX', null)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  expect(await get('/symbols', null)).toMatchObject({ status: 200, data: { length: 15 } })
  await setFeed(null)
  await eventually(
    () => get('/quotes/US500', null),
    ({ code }) => code === 'NOT_IMPLEMENTED',
  )
})

const candles = (query: string, account = main) =>
  get(`/candles/EURUSD?accountId=${account}&${query}`)

describe('candles', () => {
  it('are read from the broker once, gaps included, by whatever requests', async () => {
    const range = `timeframe=1m&startTime=${iso(gap.from - 10 * hour)}&endTime=${iso(noon)}&limit=1000`
    const first = await candles(range)
    expect(first.data).toHaveLength(661)
    expect(first.data.at(0)).toMatchObject({ time: iso(gap.from - 10 * hour), complete: true })
    const reads = countOf('candles')
    expect((await candles(range)).data).toEqual(first.data)
    const [before, ...after] = (
      await candles(
        `timeframe=1m&startTime=${iso(gap.from - 60_000)}&endTime=${iso(gap.to + 60_000)}`,
      )
    ).data
    expect([before, ...after].map(({ time }: Json) => time)).toEqual(
      [gap.from - 60_000, gap.to, gap.to + 60_000].map(iso),
    )
    await candles(`timeframe=1m&startTime=${iso(gap.from)}&endTime=${iso(gap.to - 1)}`)
    expect(countOf('candles')).toBe(reads)
  })

  it('end with the current one, which is not complete, and each account has its own', async () => {
    const { data } = await candles('timeframe=1h&limit=5')
    expect(data).toHaveLength(5)
    expect(data.map(({ complete }: Json) => complete).slice(0, 3)).toEqual([true, true, true])
    expect(data.at(-1).complete).toBe(false)
    const times = data.map(({ time }: Json) => Date.parse(time))
    expect(times).toEqual(times.toSorted())
    const reads = countOf('candles', 'old')
    await candles(`timeframe=1h&endTime=${iso(noon)}&limit=5`, old)
    expect(countOf('candles', 'old')).toBe(reads + 1)
  })
})

it('ticks are read page by page, or the last ones', async () => {
  const path = `/ticks/EURUSD?accountId=${main}`
  const { data } = await get(`${path}&startTime=${iso(noon)}&limit=2500`)
  expect([data.length, data[0].time, data[2_499].time]).toEqual([
    2_500,
    iso(noon),
    iso(noon + 2_499_000),
  ])
  const last = await get(`${path}&endTime=${iso(noon)}&limit=100`)
  expect([last.data.length, last.data.at(-1).time]).toEqual([100, iso(noon)])
})

const open = async (symbols: string, user = 'u-1') => {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const response = await fetch(
    `${service.apiUrl}/api/v1/quotes/stream?symbols=${symbols}&accountId=${main}`,
    { headers: { 'X-API-Key': keyOf(user) }, signal: stopping.signal },
  )
  const stream = {
    status: response.status,
    text: '',
    isOver: false,
    stop: () => stopping.abort(),
  }
  void (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      stream.text += chunk
  })()
    .catch(() => undefined)
    .finally(() => (stream.isOver = true))
  return stream
}

it("an order is sent in the broker's spelling, and refused where several could be meant", async () => {
  const trader = openDesk(service, { user: 'u-4', accountId: trading })
  const order = await trader.place({ symbol: 'EURUSD' })
  expect(await trader.ended(order.id)).toMatchObject({ symbol: 'EURUSD', status: 'filled' })
  expect(service.sandbox.account('trading').positions()).toMatchObject([{ symbol: 'EURUSD.r' }])
  const { status, body } = await trader.post({ symbol: 'XAUUSD' })
  expect([status, body.error.code]).toEqual([400, 'SYMBOL_AMBIGUOUS'])
  expect((await trader.post({ symbol: 'NOPE' })).status).toBe(201)
})

describe('streams of quotes', () => {
  it('share one read of a symbol a second, and end when the key is revoked', async () => {
    const users = Array.from({ length: 20 }, (_, index) => `listener-${index}`)
    const keys = users.map((user) => ({
      id: `${user}-key`,
      userId: 'u-1',
      name: user,
      key: keyOf(user),
      scopes: ['market-data:read'],
    }))
    await service.setUp({ apiKeys: keys })
    const symbols = ['GBPUSD', 'USDJPY', 'XAUUSD', 'US30']
    const streams = await Promise.all(
      users.flatMap((user) => [1, 2, 3].map(() => open(symbols.join(), user))),
    )
    expect(streams.every(({ status }) => status === 200)).toBe(true)
    await eventually(
      async () => streams,
      (all) => all.every(({ text }) => symbols.every((one) => text.includes(`"symbol":"${one}"`))),
    )
    const [before, startedAt] = [countOf('price'), performance.now()]
    await pause(4_000)
    const seconds = (performance.now() - startedAt) / 1_000
    expect(countOf('price') - before).toBeGreaterThan(symbols.length)
    expect(countOf('price') - before).toBeLessThanOrEqual(symbols.length * (seconds + 1))
    await service.setUp({ apiKeys: [{ id: 'listener-0-key', enabled: false }] })
    await eventually(
      async () => streams.slice(0, 3),
      (revoked) => revoked.every(({ isOver }) => isOver),
    )
    expect(streams.slice(3).some(({ isOver }) => isOver)).toBe(false)
    for (const { stop } of streams) stop()
    await pause(1_500)
    const after = countOf('price')
    await pause(1_500)
    expect(countOf('price')).toBe(after)
  })
})

it('the doctor asks for the feed past what is kept of it', async () => {
  await setFeed({ accountId: trading })
  onTestFinished(() => service.sandbox.faults.clear())
  const feed = async () =>
    (await operate(service.operatorUrl, '/doctor')).body.data.find(
      ({ name }: Json) => name === 'market data feed',
    )
  expect(await feed()).toMatchObject({ status: 'warn' })
  service.sandbox.faults.set('trading', 'symbols', { kind: 'timeout' })
  expect(await feed()).toMatchObject({ status: 'fail' })
})
