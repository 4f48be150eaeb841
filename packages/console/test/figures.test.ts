// Which figures are shown for what is typed, and for what the service sends.
import type { Account, LogEvent } from '@tradeport/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describeEvent } from '../page/events.ts'
import {
  axisLabels,
  compact,
  compareClocks,
  isAmbiguous,
  momentOf,
  money,
  parseTyped,
  result,
  serviceNow,
  sumOf,
} from '../page/format.ts'
import { priceText, withDistinctNames } from '../page/words.ts'
import { instrumentFor } from '../page/symbols.ts'

it.each([
  ['', undefined],
  [' ', undefined],
  ['0.1', 0.1],
  ['0,1', 0.1],
  ['.5', 0.5],
  ['1.', 1],
  ['65000', 65_000],
  ['0,001', 0.001],
  ['1.085', 1.085],
  ['152,3501', 152.3501],
  // It may be 65 thousand or 65.
  ['65,000', NaN],
  ['65,000.00', NaN],
  ['1e3', NaN],
  ['0x10', NaN],
  ['Infinity', NaN],
  ['-1', NaN],
  ['abc', NaN],
])('reads "%s" as %s', (text, value) => {
  expect(parseTyped(text)).toBe(value)
})

it.each([
  ['65.000', 2, true, true],
  ['65.000', 2, false, false],
  ['152.350', 3, true, false],
  ['1.085', 0, true, true],
  ['25.500', 0, true, true],
  ['0.125', 3, true, false],
  ['1.0850', 5, true, false],
  ['0.500', 2, true, false],
  ['65,000', 3, false, true],
])(
  'sees in %s, with %i decimals and a point between thousands (%s), two values: %s',
  (text, digits, isGroupPoint, expected) => {
    expect(isAmbiguous(text, digits, isGroupPoint)).toBe(expected)
  },
)

it.each([
  [1.08, 5, '1.08000'],
  [65_000, 0, '65,000.00'],
  [0.000055, 0, '0.000055'],
  [5.5e-7, 0, '0.00000055'],
  [4e-7, 2, '0.0000004'],
])('writes the price %d with %i decimals as %s', (price, digits, text) => {
  expect(priceText(price, digits)).toBe(text)
})

it('adds up amounts without binary residue', () => {
  expect(sumOf([0.1, 0.2, -0.3], (amount) => amount)).toBe(0)
})

it.each([
  [-0.004, 'USD', '$0.00', '$0.00'],
  [-0.01, 'USD', '-$0.01', '-$0.01'],
  [0.01, 'USD', '$0.01', '+$0.01'],
  [0.605751, 'USC', '0.61 USC', '+0.61 USC'],
  [0.605751, 'BTC', '0.605751 BTC', '+0.605751 BTC'],
  [1234.5, 'USD', '$1,234.50', '+$1,234.50'],
  [1234.5, 'JPY', '¥1,235', '+¥1,235'],
  [-0.00412, 'BTC', '-0.00412 BTC', '-0.00412 BTC'],
  [-0.00412, undefined, '0.00', '0.00'],
])('writes the amount %d %s as %s, and as a result as %s', (amount, currency, text, signed) => {
  expect([money(amount, currency), result(amount, currency)]).toEqual([text, signed])
})

it.each([
  [
    [1_000, 2_000],
    ['1K', '2K'],
  ],
  [
    [10_000, 10_020],
    ['10,000', '10,020'],
  ],
  [
    [0.001, 0.002],
    ['0.001', '0.002'],
  ],
])('tells the ticks %j of an axis apart: %j', (ticks, labels) => {
  expect(axisLabels(ticks)).toEqual(labels)
})

// In Santiago clocks are set back from 24:00 to 23:00 on the first of these days.
it.each([
  ['2026-04-04', '2026-04-04T03:00:00.000Z', '2026-04-05T03:59:59.999Z'],
  ['2026-04-05', '2026-04-05T04:00:00.000Z', '2026-04-06T03:59:59.999Z'],
  ['2026-02-30', undefined, undefined],
  ['today', undefined, undefined],
])('lets the day %s last from %s to %s', (day, start, end) => {
  const { TZ } = process.env
  process.env['TZ'] = 'America/Santiago'
  onTestFinished(() => {
    if (TZ === undefined) delete process.env['TZ']
    else process.env['TZ'] = TZ
  })
  expect([momentOf(day, 'start'), momentOf(day, 'end')]).toEqual([start, end])
})

it.each([
  [-15_000, -10_000, 0],
  [-15_000, 3_600_000, 3_600_000],
  [-15_000, -60_000, -45_000],
])(
  "takes a reply that was asked for at %i ms and written at %i ms to mean a clock of the service's that is %i ms ahead",
  (askedAt, writtenAt, serviceAheadMs) => {
    const now = Date.now()
    compareClocks(now + askedAt, new Date(now + writtenAt).toISOString())
    onTestFinished(() => compareClocks(0, new Date().toISOString()))
    expect(Math.abs(serviceNow() - now - serviceAheadMs)).toBeLessThan(2_000)
  },
)

it("goes by the measured time where the user's clock is set back", () => {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: now - 7_200_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect(Math.abs(serviceNow() - now)).toBeLessThan(2_000)
})

it.each([
  [0, '0'],
  [-0.0080832, '-0.0081'],
  [9.994, '9.99'],
  [1_234, '1.2K'],
])('writes %d in a chart as %s', (amount, text) => {
  expect(compact(amount)).toBe(text)
})

it('names accounts so that each is told from the others, and turns no text around them', () => {
  const names = ['One', 'Twin', 'Twin\u200e', '\u202eevil', '\u05d0']
  const accounts = names.map(
    (name, at) => ({ name, accountNumber: String(at), server: 'A' }) as Account,
  )
  const others = ['B', 'C'].map((server) => ({ ...accounts[2], server, name: 'Other' }) as Account)
  expect(withDistinctNames([...accounts, ...others]).map(({ name }) => name)).toEqual([
    'One',
    'Twin (1)',
    'Twin (2)',
    'evil',
    '\u2068\u05d0\u2069',
    'Other (2, B)',
    'Other (2, C)',
  ])
})

it.each([
  ['US30', ['US300'], undefined],
  ['US30', ['US300', 'US30m'], 'US30m'],
  ['MET', ['Meta'], undefined],
  ['EURUSD', ['eurusd', 'Eurusd'], undefined],
  ['US30', ['US300', 'US30', 'US30m'], 'US30'],
  ['EURUSD', ['eurusd', 'EURUSD.r'], 'eurusd'],
  ['EURUSD', ['EURUSD.r', 'EURUSD#'], undefined],
  ['EURUSD', ['GBPUSD'], undefined],
])('means by %s among %s the instrument %s', (wanted, symbols, meant) => {
  const all = symbols.map((symbol) => ({ symbol }))
  expect(instrumentFor(wanted, all)?.symbol).toBe(meant)
})

const filled = { symbol: 'EURUSD', type: 'buy', volume: 1, fill_price: 1.08 }
const closed = { symbol: 'EURUSD', type: 'buy', volume: 0.001, exit_price: 1.1 }

it.each([
  ['order.filled', { ...filled, filled_volume: 1 }, 'EURUSD buy 1.00 at 1.08'],
  ['order.filled', { ...filled, filled_volume: 0.3 }, 'EURUSD buy 0.30 of 1.00 at 1.08'],
  ['order.filled', { ...filled, filled_volume: null }, 'EURUSD buy a part of 1.00 at 1.08'],
  ['order.created', { ...filled, fill_price: undefined }, 'EURUSD buy 1.00'],
  [
    'trade.closed',
    { ...closed, profit: 2, swap: -1.5, commission: -3 },
    'EURUSD buy 0.001 at 1.10 net profit -$2.50',
  ],
  [
    'position.closed',
    { symbol: 'EURUSD', closed_volume: 0.005, exit_price: 1.1, realized_pnl: 2 },
    'EURUSD 0.005 at 1.10 result +$2.00 before commission and swap',
  ],
])('describes %s with %o', (event, data, text) => {
  const logged = { event, accountId: 'a', data } as unknown as LogEvent
  expect(describeEvent(logged, [{ id: 'a', currency: 'USD' }])).toBe(text)
})
