// The records of a run: users, with accounts at the provider and keys that may do everything.

export const operatorToken = 'harness-operator-token'
export const providerToken = 'harness-provider-token'

interface Operated {
  /** The address of the operator API. */
  readonly operator: string
}

/** @throws where the operator API refuses it */
export const applyDocument = async ({ operator }: Operated, document: object): Promise<void> => {
  const response = await fetch(`${operator}/operator/v1/apply`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${operatorToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  })
  if (response.status !== 200) throw new Error(`the records were refused: ${await response.text()}`)
}

/** As the operator's document has it. */
export const demoAccount = <Id extends string, User extends string>(
  id: Id,
  userId: User,
  providerAccountId: string,
) =>
  ({
    id,
    userId,
    providerAccountId,
    name: providerAccountId,
    brokerType: 'mt5',
    accountNumber: '1',
    server: 'Demo',
    purpose: 'trading',
    isDemo: true,
    currency: 'USD',
    region: 'new-york',
  }) as const

export interface LinkedUser {
  readonly id: string
  /** The user's id when left out. */
  readonly tenantId?: string
  readonly accounts: readonly {
    readonly id: string
    readonly providerAccountId: string
    readonly brokerType?: string
  }[]
  readonly keys: readonly string[]
}

/** For all that a run may ask for. */
const readable = ['accounts', 'market-data', 'trading', 'positions', 'history', 'webhooks']
const writable = ['trading', 'orders', 'positions', 'webhooks']
export const scopes = [
  ...readable.map((resource) => `${resource}:read`),
  ...writable.map((resource) => `${resource}:write`),
]

/** A body may hold 10,000 JSON values. */
const keysOfDocument = 400

/** Users on the largest plan, whose keys may do everything. */
export const linkUsers = async (service: Operated, users: readonly LinkedUser[]): Promise<void> => {
  const tenants = new Set(users.map(({ id, tenantId = id }) => tenantId))
  await applyDocument(service, {
    tenants: [...tenants].map((id) => ({ id, name: id, providerToken })),
    users: users.map(({ id, tenantId = id }) => ({
      id,
      tenantId,
      email: 'owner@example.com',
      plan: 'enterprise',
    })),
    accounts: users.flatMap(({ id: userId, accounts }) =>
      accounts.map(({ id, providerAccountId, ...more }) => ({
        ...demoAccount(id, userId, providerAccountId),
        ...more,
      })),
    ),
  })
  const apiKeys = users.flatMap(({ id: userId, keys }) =>
    keys.map((key, index) => ({ id: `${userId}-${index}`, userId, key, scopes })),
  )
  for (let from = 0; from < apiKeys.length; from += keysOfDocument)
    await applyDocument(service, { apiKeys: apiKeys.slice(from, from + keysOfDocument) })
}
