// Plain records to fill stores with, and a way to write them.
import * as E from 'fp-ts/lib/Either.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Account } from '@tradeport/domain/accounts'
import type { CredentialHash } from '@tradeport/domain/access'
import {
  noChanges,
  type OperatorChanges,
  type OperatorKeys,
  type StoredAccessToken,
  type StoredApiKey,
  type Tenant,
  type User,
} from '@tradeport/domain/operator'
import type { OperatorStore } from '@tradeport/domain/ports'
import type { AccountId, Owner, TenantId, UserId } from '@tradeport/domain/primitives'

export { noChanges }

export const noKeys = {
  ...Object.fromEntries(Object.keys(noChanges).map((section) => [section, []])),
  apiKeyHashes: [],
  accessTokenHashes: [],
} as unknown as OperatorKeys

// Names are counted, so that tests which share one store never meet each other's records.
let lastNumber = 0
const nextNumber = () => (lastNumber += 1)

/** A UUID that no other record of this run has; later ones sort after earlier ones. */
export const newAccountId = (): AccountId =>
  `0a000000-0000-4000-8000-${String(nextNumber()).padStart(12, '0')}` as AccountId

/** For records whose owner does not matter. */
export const someOwner: Owner = { tenantId: 'acme' as TenantId, userId: 'u-1' as UserId }

export const newHash = (): CredentialHash =>
  nextNumber().toString(16).padStart(64, '0') as CredentialHash

export const newTenant = (): Tenant => ({ id: `tenant-${nextNumber()}` as TenantId, name: 'Acme' })

export const newUser = (tenantId: TenantId): User => ({
  id: `user-${nextNumber()}` as UserId,
  tenantId,
  email: 'owner@example.com',
  plan: 'free',
})

/**
 * A connected demo account that was never read live; balance, equity and margin are 10000, 10000
 * and 0.
 */
export const newAccount = (owner: Owner, fields: Partial<Account> = {}): Account => {
  const id = newAccountId()
  return {
    id,
    owner,
    name: 'Main',
    broker: 'Example Broker',
    brokerType: 'mt5',
    accountNumber: '5012345',
    server: 'Example-Demo',
    purpose: 'trading',
    linkedAsDemo: true,
    tradeMode: null,
    currency: 'USD',
    figures: {
      balance: 10_000,
      equity: 10_000,
      margin: 0,
      freeMargin: null,
      marginLevel: null,
      leverage: null,
    },
    status: 'connected',
    provider: { providerAccountId: `provider-${id}`, region: 'new-york' },
    lastReadAt: null,
    createdAt: Date.parse('2026-01-05T00:00:00.000Z'),
    updatedAt: Date.parse('2026-01-05T00:00:00.000Z'),
    ...fields,
  }
}

export const newApiKey = (userId: UserId, fields: Partial<StoredApiKey> = {}): StoredApiKey => ({
  id: `key-${nextNumber()}`,
  userId,
  name: 'bot',
  hash: newHash(),
  scopes: ['accounts:read', 'trading:read'],
  ipAllowlist: [],
  expiresAt: null,
  enabled: true,
  ...fields,
})

export const newAccessToken = (
  userId: UserId,
  fields: Partial<StoredAccessToken> = {},
): StoredAccessToken => ({
  id: `token-${nextNumber()}`,
  userId,
  applicationId: 'app-1',
  hash: newHash(),
  scopes: ['trading:read'],
  expiresAt: null,
  enabled: true,
  ...fields,
})

/** Writes changes through the operator's port and fails loudly when it cannot. */
export const write = async (
  operator: OperatorStore,
  changes: Partial<OperatorChanges>,
): Promise<void> => {
  await rightOf(operator.apply(noKeys, () => E.right({ changes: { ...noChanges, ...changes } })))
}

/** Puts records and removes none. */
export const puts = <A>(
  ...put: readonly A[]
): { readonly put: readonly A[]; readonly remove: readonly [] } => ({ put, remove: [] })

/** Removes records and puts none. */
export const removes = <A>(
  ...remove: readonly A[]
): { readonly put: readonly []; readonly remove: readonly A[] } => ({ put: [], remove })

/** A new tenant with one user, stored. */
export const storedOwner = async (operator: OperatorStore): Promise<Owner> => {
  const tenant = newTenant()
  const user = newUser(tenant.id)
  await write(operator, { tenants: puts(tenant), users: puts(user) })
  return { tenantId: tenant.id, userId: user.id }
}

/** The value of a task that must succeed. */
export const rightOf = async <A>(task: TE.TaskEither<unknown, A>): Promise<A> => {
  const result = await task()
  if (E.isLeft(result)) throw new Error(`expected a value, got ${JSON.stringify(result.left)}`)
  return result.right
}
