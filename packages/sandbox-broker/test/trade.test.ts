// What POST /trade refuses and charges, on hedging, netting and MT4 accounts. That orders and
// changes are executed is in the contracts that packages/broker-metaapi runs over the sandbox.
import { describe, expect, it } from 'vitest'
import type { AccountOptions, DealRow, PositionRow, TradeReply } from '../src/index.ts'
import { EVER, setUp, type Bench } from './harness.ts'

const BUY = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1 }
const SELL = { ...BUY, actionType: 'ORDER_TYPE_SELL' }

const setUpAccount = async (account: Omit<AccountOptions, 'id'> = {}) => {
  const bench = await setUp(account)
  bench.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1002 })
  return { ...bench, trade: tradeOn(bench), positions: positionsOf(bench), deals: dealsOf(bench) }
}

const tradeOn = (bench: Bench) => async (body: unknown) =>
  (await bench.post<TradeReply>('trade', body)).body
const positionsOf = (bench: Bench) => async () => (await bench.get<PositionRow[]>('positions')).body
const dealsOf = (bench: Bench) => async () =>
  (await bench.get<DealRow[]>(`history-deals/time/${EVER}`)).body.filter(
    (deal) => deal['type'] !== 'DEAL_TYPE_BALANCE',
  )

describe('a refusal', () => {
  const limit = { ...BUY, actionType: 'ORDER_TYPE_BUY_LIMIT', openPrice: 1 }
  const cases: readonly [string, unknown, number, number][] = [
    ['a volume off the step', { ...BUY, volume: 0.015 }, 10014, 131],
    ['a volume of 0', { ...BUY, volume: 0 }, 10014, 131],
    ['a volume above the most', { ...BUY, volume: 100.01 }, 10014, 131],
    ['a stop loss above the price on a buy', { ...BUY, stopLoss: 1.2 }, 10016, 130],
    ['a stop loss too near', { ...BUY, stopLoss: 1.09995 }, 10016, 130],
    ['a take profit below the price on a buy', { ...BUY, takeProfit: 1.0 }, 10016, 130],
    ['a stop loss below the price on a sell', { ...SELL, stopLoss: 1.0 }, 10016, 130],
    ['more than the free margin pays for', { ...BUY, volume: 50 }, 10019, 134],
    [
      'a position that is not there',
      { actionType: 'POSITION_CLOSE_ID', positionId: '1' },
      4753,
      4753,
    ],
    [
      'a change of a position that is not there',
      { actionType: 'POSITION_MODIFY', positionId: '1', stopLoss: 1 },
      4753,
      4753,
    ],
  ]

  it.each(cases)('of %s has the code of its platform', async (_what, body, mt5, mt4) => {
    const five = await setUpAccount()
    const four = await setUpAccount({ platform: 'mt4' })
    const answers = [
      await five.post<TradeReply>('trade', body),
      await four.post<TradeReply>('trade', body),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.map((answer) => answer.body.numericCode)).toEqual([mt5, mt4])
    expect(five.sandbox.account('acc').deals()).toHaveLength(1)
  })

  it.each([
    { ...BUY, volume: '0.1' },
    { ...BUY, volume: -0.1 },
    { ...BUY, stopLoss: '1.09' },
    { ...BUY, trailingStopLoss: {} },
    { ...BUY, actionType: 'ORDER_TYPE_BUY_LIMIT' },
    { ...BUY, actionType: 'ORDER_TYPE_BUY_STOP_LIMIT', openPrice: 1.2 },
    { ...limit, expiration: { type: 'ORDER_TIME_SPECIFIED', time: 'soon' } },
    { actionType: 'ORDER_CANCEL' },
  ])('of %j is a 400 that changes nothing', async (body) => {
    const { trade, post, positions } = await setUpAccount()
    await trade(BUY)
    expect((await post('trade', body)).status).toBe(400)
    expect(await positions()).toMatchObject([{ volume: 0.1 }])
  })
})

it('a position charges swap for each night, three for Wednesday, on the closing deal', async () => {
  const { trade, positions, deals, clock } = await setUpAccount()
  const { positionId } = await trade(BUY)
  // 11 March 2026 is a Wednesday; EURUSD costs 7.1 points a lot and night, 0.71 here.
  clock.now += 10 * 3_600_000
  expect(await positions()).toMatchObject([{ swap: -2.13, unrealizedSwap: -2.13, realizedSwap: 0 }])
  clock.now += 5 * 86_400_000
  expect(await positions()).toMatchObject([{ swap: -4.26 }])
  await trade({ actionType: 'POSITION_CLOSE_ID', positionId })
  expect((await deals()).map((deal) => deal['swap'])).toEqual([0, -4.26])
})

describe('netting', () => {
  it('reverses in one INOUT deal that closes the old side and opens the rest', async () => {
    const { trade, positions, deals } = await setUpAccount({ marginMode: 'netting' })
    const { positionId } = await trade({ ...BUY, stopLoss: 1.05 })
    expect(await trade({ ...SELL, volume: 0.3, takeProfit: 1.05 })).toMatchObject({ positionId })
    const [position] = await positions()
    expect(position).toMatchObject({
      id: positionId,
      type: 'POSITION_TYPE_SELL',
      volume: 0.2,
      openPrice: 1.1,
      takeProfit: 1.05,
      unrealizedCommission: -0.7,
      realizedCommission: -0.7,
    })
    const [, reversal] = await deals()
    for (const it of [position, reversal]) expect(it).not.toHaveProperty('stopLoss')
    expect(reversal).toMatchObject({
      type: 'DEAL_TYPE_SELL',
      entryType: 'DEAL_ENTRY_INOUT',
      volume: 0.3,
      takeProfit: 1.05,
      profit: -2,
      commission: -1.05,
      positionId,
    })
  })

  it('requires no margin to reduce a position', async () => {
    const { trade } = await setUpAccount({ marginMode: 'netting', startBalance: 1_200 })
    expect((await trade({ ...BUY, volume: 1 })).numericCode).toBe(10009)
    expect((await trade(BUY)).numericCode).toBe(10019)
    expect((await trade({ ...SELL, volume: 2 })).numericCode).toBe(10009)
  })
})

it('MT4 gives the rest of a partial close a new ticket, in the same chain of deals', async () => {
  const { trade, deals } = await setUpAccount({ platform: 'mt4' })
  await trade(BUY)
  await trade({ actionType: 'POSITION_PARTIAL', positionId: '46000000', volume: 0.03 })
  await trade({ actionType: 'POSITION_CLOSE_ID', positionId: '46000001' })
  expect(
    (await deals()).map((deal) => [
      deal.id,
      deal['entryType'],
      deal['orderId'],
      deal['positionId'],
      deal['volume'],
    ]),
  ).toEqual([
    ['46000000', 'DEAL_ENTRY_IN', '46000000', '46000000', 0.1],
    ['46000000', 'DEAL_ENTRY_OUT', '46000000', '46000000', 0.03],
    ['46000001', 'DEAL_ENTRY_OUT', '46000001', '46000000', 0.07],
  ])
})
