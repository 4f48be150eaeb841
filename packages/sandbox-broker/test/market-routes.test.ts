// Symbols, prices, margins, the clock, and the provisioning API.
import { describe, expect, it } from 'vitest'
import { NOON, setUp } from './harness.ts'

describe('market data', () => {
  it('lists the fifteen symbols, with the suffix of the broker', async () => {
    const { get } = await setUp({ symbolSuffix: '#' })
    const { body } = await get<string[]>('symbols')
    expect(body).toHaveLength(15)
    expect(body).toContain('EURUSD#')
    expect((await get(`symbols/${encodeURIComponent('EURUSD#')}/specification`)).body).toMatchObject({
      symbol: 'EURUSD#',
      digits: 5,
      contractSize: 100_000,
      minVolume: 0.01,
      volumeStep: 0.01,
      tickSize: 0.00001,
    })
    expect((await get('symbols/EURUSD/specification')).status).toBe(404)
  })

  it('shows no sessions while the market is shut', async () => {
    const { get, sandbox } = await setUp()
    sandbox.market.close('US30')
    expect((await get('symbols/US30/specification')).body).toMatchObject({ tradeSessions: {} })
    expect((await get('symbols/US500/specification')).body).toMatchObject({ tradeSessions: { SUNDAY: [{ from: '00:00:00.000' }] } })
  })

  it('quotes a price that moves with the clock and comes back with it', async () => {
    const { get, clock, sandbox } = await setUp()
    const first = (await get('symbols/XAUUSD/current-price?keepSubscription=true')).body
    expect(first).toMatchObject({
      symbol: 'XAUUSD',
      ...sandbox.prices.quote('XAUUSD'),
      profitTickValue: 1,
      time: '2026-03-11T12:00:00.000Z',
      brokerTime: '2026-03-11 14:00:00.000',
    })
    clock.now += 3_600_000
    expect((await get('symbols/XAUUSD/current-price')).body).not.toMatchObject(sandboxPrice(first))
    clock.now = NOON
    expect((await get('symbols/XAUUSD/current-price')).body).toEqual(first)
  })

  it('calculates the margin of a tenth of a lot at 1:100, in the account currency', async () => {
    const { post, sandbox } = await setUp()
    const order = { symbol: 'EURUSD', type: 'ORDER_TYPE_BUY', volume: 0.1, openPrice: 1.1 }
    expect((await post('calculate-margin', order)).body).toEqual({ margin: 110 })
    sandbox.prices.pin('USDJPY', { bid: 150, ask: 150 })
    expect((await post('calculate-margin', { ...order, symbol: 'USDJPY', type: 'ORDER_TYPE_SELL', openPrice: 150 })).body).toEqual({
      margin: 100,
    })
    expect((await post('calculate-margin', { ...order, symbol: 'NONE' })).status).toBe(404)
    expect(await post('calculate-margin', { type: 'BUY', volume: 0, openPrice: -1 })).toMatchObject({
      status: 400,
      body: { details: [{ parameter: 'symbol' }, { parameter: 'type' }, { parameter: 'volume' }, { parameter: 'openPrice' }] },
    })
  })

  it('tells the time on both clocks', async () => {
    const { get } = await setUp({ brokerUtcOffsetHours: 3 })
    expect((await get('server-time')).body).toMatchObject({ time: '2026-03-11T12:00:00.000Z', brokerTime: '2026-03-11 15:00:00.000' })
  })
})

const sandboxPrice = (price: unknown) => ({ bid: (price as { bid: number }).bid })

describe('provisioning', () => {
  it('lists accounts as an array, or counted, and filters them', async () => {
    const { get, sandbox } = await setUp({ platform: 'mt4' })
    sandbox.addAccount({ id: 'two', region: 'london', login: '12345' })
    const { body } = await get<unknown[]>('/users/current/accounts')
    expect(body).toMatchObject([
      { _id: 'acc', version: 4, state: 'DEPLOYED', connectionStatus: 'CONNECTED', region: 'new-york', type: 'cloud-g2' },
      { _id: 'two', version: 5, region: 'london', login: '12345' },
    ])
    expect((await get('/users/current/accounts', { 'api-version': '2' })).body).toEqual({ count: 2, items: body })
    const ids = async (query: string) => (await get<{ _id: string }[]>(`/users/current/accounts?${query}`)).body.map((row) => row._id)
    expect(await ids('region=london')).toEqual(['two'])
    expect(await ids('version=4')).toEqual(['acc'])
    expect(await ids('query=2345')).toEqual(['two'])
    expect(await ids('offset=1&limit=1')).toEqual(['two'])
    expect((await get('/users/current/accounts', { 'api-version': '3' })).status).toBe(400)
    expect((await get('/users/current/regions')).body).toContain('london')
  })

  it('reads one account, takes it off and puts it back', async () => {
    const { get, post } = await setUp()
    expect((await get('/users/current/accounts/acc')).body).toMatchObject({ _id: 'acc', state: 'DEPLOYED' })
    expect((await get('/users/current/accounts/none')).status).toBe(404)
    expect((await post('/users/current/accounts/acc/undeploy', {})).status).toBe(204)
    expect((await get('/users/current/accounts/acc')).body).toMatchObject({ state: 'UNDEPLOYED', connectionStatus: 'DISCONNECTED' })
    expect((await get('positions')).status).toBe(504)
    expect((await post('/users/current/accounts/acc/deploy', {})).status).toBe(204)
    expect((await get('positions')).status).toBe(200)
  })
})
