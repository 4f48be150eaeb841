// Real MetaTrader histories, read as a user would: page by page, in the list, the statistics and
// both exports. Every figure of them is tested in packages/domain. The histories are not part of
// the repository; where they are absent, the test says so and does not run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HistoryFile } from '@tradeport/sandbox-broker'
import { keyOf, linkDocument, newAccountUuid } from './support/desk.ts'
import { startTestService } from './support/service.ts'
import type { Json, TestService } from './support/service.ts'

interface ExpectedTrade {
  readonly positionId: string
  readonly [field: string]: unknown
}
interface Expected {
  readonly trades: readonly ExpectedTrade[]
  readonly skipped: readonly { readonly positionId: string; readonly reason: string }[]
  readonly statistics: Record<string, unknown>
}

const folder = process.env['TEST_HISTORIES'] ?? ''
const names = existsSync(folder)
  ? readdirSync(folder)
      .filter((file) => file.endsWith('.expected.json'))
      .map((file) => file.slice(0, -'.expected.json'.length))
  : []
const pageSize = 100

const readJson = (file: string): Json => JSON.parse(readFileSync(join(folder, file), 'utf8'))
const readHistory = (name: string): HistoryFile => readJson(`${name}.json`)
const readExpected = (name: string): Expected => readJson(`${name}.expected.json`)
const byPosition = (rows: Expected['skipped']) =>
  rows.toSorted((a, b) => (a.positionId < b.positionId ? -1 : 1))

const where = names.length > 0 ? '' : ` (not run: TEST_HISTORIES names no folder with histories)`

describe.skipIf(names.length === 0)(`real histories through HTTP${where}`, () => {
  let service: TestService
  const accountOf = (name: string): string => newAccountUuid(names.indexOf(name))
  beforeAll(async () => {
    service = await startTestService(
      names.map((name) => ({ id: name, history: readHistory(name) })),
    )
    // A user for each, because a user may export ten times an hour.
    await service.setUp(
      ...names.map((name) =>
        linkDocument({ user: name, accounts: [{ id: accountOf(name), providerAccountId: name }] }),
      ),
    )
  })
  afterAll(() => service?.close())

  it.each(names)(
    '%s: the list, the statistics, both exports and single trades are as expected',
    async (name) => {
      const expected = readExpected(name)
      const newestFirst = expected.trades.toReversed()
      const get = async (path: string) => service.get(path, keyOf(name))
      const read: Record<string, unknown>[] = []
      let query: string | undefined = ''
      while (query !== undefined) {
        const { body } = await get(`/trades?limit=${pageSize}${query}`)
        expect(body.meta.pagination).toMatchObject({
          total: expected.trades.length,
          page: read.length / pageSize + 1,
        })
        read.push(...body.data)
        query =
          body.meta.pagination.cursor === undefined
            ? undefined
            : `&cursor=${encodeURIComponent(body.meta.pagination.cursor)}`
      }
      expectTrades(read, newestFirst, accountOf(name))

      const { body: statistics } = await get('/trades/stats')
      const { totalTrades, netProfit, maxDrawdown } = expected.statistics
      expect(statistics.data).toMatchObject({ totalTrades, netProfit, maxDrawdown })
      expect(byPosition(statistics.meta.provenance.skipped)).toEqual(
        byPosition(expected.skipped.map((row) => ({ accountId: accountOf(name), ...row }))),
      )

      const json = await get('/trades/export?format=json')
      expect(json.headers.get('x-skipped-positions')).toBe(String(expected.skipped.length))
      expectTrades(json.body.trades, newestFirst, accountOf(name))
      const csv: string = (await get('/trades/export')).body
      expect(csv.split('\r\n').map((row) => row.split(',')[2])).toEqual([
        'positionId',
        ...newestFirst.map(({ positionId }) => positionId),
        undefined,
      ])

      const trade = expected.trades[Math.floor(expected.trades.length / 2)]
      if (trade !== undefined)
        expectTrades(
          [(await get(`/trades/${accountOf(name)}:${trade.positionId}`)).body.data],
          [trade],
          accountOf(name),
        )
    },
  )
})

/** Money, volumes and times to the last digit; prices are quotients. */
const expectTrades = (
  read: readonly Record<string, unknown>[],
  expected: readonly ExpectedTrade[],
  accountId: string,
): void => {
  const priced = expected.map((trade) => ({
    ...trade,
    entryPrice: expect.closeTo(Number(trade['entryPrice']), 7),
    exitPrice: expect.closeTo(Number(trade['exitPrice']), 7),
    id: `${accountId}:${trade.positionId}`,
    accountId,
  }))
  expect(read).toMatchObject(priced)
}
