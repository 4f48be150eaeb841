// Market data, which asks for no credential and has only its list of instruments.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { request, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'

const symbols = 'EURUSD GBPUSD USDJPY USDCHF AUDUSD USDCAD EURGBP XAUUSD XAGUSD USOIL UKOIL US30 US500 NAS100 AAPL'.split(' ')

let service: RunningService
const symbolsOf = async (query: string): Promise<string[]> =>
  (await service.get(`/symbols${query}`)).body.data.map(({ symbol }: Json) => symbol)

beforeAll(async () => {
  service = await startTestService([])
})
afterAll(() => service?.close())

describe('GET /symbols', () => {
  it('lists the fifteen instruments with all that is known of them', async () => {
    const { status, body } = await service.get('/symbols')
    expect(status).toBe(200)
    expect(body.data.map(({ symbol }: Json) => symbol)).toEqual(symbols)
    for (const instrument of body.data) {
      const { type, baseCurrency, quoteCurrency, ...rest } = instrument
      expect(['forex', 'metal', 'commodity', 'index', 'stock']).toContain(type)
      expect(rest).toEqual({
        symbol: expect.stringMatching(/^[A-Z0-9]+$/),
        description: expect.any(String),
        tickSize: expect.any(Number),
        contractSize: expect.any(Number),
        marginRate: expect.any(Number),
        tradingHours: expect.any(String),
        currency: type === 'forex' ? quoteCurrency : 'USD',
      })
      if (type === 'forex') expect(`${baseCurrency}${quoteCurrency}`).toBe(rest.symbol)
      else expect(Object.keys(instrument)).not.toEqual(expect.arrayContaining(['baseCurrency']))
    }
  })

  it.each([
    ['?type=metal', ['XAUUSD', 'XAGUSD']],
    ['?type=stock', ['AAPL']],
    ['?search=gbp', ['GBPUSD', 'EURGBP']],
    ['?search=apple', ['AAPL']],
    ['?type=forex&search=JPY', ['USDJPY']],
    ['?type=metal&search=EUR', []],
    ['?search=%25', []],
  ])('filters %s', async (query, expected) => {
    expect(await symbolsOf(query)).toEqual(expected)
  })

  it('takes a search of fifty characters, which are counted as code points', async () => {
    expect((await service.get(`/symbols?search=${encodeURIComponent('💱'.repeat(50))}`)).status).toBe(200)
    expect((await service.get(`/symbols?search=${encodeURIComponent('💱'.repeat(51))}`)).status).toBe(400)
  })

  it('answers 304 to whoever holds the list already', async () => {
    const url = `${service.apiUrl}/api/v1/symbols`
    const { headers } = await request(url)
    const etag = headers.get('ETag') ?? ''
    expect(etag).toMatch(/^(W\/)?".+"$/)
    const held = await request(url, { headers: { 'If-None-Match': etag } })
    expect(held).toMatchObject({ status: 304, body: '' })
    expect(held.headers.get('ETag')).toBe(etag)
    expect(held.headers.get('Cache-Control')).toBe('public, max-age=60')
    expect((await request(`${url}?type=metal`, { headers: { 'If-None-Match': etag } })).status).toBe(200)
  })
})

describe('quotes, candles and ticks', () => {
  it.each([
    '/quotes/EURUSD',
    '/candles/AAPL?timeframe=1m',
    '/candles/XAUUSD?timeframe=1M&startTime=2026-01-01&endTime=2026-01-01&limit=1000',
    '/ticks/US30',
    '/ticks/US30?limit=10000&endTime=2026-01-01T00:00:00Z',
  ])('are not there yet: 501 on %s', async (path) => {
    const { status, body } = await service.get(path)
    expect(status).toBe(501)
    expect(body).toMatchObject({ success: false, data: null, error: { code: 'NOT_IMPLEMENTED', details: { feature: 'market-data' } } })
  })

  it.each(['/quotes/EURJPY', '/candles/BTCUSD?timeframe=1h', '/ticks/MSFT'])(
    'are 404 for a symbol that is not listed: %s',
    async (path) => {
      expect(await service.get(path)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
    },
  )

  it.each<[string, string[]]>([
    ['/quotes/eurusd', ['symbol']],
    ['/ticks/EurUsd', ['symbol']],
    ['/candles/EURUSD', ['timeframe']],
    ['/candles/EURUSD?timeframe=2h', ['timeframe']],
    ['/candles/eurusd?timeframe=1H&limit=1001&startTime=today', ['symbol', 'timeframe', 'startTime', 'limit']],
    ['/candles/EURUSD?timeframe=1h&startTime=2026-01-02&endTime=2026-01-01', ['startTime']],
    ['/ticks/EURUSD?limit=10001', ['limit']],
    ['/ticks/EURJPY?limit=0', ['limit']],
    ['/symbols?type=crypto&search=', ['type', 'search']],
  ])('are 400 with every fault for %s', async (path, paths) => {
    const { status, body } = await service.get(path)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
    expect(body.error.details.issues.map((issue: Json) => issue.path)).toEqual(paths)
  })
})

describe('a credential on these routes', () => {
  it.each<[string, string, Record<string, string>]>([
    ['an unknown key', '/symbols', { 'X-API-Key': 'tp_live_unknown' }],
    ['an unknown token', '/symbols', { Authorization: 'Bearer nonsense' }],
    ['a key in the query', '/symbols?api_key=tp_live_unknown', {}],
  ])('is passed over: %s', async (_, path, headers) => {
    expect((await request(`${service.apiUrl}/api/v1${path}`, { headers })).status).toBe(200)
  })
})
