// The capability `market-data` over a real port: prices of an account's broker and of the
// operator's feed, candles that are read once, and an order in the broker's spelling.
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  eventually,
  keyOf,
  linkDocument,
  newAccountUuid,
  openDesk,
  pinPrice,
} from './support/desk.ts'
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
const symbols = { 'EURUSD.r': 'EURUSD', 'XAUUSD.r': 'XAUUSD', XAUUSDm: 'XAUUSD' }
const service = useTestService(
  [
    { id: 'main' },
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
  return { status, data: body.data, code: body.error?.code }
}
const setFeed = (marketDataFeed: object | null) => service.setUp({ marketDataFeed })

it('prices come from the account, in the spelling of its broker', async () => {
  pinPrice(service.sandbox, 1.1)
  for (const account of [main, suffixed, old])
    expect((await get(`/quotes/EURUSD?accountId=${account}`)).data).toMatchObject({
      symbol: 'EURUSD',
      ask: 1.1002,
    })
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
  await setFeed(null)
  await eventually(
    () => get('/quotes/US500', null),
    ({ code }) => code === 'NOT_IMPLEMENTED',
  )
})

const countReads = () => service.sandbox.requests.count({ account: 'main', route: 'candles' })

it('candles are read from the broker once', async () => {
  const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10)
  const path = `/candles/EURUSD?accountId=${main}&timeframe=1m&startTime=${yesterday}&limit=700`
  const first = await get(path)
  expect(first.data).toHaveLength(700)
  const reads = countReads()
  expect((await get(path)).data).toEqual(first.data)
  expect(countReads()).toBe(reads)
})

it("an order is sent in the broker's spelling", async () => {
  const trader = openDesk(service, { user: 'u-4', accountId: trading })
  const order = await trader.place({ symbol: 'EURUSD' })
  expect(await trader.ended(order.id)).toMatchObject({ symbol: 'EURUSD', status: 'filled' })
  expect(service.sandbox.account('trading').positions()).toMatchObject([{ symbol: 'EURUSD.r' }])
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
  service.sandbox.faults.clear()
  await service.setUp({ accounts: [{ id: trading, removed: true }] })
  expect(await feed()).toMatchObject({ status: 'fail' })
})
