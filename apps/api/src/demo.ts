// The demo that starts when nothing is configured: three linked accounts at the sandbox broker and
// a key to read them with. What it makes once it keeps in the data folder, so that a second start
// finds everything as it was left.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scope } from '@tradeport/domain/access'
import type { OperatorDocument } from '@tradeport/domain/operator'
import type { AccountId, TenantId, UserId } from '@tradeport/domain/primitives'
import { emptyDocument } from '@tradeport/domain/operator'
import { dayMs } from '@tradeport/domain/primitives'
import type { AccountOptions } from '@tradeport/sandbox-broker'

/** What the demo keeps between starts; `key` is a secret of the demo's user. */
export interface DemoState {
  readonly key: string
  /** The moment that the generated histories lead up to. */
  readonly anchor: number
  /** Whether the document was applied; from then on the records are the user's to change. */
  readonly isApplied: boolean
}

const tenantId = 'demo' as TenantId
const userId = 'demo-user' as UserId
const historyDays = 180
const scopes: readonly Scope[] = [
  'accounts:read',
  'market-data:read',
  'trading:read',
  'trading:write',
  'webhooks:read',
  'webhooks:write',
]

/**
 * The token that the demo's tenant holds at the sandbox broker, which listens on loopback alone.
 */
export const demoProviderToken = 'demo-provider-token'

const demoAccountIds = {
  trading: '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d01' as AccountId,
  live: '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d02' as AccountId,
  introducingBroker: '6d1f0a34-2b7c-4e58-9a10-5c3e8f7b2d03' as AccountId,
} as const

/** The accounts as the sandbox broker holds them. */
export const demoBrokerAccounts: readonly AccountOptions[] = [
  {
    id: 'demo-trading',
    login: '5000101',
    type: 'demo',
    startBalance: 10_000,
    generate: { trades: 320, openPositions: 4 },
  },
  {
    id: 'demo-live',
    login: '5000102',
    type: 'real',
    server: 'SandboxMarkets-Live',
    startBalance: 25_000,
    generate: { trades: 60, openPositions: 1 },
  },
  { id: 'demo-introducing-broker', login: '5000103', type: 'demo', startBalance: 1_500 },
]

/** Reads what an earlier start kept, or makes it and writes it down before it is used. */
export const keepDemoState = async (
  folder: string,
  now: number,
  newKey: () => string,
): Promise<DemoState> => {
  const kept = await readState(folder)
  if (kept !== undefined) return kept
  const state: DemoState = { key: newKey(), anchor: now, isApplied: false }
  await writeState(folder, state)
  return state
}

export const markDemoApplied = (folder: string, state: DemoState): Promise<void> =>
  writeState(folder, { ...state, isApplied: true })

/** The records of the demo: one tenant, one user, three accounts, one key. */
export const demoDocument = ({ key, anchor }: DemoState): OperatorDocument => {
  const account = {
    userId,
    brokerType: 'mt5',
    currency: 'USD',
    region: 'new-york',
    createdAt: anchor - historyDays * dayMs,
  } as const
  return {
    ...emptyDocument,
    tenants: [{ id: tenantId, name: 'Demo', providerToken: demoProviderToken }],
    users: [{ id: userId, tenantId, email: 'demo@example.com', plan: 'free' }],
    accounts: [
      {
        ...account,
        id: demoAccountIds.trading,
        name: 'Demo trading',
        accountNumber: '5000101',
        server: 'SandboxMarkets-Demo',
        purpose: 'trading',
        isDemo: true,
        providerAccountId: 'demo-trading',
      },
      {
        ...account,
        id: demoAccountIds.live,
        name: 'Live',
        accountNumber: '5000102',
        server: 'SandboxMarkets-Live',
        purpose: 'trading',
        isDemo: false,
        providerAccountId: 'demo-live',
      },
      {
        ...account,
        id: demoAccountIds.introducingBroker,
        name: 'Introducing broker',
        accountNumber: '5000103',
        server: 'SandboxMarkets-Demo',
        purpose: 'introducing_broker',
        isDemo: true,
        providerAccountId: 'demo-introducing-broker',
      },
    ],
    apiKeys: [{ id: 'demo-key', userId, name: 'Demo', key, scopes }],
  }
}

/** What a newcomer reads on the screen: addresses, the key, and commands to copy. */
export const demoWelcome = (
  urls: { readonly api: string; readonly operator: string },
  key: string,
): string => {
  const curl = (path: string, options = ''): string =>
    `  curl -s -H 'X-API-Key: ${key}' ${options}'${urls.api}/api/v1${path}'`
  const order = {
    accountId: demoAccountIds.trading,
    symbol: 'EURUSD',
    type: 'buy',
    orderType: 'market',
    volume: 0.1,
  }
  return `
Tradeport is running with a demo user and a simulated broker.

  API           ${urls.api}/api/v1
  Reference     ${urls.api}/docs
  Operator API  ${urls.operator}/operator/v1
  API key       ${key}

Copy these into another terminal: accounts, statistics, an order, and what became of it:

${curl('/accounts')}
${curl(`/trades/stats?accountId=${demoAccountIds.trading}`)}
${curl('/orders', `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}' `)}
${curl('/orders?limit=1')}

GET /orders/:id follows one order to its fill. Ctrl+C stops the service; the next start continues with the same data.
`
}

const statePath = (folder: string): string => join(folder, 'demo.json')

const readState = async (folder: string): Promise<DemoState | undefined> => {
  let text: string
  try {
    text = await readFile(statePath(folder), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const state: unknown = JSON.parse(text)
  if (isDemoState(state)) return state
  throw new Error(
    `${statePath(folder)} is not what the demo wrote; remove the folder to start the demo anew`,
  )
}

const isDemoState = (value: unknown): value is DemoState =>
  typeof value === 'object' &&
  value !== null &&
  'key' in value &&
  typeof value.key === 'string' &&
  'anchor' in value &&
  typeof value.anchor === 'number' &&
  'isApplied' in value &&
  typeof value.isApplied === 'boolean'

// Renamed into place, so that a crash leaves the old file or the new one and never half of one.
const writeState = async (folder: string, state: DemoState): Promise<void> => {
  const draft = `${statePath(folder)}.new`
  await writeFile(draft, JSON.stringify(state), { mode: 0o600 })
  await rename(draft, statePath(folder))
}
