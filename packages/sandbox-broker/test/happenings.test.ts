// What happens to an account without the program that is served.
import { expect, it } from 'vitest'
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

it.each([
  [1.09, 'SL', -100],
  [1.05, 'SL', -500],
  [1.12, 'TP', 200],
])(
  'a position is closed by its level, or a stop loss at a worse price, once that is %d',
  async (price, reason, profit) => {
    const { account, sandbox, deals } = await setUpAccount()
    const levels = { stopLoss: 1.09, takeProfit: 1.12 }
    const { positionId } = account.trade({ ...BUY, ...levels, clientId: 'TP_1_a' })
    sandbox.prices.pin('EURUSD', { bid: price, ask: price })
    const closing = {
      positionId,
      reason: `DEAL_REASON_${reason}`,
      ...levels,
      orderId: '46000001',
      clientId: 'TP_1_46000001',
      profit,
    }
    expect((await deals()).at(-1)).toMatchObject(closing)
  },
)

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

it('new trades have tickets above those of a loaded history, whose rows of no time are in every range', async () => {
  const time = '2026-03-10T12:00:00.000Z'
  const deals = [
    { id: '99000000', type: 'DEAL_TYPE_BALANCE', profit: 1_000, time },
    { id: '2', type: 'DEAL_TYPE_BUY', positionId: '98000000' },
  ]
  const { sandbox, get } = await setUp({ history: { deals } })
  const account = sandbox.account('acc')
  expect(account.trade(BUY)).toMatchObject({ orderId: '98000001' })
  expect(account.deals().at(-1)).toMatchObject({ id: '99000001', positionId: '98000001' })
  const day = 'history-deals/time/2026-03-10T00:00:00.000Z/2026-03-11T00:00:00.000Z'
  const { body } = await get<readonly DealRow[]>(day)
  expect(body.map(({ id }) => id)).toEqual(['2', '99000000'])
})

it('a fault of an unknown kind, of an unknown field or on another route is refused by name', async () => {
  const { post, sandbox } = await setUp()
  const add = async (body: object) => (await post('/sandbox/v1/faults', body)).text
  expect(await add({ fault: { kind: 'late' } })).toContain('kind must be one of delay, ')
  expect(await add({ fault: { kind: 'delay' } })).toContain('delay needs ms')
  expect(await add({ fault: { kind: 'cut', ms: 1 } })).toContain('cut has no field ms; it has when')
  expect(await add({ route: 'deals', fault: { kind: 'placed' } })).toContain(
    'placed cannot happen on deals',
  )
  expect(await add({ account: 'acc', route: 'positions', fault: { kind: 'cut' } })).toBe('{}')
  expect(() => sandbox.faults.add('*', 'deals', { kind: 'no-margin' })).toThrow(
    'no-margin cannot happen on deals',
  )
})
