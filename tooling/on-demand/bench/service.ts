// The built service as a process of its own, on an embedded database or on a server's, with a
// provider that the bench starts and with the records that it needs.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { newFolder, type CloseLater } from './bench.ts'
import { startProgram } from './processes.ts'

const repositoryRoot = resolve(import.meta.dirname, '../../..')
const operatorToken = 'bench-operator-token'
const secretsKey = randomBytes(32).toString('base64')
export const providerToken = 'bench-provider-token'

export interface MeasuredService {
  readonly api: string
  readonly operator: string
  readonly child: ChildProcess
}

interface Start {
  readonly folder?: string
  /** The database on a server; the embedded one when left out. */
  readonly databaseUrl?: string
  readonly providerUrl: string
  /** Beside what every bench sets. */
  readonly environment?: Readonly<Record<string, string>>
  /** What node is given before the program. */
  readonly nodeOptions?: readonly string[]
  readonly core?: number | undefined
}

export const startService = async (
  { folder, databaseUrl = '', providerUrl, environment = {}, nodeOptions = [], core }: Start,
  closeLater: CloseLater,
): Promise<MeasuredService> => {
  const { line, child } = await startProgram(
    {
      parameters: [...nodeOptions, join(repositoryRoot, 'apps/api/dist/main.js')],
      environment: {
        PORT: '0',
        OPERATOR_PORT: '0',
        DATABASE_URL: databaseUrl,
        SECRETS_KEY: secretsKey,
        REDIS_URL: '',
        DATA_DIR: folder ?? (await newFolder(closeLater)),
        OPERATOR_TOKEN: operatorToken,
        BROKER: 'metaapi',
        METAAPI_CLIENT_URL: providerUrl,
        METAAPI_PROVISIONING_URL: providerUrl,
        NODE_ENV: 'production',
        ...environment,
      },
      ready: /^(\{.*"event":"listening".*\})$/m,
      core,
    },
    closeLater,
  )
  return { ...(JSON.parse(line) as { api: string; operator: string }), child }
}

/** The parsed reply of the API; throws unless it is a success. */
export const askApi = async <Reply>(
  { api }: MeasuredService,
  key: string,
  path: string,
  body?: object,
): Promise<Reply> => {
  const response = await fetch(`${api}/api/v1/${path}`, {
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!response.ok)
    throw new Error(`the service answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Reply
}

/** An API key as an operator chooses it; one may require 24 characters after the prefix. */
export const apiKeyOf = (name: string): string => `tp_live_${name.padEnd(24, '-')}`

/** A demo account for trading, as an operator's document has it. */
export const demoAccount = <Id extends string, User extends string>(
  id: Id,
  userId: User,
  providerAccountId: string,
) =>
  ({
    id,
    userId,
    name: 'Bench',
    brokerType: 'mt5',
    accountNumber: '1',
    server: 'Bench',
    purpose: 'trading',
    isDemo: true,
    currency: 'USD',
    providerAccountId,
    region: 'new-york',
  }) as const

interface LinkedUser {
  /** Also the name of the user's tenant. */
  readonly id: string
  readonly tenantId?: string
  readonly accounts: readonly { readonly id: string; readonly providerAccountId: string }[]
  readonly keys: readonly string[]
  readonly providerToken?: string
}

const scopes = [
  'accounts:read',
  'market-data:read',
  'trading:read',
  'trading:write',
  'webhooks:write',
]

/** A body may hold 10,000 JSON values. */
const keysOfDocument = 500

/** Users on the largest plan, whose keys may do everything that a bench needs. */
export const linkUsers = async (
  { operator }: MeasuredService,
  users: readonly LinkedUser[],
): Promise<void> => {
  const tenantOf = ({ id, tenantId = id }: LinkedUser): string => tenantId
  const tenants = new Map(users.map((user) => [tenantOf(user), user.providerToken]))
  const apply = async (document: object): Promise<void> => {
    const response = await fetch(`${operator}/operator/v1/apply`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(document),
    })
    if (response.status !== 200)
      throw new Error(`the bench's records were refused: ${await response.text()}`)
  }
  await apply({
    tenants: [...tenants].map(([id, token = providerToken]) => ({
      id,
      name: id,
      providerToken: token,
    })),
    users: users.map((user) => ({
      id: user.id,
      tenantId: tenantOf(user),
      email: 'bench@example.com',
      plan: 'enterprise',
    })),
    accounts: users.flatMap((user) =>
      user.accounts.map((one) => demoAccount(one.id, user.id, one.providerAccountId)),
    ),
  })
  const apiKeys = users.flatMap(({ id: userId, keys }) =>
    keys.map((key, index) => ({ id: `${userId}-${index}`, userId, key, scopes })),
  )
  for (let from = 0; from < apiKeys.length; from += keysOfDocument)
    await apply({ apiKeys: apiKeys.slice(from, from + keysOfDocument) })
}

export const historyDeals = 20_000

/** The platform's id of the account of that number. */
export const accountUuid = (index: number): string =>
  `be9c4000-0000-4000-8000-${String(index).padStart(12, '0')}`

/** The address of a provider, as a process, with accounts that have the same long history. */
export const startHistoryProvider = async (
  accounts: readonly string[],
  closeLater: CloseLater,
  deals = historyDeals,
): Promise<string> => {
  const file = join(await newFolder(closeLater), 'history.json')
  const history = {
    platform: 'mt5',
    marginMode: 'ACCOUNT_MARGIN_MODE_RETAIL_HEDGING',
    currency: 'USD',
    deals: Array.from({ length: deals }, (_, index) => longDeal(index)),
  }
  await writeFile(file, JSON.stringify(history))
  const program = join(repositoryRoot, 'packages/sandbox-broker/dist/bin.js')
  const named = accounts.flatMap((account) => ['--account', account, '--history', file])
  const parameters = [program, '--port', '0', '--token', providerToken, ...named]
  return (await startProgram({ parameters, ready: /^url\s+(\S+)/m }, closeLater)).line
}

/** Of closed positions one after the other, with every field that a provider sends. */
const longDeal = (index: number): object => {
  const isOpening = index % 2 === 0
  const position = String(46_000_000 + (index >> 1))
  const time = new Date(Date.UTC(2025, 0, 1) + index * 60_000).toISOString()
  return {
    id: String(33_000_000 + index),
    platform: 'mt5',
    type: isOpening ? 'DEAL_TYPE_BUY' : 'DEAL_TYPE_SELL',
    time,
    brokerTime: time.replace('T', ' ').replace('Z', ''),
    commission: -0.35,
    swap: isOpening ? 0 : -0.12,
    profit: isOpening ? 0 : ((index % 400) - 190) / 10,
    symbol: index % 3 === 0 ? 'EURUSD' : 'XAUUSD',
    magic: 1_000,
    orderId: String(47_000_000 + index),
    positionId: position,
    volume: 0.12,
    price: 1.05 + (index % 997) / 100_000,
    entryType: isOpening ? 'DEAL_ENTRY_IN' : 'DEAL_ENTRY_OUT',
    reason: 'DEAL_REASON_EXPERT',
    clientId: `TE_EURUSD_${position}`,
    accountCurrencyExchangeRate: 1,
  }
}
