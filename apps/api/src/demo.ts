// The demo that starts with neither DATABASE_URL nor BROKER=metaapi: three linked accounts at the
// simulated provider and an API key. A second start continues with the same data.
import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { generateApiKey, isApiKey, type Scope } from '@tradeport/domain/access'
import { emptyDocument, marketDataFeedId, type OperatorDocument } from '@tradeport/domain/operator'
import type { AccountId, TenantId, UserId } from '@tradeport/domain/primitives'
import type { AccountOptions } from '@tradeport/sandbox-broker'
import type { ComposedService } from './compose.ts'
import { loadOrCreateSecret } from './data-folder.ts'

const tenantId = 'demo' as TenantId
const userId = 'demo-user' as UserId
const scopes: readonly Scope[] = [
  'accounts:read',
  'market-data:read',
  'trading:read',
  'trading:write',
  'webhooks:read',
  'webhooks:write',
]

/** The tenant's token at the simulated provider, which listens only on loopback. */
export const demoProviderToken = 'demo-provider-token'

/** The trading account of the examples in the API's document. */
const tradingAccountId = '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d01' as AccountId

/** As its user sees them, and at the simulated provider. */
const demoAccounts = [
  {
    id: tradingAccountId,
    name: 'Demo trading',
    purpose: 'trading',
    broker: {
      id: 'demo-trading',
      login: '5000101',
      type: 'demo',
      server: 'SandboxMarkets-Demo',
      startBalance: 10_000,
      generate: { trades: 320, openPositions: 4 },
      // The position of the examples in the API's document.
      positions: [{ symbol: 'EURUSD', side: 'buy', volume: 0.2 }],
    },
  },
  {
    id: '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d02' as AccountId,
    name: 'Live',
    purpose: 'trading',
    broker: {
      id: 'demo-live',
      login: '5000102',
      type: 'real',
      server: 'SandboxMarkets-Live',
      startBalance: 25_000,
      generate: { trades: 60, openPositions: 1 },
      // One of its levels is reached about once a minute, so that a stream of events shows some.
      keepsOpen: { symbol: 'NAS100', volume: 0.1, distance: 5 },
    },
  },
  {
    id: '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d03' as AccountId,
    name: 'Introducing broker',
    purpose: 'introducing_broker',
    broker: {
      id: 'demo-introducing-broker',
      login: '5000103',
      type: 'demo',
      server: 'SandboxMarkets-Demo',
      startBalance: 1_500,
    },
  },
] as const

export const demoBrokerAccounts: readonly AccountOptions[] = demoAccounts.map(
  ({ broker }) => broker,
)

const keyFile = 'demo-key'

/** For a service that is no demo: the demo's user, whose key is in a file, is none of its users. */
export const requireNoDemo = (folder: string): void => {
  if (existsSync(join(folder, keyFile)))
    throw new Error(`${folder} holds the records of the demo: set DATA_DIR to another folder`)
}

/**
 * The API key of the demo's user. The first start applies the records and only then stores the key,
 * so that a start that fails in between is repeated as a whole.
 */
export const loadOrCreateDemoKey = (
  folder: string,
  { operatorUseCases }: ComposedService,
  now: number,
): Promise<string> =>
  loadOrCreateSecret(folder, {
    name: keyFile,
    type: {
      description: 'the API key of the demo',
      parse: (key) => (isApiKey(key) ? key : undefined),
    },
    make: async () => {
      const tenants = await operatorUseCases.listTenants(undefined, { query: { limit: 2 } })()
      // The demo's prices and the simulated provider are not for the users of a real service.
      if (E.isRight(tenants) && tenants.right.data.some(({ id }) => id !== tenantId))
        throw new Error(
          `the database in ${folder} holds records that are not those of the demo: set BROKER to go on with them, or DATA_DIR to another folder`,
        )
      const key = generateApiKey(randomInt)
      const applied = await operatorUseCases.applyDocument(undefined, {
        body: demoDocument(key, now),
      })()
      if (E.isLeft(applied))
        throw new Error(`the demo's records cannot be written: ${JSON.stringify(applied.left)}`)
      return key
    },
  })

/** The records of the demo: one tenant, one user, three accounts, one key. */
const demoDocument = (key: string, now: number): OperatorDocument => ({
  ...emptyDocument,
  tenants: [{ id: tenantId, name: 'Demo', providerToken: demoProviderToken }],
  users: [{ id: userId, tenantId, email: 'demo@example.com', plan: 'free' }],
  accounts: demoAccounts.map(({ id, name, purpose, broker }) => ({
    id,
    userId,
    name,
    brokerType: 'mt5',
    accountNumber: broker.login,
    server: broker.server,
    purpose,
    isDemo: broker.type === 'demo',
    currency: 'USD',
    providerAccountId: broker.id,
    region: 'new-york',
    // What the broker's history holds from before makes no events.
    createdAt: now,
  })),
  apiKeys: [{ id: 'demo-key', userId, name: 'Demo', key, scopes }],
  marketDataFeed: [{ id: marketDataFeedId, accountId: tradingAccountId, symbols: {} }],
})

/** Printed at the start: addresses, the key, and commands to copy. */
export const demoWelcome = (
  urls: { readonly api: string; readonly operator: string },
  key: string,
  capabilities: readonly string[],
  consoleLink?: string,
): string => {
  const curl = (path: string, options = ''): string =>
    `  curl -s -H 'X-API-Key: ${key}' ${options}'${urls.api}/api/v1${path}'`
  const order = {
    accountId: tradingAccountId,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
  }
  const commands = [
    curl('/accounts'),
    curl(`/trades/stats?accountId=${tradingAccountId}`),
    curl('/orders', `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}' `),
    curl('/orders?limit=1'),
    ...(capabilities.includes('events') ? [curl('/events/stream', '-N ')] : []),
    ...(capabilities.includes('market-data') ? [curl('/quotes/EURUSD')] : []),
  ]
  return `
Tradeport is running with a demo user and a simulated provider.

${consoleLink === undefined ? '' : `  Console       ${urls.api}${consoleLink} (signs you in once, within a minute)\n`}  API           ${urls.api}/api/v1
  Reference     ${urls.api}/docs
  Operator API  ${urls.operator}/operator/v1
  API key       ${key}

Copy these into another terminal:

${commands.join('\n')}

GET /orders/:id follows one order to its fill. Ctrl+C stops the service; the next start continues with the same data.
`
}
