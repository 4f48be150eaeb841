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

const readJson = (file: string): Json => JSON.parse(readFileSync(join(folder, file), 'utf8'))
const readHistory = (name: string): HistoryFile => readJson(`${name}.json`)
const readExpected = (name: string): Expected => readJson(`${name}.expected.json`)

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

  it.each(names)('%s: the list, the statistics and the export are as expected', async (name) => {
    const { trades, skipped, statistics } = readExpected(name)
    const newestFirst = trades.toReversed()
    const get = async (path: string): Promise<Json> => (await service.get(path, keyOf(name))).body
    const read: Json[] = []
    for (let query: string | undefined = ''; query !== undefined;) {
      const { data, meta } = await get(`/trades?limit=100${query}`)
      read.push(...data)
      const { cursor } = meta.pagination
      query = cursor && `&cursor=${encodeURIComponent(cursor)}`
    }
    // Money, volumes and times to the last digit; prices are quotients.
    const shown = newestFirst.map((trade) => ({
      ...trade,
      entryPrice: expect.closeTo(Number(trade['entryPrice']), 7),
      exitPrice: expect.closeTo(Number(trade['exitPrice']), 7),
      accountId: accountOf(name),
    }))
    expect(read).toMatchObject(shown)
    expect((await get('/trades/export?format=json')).trades).toEqual(read)
    const { data, meta } = await get('/trades/stats')
    const { totalTrades, netProfit, maxDrawdown } = statistics
    expect(data).toMatchObject({ totalTrades, netProfit, maxDrawdown })
    expect(new Set(meta.provenance.skipped)).toEqual(
      new Set(skipped.map((row) => ({ accountId: accountOf(name), ...row }))),
    )
  })
})
