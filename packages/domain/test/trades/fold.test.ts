// The fold on histories written out as tables: trades, each skipped reason, estimated volumes,
// exact lots, ties and invalid numbers.
import { dealTable } from './deal-table.ts'
import { describe, expect, it } from 'vitest'
import { type Deal, foldDeals, foldPosition } from '../../src/trades/index.ts'

const trade = {
  positionId: '7',
  symbol: 'GBPJPY',
  side: 'sell',
  volume: 0.3,
  entryPrice: 163.5505,
  exitPrice: 163.492,
  profit: 36.23,
  commission: -1.8,
  swap: -3.11,
  netProfit: 31.32,
  openedAt: Date.parse('2026-01-05T09:00:10Z'),
  closedAt: Date.parse('2026-01-05T10:00:11Z'),
  holdingTime: 3601,
}

it('folds all deals of a position into a trade, prices weighted by volume, money summed', () => {
  const deals = dealTable(`
    1  -  -    -     -       -     -       5000  0      0      09:00:00
    2  7  in   sell  GBPJPY  0.03  163.537 0     -0.09  0      09:00:10
    3  7  in   sell  GBPJPY  0.27  163.552 0     -0.81  0      09:01:00
    4  7  out  buy   GBPJPY  0.1   163.494 11.83 -0.3   -1.04  10:00:00
    5  7  out  buy   GBPJPY  0.2   163.491 24.4  -0.6   -2.07  10:00:11
  `)
  expect(foldDeals(deals)).toEqual({ trades: [trade], skipped: [] })
})

it.each([
  [
    'compares lots as decimals: 0.8 opened, 0.7 and 0.1 closed, nothing left',
    `1  7  in   buy   EURUSD  0.8  1.1  0  0  0  09:00:00
     2  7  out  sell  EURUSD  0.7  1.2  0  0  0  09:00:01
     3  7  out  sell  EURUSD  0.1  1.2  0  0  0  09:00:02`,
    [{ volume: 0.8, holdingTime: 2 }],
  ],
  [
    'adds money as decimals: 0.1 + 0.2 is 0.3, and 0.3 − 0.1 − 0.2 nothing',
    `1  7  in   buy   EURUSD  1  1.1  0.1  -0.1  0    09:00:00
     2  7  out  sell  EURUSD  1  1.2  0.2  0     -0.2 09:00:01`,
    [{ profit: 0.3, commission: -0.1, swap: -0.2, netProfit: 0 }],
  ],
  [
    'includes deals after the volume was closed, a late charge or more volume',
    `1  7  in   buy   EURUSD  1  1.1  0  0   0   09:00:00
     2  7  out  sell  EURUSD  1  1.2  5  0   0   09:00:01
     3  8  in   buy   EURUSD  1  1.1  0  0   0   09:00:02
     4  8  out  sell  EURUSD  1  1.2  3  0   0   09:00:03
     5  7  in   buy   EURUSD  1  1.3  0  -2  0   09:00:04
     6  7  out  sell  EURUSD  1  1.4  1  0   -1  09:00:05`,
    [
      { positionId: '8' },
      {
        positionId: '7',
        volume: 2,
        entryPrice: 1.2,
        exitPrice: 1.3,
        profit: 6,
        netProfit: 3,
        holdingTime: 5,
      },
    ],
  ],
  [
    'keeps a price below 0, which oil once had',
    `1  7  in   buy   USOIL  2  -37.63  0  0  0  09:00:00
     2  7  out  sell  USOIL  2  10.01   9  0  0  09:00:01`,
    [{ entryPrice: -37.63, exitPrice: 10.01 }],
  ],
  [
    'counts whole seconds, rounded down',
    `1  7  in   buy   EURUSD  1  1.1  0  0  0  2026-01-05T09:00:00.001Z
     2  7  out  sell  EURUSD  1  1.2  0  0  0  2026-01-05T09:00:02.000Z`,
    [{ holdingTime: 1 }],
  ],
  [
    'orders deals of one time by id, the shorter first, then by text',
    `10  7  in   sell  EURUSD    1  1.1  0  0  0  09:00:00
     9   7  in   buy   EURUSD.x  1  1.1  0  0  0  09:00:00
     11  7  out  buy   EURUSD    2  1.2  0  0  0  09:00:00`,
    [{ side: 'buy', symbol: 'EURUSD.x' }],
  ],
  [
    'orders deals of one id the opening one first, since MT4 gives both one id',
    `5  7  out  sell  EURUSD.b  1  1.2  0  0  0  09:00:00
     5  7  in   buy   EURUSD.a  1  1.1  0  0  0  09:00:00`,
    [{ symbol: 'EURUSD.a' }],
  ],
  [
    'orders trades that closed at one time by the ids of their closing deals',
    `1   21  in   buy   EURUSD  1  1.1  0  0  0  09:00:00
     2   22  in   buy   EURUSD  1  1.1  0  0  0  09:00:00
     10  21  out  sell  EURUSD  1  1.2  0  0  0  09:00:05
     9   22  out  sell  EURUSD  1  1.2  0  0  0  09:00:05`,
    [{ positionId: '22' }, { positionId: '21' }],
  ],
  [
    'shares what the others left equally among closing deals that reported no volume',
    `1  7  in   buy   EURUSD  0.5  1.1  0  0  0  09:00:00
     2  7  out  sell  EURUSD  0.1  1.2  0  0  0  09:00:01
     3  7  out  sell  EURUSD  -    1.3  0  0  0  09:00:02
     4  7  out  sell  EURUSD  0    1.5  0  0  0  09:00:03`,
    [{ volume: 0.5, exitPrice: 1.36, volumeEstimated: true, holdingTime: 3 }],
  ],
  [
    'weighs closing deals without a volume by nothing where the others left nothing',
    `1  7  in   buy   EURUSD  0.5  1.1  0  0  0  09:00:00
     2  7  out  sell  EURUSD  0.5  1.2  0  0  0  09:00:01
     3  7  out  sell  EURUSD  -    1.3  2  0  0  09:00:02`,
    [{ exitPrice: 1.2, profit: 2, volumeEstimated: true, holdingTime: 2 }],
  ],
])('%s', (_, table, trades) => {
  const folded = foldDeals(dealTable(table))
  expect(folded.trades).toMatchObject(trades)
  expect(folded).toMatchObject({ skipped: [], trades: { length: trades.length } })
})

describe('a position that is no trade', () => {
  it.each([
    ['unsupported_deal_entry_type', 'a reversal', '1 7 inout buy A 1 1.1 0 0 0 09:00:00'],
    ['unsupported_deal_entry_type', 'a close by', '1 7 out_by buy A 1 1.1 0 0 0 09:00:00'],
    ['unsupported_deal_entry_type', 'no entry type', '1 7 - buy A 1 1.1 0 0 0 09:00:00'],
    ['no_open_deal', 'a close alone', '1 7 out buy - - - 0 0 0 -'],
    ['zero_open_volume', 'an opening without volume', '1 7 in buy - - - 0 0 0 -'],
    [
      'closed_exceeds_opened',
      'more closed than opened',
      `1 7 in buy - 1 - 0 0 0 -
       2 7 out sell - 1.01 - 0 0 0 -`,
    ],
    [
      'invalid_timestamp',
      'a time that could not be read',
      `1 7 in buy - 1 - 0 0 0 ?
       2 7 out sell - 1 - 0 0 0 -`,
    ],
    [
      'missing_symbol_or_times',
      'a deal without time',
      `1 7 in buy A 1 - 0 0 0 09:00:00
       2 7 out sell A 1 - 0 0 0 -`,
    ],
    [
      'missing_symbol_or_times',
      'no symbol',
      `1 7 in buy - 1 - 0 0 0 09:00:00
       2 7 out sell - 1 - 0 0 0 09:00:00`,
    ],
    [
      'missing_price',
      'a price of 0',
      `1 7 in buy A 1 0 0 0 0 09:00:00
       2 7 out sell - 1 1.1 0 0 0 09:00:00`,
    ],
  ])('is skipped with the first reason that applies: %s for %s', (reason, _, table) => {
    const skipped = [{ positionId: '7', reason }]
    expect(foldDeals(dealTable(table))).toEqual({ trades: [], skipped })
  })

  it('is listed by position id, the shorter first', () => {
    const { skipped } = foldDeals(
      dealTable(
        ['30', '4', '100', '__proto__']
          .map((id) => `1 ${id} out buy A 1 1 0 0 0 09:00:00`)
          .join('\n'),
      ),
    )
    expect(skipped.map(({ positionId }) => positionId)).toEqual(['4', '30', '100', '__proto__'])
  })

  it('is not listed while less was closed than opened, whatever else its deals lack', () => {
    const deals = dealTable(`
      1  7  in   buy   EURUSD  0.8  1.1  0  0  0  09:00:00
      2  7  out  sell  EURUSD  0.7  1.2  0  0  0  09:00:01
      3  8  in   buy   -       2    -    0  0  0  ?
      4  8  out  sell  -       1    0    0  0  0  -
    `)
    expect(foldDeals(deals)).toEqual({ trades: [], skipped: [] })
    expect(foldPosition('7', deals.slice(0, 2))).toEqual({ status: 'open' })
  })
})

describe('an invalid number', () => {
  const [opening, closing] = dealTable(`
    1  7  in   buy   EURUSD  1  1.1  0  0  0  09:00:00
    2  7  out  sell  EURUSD  1  1.2  1  0  0  09:00:01
  `) as readonly [Deal, Deal]

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
    'a volume of %d was not reported',
    (volume) => {
      expect(foldDeals([opening, { ...closing, volume }]).trades).toMatchObject([
        { volume: 1, exitPrice: 1.2, volumeEstimated: true },
      ])
      expect(foldDeals([{ ...opening, volume }, closing]).skipped).toEqual([
        { positionId: '7', reason: 'zero_open_volume' },
      ])
    },
  )

  it.each([
    [{ price: Number.NaN }, 'missing_price'],
    [{ price: Number.POSITIVE_INFINITY }, 'missing_price'],
    [{ time: Number.NaN }, 'invalid_timestamp'],
    [{ time: 8.65e15 }, 'invalid_timestamp'],
  ])('%o is skipped as %s', (fields, reason) => {
    expect(foldDeals([opening, { ...closing, ...fields }]).skipped).toEqual([
      { positionId: '7', reason },
    ])
  })

  it.each(['profit', 'commission', 'swap'])('in money is an error, as a %s', (field) => {
    expect(() => foldDeals([opening, { ...closing, [field]: Number.NaN }])).toThrow(RangeError)
  })
})

it.each([
  [
    'weights that fit alone and not together',
    `1 7 in  buy  A  60000.001  1000.00001 0 0 0 09:00:00
     2 7 in  buy  A  60000.002  1000.00001 0 0 0 09:00:00
     3 7 in  buy  A 120000     -1000       0 0 0 09:00:00
     4 7 out sell A 240000.003     1       0 0 0 09:00:00`,
    { entryPrice: 0.000017499999906250002 },
  ],
  [
    'profit and charges that fit alone and not together',
    `1 7 in  buy  A 1 1 88328918.77662806 -85447738.84836945 -87801949.64157508 09:00:00
     2 7 out sell A 1 1 0                  36191333.06489854  0                 09:00:00`,
    { netProfit: -48729436.64841793 },
  ],
  [
    'many lots at small prices',
    `1 7 in  buy  A 184879326158.318 0.00005 0 0 0 09:00:00
     2 7 in  buy  A 334561120613.564 0.00002 0 0 0 09:00:00
     3 7 out sell A 519440446771.882 0.00001 0 0 0 09:00:00`,
    { volume: 519440446771.882, entryPrice: 0.00003067760475569068 },
  ],
])('is exact with numbers too large for whole units in a double: %s', (_, table, trade) => {
  expect(foldDeals(dealTable(table)).trades).toMatchObject([trade])
})
