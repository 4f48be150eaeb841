// What a broker's terms and quote say of a new order, as tables.
import { instrumentTerms, newOrder, someOwner } from '@tradeport/testkit'
import { describe, expect, it } from 'vitest'
import { weekdays, type BrokerInstrument } from '../../src/market/market-data.ts'
import { estimateOrder, instrumentChecks } from '../../src/orders/instrument-checks.ts'
import type { OrderRequest } from '../../src/orders/order.ts'

const quote = {
  bid: 1.1,
  ask: 1.1002,
  time: 0,
  profitTickValue: 1,
  lossTickValue: 1.5,
}
const order = { ...newOrder(someOwner, 0).request, volume: 0.3 }
const limit = { orderType: 'limit', price: 1.05 } as const
const wednesday = Date.UTC(2026, 10, 25, 12)
const saturday = Date.UTC(2026, 10, 28, 14)
const sessionsUntil = (to: string) =>
  (['monday', 'tuesday', 'wednesday', 'thursday', 'friday'] as const).map((day) => ({
    day,
    from: '00:00:00.000',
    to,
  }))
const sessions = sessionsUntil('24:00:00.000')
const instrument = { ...instrumentTerms('EURUSD'), maxVolume: 5, stopsLevel: 20, sessions }

interface Scene {
  readonly order?: Partial<OrderRequest>
  readonly terms?: Partial<BrokerInstrument>
  readonly now?: number
  readonly isQuoted?: false
}

const resultsOf = ({ order: fields, terms, now = wednesday, isQuoted }: Scene) =>
  instrumentChecks.map(({ check }) =>
    check({
      order: { ...order, ...fields },
      instrument: { ...instrument, ...terms },
      quote: isQuoted === false ? undefined : quote,
      now,
    }),
  )

/** The names of the checks that do not pass, each with its message; null: it cannot be said. */
const notPassed = (scene: Scene) =>
  resultsOf(scene).flatMap((result, index) =>
    result === 'passed' ? [] : [[instrumentChecks[index]?.name, result?.message ?? null]],
  )

describe('a check of the instrument', () => {
  it.each<[Scene, ...[string, string | null][]]>([
    [{}],
    [{ order: { volume: 5, stopLoss: 1.0998, takeProfit: 1.1002 } }],
    [
      { order: { volume: 0.005 } },
      ['volume_minimum', 'volume must be at least 0.01 lots; got 0.005.'],
      ['volume_step', 'volume must be a multiple of 0.01 lots; got 0.005.'],
    ],
    [{ order: { volume: 5.01 } }, ['volume_maximum', 'volume must be at most 5 lots; got 5.01.']],
    [
      { order: { volume: 0.07 }, terms: { volumeStep: 0.1 } },
      ['volume_step', 'volume must be a multiple of 0.1 lots; got 0.07.'],
    ],
    [
      { order: { stopLoss: 1.09981 } },
      ['stop_loss', 'stopLoss must be at least 0.0002 below the price of 1.1; got 1.09981.'],
    ],
    [
      { order: { stopLoss: 1.1 }, terms: { stopsLevel: 0 } },
      ['stop_loss', 'stopLoss must be below the price of 1.1; got 1.1.'],
    ],
    [
      { order: { takeProfit: 1.05 } },
      ['take_profit', 'takeProfit must be at least 0.0002 above the price of 1.1; got 1.05.'],
    ],
    [
      { order: { side: 'sell', stopLoss: 1.1003, takeProfit: 1.1 } },
      ['stop_loss', 'stopLoss must be at least 0.0002 above the price of 1.1002; got 1.1003.'],
    ],
    [
      { order: { ...limit, stopLoss: 1.06, takeProfit: 1.07 } },
      ['stop_loss', 'stopLoss must be at least 0.0002 below the price of 1.05; got 1.06.'],
    ],
    [{ order: { stopLoss: 1 }, isQuoted: false }, ['stop_loss', null]],
    [{ order: { orderType: 'limit', price: 1.1 } }],
    [{ order: { orderType: 'limit', price: 1.1001 } }, ['price', null]],
    [{ order: { orderType: 'limit', price: 1.1002, side: 'sell' } }],
    [{ order: { orderType: 'limit', price: 1, side: 'sell' } }, ['price', null]],
    [
      { order: { orderType: 'stop', price: 1.1002 }, terms: { stopsLevel: 0 } },
      ['price', 'price must be above the price of 1.1002; got 1.1002.'],
    ],
    [{ order: { orderType: 'stop', price: 1.1004 } }],
    [
      { order: { orderType: 'stop_limit', price: 1.2, stopLimitPrice: 1.19, side: 'sell' } },
      ['price', 'price must be at least 0.0002 below the price of 1.1; got 1.2.'],
    ],
    [{ order: { orderType: 'stop_limit', price: 1.2, stopLimitPrice: 1.1998 } }],
    [{ order: { orderType: 'stop_limit', price: 1.2, stopLimitPrice: 1.1999 } }, ['price', null]],
    [{ order: { orderType: 'stop_limit', price: 1.05, stopLimitPrice: 1.06, side: 'sell' } }],
    [
      { order: { orderType: 'stop_limit', price: 1.05, stopLimitPrice: 1, side: 'sell' } },
      ['price', null],
    ],
    [{ order: { orderType: 'stop', price: 1 }, isQuoted: false }, ['price', null]],
    [{ terms: { tradeMode: null, sessions: [] } }, ['trade_mode', null], ['market_open', null]],
    [
      { terms: { tradeMode: 'short_only' } },
      [
        'trade_mode',
        'The broker accepts no buy orders for this instrument now; its trade mode is short_only.',
      ],
    ],
    [{ terms: { tradeMode: 'long_only' } }],
    [
      { now: saturday },
      ['market_open', 'The market is closed by the trading hours of the broker.'],
    ],
    // Friday evening in some zones, and Saturday in others.
    [{ now: saturday - 13 * 3_600_000 }, ['market_open', null]],
    [{ terms: { sessions: sessionsUntil('00:00:00.000') } }],
    [{ terms: { sessions: sessionsUntil('00:00:59.999') } }, ['market_open', null]],
    [{ terms: { sessions: sessionsUntil('24') } }, ['market_open', null]],
    [{ terms: { sessions: [...sessions, { day: 'sunday', from: '00:00', to: '00:00:59' }] } }],
    [{ order: { volume: 0.01 } }],
    [{ order: { volume: 0.013 }, terms: { volumeStep: 0 } }],
    [{ order: { side: 'sell' }, terms: { tradeMode: 'short_only' } }],
    [
      { order: { side: 'sell' }, terms: { tradeMode: 'long_only' } },
      [
        'trade_mode',
        'The broker accepts no sell orders for this instrument now; its trade mode is long_only.',
      ],
    ],
  ])('%j', (scene, ...failing) => {
    expect(notPassed(scene)).toEqual(failing)
  })

  it.each<[Partial<OrderRequest>, Partial<BrokerInstrument>, string, object]>([
    [{}, { tradeMode: 'disabled' }, 'TRADING_DISABLED', { tradeMode: 'disabled' }],
    [{ volume: 0.013 }, {}, 'INVALID_VOLUME', { volumeStep: 0.01, volume: 0.013 }],
    [
      { stopLoss: 1.2 },
      {},
      'INVALID_PRICE',
      { currentPrice: 1.1, minDistance: 0.0002, stopLoss: 1.2 },
    ],
  ])('of %o on %o is %s with what it compared', (fields, terms, code, details) => {
    expect(resultsOf({ order: fields, terms })).toContainEqual(
      expect.objectContaining({ code, details }),
    )
  })

  it('names a closed market', () => {
    expect(resultsOf({ now: saturday })).toContainEqual(
      expect.objectContaining({ code: 'MARKET_CLOSED', details: {} }),
    )
  })

  // Every day is a session from one time to the other but for some seconds, which are there in one
  // of the zones that the broker's clock may have.
  it.each([
    ['00:00:00', '23:59:59', '10:59:58', true],
    ['00:00:00', '23:59:59', '10:59:59', null],
    ['00:00:20', '24:00:00', '10:30:20', true],
    ['00:00:20', '24:00:00', '10:00:19', null],
    ['00:00:20', '00:00:00', '10:30:20', true],
    ['00:00:10', '00:00:09', '10:00:09', null],
  ])('has a market from %s to %s at %s: %s', (from, to, time, isOpen) => {
    const everyDay = weekdays.map((day) => ({ day, from, to }))
    const at = Date.parse(`2026-11-25T${time}Z`)
    const results = resultsOf({ terms: { sessions: everyDay }, now: at })
    expect(results[1] === 'passed' || (results[1] ?? null)).toBe(isOpen)
  })
})

it.each<[string, Partial<OrderRequest>, object, object]>([
  [
    'a buy',
    { stopLoss: 1.0952, takeProfit: 1.1102 },
    {},
    {
      price: 1.1002,
      spread: 0.0002,
      margin: 330,
      marginLevelAfter: 2_325.581_395_35,
      riskAmount: 225,
      rewardAmount: 300,
    },
  ],
  [
    'a sell',
    { side: 'sell', stopLoss: 1.11, takeProfit: 1.09 },
    {},
    { price: 1.1, riskAmount: 450, rewardAmount: 300 },
  ],
  [
    'an account in BTC',
    { stopLoss: 1.0952 },
    { quote: { ...quote, lossTickValue: 0.000_001_234_567 } },
    { riskAmount: 0.000_185_19 },
  ],
  [
    'no quote',
    { stopLoss: 1 },
    { quote: undefined, margin: undefined },
    { price: null, spread: null, margin: null, marginLevelAfter: null, riskAmount: null },
  ],
  [
    'a tick value of 0, which stands for none',
    { stopLoss: 1 },
    { quote: { ...quote, lossTickValue: 0 } },
    { riskAmount: null },
  ],
  [
    'a tick size of 0, which stands for none',
    { stopLoss: 1 },
    { instrument: { ...instrument, tickSize: 0 } },
    { riskAmount: null },
  ],
  ['no figures', {}, { figures: undefined }, { margin: 330, marginLevelAfter: null }],
  [
    'no margin in use',
    {},
    { margin: 0, figures: { equity: 10_000, margin: 0, freeMargin: null } },
    { margin: 0, marginLevelAfter: null },
  ],
  [
    'a level at the price itself',
    { ...limit, stopLoss: 1.05, takeProfit: 1.06 },
    {},
    { riskAmount: null, rewardAmount: 300 },
  ],
  ['no instrument', { stopLoss: 1 }, { instrument: undefined }, { riskAmount: null }],
])('the estimates of an order: %s', (_, fields, parts, expected) => {
  const figures = { equity: 10_000, margin: 100, freeMargin: null }
  const facts = { quote, instrument, margin: 330, figures, ...parts }
  expect(estimateOrder({ ...order, ...fields }, facts)).toMatchObject(expected)
})
