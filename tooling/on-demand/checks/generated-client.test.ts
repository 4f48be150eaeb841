// Clients that somebody generates from the document, with two generators: each compiles under
// strict TypeScript and runs against the demo.
import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createClient as generateClient } from '@hey-api/openapi-ts'
import { newFolder, startProgram } from '@tradeport/harness'
import type { ClientOptions } from 'openapi-fetch'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)

interface Generator {
  readonly name: string
  /** Writes a client of the document into the folder. */
  readonly generate: (document: string, folder: string) => Promise<void>
  /** Uses the client. What it prints is the same with every generator. */
  readonly program: string
}

const openapiTypescript: Generator = {
  name: 'openapi-typescript and openapi-fetch',
  generate: async (document, folder) => {
    await mkdir(join(folder, 'node_modules'))
    await symlink(
      join(import.meta.dirname, '../node_modules/openapi-fetch'),
      join(folder, 'node_modules/openapi-fetch'),
    )
    await writeFile(join(folder, 'schema.ts'), astToString(await openapiTS(document)))
  },
  program: `import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'

declare const process: { readonly env: Record<string, string> }
const client = createClient<paths>(JSON.parse(process.env['OPTIONS'] ?? ''))

const accounts = await client.GET('/accounts')
if (accounts.error !== undefined) throw new Error(accounts.error.error.message)
const account = accounts.data.data.find(({ purpose, isDemo }) => purpose === 'trading' && isDemo)
if (account === undefined) throw new Error('the demo has no account for trading')

const query = { accountId: account.id, startDate: '2020-01-01', limit: 3 }
const trades = await client.GET('/trades', { params: { query } })
const firstProfit: number | undefined = trades.data?.data[0]?.netProfit
const cursor: string | undefined = trades.data?.meta.pagination.cursor

const stats = await client.GET('/trades/stats', { params: { query: { accountId: account.id } } })
const interval: { lower: number; upper: number } | null | undefined = stats.data?.data.confidenceIntervals.winRate

const header = { 'Idempotency-Key': 'openapi-typescript' }
const body = { accountId: account.id, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 } as const
const order = await client.POST('/orders', { params: { header }, body })
const again = await client.POST('/orders', { params: { header }, body })
const isSame = order.data !== undefined && order.data.data.id === again.data?.data.id

const missing = await client.GET('/positions/{id}', { params: { path: { id: 'none' } } })
const code: 'POSITION_NOT_FOUND' | string | undefined = missing.error?.error.code

const file = await client.GET('/trades/export', { params: { query: { format: 'csv' } }, parseAs: 'text' })

// @ts-expect-error: a date is text
const wrongDate: NonNullable<paths['/trades']['get']['parameters']['query']> = { startDate: 7 }
// @ts-expect-error: a side is buy or sell
const wrongSide: paths['/orders']['post']['requestBody']['content']['application/json']['type'] = 'long'
// @ts-expect-error: a webhook is switched on or off by true or false
const wrongSwitch: paths['/webhooks/{id}']['put']['requestBody']['content']['application/json'] = { enabled: 'yes' }

console.log(JSON.stringify({ firstProfit, total: stats.data?.data.totalTrades, interval, cursor, status: order.data?.data.status, isSame, code, file: file.data?.slice(0, 12) }))
`,
}

const heyApi: Generator = {
  name: '@hey-api/openapi-ts',
  generate: async (document, folder) => {
    const output = { path: join(folder, 'client'), module: { extension: '.ts' } } as const
    await generateClient({
      input: JSON.parse(document),
      output,
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk'],
      logs: { level: 'silent' },
    })
  },
  program: `import { exportTrades, getPosition, getTradeStatistics, listAccounts, listTrades, placeOrder } from './client/index.ts'
import type { ChangeWebhookRequest, ListTradesData, PlaceOrderRequest } from './client/index.ts'
import { client } from './client/client.gen.ts'

declare const process: { readonly env: Record<string, string> }
client.setConfig(JSON.parse(process.env['OPTIONS'] ?? ''))

const accounts = await listAccounts({ throwOnError: true })
const account = accounts.data.data.find(({ purpose, isDemo }) => purpose === 'trading' && isDemo)
if (account === undefined) throw new Error('the demo has no account for trading')

const trades = await listTrades({ query: { accountId: account.id, startDate: '2020-01-01', limit: 3 } })
const firstProfit: number | undefined = trades.data?.data[0]?.netProfit
const cursor: string | undefined = trades.data?.meta.pagination.cursor

const stats = await getTradeStatistics({ query: { accountId: account.id } })
const interval: { lower: number; upper: number } | null | undefined = stats.data?.data.confidenceIntervals.winRate

const body: PlaceOrderRequest = { accountId: account.id, symbol: 'EURUSD', type: 'buy', orderType: 'market', volume: 0.1 }
const order = await placeOrder({ headers: { 'Idempotency-Key': 'hey-api' }, body })
const again = await placeOrder({ headers: { 'Idempotency-Key': 'hey-api' }, body })
const isSame = order.data !== undefined && order.data.data.id === again.data?.data.id

const missing = await getPosition({ path: { id: 'none' } })
const code: 'POSITION_NOT_FOUND' | string | undefined = missing.error?.error.code

const file = await exportTrades({ query: { format: 'csv' }, parseAs: 'text' })

// @ts-expect-error: a date is text
const wrongDate: NonNullable<ListTradesData['query']> = { startDate: 7 }
// @ts-expect-error: a side is buy or sell
const wrongSide: PlaceOrderRequest['type'] = 'long'
// @ts-expect-error: a webhook is switched on or off by true or false
const wrongSwitch: ChangeWebhookRequest = { enabled: 'yes' }

console.log(JSON.stringify({ firstProfit, total: stats.data?.data.totalTrades, interval, cursor, status: order.data?.data.status, isSame, code, file: String(file.data).slice(0, 12) }))
`,
}

/** As `pnpm start` does it, from the sources, on free ports, with everything of its own. */
const startDemo = async (stack: AsyncDisposableStack) => {
  let api = ''
  const { ready: key } = await startProgram(stack, {
    parameters: ['--conditions=@tradeport/source', join(root, 'apps/api/src/main.ts')],
    environment: {
      PORT: '0',
      OPERATOR_PORT: '0',
      DATABASE_URL: '',
      DATA_DIR: await newFolder(stack),
    },
    ready: /^ *API key +(\S+)$/,
    onLine: (line) => (api = /^ *API +(\S+)$/.exec(line)?.[1] ?? api),
  })
  return { api, key }
}

describe('a client generated', () => {
  const stack = new AsyncDisposableStack()
  let folder: string
  let demo: Awaited<ReturnType<typeof startDemo>>

  beforeAll(async () => {
    folder = await newFolder(stack)
    demo = await startDemo(stack)
  })
  afterAll(() => stack.disposeAsync())

  it.each([openapiTypescript, heyApi])(
    'with $name compiles, refuses what cannot be sent, and runs',
    async ({ name, generate, program }) => {
      const own = join(folder, encodeURIComponent(name))
      await mkdir(own)
      await writeFile(join(own, 'package.json'), '{"type":"module"}')
      await writeFile(join(own, 'program.ts'), program)
      await generate(await (await fetch(`${demo.api}/openapi.json`)).text(), own)

      const strictly = [
        '--noEmit',
        '--strict',
        '--module',
        'nodenext',
        '--target',
        'es2022',
        '--lib',
        'es2023,dom,dom.iterable',
        '--types',
        '',
      ]
      const compiled = await run(
        process.execPath,
        [
          join(root, 'node_modules/typescript/bin/tsc'),
          ...strictly,
          '--allowImportingTsExtensions',
          'program.ts',
        ],
        { cwd: own },
      ).catch(({ stdout }: { readonly stdout: string }) => ({ stdout }))
      expect(compiled.stdout).toBe('')

      const options: ClientOptions = {
        baseUrl: demo.api,
        headers: { 'X-API-Key': demo.key },
      }
      const ran = await run(
        process.execPath,
        ['--experimental-strip-types', '--no-warnings', 'program.ts'],
        {
          cwd: own,
          env: { PATH: process.env['PATH'], OPTIONS: JSON.stringify(options) },
        },
      )
      expect(JSON.parse(ran.stdout)).toEqual({
        firstProfit: expect.any(Number),
        total: expect.any(Number),
        interval: { lower: expect.any(Number), upper: expect.any(Number) },
        cursor: expect.any(String),
        status: 'pending',
        isSame: true,
        code: 'POSITION_NOT_FOUND',
        file: 'id,accountId',
      })
    },
  )
})
