// Deal histories over nock, page by page.
import * as E from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { foldDeals, historyTooLarge } from '@tradeport/domain'
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

const read = () => brokerWith().deals(account)()
const readRows = (rows: readonly unknown[]) => {
  serveHistory((offset, limit) => rows.slice(offset, offset + limit))
  return read()
}
const readOne = async (row: Partial<Record<keyof typeof dealRow, unknown>>) => rightOf(await readRows([{ ...dealRow, ...row }])).deals[0]
const idsOf = (deals: readonly { readonly id: string }[]): readonly number[] => deals.map(({ id }) => Number(id)).toSorted((a, b) => a - b)
const oneTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
// A shuffle that is the same each time: 7,919 is prime to every length used here.
const shuffled = <A>(rows: readonly A[]): readonly A[] => rows.map((_, index) => rows[(index * 7_919) % rows.length] as A)

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

describe('pages', () => {
  it.each([
    [0, [0]],
    [1, [0]],
    [999, [0]],
    [1_000, [0, 1_000]],
    [1_001, [0, 1_000]],
    [2_000, [0, 1_000, 2_000]],
    [20_000, oneTo(21).map((page) => (page - 1) * 1_000)],
  ])('of a history of %i deals are read until one is short', async (count, offsets) => {
    const rows = manyRows(count)
    const served = serveHistory((offset, limit) => rows.slice(offset, offset + limit))
    const { deals, readAt } = rightOf(await read())
    expect(idsOf(deals)).toEqual(oneTo(count))
    expect(served.offsets).toEqual(offsets)
    expect(readAt).toBe(now)
  })

  it('reach from the beginning of time to a day from now, fixed before the first', async () => {
    const paths: string[] = []
    provider()
      .get((uri) => uri.startsWith(`${accountPath}/history-deals/time/`))
      .reply(200, ({ url }: Request) => {
        paths.push(url.slice(clientHost.length))
        return JSON.stringify(manyRows(paths.length === 1 ? 1_000 : 1))
      })
      .persist()
    let time = now
    await brokerWith({ clock: { now: () => (time += 5_000) } }).deals(account)()
    const window = `${accountPath}/history-deals/time/1970-01-01T00%3A00%3A00.000Z/2026-05-02T12%3A00%3A05.000Z`
    expect(paths).toEqual([`${window}?offset=0&limit=1000`, `${window}?offset=1000&limit=1000`])
  })

  it('may come in any order', async () => {
    expect(idsOf(rightOf(await readRows(shuffled(manyRows(2_500)))).deals)).toEqual(oneTo(2_500))
  })

  it('may be wrapped', async () => {
    serveHistory((offset, limit) => ({ deals: manyRows(1_500).slice(offset, offset + limit), synchronizing: false }))
    expect(rightOf(await read()).deals.length).toBe(1_500)
  })
})

describe('deals that come again', () => {
  it.each([1, 3, 500])('on the next page, %i of them each time, count once and hide none', async (repeated) => {
    const rows = manyRows(4_321)
    serveHistory((offset, limit) => {
      const start = offset - repeated * (offset / limit)
      return rows.slice(start, start + limit)
    })
    expect(idsOf(rightOf(await read()).deals)).toEqual(oneTo(4_321))
  })

  it('and make pages longer than asked for count once and hide none', async () => {
    const rows = manyRows(3_000)
    serveHistory((offset, limit) => rows.slice(Math.max(0, offset - 5), offset + limit))
    expect(idsOf(rightOf(await read()).deals)).toEqual(oneTo(3_000))
  })

  it('do not count towards the 20,000', async () => {
    const rows = manyRows(20_000)
    serveHistory((offset, limit) => {
      const start = offset - 10 * (offset / limit)
      return rows.slice(start, start + limit)
    })
    expect(rightOf(await read()).deals.length).toBe(20_000)
  })

  it('are told apart by time, id and entry', async () => {
    const twins = [
      dealRow,
      { ...dealRow, entryType: 'DEAL_ENTRY_OUT' },
      { ...dealRow, time: '2026-04-17T04:30:03.224Z' },
      { ...dealRow, id: '33582358' },
      { ...dealRow, entryType: 'DEAL_ENTRY_OUT', accountCurrencyExchangeRate: 2 },
      { ...dealRow, time: '2026-04-17T04:30:03.224Z' },
      { ...dealRow, time: 'yesterday' },
      { ...dealRow, time: 'yesterday' },
      { ...dealRow, time: undefined },
    ]
    expect(rightOf(await readRows(twins)).deals.length).toBe(6)
  })

  it('for ever are an error and not an endless loop', async () => {
    const served = serveHistory(() => manyRows(1_000))
    expect(reasonOf(await read())).toBe('history-deals: 42 full pages and still not 20000 deals')
    expect(served.offsets.length).toBe(42)
  })
})

describe('a history above 20,000 deals', () => {
  it('is refused, whatever the types of its deals (4.5)', async () => {
    const rows = manyRows(20_001).map((row, index) =>
      index % 2 === 0 ? row : { id: row.id, type: 'DEAL_TYPE_BALANCE', profit: 1, time: row.time },
    )
    expect(await readRows(rows)).toEqual(E.left(historyTooLarge(account.accountId, 20_000)))
  })

  it('is not read to its end', async () => {
    let next = 0
    const served = serveHistory(() => manyRows(1_000).map((row) => ({ ...row, id: String((next += 1)) })))
    expect(await read()).toEqual(E.left(historyTooLarge(account.accountId, 20_000)))
    expect(served.offsets.length).toBeLessThanOrEqual(22)
  })
})

describe('a history that is not whole', () => {
  it('fails with the page that fails, and tells its failure', async () => {
    const rows = manyRows(1_000)
    provider()
      .get(/offset=0/)
      .reply(200, JSON.stringify(rows))
      .get(/offset=1000/)
      .reply(429, {}, { 'retry-after': '3' })
    expect(await read()).toEqual(E.left({ _tag: 'BrokerRateLimited', accountId: account.accountId, retryAfterSeconds: 3 }))
  })

  it('fails while the provider is still loading it', async () => {
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
      { id: '1', profit: 10_000, commission: 0, swap: 0, time: Date.parse(dealRow.time) },
    ])
  })

  it.each([
    ['DEAL_TYPE_BUY', 'buy'],
    ['DEAL_TYPE_SELL', 'sell'],
    ['DEAL_TYPE_BUY_CANCELED', undefined],
    ['DEAL_TYPE_SELL_CANCELED', undefined],
    ['DEAL_DIVIDEND', undefined],
    ['deal_type_buy', undefined],
    ['', undefined],
  ])('of type %s has the side %s', async (type, side) => {
    expect((await readOne({ type }))?.side).toBe(side)
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
    expect(await readOne({ id: 33_582_357, positionId: 46_648_037 })).toMatchObject({ id: '33582357', positionId: '46648037' })
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

const nockCutPage = () =>
  provider()
    .get((uri) => new URL(uri, clientHost).searchParams.get('offset') === '0')
    .reply(200, JSON.stringify(manyRows(3)).slice(0, -20))
