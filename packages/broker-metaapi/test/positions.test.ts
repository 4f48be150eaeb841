// Open positions in the provider's shape, over nock (specification 2.4, 4.3; decision 26).
import { describe, expect, it } from 'vitest'
import { closeNetwork } from './no-network.ts'
import { account, accountPath, brokerWith, now, positionRow, provider, reasonOf, rightOf } from './support.ts'

closeNetwork()

type Row = Partial<Record<keyof typeof positionRow | 'takeProfit', unknown>>

const readWith = async (answer: unknown) => {
  provider().get(`${accountPath}/positions`).reply(200, JSON.stringify(answer))
  return brokerWith().positions(account)()
}
const readOne = async (row: Row) => rightOf(await readWith([{ ...positionRow, ...row }])).positions[0]
const without = (...fields: readonly (keyof typeof positionRow)[]): Row =>
  Object.fromEntries(fields.map((field) => [field, undefined])) as Row

describe('positions', () => {
  it('are read with every figure as it came, and no level that is not there', async () => {
    expect(rightOf(await readWith([positionRow]))).toEqual({
      positions: [
        {
          ticket: '46648037',
          symbol: 'AUDNZD.r',
          side: 'buy',
          volume: 0.07,
          entryPrice: 1.26101,
          currentPrice: 1.24883,
          stopLoss: 1.17721,
          swap: -0.3,
          commission: -0.25,
          unrealizedPnl: -85.25,
          realizedPnl: 2.1,
          openedAt: Date.parse('2026-04-15T02:45:06.521Z'),
        },
      ],
      readAt: now,
    })
  })

  it('come oldest first, of equal age the older ticket', async () => {
    const answer = [
      { ...positionRow, id: '1000' },
      { ...positionRow, id: '7', time: '2026-04-16T00:00:00.000Z' },
      { ...positionRow, id: '999' },
    ]
    expect(rightOf(await readWith(answer)).positions.map(({ ticket }) => ticket)).toEqual(['999', '1000', '7'])
  })

  it('are an empty list only where the provider says so', async () => {
    expect(rightOf(await readWith([])).positions).toEqual([])
    for (const answer of [{}, { positions: [] }, null, '', 0]) expect(reasonOf(await readWith(answer))).toMatch(/^positions: /)
  })

  it('have no level where it is 0, null or absent', async () => {
    const position = await readOne({ stopLoss: 0, takeProfit: null })
    expect(Object.keys(position ?? {})).not.toContain('stopLoss')
    expect(Object.keys(position ?? {})).not.toContain('takeProfit')
  })

  it.each([0.1 + 0.2, 0.7 - 0.4, 0.3])('of %d lots are of 0.3, so that a close of 0.3 is one of all', async (volume) => {
    expect((await readOne({ volume }))?.volume).toBe(0.3)
  })

  it('take numeric ids as text', async () => {
    expect((await readOne({ id: 46_648_037 }))?.ticket).toBe('46648037')
  })

  describe('realised profit', () => {
    it('is without commission and swap where the provider tells both, in exact decimals', async () => {
      const row = { realizedProfit: 0.3, realizedCommission: -0.1, realizedSwap: -0.2 }
      expect((await readOne(row))?.realizedPnl).toBe(0.6)
      expect((await readOne({ realizedProfit: -0.3, realizedCommission: -0.1, realizedSwap: -0.2 }))?.realizedPnl).toBe(0)
    })

    it('is as given where it does not', async () => {
      expect((await readOne(without('realizedCommission')))?.realizedPnl).toBe(1.95)
      expect((await readOne(without('realizedSwap')))?.realizedPnl).toBe(1.95)
    })

    it('is 0 where nothing was realised', async () => {
      expect((await readOne(without('realizedProfit', 'realizedCommission', 'realizedSwap')))?.realizedPnl).toBe(0)
    })
  })

  describe('payloads of older servers', () => {
    it('tell the open profit within the overall one', async () => {
      expect((await readOne({ ...without('unrealizedProfit'), profit: -83.3, realizedProfit: 1.95 }))?.unrealizedPnl).toBe(-85.25)
      expect((await readOne({ ...without('unrealizedProfit', 'realizedProfit'), profit: -83.3 }))?.unrealizedPnl).toBe(-83.3)
    })

    it('add up a missing total from its parts, or have none of it', async () => {
      expect(await readOne(without('swap', 'commission'))).toMatchObject({ swap: -0.3, commission: -0.25 })
      const none = without('swap', 'commission', 'realizedSwap', 'realizedCommission', 'unrealizedSwap', 'unrealizedCommission')
      expect(await readOne(none)).toMatchObject({ swap: 0, commission: 0 })
    })
  })

  it.each<readonly [string, Row, string]>([
    ['without an id', { id: undefined }, 'id is not an id'],
    ['with an id that lost digits', { id: 2 ** 53 }, 'id is not an id'],
    ['with an id that is no ticket', { id: 'a b' }, 'id is not a ticket'],
    ['of no side', { type: 'POSITION_TYPE_ELSE' }, 'type is not a side'],
    ['without a symbol', { symbol: '' }, 'symbol is not a text that is not empty'],
    ['without a volume', { volume: undefined }, 'volume is not a finite number'],
    ['with a volume of 0', { volume: 0 }, 'volume is not above 0'],
    ['with less volume than any', { volume: 1e-9 }, 'volume is not above 0'],
    ['with a price in text', { openPrice: '1.2' }, 'openPrice is not a finite number'],
    ['without a current price', { currentPrice: null }, 'currentPrice is not a finite number'],
    ['with a level in text', { stopLoss: '1.1' }, 'stopLoss is not a finite number or nothing'],
    ['with a swap in text', { swap: '0' }, 'swap is not a finite number or nothing'],
    ['with a time that is none', { time: '2026-02-30T00:00:00.000Z' }, 'time is not a time'],
    ['without any profit', { unrealizedProfit: undefined, profit: undefined }, 'profit is not told in any way'],
    ['without a time', { time: undefined }, 'time is not a text that is not empty'],
  ])('cannot be read with a row %s, however good the others are', async (_, row, reason) => {
    expect(reasonOf(await readWith([positionRow, { ...positionRow, ...row }, positionRow]))).toBe(`positions: 1.${reason}`)
  })

  it('cannot be read with a row that is no object', async () => {
    expect(reasonOf(await readWith([positionRow, null]))).toMatch(/^positions: 1 is not/)
  })
})
