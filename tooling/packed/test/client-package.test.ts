// The packed client, installed where there is nothing else.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createClient } from '@tradeport/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile, installedPackages, runLines } from '../src/install.ts'
import { pack } from '../src/pack.ts'

const program = `import { createClient } from '@tradeport/client'
console.log(Object.keys(createClient({ baseUrl: 'https://trade.example.com/api/v1' })).join())
`

const consumer = `import { createClient, isTradeportError, readWebhook } from '@tradeport/client'
import type { Account, Trade, WebhookEvent } from '@tradeport/client'

const tradeport = createClient({ baseUrl: '/api/v1', accessToken: async () => 'token' })
export const accounts = async (): Promise<readonly Account[]> => (await tradeport.listAccounts()).data
export const trades: AsyncIterable<Trade> = tradeport.listTrades.each({ symbol: 'EURUSD' })
export const received = (body: Uint8Array, headers: Headers): Promise<WebhookEvent | undefined> => readWebhook({ secret: 'secret', body, headers })
export const priceOf = (error: unknown): number | undefined =>
  isTradeportError(error) && error.code === 'INVALID_PRICE' ? error.details.currentPrice : undefined
// @ts-expect-error: a side is buy or sell
void tradeport.placeOrder({ accountId: 'a', symbol: 'EURUSD', type: 'long', orderType: 'market', volume: 0.1 })
`

describe('the packed client', () => {
  let folder: string
  let printed: string

  beforeAll(async () => {
    const { tarball } = await pack('packages/client')
    folder = await mkdtemp(join(tmpdir(), 'tradeport-client-'))
    const manifest = {
      name: 'user',
      private: true,
      type: 'module',
      dependencies: { '@tradeport/client': `file:${tarball}` },
    }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    await writeFile(join(folder, 'program.js'), program)
    await writeFile(join(folder, 'consumer.ts'), consumer)
    printed = await runLines(['pnpm install', 'node program.js'], folder)
    await rm(dirname(tarball), { recursive: true })
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('installs nothing but itself', () => {
    expect(installedPackages(folder)).toEqual(['@tradeport/client'])
  })

  it('runs, with every method', () => {
    expect(printed.trim().split(',')).toEqual(Object.keys(createClient({ baseUrl: '/' })))
  })

  it('has types that are read without those of Node, in the strictest way', async () => {
    await compile('consumer.ts', folder)
  })
})
