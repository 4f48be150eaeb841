// What query parameters are refused, and what accepted ones become.
import * as TE from 'fp-ts/lib/TaskEither.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UseCases } from '../src/index.ts'
import { accountId, fakeUseCases, issuesOf, noStatistics, provenance, runApi, send } from './fakes.ts'
import type { Running } from './fakes.ts'
import type { Issue } from '@tradeport/domain'

describe('a query', () => {
  let api: Running
  const calls: unknown[][] = []
  const recording =
    <A extends readonly unknown[], R>(useCase: (...inputs: A) => R) =>
    (...inputs: A): R => {
      calls.push([...inputs])
      return useCase(...inputs)
    }
  const { listPositions, listTrades, listBalanceHistory, exportTrades, listSymbols } = fakeUseCases()
  const parts: Partial<UseCases> = {
    listPositions: recording(listPositions),
    listTrades: recording(listTrades),
    listBalanceHistory: recording(listBalanceHistory),
    exportTrades: recording(exportTrades),
    listSymbols: recording(listSymbols),
    getTradeStatistics: recording(() => TE.right({ statistics: noStatistics, provenance, warnings: [] })),
  }
  beforeAll(async () => {
    api = await runApi(parts)
  })
  afterAll(() => api[Symbol.asyncDispose]())

  const faultsOf = async (target: string): Promise<readonly Issue[]> => issuesOf(await send(api, `/api/v1${target}`))

  /** The last input of the use case. */
  const inputOf = async (target: string): Promise<unknown> => {
    calls.length = 0
    expect((await send(api, `/api/v1${target}`)).status).toBe(200)
    return calls[0]?.at(-1)
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
  )('refuses %s, which is not a limit from 1 to 100', async (target) => {
    const [issue] = await faultsOf(target)
    expect(issue?.path).toBe('limit')
    expect(issue?.message).toMatch(/^limit must be a whole number from 1 to 100; got "/)
  })

  it.each([
    ['/positions?page=0', 'page', 'page must be a whole number from 1 to 1000000; got "0"'],
    ['/positions?page=1000001', 'page', 'page must be a whole number from 1 to 1000000; got "1000001"'],
    ['/positions?page=1&page=2', 'page', 'page must be a whole number from 1 to 1000000; got a list of 2'],
    ['/positions?accountId=1', 'accountId', 'accountId must be the UUID of a linked account; got "1"'],
    ['/positions?accountId=', 'accountId', 'accountId must be the UUID of a linked account; got ""'],
    [
      '/positions?symbol=eurusd',
      'symbol',
      'symbol must be 1 to 32 visible characters with letters in capitals, such as EURUSD; got "eurusd"',
    ],
    ['/trades?symbol=EURUSDm', 'symbol', /got "EURUSDm"$/],
    ['/trades/stats?symbol=', 'symbol', /got ""$/],
    ['/trades?profitFilter=Profit', 'profitFilter', 'profitFilter must be one of profit, loss, all; got "Profit"'],
    ['/trades?startDate=2026-02-30', 'startDate', /^startDate must be an ISO 8601 date or date-time.*; got "2026-02-30"$/],
    ['/trades?endDate=yesterday', 'endDate', /got "yesterday"$/],
    ['/trades?startDate=2026-01-01T00:00:00+02:00', 'startDate', /\(write a \+ as %2B\); got "2026-01-01T00:00:00 02:00"$/],
    ['/trades?startDate=2026-01-02&endDate=2026-01-01', 'startDate', 'startDate must not be after endDate'],
    ['/trades/stats?startDate=2026-01-02&endDate=2026-01-01', 'startDate', 'startDate must not be after endDate'],
    ['/trades/export?startDate=2026-01-02&endDate=2026-01-01', 'startDate', 'startDate must not be after endDate'],
    [`/accounts/${accountId}/history?startDate=2026-01-02&endDate=2026-01-01`, 'startDate', 'startDate must not be after endDate'],
    [`/accounts/${accountId}/history?interval=1m`, 'interval', 'interval must be one of 1h, 1d, 1w; got "1m"'],
    ['/trades/export?format=xml', 'format', 'format must be one of csv, json; got "xml"'],
    ['/symbols?type=bond', 'type', 'type must be one of forex, metal, commodity, index, stock; got "bond"'],
    ['/symbols?search=', 'search', 'search must be text of 1 to 50 characters without the character U+0000; got ""'],
    [
      `/symbols?search=${'😀'.repeat(51)}`,
      'search',
      /^search must be text of 1 to 50 characters without the character U\+0000; got "😀{51}"$/u,
    ],
    ['/symbols?type=tp_live_abc', 'type', /; got a value that is not shown here$/],
    ['/quotes/eurusd', 'symbol', /got "eurusd"$/],
    ['/quotes/%00', 'symbol', /got "\\u0000"$/],
    ['/candles/EURUSD', 'timeframe', 'timeframe is required; it must be one of 1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w, 1M'],
    ['/candles/EURUSD?timeframe=1H', 'timeframe', /got "1H"$/],
    ['/candles/EURUSD?timeframe=1h&limit=1001', 'limit', /from 1 to 1000;/],
    ['/ticks/EURUSD?limit=10001', 'limit', /from 1 to 10000;/],
    ['/ticks/EURUSD?startTime=2026-01-02&endTime=2026-01-01', 'startTime', 'startTime must not be after endTime'],
    ['/candles/NOPE?timeframe=1h&startTime=2026-01-02&endTime=2026-01-01', 'startTime', 'startTime must not be after endTime'],
  ])('refuses %s', async (target, path, message) => {
    const issues = await faultsOf(target.replaceAll('😀', '%F0%9F%98%80'))
    expect(issues).toHaveLength(1)
    expect(issues[0]?.path).toBe(path)
    expect(issues[0]?.message).toMatch(message)
  })

  it('reports every fault of the path, the query and the range', async () => {
    const issues = await faultsOf('/candles/eurusd?timeframe=2h&startTime=2026-01-02&endTime=2026-01-01&limit=0')
    expect(issues.map(({ path }) => path)).toEqual(['symbol', 'timeframe', 'limit', 'startTime'])
    const { json } = await send(api, '/api/v1/candles/eurusd?timeframe=2h&limit=0&startTime=x')
    expect(json.error?.message).toMatch(/^symbol must be .*; timeframe must be .*; and 1 more\.$/)
  })

  it('has these defaults', async () => {
    expect(await inputOf('/positions')).toEqual({ page: 1, limit: 20 })
    expect(await inputOf('/trades')).toMatchObject({ limit: 20, filter: { profit: 'all' } })
    expect(await inputOf('/trades/export')).toEqual({ profit: 'all' })
  })

  it('accepts ids in either case, a date as a whole day, an offset and a fraction of a second', async () => {
    expect(await inputOf(`/positions?accountId=${accountId.toUpperCase()}&symbol=GBPCHF_I&page=1000000&limit=100`)).toEqual({
      accountId,
      symbol: 'GBPCHF_I',
      page: 1_000_000,
      limit: 100,
    })
    expect(await inputOf('/trades?startDate=2026-01-31&endDate=2026-01-31&profitFilter=loss&limit=1&cursor=abc')).toEqual({
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
    expect(await inputOf('/trades/stats?startDate=2026-01-31T01:00:00%2B02:00&endDate=2026-01-31T01:00:00.5')).toMatchObject({
      from: Date.parse('2026-01-30T23:00:00.000Z'),
      to: Date.parse('2026-01-31T01:00:00.500Z'),
    })
    expect(await inputOf(`/accounts/${accountId}/history?interval=1w&startDate=2026-01-01`)).toEqual({
      from: Date.parse('2026-01-01T00:00:00.000Z'),
      to: undefined,
      interval: '1w',
    })
    expect(await inputOf('/symbols?search=us+dollar&type=forex')).toEqual({ search: 'us dollar', type: 'forex' })
  })

  it('leaves an empty cursor to the use case, which refuses it', async () => {
    expect(await inputOf('/trades?cursor=')).toMatchObject({ cursor: '' })
  })

  it('is checked before the id of an account, of which a malformed one names no account', async () => {
    const reply = await send(api, '/api/v1/accounts/1/history')
    expect([reply.status, reply.json.error?.code]).toEqual([404, 'ACCOUNT_NOT_FOUND'])
    expect((await send(api, '/api/v1/accounts/1/history?interval=x')).status).toBe(400)
    expect((await send(api, '/api/v1/accounts/%00')).json.error?.code).toBe('ACCOUNT_NOT_FOUND')
  })
})

// Escapes that the row itself writes stay.
function encodeIfNeeded(value: string): string {
  return value.includes('%') ? value : encodeURIComponent(value)
}
