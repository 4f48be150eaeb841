// The built service as a process of its own, on an embedded database or on a server's and with a
// provider that the bench starts, with the records that a bench needs.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { startProgram } from './processes.ts'

export const repositoryRoot = resolve(import.meta.dirname, '../../..')
export const providerToken = 'bench-provider-token'

const operatorToken = 'bench-operator-token'
const secretsKey = randomBytes(32).toString('base64')
const program = join(repositoryRoot, 'apps/api/dist/main.js')

export interface MeasuredService {
  readonly api: string
  readonly operator: string
  readonly child: ChildProcess
}

interface Start {
  /** Where it keeps its data. */
  readonly folder: string
  /** The database on a server; the embedded one when left out. */
  readonly databaseUrl?: string
  readonly providerUrl: string
  /** Takes the process, to be ended with the others. */
  readonly children: ChildProcess[]
  /** What node is given before the program. */
  readonly nodeOptions?: readonly string[]
  /** The processor core that it may use; every one when left out. */
  readonly core?: number | undefined
}

export const startMeasuredService = async ({
  folder,
  databaseUrl = '',
  providerUrl,
  children,
  nodeOptions = [],
  core,
}: Start): Promise<MeasuredService> => {
  const environment = {
    PORT: '0',
    OPERATOR_PORT: '0',
    // What a bench itself may be given is not for the service.
    DATABASE_URL: databaseUrl,
    SECRETS_KEY: secretsKey,
    REDIS_URL: '',
    DATA_DIR: join(folder, 'data'),
    OPERATOR_TOKEN: operatorToken,
    BROKER: 'metaapi',
    METAAPI_CLIENT_URL: providerUrl,
    METAAPI_PROVISIONING_URL: providerUrl,
    NODE_ENV: 'production',
  }
  const listening = /^(\{.*"event":"listening".*\})$/m
  const { line, child } = await startProgram(
    [...nodeOptions, program],
    environment,
    listening,
    children,
    core,
  )
  const { api, operator } = JSON.parse(line) as { api: string; operator: string }
  return { api, operator, child }
}

/** An API key as an operator chooses it; one may require 24 characters after the prefix. */
export const apiKeyOf = (name: string): string => `tp_live_${name.padEnd(24, '-')}`

export interface LinkedAccount<Id extends string = string, User extends string = string> {
  readonly id: Id
  readonly userId: User
  readonly providerAccountId: string
}

/** A demo account for trading, as an operator's document has it. */
export const demoAccount = <Id extends string, User extends string>({
  id,
  userId,
  providerAccountId,
}: LinkedAccount<Id, User>) =>
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

export const applyDocument = async (
  { operator }: Pick<MeasuredService, 'operator'>,
  document: object,
): Promise<void> => {
  const response = await fetch(`${operator}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (response.status !== 200)
    throw new Error(`the bench's records were refused: ${await response.text()}`)
}

/** One user on the largest plan, with these accounts and these keys, which may read trading. */
export const linkAccounts = async (
  service: Pick<MeasuredService, 'operator'>,
  accounts: readonly Omit<LinkedAccount, 'userId'>[],
  keys: readonly string[],
): Promise<void> => {
  const userId = 'bench'
  const document = {
    tenants: [{ id: 'bench', name: 'Bench', providerToken }],
    users: [{ id: userId, tenantId: 'bench', email: 'bench@example.com', plan: 'enterprise' }],
    accounts: accounts.map((account) => demoAccount({ ...account, userId })),
    apiKeys: keys.map((key, index) => ({
      id: `bench-${index}`,
      userId,
      key,
      scopes: ['trading:read'],
    })),
  }
  await applyDocument(service, document)
}
