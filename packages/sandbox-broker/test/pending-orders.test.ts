// Pending orders over the provider's REST: the prices at which they are filled, their ends and
// refusals. That they are placed, changed and filled is in the contracts that
// packages/broker-metaapi runs over the sandbox.
import { describe, expect, it } from 'vitest'
import type { AccountOptions, DealRow, TradeReply } from '../src/index.ts'
import { EVER, NOON, setUp } from './harness.ts'

const bid = 1.1
const hourMs = 3_600_000
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
  const pin = (price: number) =>
    sandbox.prices.pin('EURUSD', { bid: price, ask: Number((price + 0.0002).toFixed(5)) })
  pin(bid)
  const rows = async <Row>(path: string) => (await get<readonly Row[]>(path)).body
  return {
    ...bench,
    pin,
    trade: async (body: object) => (await post<TradeReply>('trade', body)).body,
    orders: () => rows('orders'),
    finished: () => rows(`history-orders/time/${EVER}`),
    positions: () => rows('positions'),
    deals: async () =>
      (await rows<DealRow>(`history-deals/time/${EVER}`)).filter(
        (deal) => deal['type'] !== 'DEAL_TYPE_BALANCE',
      ),
  }
}

describe('a pending order', () => {
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
  it.each([
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
