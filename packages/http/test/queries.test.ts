// Every fault of a query by name, and what a good one becomes (decisions 5, 8, 28 and 29).
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { accountId, fakeUseCases, noStatistics, provenance, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'
import type { Issue } from '@tradeport/domain'

describe('a query', () => {
  let api: Running
  const asked: unknown[] = []
  const noting =
    <A extends readonly unknown[], R>(verb: (...inputs: A) => R) =>
    (...inputs: A): R => {
      asked.push(inputs)
      return verb(...inputs)
    }
  const { listPositions, listTrades, listBalanceHistory, exportTrades, listSymbols } = fakeUseCases()
  const parts: Partial<UseCases> = {
    listPositions: noting(listPositions),
    listTrades: noting(listTrades),
    listBalanceHistory: noting(listBalanceHistory),
    exportTrades: noting(exportTrades),
    listSymbols: noting(listSymbols),
    getTradeStatistics: noting(() => TE.right({ statistics: noStatistics, provenance, warnings: [] })),
  }
  beforeAll(async () => {
    api = await runApi(parts)
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const faultsOf = async (target: string): Promise<readonly Issue[]> => {
    const reply = await send(api, `/api/v1${target}`)
    expect([reply.status, reply.json.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
    return reply.json.error?.details?.issues ?? []
  }

  const askedBy = async (target: string): Promise<unknown> => {
    asked.length = 0
    expect((await send(api, `/api/v1${target}`)).status).toBe(200)
    return (asked[0] as readonly unknown[]).at(-1)
  }

  it.each(
    [
      '0',
      '101',
      '-1',
      '+1',
      '1.0',
      '1e1',
      '0x1',
      '%2B1',
      '1 ',
      ' 1',
      '',
      'ten',
      '99999999999999999999',
      'NaN',
      'Infinity',
      '١',
      '1%00',
      '%ZZ',
      '%ff',
    ].flatMap((value) => [[`/positions?limit=${encodeIfNeeded(value)}`], [`/trades?limit=${encodeIfNeeded(value)}`]]),
  )('refuses %s, which is no limit from 1 to 100', async (target) => {
    const [issue] = await faultsOf(target)
    expect(issue?.path).toBe('limit')
    expect(issue?.message).toMatch(/^limit takes a whole number from 1 to 100, in digits; got "/)
  })

  it.each([
    ['/positions?page=0', 'page', 'page takes a whole number from 1 to 1000000, in digits; got "0"'],
    ['/positions?page=1000001', 'page', 'page takes a whole number from 1 to 1000000, in digits; got "1000001"'],
    ['/positions?page=1&page=2', 'page', 'page takes one value; it was sent 2 times'],
    ['/positions?accountId=1', 'accountId', 'accountId takes the UUID of a linked account; got "1"'],
    ['/positions?accountId=', 'accountId', 'accountId takes the UUID of a linked account; got ""'],
    [
      '/positions?symbol=eurusd',
      'symbol',
      'symbol takes 1 to 32 visible characters with letters in capitals, such as EURUSD; got "eurusd"',
    ],
    ['/trades?symbol=EURUSDm', 'symbol', /got "EURUSDm"$/],
    ['/trades/stats?symbol=', 'symbol', /got ""$/],
    ['/trades?profitFilter=Profit', 'profitFilter', 'profitFilter takes one of profit, loss, all; got "Profit"'],
    ['/trades?startDate=2026-02-30', 'startDate', /^startDate takes an ISO 8601 date or date-time.*; got "2026-02-30"$/],
    ['/trades?endDate=yesterday', 'endDate', /got "yesterday"$/],
    ['/trades?startDate=2026-01-01T00:00:00+02:00', 'startDate', /\(write a \+ as %2B\); got "2026-01-01T00:00:00 02:00"$/],
    ['/trades?startDate=2026-01-02&endDate=2026-01-01', 'startDate', 'startDate is after endDate; it takes a time that is not later'],
    ['/trades/stats?startDate=2026-01-02&endDate=2026-01-01', 'startDate', /after endDate/],
    ['/trades/export?startDate=2026-01-02&endDate=2026-01-01', 'startDate', /after endDate/],
    [`/accounts/${accountId}/history?startDate=2026-01-02&endDate=2026-01-01`, 'startDate', /after endDate/],
    [`/accounts/${accountId}/history?interval=1m`, 'interval', 'interval takes one of 1h, 1d, 1w; got "1m"'],
    ['/trades/export?format=xml', 'format', 'format takes one of csv, json; got "xml"'],
    ['/symbols?type=bond', 'type', 'type takes one of forex, metal, commodity, index, stock; got "bond"'],
    ['/symbols?search=', 'search', 'search takes 1 to 50 characters; got ""'],
    [`/symbols?search=${'😀'.repeat(51)}`, 'search', /^search takes 1 to 50 characters; got "😀{51}"$/u],
    ['/symbols?type=tp_live_abc', 'type', /; got what looks like an API key$/],
    ['/quotes/eurusd', 'symbol', /got "eurusd"$/],
    ['/quotes/%00', 'symbol', /got "\\u0000"$/],
    ['/candles/EURUSD', 'timeframe', 'timeframe is required; it takes one of 1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w, 1M'],
    ['/candles/EURUSD?timeframe=1H', 'timeframe', /got "1H"$/],
    ['/candles/EURUSD?timeframe=1h&limit=1001', 'limit', /from 1 to 1000,/],
    ['/ticks/EURUSD?limit=10001', 'limit', /from 1 to 10000,/],
    ['/ticks/EURUSD?startTime=2026-01-02&endTime=2026-01-01', 'startTime', /after endTime/],
    ['/candles/NOPE?timeframe=1h&startTime=2026-01-02&endTime=2026-01-01', 'startTime', /after endTime/],
  ])('refuses %s', async (target, path, message) => {
    const issues = await faultsOf(target.replaceAll('😀', '%F0%9F%98%80'))
    expect(issues).toHaveLength(1)
    expect(issues[0]?.path).toBe(path)
    expect(issues[0]?.message).toMatch(message)
  })

  it('tells every fault at once, those of the path and of the range among them', async () => {
    const issues = await faultsOf('/candles/eurusd?timeframe=2h&startTime=2026-01-02&endTime=2026-01-01&limit=0')
    expect(issues.map(({ path }) => path)).toEqual(['symbol', 'timeframe', 'limit', 'startTime'])
    const { json } = await send(api, '/api/v1/candles/eurusd?timeframe=2h&limit=0&startTime=x')
    expect(json.error?.message).toMatch(/^The request has 4 faults: symbol takes .*; and 1 more\.$/)
  })

  it('passes over parameters that it does not know, also those that a sister route takes (decision 5)', async () => {
    expect(await askedBy('/trades/export?limit=0&cursor=&colour=red&colour=blue')).toEqual({
      accountId: undefined,
      symbol: undefined,
      from: undefined,
      to: undefined,
      profit: 'all',
    })
  })

  it('has the defaults of section 8', async () => {
    expect(await askedBy('/positions')).toEqual({ accountId: undefined, symbol: undefined, page: 1, limit: 20 })
    expect(await askedBy('/trades')).toMatchObject({ limit: 20, cursor: undefined, filter: { profit: 'all' } })
  })

  it('reads what it takes: ids in either case, a date as a whole day, an offset, a fraction (decision 8)', async () => {
    expect(await askedBy(`/positions?accountId=${accountId.toUpperCase()}&symbol=GBPCHF_I&page=1000000&limit=100`)).toEqual({
      accountId,
      symbol: 'GBPCHF_I',
      page: 1_000_000,
      limit: 100,
    })
    expect(await askedBy('/trades?startDate=2026-01-31&endDate=2026-01-31&profitFilter=loss&limit=1&cursor=abc')).toEqual({
      filter: {
        accountId: undefined,
        symbol: undefined,
        from: Date.parse('2026-01-31T00:00:00.000Z'),
        to: Date.parse('2026-01-31T23:59:59.999Z'),
        profit: 'loss',
      },
      limit: 1,
      cursor: 'abc',
    })
    expect(await askedBy('/trades/stats?startDate=2026-01-31T01:00:00%2B02:00&endDate=2026-01-31T01:00:00.5')).toMatchObject({
      from: Date.parse('2026-01-30T23:00:00.000Z'),
      to: Date.parse('2026-01-31T01:00:00.500Z'),
    })
    expect(await askedBy(`/accounts/${accountId}/history?interval=1w&startDate=2026-01-01`)).toEqual({
      from: Date.parse('2026-01-01T00:00:00.000Z'),
      to: undefined,
      interval: '1w',
    })
    expect(await askedBy('/symbols?search=us+dollar&type=forex')).toEqual({ search: 'us dollar', type: 'forex' })
  })

  it('leaves an empty cursor to the use case, which answers INVALID_CURSOR (4.5)', async () => {
    expect(await askedBy('/trades?cursor=')).toMatchObject({ cursor: '' })
  })

  it('finds no account by what is no UUID, after the query was looked at (4.1, decision 29)', async () => {
    const reply = await send(api, '/api/v1/accounts/1/history')
    expect([reply.status, reply.json.error?.code]).toEqual([404, 'ACCOUNT_NOT_FOUND'])
    expect((await send(api, '/api/v1/accounts/1/history?interval=x')).status).toBe(400)
    expect((await send(api, '/api/v1/accounts/%00')).json.error?.code).toBe('ACCOUNT_NOT_FOUND')
  })
})

// The request line takes ASCII without spaces; escapes that the row itself writes stay.
function encodeIfNeeded(value: string): string {
  return value.includes('%') ? value : encodeURIComponent(value)
}
