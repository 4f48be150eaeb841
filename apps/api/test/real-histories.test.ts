// Real MetaTrader histories, read as a user would: through HTTP, page by page, in the list, the statistics and both exports. The histories are
// not part of the repository; where they are not there, the test says so and does not run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HistoryFile } from '@tradeport/sandbox-broker'
import { parseCsv } from './support/csv.ts'
import { providerToken, request, startTestService } from './support/running-service.ts'
import type { Json, RunningService } from './support/running-service.ts'
import { keysInTurn, linkDocument, newAccountUuid } from './support/trading-user.ts'

interface ExpectedTrade {
  readonly positionId: string
  readonly [field: string]: unknown
}
interface Expected {
  readonly trades: readonly ExpectedTrade[]
  readonly skipped: readonly { readonly positionId: string; readonly reason: string }[]
  readonly statistics: Record<string, unknown>
}

const folder = process.env['TEST_HISTORIES'] ?? resolve(import.meta.dirname, '../../../../shared/data')
const names = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith('.expected.json'))
      .map((file) => file.slice(0, -'.expected.json'.length))
  : []
const keys = keysInTurn('tp_live_only_for_automated_tests_real_histories', 20)
const pageSize = 100

const readJson = (file: string): Json => JSON.parse(readFileSync(join(folder, file), 'utf8'))
const readHistory = (name: string): HistoryFile => readJson(`${name}.json`)
const readExpected = (name: string): Expected => readJson(`${name}.expected.json`)
const byPosition = (rows: Expected['skipped']) => rows.toSorted((a, b) => (a.positionId < b.positionId ? -1 : 1))

const where = names.length > 0 ? '' : ` (not run: there are no histories in ${folder})`

describe.skipIf(names.length === 0)(`real histories through HTTP${where}`, () => {
  let service: RunningService
  const accountOf = (name: string): string => newAccountUuid(names.indexOf(name))

  beforeAll(async () => {
    service = await startTestService(names.map((name) => ({ id: name, history: readHistory(name) })))
    const accounts = names.map((name) => ({ id: accountOf(name), providerAccountId: name }))
    const linked = await service.apply(linkDocument({ tenant: 'acme', user: 'u-1', key: keys.all, providerToken }, accounts))
    expect(linked.status).toBe(200)
  })
  afterAll(() => service?.close())

  describe.each(names)('%s', (name) => {
    const expected = readExpected(name)
    const newestFirst = expected.trades.toReversed()

    it('lists every trade once over the pages of the cursor', async () => {
      const read: Record<string, unknown>[] = []
      let cursor: string | undefined
      do {
        const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const { status, body } = await service.get(`/trades?accountId=${accountOf(name)}&limit=${pageSize}${query}`, keys.next())
        expect(status).toBe(200)
        expect(body.meta.pagination).toMatchObject({ total: expected.trades.length, page: read.length / pageSize + 1, limit: pageSize })
        read.push(...body.data)
        cursor = body.meta.pagination.cursor
      } while (cursor !== undefined)
      expectTrades(read, newestFirst, accountOf(name))
    })

    it('names every skipped position with its reason', async () => {
      const { body } = await service.get(`/trades?accountId=${accountOf(name)}`, keys.next())
      expect(byPosition(body.meta.provenance.skipped)).toEqual(
        byPosition(expected.skipped.map((row) => ({ accountId: accountOf(name), ...row }))),
      )
    })

    it('gives the statistics', async () => {
      const { body } = await service.get(`/trades/stats?accountId=${accountOf(name)}`, keys.next())
      expectSame(body.data, expected.statistics, 'statistics')
    })

    it('exports the same trades as JSON', async () => {
      const { body, headers } = await service.get(`/trades/export?format=json&accountId=${accountOf(name)}`, keys.next())
      expect(headers.get('x-skipped-positions')).toBe(String(expected.skipped.length))
      expectTrades(body.trades, newestFirst, accountOf(name))
    })

    it('exports the same trades as CSV', async () => {
      const { body, headers } = await service.get(`/trades/export?accountId=${accountOf(name)}`, keys.next())
      expect(headers.get('x-skipped-positions')).toBe(String(expected.skipped.length))
      const [header = [], ...rows] = parseCsv(body)
      const records = rows.map((row) => Object.fromEntries(header.map((column, index) => [column, csvValue(column, row[index] ?? '')])))
      expectTrades(records, newestFirst, accountOf(name))
    })

    it('finds each trade by its id', async () => {
      const trade = expected.trades[Math.floor(expected.trades.length / 2)]
      if (trade === undefined) return
      const { body } = await service.get(`/trades/${encodeURIComponent(`${accountOf(name)}:${trade.positionId}`)}`, keys.next())
      expectTrades([body.data], [trade], accountOf(name))
    })
  })

  it('reads all accounts together as the union', async () => {
    const { body } = await request(`${service.apiUrl}/api/v1/trades/stats`, { headers: { 'X-API-Key': keys.next() } })
    const total = names.reduce((sum, name) => sum + readExpected(name).trades.length, 0)
    expect(body.data.totalTrades).toBe(total)
  })
})

// Money, volumes, counts and times to the last digit; prices and ratios, which are quotients, to 1e-9 relative.
const quotients = new Set([
  'entryPrice',
  'exitPrice',
  'winRate',
  'profitFactor',
  'averageWin',
  'averageLoss',
  'sharpeRatio',
  'lower',
  'upper',
])
const numberColumns = new Set(['volume', 'entryPrice', 'exitPrice', 'profit', 'commission', 'swap', 'netProfit', 'holdingTime'])

const csvValue = (column: string, text: string): unknown => {
  if (numberColumns.has(column)) return Number(text)
  if (column === 'volumeEstimated') return text === 'true' ? true : undefined
  // A text that a spreadsheet would run stands behind an apostrophe.
  return text.startsWith("'") ? text.slice(1) : text
}

const expectTrades = (read: readonly Record<string, unknown>[], expected: readonly ExpectedTrade[], accountId: string): void => {
  expect(read.map(({ positionId }) => positionId)).toEqual(expected.map(({ positionId }) => positionId))
  for (const [index, trade] of expected.entries()) {
    const row = read[index] ?? {}
    expect(row['id']).toBe(`${accountId}:${trade.positionId}`)
    expect(row['accountId']).toBe(accountId)
    expect(row['volumeEstimated']).toBe(trade['volumeEstimated'])
    for (const [field, value] of Object.entries(trade)) expectSame(row[field], value, `${trade.positionId}.${field}`)
  }
}

const expectSame = (actual: unknown, expected: unknown, path: string): void => {
  const field = path.slice(path.lastIndexOf('.') + 1)
  if (typeof expected === 'object' && expected !== null) {
    expect(Object.keys(actual ?? {}).toSorted(), path).toEqual(Object.keys(expected).toSorted())
    for (const [name, value] of Object.entries(expected)) expectSame((actual as Record<string, unknown>)[name], value, `${path}.${name}`)
    return
  }
  if (typeof expected === 'number' && quotients.has(field)) {
    const error = Math.abs((actual as number) - expected)
    expect(error <= 1e-9 * Math.abs(expected), `${path}: ${String(actual)} is not ${expected}`).toBe(true)
    return
  }
  expect(actual, path).toEqual(expected)
}
