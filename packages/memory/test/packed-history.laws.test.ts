// What is packed comes out as it went in, to the bit, whatever brokers send; and others have their turn while it is done.
import type { AccountHistory, AccountId, ClosedTrade, UserId } from '@tradeport/domain'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packHistory, unpackHistory } from '../src/packed-history.ts'

const accountId = '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d01' as AccountId
const userId = 'u-1' as UserId

const anyNumber = fc.double()
const anyId = fc.oneof(fc.nat().map(String), fc.string({ unit: 'binary' }), fc.constantFrom('', '007', '7', '99999999999999999999'))

const plain = { noNullPrototype: true } as const

const figures: fc.Arbitrary<Omit<ClosedTrade['trade'], 'volumeEstimated'>> = fc.record(
  {
    positionId: anyId,
    symbol: fc.oneof(fc.constantFrom('EURUSD', 'XAUUSD'), fc.string({ unit: 'binary' })),
    side: fc.constantFrom('buy', 'sell'),
    volume: anyNumber,
    entryPrice: anyNumber,
    exitPrice: anyNumber,
    profit: anyNumber,
    commission: anyNumber,
    swap: anyNumber,
    netProfit: anyNumber,
    openedAt: anyNumber,
    closedAt: anyNumber,
    holdingTime: anyNumber,
  },
  plain,
)

const closedTrade: fc.Arbitrary<ClosedTrade> = fc
  .record({ closingDealId: anyId, figures, isEstimated: fc.boolean() })
  .map(({ closingDealId, figures: trade, isEstimated }) => ({
    accountId,
    userId,
    closingDealId,
    trade: isEstimated ? { ...trade, volumeEstimated: true } : trade,
  }))

const history: fc.Arbitrary<AccountHistory> = fc.record(
  {
    accountId: fc.constant(accountId),
    readAt: fc.nat(),
    trades: fc.array(closedTrade, { maxLength: 40 }),
    skipped: fc.array(fc.record({ positionId: anyId, reason: fc.constantFrom('missing_price', 'no_open_deal') }, plain)),
  },
  plain,
)

const countingBreather = () => {
  let breaths = 0
  return {
    breaths: () => breaths,
    breathe: () => {
      breaths += 1
      return Promise.resolve()
    },
  }
}

describe('a packed history', () => {
  it('is unpacked as it was', async () => {
    const breather = countingBreather()
    await fc.assert(
      fc.asyncProperty(history, async (whole) => {
        expect(await unpackHistory(await packHistory(whole, breather), breather)).toStrictEqual(whole)
      }),
    )
  })

  it('takes turns with others at least every thousand trades', async () => {
    const [trade] = fc.sample(closedTrade, 1)
    const long: AccountHistory = { accountId, readAt: 1, trades: Array.from({ length: 10_000 }, () => trade as ClosedTrade), skipped: [] }
    const [packing, unpacking] = [countingBreather(), countingBreather()]
    const packed = await packHistory(long, packing)
    expect(packing.breaths()).toBeGreaterThanOrEqual(10)
    expect(await unpackHistory(packed, unpacking)).toStrictEqual(long)
    expect(unpacking.breaths()).toBeGreaterThanOrEqual(10)
  })
})
