// The example outside the workspace, as its README says: it installs the packed domain, folds a
// deal list and prints statistics.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foldDeals, tradeStatistics } from '@tradeport/domain'
import type { Deal } from '@tradeport/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile, installedPackages, runLines } from '../src/install.ts'
import { root } from '../src/pack.ts'

const example = join(root, 'examples/statistics')
const made = ['node_modules', 'pnpm-lock.yaml']

describe('examples/statistics', () => {
  let folder: string
  let printed: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tradeport-example-'))
    // Without what somebody who tried it here has left in it.
    await cp(example, folder, {
      recursive: true,
      filter: (path) => !made.some((name) => path.endsWith(name)) && !path.endsWith('.tgz'),
    })
    const lines = shellLines(await readFile(join(example, 'README.md'), 'utf8'))
    printed = await runLines(lines, folder, [join(root, 'packages/domain/node_modules/fp-ts')])
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('installs the domain and fp-ts, and no HTTP, database or broker package', () => {
    expect(installedPackages(folder)).toEqual(['@tradeport/domain', 'fp-ts'])
  })

  it('prints the trades and the statistics of its deals', async () => {
    const deals = await readDeals()
    const { trades, skipped } = foldDeals(deals)
    const told = JSON.parse(printed)
    expect(told.statistics).toEqual(tradeStatistics(trades))
    expect(told.skipped).toEqual(skipped)
    expect(told.trades.map(({ positionId }: { positionId: string }) => positionId)).toEqual([
      '71',
      '72',
      '73',
      '74',
      '76',
    ])
  })

  it('prints figures that were added up by hand', () => {
    const { statistics, skipped } = JSON.parse(printed)
    // 34.10 − 1.40 − 0.31; −85.50 − 0.70 − 0.86; 82.20 − 2.10; 10.20 − 1.40; −23.63 − 0.70
    expect(statistics).toMatchObject({
      totalTrades: 5,
      winRate: 60,
      totalProfit: 121.29,
      totalLoss: 111.39,
      netProfit: 9.9,
      maxDrawdown: 87.06,
    })
    expect(skipped).toEqual([{ positionId: '75', reason: 'no_open_deal' }])
  })

  it('has types that are read without those of Node or of a test runner', async () => {
    await writeFile(join(folder, 'consumer.ts'), consumer)
    await compile('consumer.ts', folder)
  })
})

const consumer = `import { foldDeals, tradeStatistics } from '@tradeport/domain'
import type { Deal } from '@tradeport/domain'
const deals: readonly Deal[] = []
export const netProfit: number = tradeStatistics(foldDeals(deals).trades).netProfit
`

const shellLines = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.split('\n').filter((line) => line !== ''),
  )

const readDeals = async (): Promise<readonly Deal[]> => {
  const deals: readonly (Deal & { time: string })[] = JSON.parse(
    await readFile(join(example, 'deals.json'), 'utf8'),
  )
  return deals.map((deal) => ({ ...deal, time: Date.parse(deal.time) }))
}
