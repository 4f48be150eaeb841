// The records of one tenant with one user, for tests that read what is linked.

export interface LinkedAccount {
  readonly id: string
  readonly providerAccountId: string
  readonly fields?: object
}

export const newAccountUuid = (n: number): string => `7e57acc0-0000-4000-8000-${String(n).padStart(12, '0')}`

/** Keys of one user, for tests that ask an endpoint more often than its limit lets one key. */
export interface KeysInTurn {
  readonly all: readonly string[]
  readonly next: () => string
}

export const keysInTurn = (prefix: string, count: number): KeysInTurn => {
  const all = Array.from({ length: count }, (_, index) => `${prefix}_${index + 1}`)
  let used = 0
  return { all, next: () => all[used++ % count] ?? '' }
}

/** A document that links the accounts to a user of `tenant` and gives that user the key, or each of several. */
export const linkDocument = (
  { tenant, user, key, providerToken }: { tenant: string; user: string; key: string | readonly string[]; providerToken: string },
  accounts: readonly LinkedAccount[],
  scopes: readonly string[] = ['accounts:read', 'trading:read'],
): object => ({
  tenants: [{ id: tenant, name: tenant, providerToken }],
  users: [{ id: user, tenantId: tenant, email: `${user}@example.com`, plan: 'enterprise' }],
  accounts: accounts.map(({ id, providerAccountId, fields }, index) => ({
    id,
    userId: user,
    name: `Account ${index + 1}`,
    brokerType: 'mt5',
    accountNumber: String(5_000_000 + index),
    server: 'Example-Demo',
    purpose: 'trading',
    isDemo: true,
    currency: 'USD',
    status: 'connected',
    balance: 1_000,
    equity: 1_000,
    margin: 0,
    providerAccountId,
    region: 'new-york',
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    ...fields,
  })),
  apiKeys: [key]
    .flat()
    .map((one, index) => ({ id: `${user}-key${index === 0 ? '' : index + 1}`, userId: user, name: 'bot', key: one, scopes })),
})
