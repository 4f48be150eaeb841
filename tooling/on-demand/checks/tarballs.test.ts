// The published packages as they would be published: what is in the tarballs, what the two linters
// of packages report, and programs that use them where there is nothing of this workspace.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { createClient } from '@tradeport/client'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const packages = join(root, 'packages')
const published = readdirSync(packages).filter((name) => !manifestIn(join(packages, name)).private)
const folder = mkdtempSync(join(tmpdir(), 'tradeport-packed-'))
const installed = (name: string): string => join(folder, 'node_modules/@tradeport', name)

function manifestIn(path: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
}

/** Runs a program in the folder, and returns what it prints. */
const run = (program: string, ...parameters: readonly string[]): string =>
  execFileSync(program, parameters, { cwd: folder, encoding: 'utf8' })

/** As strictly as somebody may compile, without the types of Node. */
const compile = (text: string): void => {
  writeFileSync(join(folder, 'consumer.ts'), text)
  const strictest = '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false'
  const platform = '--module nodenext --target es2022 --lib es2023,dom --types'
  const parameters = `${strictest} ${platform}`.split(' ')
  run(
    process.execPath,
    join(root, 'node_modules/typescript/bin/tsc'),
    ...parameters,
    '',
    'consumer.ts',
  )
}

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const name of published) {
    mkdirSync(installed(name), { recursive: true })
    const npmExecPath = process.env['npm_execpath'] ?? ''
    const pnpm = npmExecPath.includes('pnpm') ? [process.execPath, npmExecPath] : ['pnpm']
    const [program = '', ...first] = pnpm
    execFileSync(program, [...first, 'pack', '--out', join(folder, `${name}.tgz`)], {
      cwd: join(packages, name),
    })
    run('tar', '-xzf', `${name}.tgz`, '-C', installed(name), '--strip-components=1')
  }
  symlinkSync(join(packages, 'domain/node_modules/fp-ts'), join(folder, 'node_modules/fp-ts'))
})
afterAll(() => rmSync(folder, { recursive: true }))

it('finds the published packages, of one version', () => {
  expect(published).toEqual(['client', 'domain'])
  expect(published.map((name) => manifestIn(join(packages, name)).version)).toEqual([
    '1.0.0',
    '1.0.0',
  ])
})

describe.each(published)('the package %s', (name) => {
  it('holds its manifest, its README, the license and what was built, and nothing else', () => {
    expect(readdirSync(installed(name)).toSorted()).toEqual(
      ['LICENSE', 'README.md', 'dist', 'package.json'].toSorted(),
    )
    const built = readdirSync(join(installed(name), 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .map((file) => join(packages, name, 'src', file.replace(/js$/, 'ts')))
    expect(
      built.filter((source) => !existsSync(source)),
      'remove dist and build again',
    ).toEqual([])
  })

  it('satisfies publint and attw, and names no source', async () => {
    const content = new Uint8Array(readFileSync(join(folder, `${name}.tgz`)))
    const { messages, pkg } = await publint({ pack: { tarball: content.buffer }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
    const checked = await checkPackage(createPackageFromTarballData(content))
    if (checked.types === false) throw new Error('no types were found')
    // The packages are ESM alone.
    const problems = checked.problems.filter(
      (problem) =>
        !('resolutionKind' in problem) || !/^node(10|16-cjs)$/.test(problem.resolutionKind),
    )
    expect(problems).toEqual([])
    const manifest = manifestIn(installed(name))
    expect(JSON.stringify(manifest)).not.toMatch(/src\/|workspace:|@tradeport\/source/)
    expect(Object.keys(manifest.dependencies ?? {})).toEqual(name === 'domain' ? ['fp-ts'] : [])
  })
})

it('lets the client run with every method, with types that need nothing of Node', () => {
  const program = `import { createClient } from '@tradeport/client'; console.log(Object.keys(createClient({ baseUrl: '/api/v1' })).join())`
  expect(run(process.execPath, '--input-type=module', '-e', program).trim().split(',')).toEqual(
    Object.keys(createClient({ baseUrl: '/api/v1' })),
  )
  compile(`import { createClient, isTradeportError, readWebhook, type Trade, type WebhookEvent } from '@tradeport/client'
const tradeport = createClient({ baseUrl: '/api/v1', accessToken: async () => 'token' })
export const trades: AsyncIterable<Trade> = tradeport.listTrades.each({ symbol: 'EURUSD' })
export const received = (body: Uint8Array, headers: Headers): Promise<WebhookEvent | undefined> => readWebhook({ secret: 'secret', body, headers })
export const priceOf = (error: unknown): number | undefined =>
  isTradeportError(error) && error.code === 'INVALID_PRICE' ? error.details.currentPrice : undefined
// @ts-expect-error: a side is buy or sell
void tradeport.placeOrder({ accountId: 'a', symbol: 'EURUSD', type: 'long', orderType: 'market', volume: 0.1 })
`)
})

it('lets examples/statistics print figures that were added up by hand', () => {
  for (const file of ['statistics.js', 'deals.json'])
    cpSync(join(root, 'examples/statistics', file), join(folder, file))
  const { statistics, skipped, trades } = JSON.parse(run(process.execPath, 'statistics.js'))
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
  expect(trades.map(({ positionId }: { positionId: string }) => positionId)).toEqual([
    ...['71', '72', '73', '74', '76'],
  ])
  compile(`import { foldDeals, tradeStatistics, type Deal } from '@tradeport/domain'
const deals: readonly Deal[] = []
export const netProfit: number = tradeStatistics(foldDeals(deals).trades).netProfit
`)
})
