// The records of one tenant with one user, for tests that read what is linked.

export interface LinkedAccount {
  readonly id: string
  readonly providerAccountId: string
  readonly fields?: object
}

export const newAccountUuid = (n: number): string => `7e57acc0-0000-4000-8000-${String(n).padStart(12, '0')}`

/** A document that links the accounts to a user of `tenant` and gives that user the key. */
export const linkDocument = (
  { tenant, user, key, providerToken }: { tenant: string; user: string; key: string; providerToken: string },
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
  apiKeys: [{ id: `${user}-key`, userId: user, name: 'bot', key, scopes }],
})
