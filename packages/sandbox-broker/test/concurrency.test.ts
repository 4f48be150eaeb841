// Many trades at once over HTTP, with faults among them: the books stay exact, and an account's trades never mix.
import { expect, it } from 'vitest'
import { decimal, sum, zero } from '../src/numbers/decimal.ts'
import type { TradeReply } from '../src/index.ts'
import { setUp } from './harness.ts'

const path = (index: number): string => `/users/current/accounts/${index % 2 === 0 ? 'acc' : 'other'}/trade`

it('carries out two hundred simultaneous trades of two accounts one after another', async () => {
  const { sandbox, post } = await setUp({ marginMode: 'netting', startBalance: 1_000_000 })
  sandbox.addAccount({ id: 'other', startBalance: 1_000_000 })
  sandbox.faults.set('*', 'trade', [
    { kind: 'delay', ms: 5, probability: 0.5 },
    { kind: 'timeout', when: 'after', probability: 0.2 },
  ])
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => {
      const actionType = index % 3 === 0 ? 'ORDER_TYPE_SELL' : 'ORDER_TYPE_BUY'
      return post<TradeReply>(path(index), { actionType, symbol: 'GBPUSD', volume: 0.01 * (1 + (index % 7)), clientId: `T_${index}_1` })
    }),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 504]))
  for (const id of ['acc', 'other']) {
    const account = sandbox.account(id)
    const deals = account.deals().filter((deal) => deal['clientId'] !== undefined)
    expect(new Set(deals.map((deal) => deal['clientId'])).size).toBe(100)
    expect(new Set(deals.map((deal) => deal.id)).size).toBe(100)
    const amounts = account
      .deals()
      .map((deal) => sum([deal['profit'], deal['commission'], deal['swap']].map((value) => decimal(Number(value)))))
    expect(account.information().balance).toBe(Number(sum(amounts).toString()))
    const net = deals.map((deal) => decimal(Number(deal['volume'])).times(deal['type'] === 'DEAL_TYPE_BUY' ? 1 : -1))
    const held = account.positions().map((position) => decimal(position.volume).times(position.type === 'POSITION_TYPE_BUY' ? 1 : -1))
    expect(sum(held).toString()).toBe(sum(net).toString())
    expect(held.every((volume) => !volume.eq(zero))).toBe(true)
  }
})
