// Account information in the provider's shape, over nock.
import { describe, expect, it } from 'vitest'
import { closeNetwork } from './no-network.ts'
import { account, accountPath, brokerWith, informationRow, now, provider, reasonOf, rightOf } from './support.ts'

closeNetwork()

const readWith = async (row: unknown) => {
  provider().get(`${accountPath}/account-information`).reply(200, JSON.stringify(row))
  return brokerWith().accountInformation(account)()
}

const without = (field: keyof typeof informationRow) => {
  const { [field]: _left, ...rest } = informationRow
  return rest
}

describe('account information', () => {
  it('is read with every figure as it came', async () => {
    expect(rightOf(await readWith(informationRow))).toEqual({
      tradeMode: 'demo',
      broker: 'Example Markets',
      currency: 'USD',
      figures: { balance: 7_319.9, equity: 7_306.6499, margin: 184.1, freeMargin: 7_120.22, marginLevel: 3_967.58, leverage: 100 },
      readAt: now,
    })
  })

  it.each([
    ['ACCOUNT_TRADE_MODE_DEMO', 'demo'],
    ['ACCOUNT_TRADE_MODE_CONTEST', 'contest'],
    ['ACCOUNT_TRADE_MODE_REAL', 'real'],
    ['ACCOUNT_TRADE_MODE_ELSE', 'unconfirmed'],
    ['toString', 'unconfirmed'],
    ['', 'unconfirmed'],
    [null, 'unconfirmed'],
  ])('takes the mode %s for %s', async (type, tradeMode) => {
    expect(rightOf(await readWith({ ...informationRow, type })).tradeMode).toBe(tradeMode)
  })

  it('takes an account without a mode for unconfirmed, never for a demo', async () => {
    expect(rightOf(await readWith(without('type'))).tradeMode).toBe('unconfirmed')
  })

  it.each([
    ['absent', without('marginLevel')],
    ['0 while no margin is in use', { ...informationRow, margin: 0, marginLevel: 0 }],
    ['null', { ...informationRow, marginLevel: null }],
  ])('has no margin level where it is %s', async (_, row) => {
    expect(rightOf(await readWith(row)).figures.marginLevel).toBeNull()
  })

  it('keeps a margin level of 0 while margin is in use', async () => {
    expect(rightOf(await readWith({ ...informationRow, marginLevel: 0 })).figures.marginLevel).toBe(0)
  })

  it('has no leverage, free margin, broker or currency where none is told', async () => {
    const { balance, equity, margin } = informationRow
    expect(rightOf(await readWith({ balance, equity, margin, broker: '' }))).toMatchObject({
      broker: null,
      currency: null,
      figures: { freeMargin: null, leverage: null, marginLevel: null },
    })
  })

  it.each([
    ['no balance', without('balance'), 'balance is not a finite number'],
    ['a balance in text', { ...informationRow, balance: '7319.9' }, 'balance is not a finite number'],
    ['an equity of null', { ...informationRow, equity: null }, 'equity is not a finite number'],
    ['a mode that is a number', { ...informationRow, type: 1 }, 'type is not string or nothing'],
    ['a list', [informationRow], 'the answer is not account information'],
    ['null', null, 'the answer is not account information'],
  ])('cannot be read with %s', async (_, row, reason) => {
    expect(reasonOf(await readWith(row))).toContain(reason)
  })

  it('cannot be read with a number beyond all numbers', async () => {
    provider().get(`${accountPath}/account-information`).reply(200, JSON.stringify(informationRow).replace('7319.9', '1e999'))
    expect(reasonOf(await brokerWith().accountInformation(account)())).toBe('account-information: balance is not a finite number')
  })
})
