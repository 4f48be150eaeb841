// The export: what the file holds, how it reads back, and that writing it does not block other requests.
import { request as httpRequest } from 'node:http'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { brokerUnavailable } from '@tradeport/domain'
import type { ClosedTrade, TradeExport } from '@tradeport/domain'
import { parse } from 'csv-parse/sync'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import { accountId, closedTrade, exportOf, fakeEdge, goodKey, provenance, runApi, send } from './fakes.ts'
import type { Answer } from './fakes.ts'

const exported = async (result: TradeExport, query = ''): Promise<Answer> => {
  await using api = await runApi({ exportTrades: () => TE.right(result) })
  return await send(api, `/api/v1/trades/export${query}`)
}

const cells = (text: string): readonly Record<string, string>[] => parse(text, { columns: true, record_delimiter: '\r\n' })

describe('the CSV export', () => {
  it('is an attachment named after the UTC day, with these columns', async () => {
    const reply = await exported(exportOf([closedTrade('1')]))
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="trades_2026-11-21.csv"',
      'x-skipped-positions': '1',
      'x-request-id': 'req_1',
      'cache-control': 'no-store',
    })
    expect(reply.text).toBe(
      [
        'id,accountId,positionId,symbol,type,volume,entryPrice,exitPrice,profit,commission,swap,netProfit,holdingTime,openedAt,closedAt,volumeEstimated',
        `${accountId}:1,${accountId},1,EURUSD,sell,0.3,1.23456,1.2,12.3,-0.7,-0.1,11.5,3600,2026-11-19T00:00:00.000Z,2026-11-19T01:00:00.999Z,false`,
        '',
      ].join('\r\n'),
    )
  })

  it('of no trades is its header', async () => {
    expect((await exported(exportOf())).text).toMatch(/^id,accountId,[\w,]+\r\n$/)
  })

  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', "'\tx"],
    ['\rx', "'\rx"],
    ['\nx', "'\nx"],
    ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
    ['a,b', 'a,b'],
    ['say "x"', 'say "x"'],
    ['two\r\nlines', 'two\r\nlines'],
    ['EUR/USD.r', 'EUR/USD.r'],
    ['Ünï', 'Ünï'],
  ])('writes the symbol %j so that no spreadsheet runs it: a reader gets %j', async (symbol, read) => {
    const [row] = cells((await exported(exportOf([closedTrade('1', { symbol })]))).text)
    expect(row?.['symbol']).toBe(read)
    expect(row?.['closedAt']).toBe('2026-11-19T01:00:00.999Z')
  })

  it('writes numbers as they are, in plain digits, never escaped', async () => {
    const trade = closedTrade('1', { profit: -12.5, commission: 1e-7, swap: -0, netProfit: 1e21, volumeEstimated: true })
    const [row] = cells((await exported(exportOf([trade]))).text)
    expect(row).toMatchObject({
      profit: '-12.5',
      commission: '0.0000001',
      swap: '0',
      netProfit: '1000000000000000000000',
      volumeEstimated: 'true',
    })
  })
})

describe('the JSON export', () => {
  it('holds the trades as the list shows them, and where they come from', async () => {
    const reply = await exported(exportOf([closedTrade('2', { swap: -0 })], [closedTrade('1')]), '?format=json')
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'content-disposition': 'attachment; filename="trades_2026-11-21.json"',
      'x-skipped-positions': '1',
    })
    const file = JSON.parse(reply.text) as { readonly trades: readonly Record<string, unknown>[]; readonly provenance: unknown }
    expect(Object.keys(file)).toEqual(['trades', 'provenance'])
    expect(file.trades.map(({ positionId }) => positionId)).toEqual(['2', '1'])
    await using api = await runApi({
      listTrades: () => TE.right({ trades: [closedTrade('1')], total: 1, before: 0, provenance, cursor: undefined }),
    })
    const listed = (await send(api, '/api/v1/trades')).json
    expect([file.trades[1]]).toEqual(listed.data)
    expect(file.provenance).toEqual(listed.meta?.['provenance'])
  })

  it('of no trades is still JSON', async () => {
    expect(JSON.parse((await exported(exportOf(), '?format=json')).text)).toMatchObject({ trades: [] })
  })
})

const pageOf = (page: number): readonly ClosedTrade[] =>
  Array.from({ length: 1_000 }, (_, index) => closedTrade(String(page * 1_000 + index)))

const broken = async function* () {
  yield pageOf(0)
  throw new Error('a trade changed')
}

describe('a long export', () => {
  const pages = Array.from({ length: 10 }, (_, page) => pageOf(page))
  const many = exportOf(...pages)

  it.each(['csv', 'json'])('as %s is complete, and yields to other requests after every few milliseconds', async (format) => {
    const steps: number[] = []
    let resumed = process.threadCpuUsage()
    const breathe = async (): Promise<void> => {
      const { user, system } = process.threadCpuUsage(resumed)
      steps.push((user + system) / 1_000)
      await turn()
      resumed = process.threadCpuUsage()
    }
    await using api = await runApi({ exportTrades: () => TE.right(many) }, fakeEdge({ breathe }))
    const { text } = await send(api, `/api/v1/trades/export?format=${format}`)
    const read =
      format === 'csv' ? cells(text) : (JSON.parse(text) as { readonly trades: readonly { readonly positionId: string }[] }).trades
    expect(read.map((trade) => trade['positionId' as never])).toEqual(pages.flat().map(({ trade }) => trade.positionId))
    expect(steps.length).toBeGreaterThanOrEqual(50)
    // Processor time and the median, because a shared machine may hold up any one step.
    const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)]
    expect(median).toBeLessThan(5)
  })

  it('stops when the caller hangs up, and logs nothing', async () => {
    let read = 0
    const pagesForEver = async function* () {
      for (;;) {
        read += 1
        yield pageOf(read)
        await wait(2)
      }
    }
    const edge = fakeEdge()
    await using api = await runApi({ exportTrades: () => TE.right({ ...many, pages: pagesForEver() }) }, edge)
    await new Promise<void>((resolve) => {
      const request = httpRequest(
        { host: '127.0.0.1', port: api.port, path: '/api/v1/trades/export', headers: { 'x-api-key': goodKey } },
        (response) => {
          response.once('data', () => request.destroy())
          response.on('error', () => undefined)
          response.on('close', resolve)
        },
      )
      request.on('error', () => undefined)
      request.end()
    })
    // A busy server notices it late.
    const isStill = async (): Promise<boolean> => {
      const before = read
      await wait(60)
      return read === before
    }
    await expect.poll(isStill).toBe(true)
    expect(edge.lines).toEqual([])
  })

  it.each(['csv', 'json'])(
    'whose pages end with an error is cut off as %s, not ended as if it were complete, and is logged',
    async (format) => {
      const edge = fakeEdge()
      await using api = await runApi({ exportTrades: () => TE.right({ ...many, pages: broken() }) }, edge)
      await expect(send(api, `/api/v1/trades/export?format=${format}`)).rejects.toThrow('aborted')
      const cutOff = { level: 'error', fields: { requestId: 'req_1', err: { message: 'a trade changed' } }, message: 'a reply was cut off' }
      expect(edge.lines).toMatchObject([cutOff])
    },
  )

  it('that cannot begin answers the error in its envelope', async () => {
    await using api = await runApi({ exportTrades: () => TE.left(brokerUnavailable(accountId, 'down')) })
    const reply = await send(api, '/api/v1/trades/export')
    expect([reply.status, reply.json.error?.code, reply.headers['content-disposition']]).toEqual([503, 'BROKER_UNAVAILABLE', undefined])
  })
})
