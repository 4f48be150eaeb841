// A page of deals over nock: what is asked for, and what its rows mean.
import { describe, expect, it } from 'vitest'
import { foldDeals } from '@tradeport/domain'
import type { BrokerDeal } from '@tradeport/domain'
import { closeNetwork } from './no-network.ts'
import {
  account,
  accountPath,
  brokerWith,
  clientHost,
  dealRow,
  manyRows,
  now,
  provider,
  reasonOf,
  rightOf,
  serveHistory,
} from './support.ts'

closeNetwork()

const window = { from: Date.parse('2026-04-01T00:00:00.000Z'), to: now, offset: 0 }
const read = (offset = 0) => brokerWith().dealsPage(account, { ...window, offset })()
const readRows = (rows: readonly unknown[]) => {
  serveHistory((offset, limit) => rows.slice(offset, offset + limit))
  return read()
}
// The fields of a deal row, and two that it may have.
type DealField = keyof typeof dealRow | 'stopLoss' | 'takeProfit'
const readOne = async (row: Partial<Record<DealField, unknown>>): Promise<BrokerDeal | undefined> =>
  rightOf(await readRows([{ ...dealRow, ...row }])).deals[0]

describe('a page', () => {
  it('is asked for by its window, its offset and the most rows that the provider gives', async () => {
    const paths: string[] = []
    provider()
      .get((uri) => uri.startsWith(accountPath))
      .reply(200, ({ url }: Request) => {
        paths.push(url.slice(clientHost.length))
        return '[]'
      })
    expect(rightOf(await read(2_000))).toEqual({ deals: [], nextOffset: null, readAt: now })
    expect(paths).toEqual([
      `${accountPath}/history-deals/time/2026-04-01T00%3A00%3A00.000Z/2026-05-01T12%3A00%3A00.000Z?offset=2000&limit=1000`,
    ])
  })

  it.each([
    [999, null],
    [1_000, 5_000],
    // More than was asked for: rows may come again, and none is passed over.
    [1_005, 5_000],
  ])('of %i rows is followed by one at the offset %j', async (count, nextOffset) => {
    serveHistory(() => manyRows(count))
    const page = rightOf(await read(4_000))
    expect([page.deals.length, page.nextOffset]).toEqual([count, nextOffset])
  })

  it('has the rows in the order in which they came, repeated ones too', async () => {
    const rows = ['3', '1', '2', '1'].map((id) => ({ ...dealRow, id }))
    expect(rightOf(await readRows(rows)).deals.map(({ id }) => id)).toEqual(['3', '1', '2', '1'])
  })

  it('may be wrapped', async () => {
    serveHistory(() => ({ deals: manyRows(15), synchronizing: false }))
    expect(rightOf(await read()).deals).toHaveLength(15)
  })

  it('fails while the provider is still loading the history', async () => {
    serveHistory(() => ({ deals: manyRows(3), synchronizing: true }))
    expect(reasonOf(await read())).toBe('history-deals: the history is still being loaded')
  })

  it.each([[{}], [{ deals: {} }], [null], ['[]'], [7]])('fails where %j stands in place of a page', async (page) => {
    serveHistory(() => page)
    expect(reasonOf(await read())).toBe('history-deals: answered with something that is not a list of deals')
  })

  it('fails where a page is cut off', async () => {
    nockCutPage()
    expect(reasonOf(await read())).toBe('history-deals: answered with something that is not JSON')
  })

  it.each<readonly [string, unknown, string]>([
    ['is no object', 7, 'row 1 is not a deal'],
    ['is a list', [dealRow], 'row 1 is not a deal'],
    ['has no id', { ...dealRow, id: undefined }, 'row 1 is not a deal'],
    ['has an empty id', { ...dealRow, id: '' }, 'row 1 is not a deal'],
    ['has an id that lost digits', { ...dealRow, id: 2 ** 60 }, 'row 1 is not a deal'],
    ['has no type', { ...dealRow, type: undefined }, 'row 1 is not a deal'],
    ['has a profit in text', { ...dealRow, profit: '12.5' }, 'row 1: money is not a finite number'],
    ['has a commission that is a list', { ...dealRow, commission: [] }, 'row 1: money is not a finite number'],
    ['has a swap of true', { ...dealRow, swap: true }, 'row 1: money is not a finite number'],
    ['has a position id that is none', { ...dealRow, positionId: {} }, 'row 1: positionId is not an id'],
  ])('fails where a row %s', async (_, row, reason) => {
    expect(reasonOf(await readRows([dealRow, row]))).toBe(`history-deals: ${reason}`)
  })
})

describe('a deal', () => {
  it('is read with every figure as it came, in UTC and never by the broker clock', async () => {
    expect(await readOne({ swap: -0.1, profit: 12.34 })).toEqual({
      id: '33582357',
      kind: 'buy',
      orderId: '46648037',
      reason: 'expert',
      positionId: '46648037',
      side: 'buy',
      entry: 'in',
      symbol: 'EURUSD',
      volume: 0.12,
      price: 1.05782,
      profit: 12.34,
      commission: -0.42,
      swap: -0.1,
      time: Date.parse('2026-04-17T04:30:03.223Z'),
    })
  })

  it('of a deposit has money and a time alone', async () => {
    const row = { id: '1', type: 'DEAL_TYPE_BALANCE', time: dealRow.time, brokerTime: dealRow.brokerTime, profit: 10_000, comment: 'D' }
    expect(rightOf(await readRows([row])).deals).toEqual([
      { id: '1', kind: 'balance', profit: 10_000, commission: 0, swap: 0, time: Date.parse(dealRow.time) },
    ])
  })

  it.each([
    ['DEAL_TYPE_BUY', 'buy'],
    ['DEAL_TYPE_SELL', 'sell'],
    ['DEAL_TYPE_BALANCE', 'balance'],
    ['DEAL_TYPE_CREDIT', 'credit'],
    ['DEAL_TYPE_CHARGE', 'charge'],
    ['DEAL_TYPE_CORRECTION', 'correction'],
    ['DEAL_TYPE_BONUS', 'bonus'],
    ['DEAL_TYPE_COMMISSION', 'commission'],
    ['DEAL_TYPE_COMMISSION_DAILY', 'commission'],
    ['DEAL_TYPE_COMMISSION_MONTHLY', 'commission'],
    ['DEAL_TYPE_COMMISSION_AGENT_DAILY', 'commission'],
    ['DEAL_TYPE_COMMISSION_AGENT_MONTHLY', 'commission'],
    ['DEAL_TYPE_INTEREST', 'interest'],
    ['DEAL_TYPE_BUY_CANCELED', 'cancelled'],
    ['DEAL_TYPE_SELL_CANCELED', 'cancelled'],
    ['DEAL_DIVIDEND', 'dividend'],
    ['DEAL_DIVIDEND_FRANKED', 'dividend'],
    ['DEAL_TAX', 'tax'],
    ['deal_type_buy', 'other'],
    ['', 'other'],
  ])('of type %s is of the kind %s, and has a side where it trades', async (type, kind) => {
    const deal = await readOne({ type })
    expect(deal?.kind).toBe(kind)
    expect(deal?.side).toBe(kind === 'buy' || kind === 'sell' ? kind : undefined)
  })

  it.each([
    ['DEAL_REASON_SL', 'stop_loss'],
    ['DEAL_REASON_TP', 'take_profit'],
    ['DEAL_REASON_SO', 'stop_out'],
    ['DEAL_REASON_CLIENT', 'client'],
    ['DEAL_REASON_EXPERT', 'expert'],
    ['DEAL_REASON_MOBILE', 'mobile'],
    ['DEAL_REASON_WEB', 'web'],
    ['DEAL_REASON_ROLLOVER', 'other'],
    ['DEAL_REASON_VMARGIN', 'other'],
    ['DEAL_REASON_SPLIT', 'other'],
    ['DEAL_REASON_OF_TOMORROW', 'other'],
  ])('of the reason %s has the reason %s', async (reason, read) => {
    expect((await readOne({ reason }))?.reason).toBe(read)
  })

  it.each(['DEAL_REASON_UNKNOWN', '', undefined, null, 4])('of the reason %j has none', async (reason) => {
    expect(await readOne({ reason })).not.toHaveProperty('reason')
  })

  it.each([undefined, null, '', '0', 0, {}])('with the order id %j has none', async (orderId) => {
    expect(await readOne({ orderId })).not.toHaveProperty('orderId')
  })

  it('has the levels that it gives', async () => {
    expect(await readOne({ stopLoss: 1.05, takeProfit: 1.06 })).toMatchObject({ stopLoss: 1.05, takeProfit: 1.06 })
  })

  it.each([undefined, null, 0, -1, '1.05'])('with %j for levels has none', async (level) => {
    const deal = await readOne({ stopLoss: level, takeProfit: level })
    expect(deal).not.toHaveProperty('stopLoss')
    expect(deal).not.toHaveProperty('takeProfit')
  })

  it.each([
    ['DEAL_ENTRY_IN', 'in'],
    ['DEAL_ENTRY_OUT', 'out'],
    ['DEAL_ENTRY_INOUT', 'inout'],
    ['DEAL_ENTRY_OUT_BY', 'out_by'],
    ['DEAL_ENTRY_SOMETHING', undefined],
    [null, undefined],
    [1, undefined],
    [{}, undefined],
  ])('of entry type %j has the entry %s, so that the unknown is unsupported', async (entryType, entry) => {
    expect((await readOne({ entryType }))?.entry).toBe(entry)
  })

  it.each([undefined, null, '', '0', 0])('with the position id %j belongs to no position', async (positionId) => {
    expect(await readOne({ positionId })).not.toHaveProperty('positionId')
  })

  it('takes numeric ids as text', async () => {
    expect(await readOne({ id: 33_582_357, positionId: 46_648_037, orderId: 7 })).toMatchObject({
      id: '33582357',
      positionId: '46648037',
      orderId: '7',
    })
  })

  it.each<readonly [unknown, number]>([
    ['2026-04-17T04:30:03.223Z', Date.UTC(2026, 3, 17, 4, 30, 3, 223)],
    ['2026-04-30T23:59:59.999Z', Date.UTC(2026, 3, 30, 23, 59, 59, 999)],
    ['2026-04-20T12:00:00+02:00', Date.UTC(2026, 3, 20, 10)],
    ['0050-01-01T00:00:00.000Z', Date.parse('0050-01-01T00:00:00.000Z')],
    ['2026-04-20T12:00:00', Date.UTC(2026, 3, 20, 12)],
    ['2026-02-30T00:00:00.000Z', Number.NaN],
    ['2026-13-01T00:00:00.000Z', Number.NaN],
    ['2026-04-20T24:00:00.000Z', Number.NaN],
    ['2026-04-17 07:30:03.223', Number.NaN],
    ['yesterday', Number.NaN],
    ['', Number.NaN],
    [1_776_400_000_000, Number.NaN],
    [{}, Number.NaN],
  ])('of time %j was made at %d', async (time, at) => {
    expect((await readOne({ time }))?.time).toBe(at)
  })

  it.each([undefined, null])('of time %s has none', async (time) => {
    expect(await readOne({ time })).not.toHaveProperty('time')
  })

  it.each(['0.12', null, undefined, {}, true])('with %j for volume and price has neither', async (value) => {
    const deal = await readOne({ volume: value, price: value })
    expect(deal).not.toHaveProperty('volume')
    expect(deal).not.toHaveProperty('price')
  })

  it('keeps a volume and a price of 0, of which the fold decides', async () => {
    expect(await readOne({ volume: 0, price: 0 })).toMatchObject({ volume: 0, price: 0 })
  })

  it.each([undefined, null, ''])('with %j for a symbol has none', async (symbol) => {
    expect(await readOne({ symbol })).not.toHaveProperty('symbol')
  })

  it.each([undefined, null])('with %s for money has 0 of it', async (money) => {
    expect(await readOne({ profit: money, commission: money, swap: money })).toMatchObject({ profit: 0, commission: 0, swap: 0 })
  })
})

describe('the volumes of deals', () => {
  it.each([0.300_000_000_000_000_04, 0.299_999_999_999_999_93])(
    'close a position also as %d, which a program that adds doubles makes of the rest',
    async (rest) => {
      const rows = [
        { ...dealRow, id: '1', positionId: '7', entryType: 'DEAL_ENTRY_IN', type: 'DEAL_TYPE_BUY', volume: 0.8 },
        { ...dealRow, id: '2', positionId: '7', entryType: 'DEAL_ENTRY_OUT', type: 'DEAL_TYPE_SELL', volume: 0.5 },
        { ...dealRow, id: '3', positionId: '7', entryType: 'DEAL_ENTRY_OUT', type: 'DEAL_TYPE_SELL', volume: rest },
      ]
      const { trades, skipped } = foldDeals(rightOf(await readRows(rows)).deals)
      expect([trades.map(({ volume }) => volume), skipped]).toEqual([[0.8], []])
    },
  )
})

const nockCutPage = () =>
  provider()
    .get((uri) => new URL(uri, clientHost).searchParams.get('offset') === '0')
    .reply(200, JSON.stringify(manyRows(3)).slice(0, -20))
