// What the deals of a closing order say of the close, once they have the least volume that it can
// have.
import { expect, it } from 'vitest'
import type { BrokerDeal } from '../../src/journal/broker-deal.ts'
import { closeFillOf } from '../../src/journal/close-fill.ts'

const whole = {
  id: '1',
  kind: 'sell',
  side: 'sell',
  entry: 'out',
  orderId: '7',
  commission: -0.7,
  swap: -0.1,
} as const
const deal = (fields: Partial<BrokerDeal> = {}) => ({
  ...whole,
  volume: 0.3,
  price: 1.2,
  profit: 30,
  time: 1_000,
  ...fields,
})
const without = (
  field: 'volume' | 'price' | 'time',
  fields: Partial<BrokerDeal> = {},
): BrokerDeal => {
  const { [field]: _left, ...rest } = deal(fields)
  return rest
}

it.each([
  ['no deal', [], undefined],
  ['a part of it', [deal({ volume: 0.1 })], undefined],
  [
    'more than it',
    [deal(), deal({ id: '2', volume: 0.1 })],
    { volume: 0.4, price: 1.2, profit: 60, at: 1_000 },
  ],
  [
    'all its parts, weighted by volume, their profits summed exactly, at the time of the last',
    [
      deal({ volume: 0.1, profit: 0.1, time: 2_000 }),
      deal({ id: '2', volume: 0.2, price: 1.203, profit: 0.2 }),
    ],
    { price: 1.202, profit: 0.3, at: 2_000 },
  ],
  [
    'a deal without a volume, alone',
    [without('volume')],
    { volume: null, price: 1.2, profit: 30, at: 1_000 },
  ],
  [
    'a deal of volume 0, alone',
    [deal({ volume: 0 })],
    { volume: null, price: 1.2, profit: 30, at: 1_000 },
  ],
  ['a deal without a volume beside one of all', [without('volume'), deal({ id: '2' })], undefined],
  ['a deal at price 0', [deal({ price: 0 })], { price: null, profit: 30, at: 1_000 }],
  [
    'parts of which one has no price',
    [deal({ volume: 0.1, price: 0 }), deal({ id: '2', volume: 0.2 })],
    { price: null, profit: 60, at: 1_000 },
  ],
  [
    'a deal whose time cannot be read',
    [deal({ time: Number.NaN })],
    { price: 1.2, profit: 30, at: null },
  ],
])('the fill of a close of 0.3 lots from %s', (_, deals, fill) => {
  for (const one of [deals, deals.toReversed()])
    expect(closeFillOf(one, 0.3, 'mt5')).toEqual(fill && { volume: 0.3, ...fill })
})
