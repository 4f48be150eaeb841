// Accounts that start from a loaded history: their money, the positions that it leaves open, and
// trading on from there.
import { expect, it } from 'vitest'
import type { DealRow } from '../src/index.ts'
import { NOON, setUp } from './harness.ts'

const deal = (id: string, fields: Partial<DealRow>): DealRow => ({
  id,
  type: 'DEAL_TYPE_BUY',
  symbol: 'EURUSD',
  time: new Date(NOON - 86_400_000 + Number(id)).toISOString(),
  profit: 0,
  commission: 0,
  swap: 0,
  ...fields,
})

const opened = (
  id: string,
  positionId: string,
  volume: number,
  price: number,
  rest: Partial<DealRow> = {},
): DealRow =>
  deal(id, { entryType: 'DEAL_ENTRY_IN', positionId, orderId: positionId, volume, price, ...rest })

const closed = (
  id: string,
  positionId: string,
  volume: number,
  rest: Partial<DealRow> = {},
): DealRow =>
  deal(id, {
    entryType: 'DEAL_ENTRY_OUT',
    type: 'DEAL_TYPE_SELL',
    positionId,
    orderId: id,
    volume,
    price: 1.2,
    ...rest,
  })

it('a position is open as its deals say, at the average price and with realised amounts', async () => {
  const deals = [
    opened('1', '900', 0.1, 1.1, { commission: -0.4, magic: 5, clientId: 'A_B_C' }),
    opened('2', '900', 0.3, 1.2, { commission: -1.2 }),
    closed('3', '900', 0.1, { profit: 25, swap: -1, commission: -0.5 }),
    opened('4', '901', 0.2, 1.1),
    closed('5', '901', 0.2),
  ]
  const { sandbox } = await setUp({ history: { deals }, marginMode: 'netting' })
  expect(sandbox.account('acc').positions()).toMatchObject([
    {
      id: '900',
      type: 'POSITION_TYPE_BUY',
      volume: 0.3,
      openPrice: 1.175,
      magic: 5,
      clientId: 'A_B_C',
      unrealizedCommission: -1.2,
      realizedCommission: -0.9,
      realizedSwap: -1,
      realizedProfit: 23.1,
    },
  ])
})

it('new trades have tickets above those of the history', async () => {
  const time = new Date(NOON - 1).toISOString()
  const deals = [
    deal('99000000', { type: 'DEAL_TYPE_BALANCE', profit: 1_000, time }),
    opened('2', '98000000', 0.013, 1.1),
  ]
  const { sandbox } = await setUp({ history: { deals } })
  const account = sandbox.account('acc')
  // A volume off the step can still be closed whole.
  expect(account.trade({ actionType: 'POSITION_CLOSE_ID', positionId: '98000000' })).toMatchObject({
    numericCode: 10009,
    orderId: '98000001',
  })
  expect(account.deals().at(-1)).toMatchObject({
    id: '99000001',
    positionId: '98000000',
    volume: 0.013,
    entryType: 'DEAL_ENTRY_OUT',
  })
  expect(account.positions()).toEqual([])
})
