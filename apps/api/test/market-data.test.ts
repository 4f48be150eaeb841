// The capability `market-data` over a real port: prices of an account's broker and of the
// operator's feed, candles that are read once, an order in the broker's spelling, and streams.
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { eventually, keyOf, linkDocument, newAccountUuid, openDesk } from './support/desk.ts'
import { openStream, operate, request, useTestService, type Json } from './support/service.ts'

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

it('prices come from the account, in the spelling of its broker', async () => {
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
  const { data } = await get(`/symbols?accountId=${suffixed}&search=eur`)
  expect(data).toMatchObject([
    { symbol: 'EURUSD.r', digits: 5, minVolume: 0.01, tradeMode: 'full', stopsLevel: 10 },
  ])
  expect((await get(`/quotes/EURUSD?accountId=${old}`)).status).toBe(200)
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
  expect(await get('/symbols', null)).toMatchObject({ status: 200, data: { length: 15 } })
  await setFeed(null)
  await eventually(
    () => get('/quotes/US500', null),
    ({ code }) => code === 'NOT_IMPLEMENTED',
  )
})

const candles = (query: string, account = main) =>
  get(`/candles/EURUSD?accountId=${account}&${query}`)

it('candles are read from the broker once, gaps included, by whatever requests', async () => {
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

it("an order is sent in the broker's spelling", async () => {
  const trader = openDesk(service, { user: 'u-4', accountId: trading })
  const order = await trader.place({ symbol: 'EURUSD' })
  expect(await trader.ended(order.id)).toMatchObject({ symbol: 'EURUSD', status: 'filled' })
  expect(service.sandbox.account('trading').positions()).toMatchObject([{ symbol: 'EURUSD.r' }])
})

it('a stream of quotes ends when its key is revoked, and another goes on', async () => {
  const keys = ['first', 'second'].map((id) => ({
    id,
    userId: 'u-1',
    scopes: ['market-data:read'],
  }))
  const { apiKeys } = await service.setUp({ apiKeys: keys })
  const path = `/quotes/stream?symbols=GBPUSD,USDJPY&accountId=${main}`
  const [first, second] = await Promise.all([
    openStream(service, path, apiKeys[0].key),
    openStream(service, path, apiKeys[1].key),
  ])
  for (const symbol of ['GBPUSD', 'USDJPY'])
    for (const stream of [first, second])
      await expect.poll(() => stream.text).toContain(`"symbol":"${symbol}"`)
  await service.setUp({ apiKeys: [{ id: 'first', enabled: false }] })
  await expect.poll(() => first.isOver).toBe(true)
  const during = countOf('price')
  await expect.poll(() => countOf('price')).toBeGreaterThan(during)
  expect(second.isOver).toBe(false)
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
