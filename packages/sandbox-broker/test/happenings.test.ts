// What happens to an account by itself, without the program that is served: as a test makes it
// happen, and as the histories show it.
import { describe, expect, it } from 'vitest'
import type { AccountOptions, DealRow } from '../src/index.ts'
import { EVER, NOON, setUp } from './harness.ts'

const BUY = { actionType: 'ORDER_TYPE_BUY', symbol: 'EURUSD', volume: 0.1 }

const setUpAccount = async (options: Omit<AccountOptions, 'id'> = {}) => {
  const bench = await setUp({ startBalance: 1_000, ...options })
  bench.sandbox.prices.pin('EURUSD', { bid: 1.1, ask: 1.1 })
  return {
    ...bench,
    account: bench.sandbox.account('acc'),
    deals: async () => (await bench.get<readonly DealRow[]>(`history-deals/time/${EVER}`)).body,
    balance: async () =>
      (await bench.get<{ readonly balance: number }>('account-information')).body.balance,
  }
}

describe('a position', () => {
  it.each([
    [1.09, 'SL', -100],
    [1.12, 'TP', 200],
  ])('is closed by its level where the price moves to %d', async (price, reason, profit) => {
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

  it.each(['CLIENT', 'MOBILE', 'WEB', 'SO', 'EXPERT'] as const)(
    'is opened and closed with the reason %s',
    async (reason) => {
      const { account, deals } = await setUpAccount()
      const { positionId } = account.trade(BUY, reason)
      account.trade({ actionType: 'POSITION_CLOSE_ID', positionId }, reason)
      expect((await deals()).slice(1).map((deal) => deal['reason'])).toEqual([
        `DEAL_REASON_${reason}`,
        `DEAL_REASON_${reason}`,
      ])
    },
  )
})

describe('the history', () => {
  it('gets deals later than their times, among those of their times', async () => {
    const { account, deals, balance } = await setUpAccount()
    const time = new Date(NOON - 5_000).toISOString()
    account.addDeals([{ id: '7', type: 'DEAL_TYPE_BALANCE', time, profit: 5 }])
    expect((await deals())[0]).toEqual({ id: '7', type: 'DEAL_TYPE_BALANCE', time, profit: 5 })
    expect(await balance()).toBe(1_005)
  })

  it('has deals changed, moved and removed, and the balance follows', async () => {
    const { account, deals, balance } = await setUpAccount()
    const [first, second] = [account.deposit(10), account.deposit(20)]
    account.changeDeals({ id: first }, { profit: 11 })
    expect(await balance()).toBe(1_031)
    account.changeDeals({ id: second }, { time: new Date(NOON - 1_000).toISOString() })
    expect((await deals())[0]).toMatchObject({ id: second, profit: 20 })
    account.removeDeals({ id: first })
    expect((await deals()).map(({ id }) => id)).not.toContain(first)
    expect(await balance()).toBe(1_020)
    expect(() => account.removeDeals({ id: first })).toThrow('has no deal')
  })

  it('lacks hidden deals for so many reads, while the balance counts them', async () => {
    const { account, deals, balance } = await setUpAccount()
    const id = account.deposit(10)
    account.hideDeals({ id }, { reads: 2 })
    expect(await balance()).toBe(1_010)
    const lengths = [await deals(), await deals(), await deals()].map((rows) => rows.length)
    expect(lengths).toEqual([1, 1, 2])
  })

  it.each([
    ['is incomplete for so many reads', { kind: 'synchronizing', share: 0.5, times: 2 }, [2, 2, 4]],
    ['is truncated from then on', { kind: 'last-rows', rows: 1 }, [1, 1, 1]],
  ] as const)('%s without saying so, and the balance stays', async (_, fault, lengths) => {
    const { account, sandbox, deals, balance } = await setUpAccount()
    for (const amount of [1, 2, 3]) account.deposit(amount)
    sandbox.faults.set('acc', 'deals', fault)
    const read = [await deals(), await deals(), await deals()].map((rows) => rows.length)
    expect(read).toEqual(lengths)
    expect(await balance()).toBe(1_006)
  })
})
