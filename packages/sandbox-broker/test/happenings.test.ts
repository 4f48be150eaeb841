// What happens to an account without the program that is served.
import { describe, expect, it } from 'vitest'
import type { AccountOptions, DealRow } from '../src/index.ts'
import { EVER, setUp } from './harness.ts'

const BUY = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1 }

const setUpAccount = async (options: Omit<AccountOptions, 'id'> = {}) => {
  const bench = await setUp({ startBalance: 1_000, ...options })
  bench.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1 })
  return {
    ...bench,
    account: bench.sandbox.account('acc'),
    deals: async () => (await bench.get<readonly DealRow[]>(`history-deals/time/${EVER}`)).body,
  }
}

describe('a position', () => {
  it.each([
    [1.09, 'SL', -100],
    [1.12, 'TP', 200],
  ])('is closed by its level once the price is %d', async (price, reason, profit) => {
    const { account, sandbox, deals } = await setUpAccount()
    const { positionId } = account.trade({ ...BUY, stopLoss: 1.09, takeProfit: 1.12 })
    sandbox.prices.pin('EURUSD', { bid: price, ask: price })
    const closing = {
      positionId,
      reason: `DEAL_REASON_${reason}`,
      stopLoss: 1.09,
      takeProfit: 1.12,
      orderId: expect.any(String),
      profit,
    }
    expect((await deals()).at(-1)).toMatchObject(closing)
  })
})

it('opens a kept position again whenever one of its levels was reached, while it is followed', async () => {
  const keepsOpen = { symbol: 'NAS100', volume: 0.1, distance: 5 }
  const { sandbox, clock, get } = await setUp({ keepsOpen })
  const account = sandbox.account('acc')
  const read = (everyMs: number) => {
    clock.now += everyMs
    return account.positions().length
  }
  for (let reads = 0; reads < 20; reads += 1) expect(read(25_000)).toBe(0)
  expect([1, 2, 3].map(() => read(10_000))).toEqual([0, 0, 1])
  const minutes = 60
  for (let reads = 0; reads < 6 * minutes; reads += 1) expect(read(10_000)).toBeLessThanOrEqual(1)
  const closedBy = account.deals().map(({ reason }) => reason)
  const count = (reason: string) => closedBy.filter((one) => one === reason).length
  for (const reason of ['DEAL_REASON_SL', 'DEAL_REASON_TP'])
    expect(count(reason), reason).toBeGreaterThan(minutes / 3)
  const { body } = await get<{ readonly balance: number }>('account-information')
  const cents = account
    .deals()
    .map(({ profit, commission, swap }) => Number(profit) + Number(commission) + Number(swap))
    .reduce((total, amount) => total + Math.round(100 * amount), 0)
  expect(Math.round(100 * body.balance)).toBe(cents)
})
