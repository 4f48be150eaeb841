// Pending orders over the provider's REST: how they are placed, changed, filled and ended.
import { describe, expect, it } from 'vitest'
import type { AccountOptions, DealRow, OrderRow, PositionRow, TradeReply } from '../src/index.ts'
import { EVER, NOON, setUp } from './harness.ts'

const [bid, ask] = [1.1, 1.1002]
const hourMs = 3_600_000
const kinds: readonly Omit<AccountOptions, 'id'>[] = [
  {},
  { marginMode: 'netting' },
  { platform: 'mt4' },
]

const limit = {
  actionType: 'ORDER_TYPE_BUY_LIMIT',
  symbol: 'EURUSD',
  volume: 0.2,
  openPrice: 1.09,
}
const pending = (type: string, openPrice: number, more: object = {}) => ({
  ...limit,
  actionType: `ORDER_TYPE_${type}`,
  openPrice,
  ...more,
})

const setUpAccount = async (options: Omit<AccountOptions, 'id'> = {}) => {
  const bench = await setUp(options)
  const { sandbox, get, post } = bench
  const pin = (price: number): void =>
    sandbox.prices.pin('EURUSD', { bid: price, ask: Number((price + 0.0002).toFixed(5)) })
  pin(bid)
  const rows = async <Row>(path: string) => (await get<readonly Row[]>(path)).body
  return {
    ...bench,
    pin,
    trade: async (body: object) => (await post<TradeReply>('trade', body)).body,
    orders: () => rows<OrderRow>('orders'),
    finished: () => rows<OrderRow>(`history-orders/time/${EVER}`),
    positions: () => rows<PositionRow>('positions'),
    deals: async () =>
      (await rows<DealRow>(`history-deals/time/${EVER}`)).filter(
        (deal) => deal['type'] !== 'DEAL_TYPE_BALANCE',
      ),
  }
}

describe('a pending order', () => {
  it.each(kinds)(
    'on %j waits, is changed, and becomes a position with its levels',
    async (options) => {
      const { trade, orders, finished, positions, deals, pin, get } = await setUpAccount(options)
      const { orderId } = await trade({
        ...limit,
        stopLoss: 1.05,
        takeProfit: 1.2,
        clientId: 'TP_ORDER_1',
      })
      const { stopLoss: _stopLoss, ...changed } = {
        id: orderId,
        type: 'ORDER_TYPE_BUY_LIMIT',
        state: 'ORDER_STATE_PLACED',
        openPrice: 1.09,
        currentPrice: ask,
        stopLoss: 1.05,
        takeProfit: 1.2,
        volume: 0.2,
        currentVolume: 0.2,
        clientId: 'TP_ORDER_1',
        expirationType: 'ORDER_TIME_GTC',
      }
      expect(await orders()).toMatchObject([{ ...changed, stopLoss: 1.05 }])
      expect([await positions(), await finished()]).toEqual([[], []])

      const modify = { actionType: 'ORDER_MODIFY', orderId, openPrice: 1.08, takeProfit: 1.15 }
      expect(await trade(modify)).toMatchObject({ orderId })
      const [row] = await orders()
      expect(row).toMatchObject({ ...changed, openPrice: 1.08, takeProfit: 1.15 })
      expect(row).not.toHaveProperty('stopLoss')
      expect((await trade(modify)).numericCode).toBe(options.platform === 'mt4' ? 0 : 10_025)

      pin(1.0801)
      expect(await orders()).toHaveLength(1)
      pin(1.075)
      expect(await orders()).toEqual([])
      const deal = { orderId, positionId: orderId, price: 1.0752, volume: 0.2 }
      expect(await deals()).toMatchObject([deal])
      expect(await positions()).toMatchObject([
        { id: orderId, openPrice: 1.0752, takeProfit: 1.15, clientId: 'TP_ORDER_1' },
      ])
      const filled = { id: orderId, state: 'ORDER_STATE_FILLED', openPrice: 1.08, currentVolume: 0 }
      expect(await finished()).toMatchObject([filled])
      expect((await get(`orders/${orderId}`)).status).toBe(404)
    },
  )

  it.each([
    ['BUY_LIMIT', 1.09, 1.0898, 1.085, 1.0852],
    ['SELL_LIMIT', 1.11, 1.11, 1.115, 1.115],
    ['BUY_STOP', 1.11, 1.1098, 1.115, 1.1152],
    ['SELL_STOP', 1.09, 1.09, 1.085, 1.085],
  ])(
    '%s at %d is filled at %d, and beyond it at the market',
    async (type, price, at, beyond, market) => {
      for (const [moved, filled] of [
        [at, price],
        [beyond, market],
      ] as const) {
        const { trade, pin, deals } = await setUpAccount()
        await trade(pending(type, price))
        expect(await deals()).toEqual([])
        pin(moved)
        expect(await deals()).toMatchObject([{ price: filled }])
      }
    },
  )

  it('of the kind stop-limit becomes a limit order, under the same ticket', async () => {
    const { trade, pin, orders, deals } = await setUpAccount()
    const stopLimit = pending('BUY_STOP_LIMIT', 1.11, { stopLimitPrice: 1.105 })
    const { orderId } = await trade(stopLimit)
    expect(await orders()).toMatchObject([{ openPrice: 1.11, stopLimitPrice: 1.105 }])
    pin(1.112)
    const [row] = await orders()
    expect(row).toMatchObject({ id: orderId, type: 'ORDER_TYPE_BUY_LIMIT', openPrice: 1.105 })
    expect(row).not.toHaveProperty('stopLimitPrice')
    pin(1.104)
    expect(await deals()).toMatchObject([{ orderId, price: 1.1042 }])
  })

  const day = Date.parse('2026-03-11T22:00:00.000Z')
  const specified = { type: 'ORDER_TIME_SPECIFIED', time: '2026-03-11T13:00:00.000Z' }
  it.each([
    ['mt5', specified, NOON + hourMs, 'ORDER_STATE_EXPIRED'],
    ['mt4', specified, NOON + hourMs, 'ORDER_STATE_CANCELED'],
    ['mt5', { type: 'ORDER_TIME_DAY' }, day, 'ORDER_STATE_EXPIRED'],
  ] as const)('on %s expires with %j', async (platform, expiration, at, state) => {
    const { trade, orders, finished, clock, pin } = await setUpAccount({ platform })
    await trade({ ...limit, expiration })
    clock.now = at - 1
    expect(await orders()).toHaveLength(1)
    clock.now = at + hourMs
    pin(1.05)
    expect(await orders()).toEqual([])
    expect(await finished()).toMatchObject([{ state, doneTime: new Date(at).toISOString() }])
  })

  it.each([
    [{}, 3],
    [{ marginMode: 'netting' }, 3],
    [{ platform: 'mt4' }, 1],
  ] as const)('on %j is filled in %d deals as the price moves', async (options, count) => {
    const { trade, pin, deals, orders, positions, finished, sandbox } = await setUpAccount(options)
    sandbox.faults.set('acc', 'trade', { kind: 'partial-fill', fraction: 0.4, times: 1 })
    const { orderId } = await trade(limit)
    for (const price of [1.08, 1.08, 1.079, 1.078]) {
      pin(price)
      await orders()
    }
    const parts = count === 1 ? [0.2] : [0.08, 0.08, 0.04]
    expect((await deals()).map(({ volume }) => volume)).toEqual(parts)
    expect(await positions()).toMatchObject([{ id: orderId, volume: 0.2 }])
    expect(await finished()).toMatchObject([{ id: orderId, state: 'ORDER_STATE_FILLED' }])
  })

  it('that nobody can pay for is rejected when the price reaches it', async () => {
    const { trade, pin, finished, positions } = await setUpAccount({ startBalance: 100 })
    await trade({ ...limit, volume: 5 })
    pin(1.08)
    expect([await finished(), await positions()]).toMatchObject([
      [{ state: 'ORDER_STATE_REJECTED' }],
      [],
    ])
  })
})

describe('a refusal', () => {
  const yesterday = '2026-03-10T12:00:00.000Z'
  it.each<readonly [string, object, mt5: number, mt4: number]>([
    ['a limit above the market on a buy', pending('BUY_LIMIT', 1.11), 10_015, 129],
    ['a limit below the market on a sell', pending('SELL_LIMIT', 1.09), 10_015, 129],
    ['a stop below the market on a buy', pending('BUY_STOP', 1.09), 10_015, 129],
    ['a stop at the market on a sell', pending('SELL_STOP', bid), 10_015, 129],
    ['a price of 0', pending('BUY_LIMIT', 0), 10_015, 129],
    ['a price too near the market', pending('BUY_LIMIT', 1.10015), 10_016, 130],
    [
      'a stop limit price beyond the stop',
      pending('BUY_STOP_LIMIT', 1.11, { stopLimitPrice: 1.12 }),
      10_015,
      -4,
    ],
    ['a stop loss above the price of a buy', { ...limit, stopLoss: 1.095 }, 10_016, 130],
    ['a take profit too near the price', { ...limit, takeProfit: 1.09005 }, 10_016, 130],
    ['a volume off the step', { ...limit, volume: 0.015 }, 10_014, 131],
    [
      'an expiry in the past',
      { ...limit, expiration: { type: 'ORDER_TIME_SPECIFIED', time: yesterday } },
      10_022,
      147,
    ],
    ['the end of the day', { ...limit, expiration: { type: 'ORDER_TIME_DAY' } }, 10_009, 147],
    ['an order that is not there', { actionType: 'ORDER_CANCEL', orderId: '1' }, 4754, 4754],
    [
      'a change of one that is not there',
      { actionType: 'ORDER_MODIFY', orderId: '1', openPrice: 1 },
      4754,
      4754,
    ],
  ])('of %s has the code of its platform', async (_what, body, mt5, mt4) => {
    const codes = await Promise.all(
      (['mt5', 'mt4'] as const).map(
        async (platform) => (await (await setUpAccount({ platform })).trade(body)).numericCode,
      ),
    )
    expect(codes).toEqual([mt5, mt4])
  })

  it('answers every change while the market is closed, in which nothing is filled', async () => {
    const { trade, sandbox, orders, pin } = await setUpAccount()
    const { orderId } = await trade(limit)
    sandbox.market.close('EURUSD')
    for (const body of [
      limit,
      { actionType: 'ORDER_MODIFY', orderId, openPrice: 1.08 },
      { actionType: 'ORDER_CANCEL', orderId },
    ])
      expect((await trade(body)).numericCode).toBe(10_018)
    pin(1.05)
    expect(await orders()).toHaveLength(1)
    sandbox.market.open('EURUSD')
    expect(await orders()).toEqual([])
  })
})

it('the price is moved over HTTP', async () => {
  const { trade, orders, post } = await setUpAccount()
  await trade(limit)
  const moveTo = async (body: object) => (await post('/sandbox/v1/prices', body)).status
  for (const body of [{}, { symbol: 'EURUSD', bid: 2, ask: 1 }, { symbol: 'NONE', bid: 1, ask: 1 }])
    expect(await moveTo(body)).toBe(400)
  expect(await moveTo({ symbol: 'EURUSD', bid: 1.08, ask: 1.0802 })).toBe(204)
  expect(await orders()).toEqual([])
})
