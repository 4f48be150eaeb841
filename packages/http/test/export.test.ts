// The export: what the file holds, how it reads back, and that writing it does not block other
// requests.
import { times } from '@tradeport/testkit'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { scopes } from '@tradeport/domain/access'
import { refuse } from '@tradeport/domain/errors'
import type { ClosedTrade } from '@tradeport/domain/trades'
import type { TradeExport } from '@tradeport/domain/use-cases'
import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { describe, expect, it } from 'vitest'
import {
  accountId,
  closedTrade,
  credential,
  exportOf,
  fakeDependencies,
  goodKey,
  provenance,
  runApi,
  send,
} from './fakes.ts'
import { converse } from './raw.ts'

const exported = async (result: TradeExport, query = '') => {
  await using api = await runApi({ exportTrades: () => TE.right(result) })
  return await send(api, `/api/v1/trades/export${query}`)
}

const cells = (text: string): readonly Record<string, string>[] =>
  parse(text, { columns: true, record_delimiter: '\r\n' })

const anyNumber = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ min: -1e-5, max: 1e-5, noNaN: true }),
    fc.constantFrom(
      1e-7,
      -1e-7,
      1e21,
      -1.5e300,
      1e-80,
      1.7976931348623157e308,
      123456789012345680000,
      0.1 + 0.2,
      -0,
      0,
    ),
  )
  // Smaller ones have digits beyond the hundredth decimal place.
  .filter((value) => value === 0 || Math.abs(value) > 1e-81)

const anyText = fc.string({
  unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', "'", 'a', '1', '😀'),
})

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

  it('reads back as what was written: numbers in plain digits, text that a spreadsheet would run behind an apostrophe', async () => {
    let trades: readonly ClosedTrade[] = []
    await using api = await runApi({ exportTrades: () => TE.right(exportOf(trades)) })
    const trade = fc.record(
      { symbol: anyText, profit: anyNumber, volumeEstimated: fc.constant(true as const) },
      { requiredKeys: ['symbol', 'profit'] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(trade, { maxLength: 50 }), async (all) => {
        trades = all.map((parts, index) => closedTrade(String(index), parts))
        const rows = cells((await send(api, '/api/v1/trades/export')).text)
        const numbers = rows.map(({ profit = '' }) => profit)
        expect(numbers.filter((text) => !/^-?\d+(\.\d+)?$/.test(text))).toEqual([])
        // -0 is written as 0.
        expect(numbers.map(Number)).toEqual(all.map(({ profit }) => profit + 0))
        expect(rows.map((row) => [row['symbol'], row['volumeEstimated']])).toEqual(
          all.map(({ symbol, volumeEstimated = false }) => [
            /^[=+\-@\t\r\n]/.test(symbol) ? `'${symbol}` : symbol,
            String(volumeEstimated),
          ]),
        )
      }),
      { numRuns: 50 },
    )
  })
})

describe('the JSON export', () => {
  it('holds the trades as the list shows them, and where they come from', async () => {
    const reply = await exported(
      exportOf([closedTrade('2', { swap: -0 })], [closedTrade('1')]),
      '?format=json',
    )
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json',
      'content-disposition': 'attachment; filename="trades_2026-11-21.json"',
      'x-skipped-positions': '1',
    })
    const file = JSON.parse(reply.text) as {
      readonly trades: readonly Record<string, unknown>[]
      readonly provenance: unknown
    }
    expect(Object.keys(file)).toEqual(['trades', 'provenance'])
    expect(file.trades.map(({ positionId }) => positionId)).toEqual(['2', '1'])
    expect(file.trades[1]).toMatchObject({ id: `${accountId}:1`, symbol: 'EURUSD', type: 'sell' })
    expect(file.provenance).toMatchObject({ skipped: provenance.skipped })
    expect(reply.headers).not.toHaveProperty('x-warnings')
  })

  it('says that the history is incomplete, as that in CSV does by a header', async () => {
    const incomplete = { code: 'history_incomplete', accounts: [accountId] } as const
    const warned = { ...exportOf([]), warnings: [incomplete] }
    const json = await exported(warned, '?format=json')
    expect(JSON.parse(json.text)).toMatchObject({ warnings: [incomplete] })
    for (const { headers } of [json, await exported(warned)])
      expect(headers).toMatchObject({ 'x-warnings': 'history_incomplete' })
  })
})

const pageOf = (page: number): readonly ClosedTrade[] =>
  times(1_000, (index) => closedTrade(String(page * 1_000 + index)))

const broken = async function* (first = pageOf(0)) {
  yield first
  throw new Error('a trade changed')
}

describe('a long export', () => {
  const pages = times(10, (page) => pageOf(page))
  const many = exportOf(...pages)

  it.each(['csv', 'json'])(
    'as %s is complete, and yields to other requests after every few milliseconds',
    async (format) => {
      const steps: number[] = []
      let resumed = process.threadCpuUsage()
      const yieldToEventLoop = async () => {
        const { user, system } = process.threadCpuUsage(resumed)
        steps.push((user + system) / 1_000)
        await turn()
        resumed = process.threadCpuUsage()
      }
      await using api = await runApi(
        { exportTrades: () => TE.right(many) },
        fakeDependencies({ yieldToEventLoop }),
      )
      const { text } = await send(api, `/api/v1/trades/export?format=${format}`)
      const read =
        format === 'csv'
          ? cells(text)
          : (JSON.parse(text) as { readonly trades: readonly { readonly positionId: string }[] })
              .trades
      expect(read.map((trade) => trade['positionId' as never])).toEqual(
        pages.flat().map(({ trade }) => trade.positionId),
      )
      expect(steps.length).toBeGreaterThanOrEqual(50)
      // Processor time and the median, because a shared machine may hold up any one step.
      const median = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)]
      expect(median).toBeLessThan(5)
    },
  )

  it('stops when the caller hangs up, and is reported without an error', async () => {
    let read = 0
    const pagesForEver = async function* () {
      for (;;) {
        read += 1
        yield pageOf(read)
        await wait(2)
      }
    }
    const dependencies = fakeDependencies()
    const { answered } = dependencies
    await using api = await runApi(
      { exportTrades: () => TE.right({ ...many, pages: pagesForEver() }) },
      dependencies,
    )
    const hangUp = new AbortController()
    const { body } = await fetch(`${api.origin}/api/v1/trades/export`, {
      headers: { 'x-api-key': goodKey },
      signal: hangUp.signal,
    })
    await body?.getReader().read()
    expect(answered).toEqual([])
    hangUp.abort()
    // A busy server notices it late.
    const isStill = async () => {
      const before = read
      await wait(60)
      return read === before
    }
    await expect.poll(isStill).toBe(true)
    const expected = [{ route: '/api/v1/trades/export', status: 200 }]
    await expect.poll(() => answered).toMatchObject(expected)
    expect(dependencies.lines).toEqual([])
  })

  it('goes on after a pause of its reader in which the credential could not be checked', async () => {
    let isUnavailable = false
    await using api = await runApi({
      identifyCaller: () =>
        isUnavailable
          ? TE.left(refuse('ServiceUnavailable', { reason: 'no database' }))
          : TE.right(credential(scopes)),
      exportTrades: () => TE.right(exportOf(...Array(10).fill(pages).flat())),
    })
    const reply = await fetch(`${api.origin}/api/v1/trades/export`, {
      headers: { 'x-api-key': goodKey },
    })
    isUnavailable = true
    await wait(1_500)
    const lines = (await reply.text()).trimEnd().split('\r\n')
    expect(lines.length - 1).toBe(100_000)
  })

  it('whose caller hung up before it began is reported as well', async () => {
    const dependencies = fakeDependencies()
    const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const exportTrades = () => async () => {
      started.resolve()
      await released.promise
      return E.right(many)
    }
    await using api = await runApi({ exportTrades }, dependencies)
    const socket = connect(api.port, '127.0.0.1')
    socket.write(`GET /api/v1/trades/export HTTP/1.1\r\nHost: any\r\nX-API-Key: ${goodKey}\r\n\r\n`)
    await started.promise
    socket.destroy()
    // Until the server has noticed.
    await wait(100)
    released.resolve()
    await expect
      .poll(() => dependencies.answered)
      .toMatchObject([{ route: '/api/v1/trades/export' }])
  })

  it.each(['csv', 'json'])(
    'whose pages end with an error is cut off as %s, not ended as if it were complete, and is logged',
    async (format) => {
      const dependencies = fakeDependencies()
      await using api = await runApi(
        { exportTrades: () => TE.right({ ...many, pages: broken() }) },
        dependencies,
      )
      const target = `/api/v1/trades/export?format=${format}`
      await expect(send(api, target)).rejects.toMatchObject({ code: 'ECONNRESET' })
      const cutOff = {
        level: 'error',
        fields: { requestId: 'req_1', err: { message: 'a trade changed' } },
        message: 'a reply was cut off',
      }
      expect(dependencies.lines).toMatchObject([cutOff])
      const old = `GET ${target} HTTP/1.0\r\nX-API-Key: ${goodKey}\r\n\r\n`
      await expect(converse(api.port, old)).rejects.toMatchObject({ code: 'ECONNRESET' })
    },
  )

  it('that fails leaves the reply to the request before it whole', async () => {
    const first = Promise.withResolvers<typeof many>()
    const replies = [first.promise, Promise.resolve({ ...many, pages: broken([]) })]
    const exportTrades = () => async () => E.right((await replies.shift()) ?? many)
    const dependencies = fakeDependencies()
    await using api = await runApi({ exportTrades }, dependencies)
    const socket = connect(api.port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => (received += chunk.toString()))
    const target = '/api/v1/trades/export?format=csv'
    const one = `GET ${target} HTTP/1.1\r\nHost: any\r\nX-API-Key: ${goodKey}\r\n\r\n`
    socket.write(one + one)
    const ended = once(socket, 'close')
    await expect.poll(() => dependencies.lines).toHaveLength(1)
    first.resolve(many)
    await ended
    expect(received.split('HTTP/1.1 200')[1]).toMatch(/0\r\n\r\n$/)
  })
})
