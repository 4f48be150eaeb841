// What the tests of operators' documents share.
import type { CredentialHash, Secrets } from '../../src/access/credential.ts'
import type { AccountId, TenantId, UserId } from '../../src/primitives/ids.ts'

export const acme = 'acme' as TenantId
export const ann = 'u-1' as UserId
export const main = '0b1f6a52-9f1e-4c52-8d3a-1f0c7a1e2b3c' as AccountId

export const acmeWithAnn = {
  tenants: [{ id: acme, name: 'Acme', providerToken: 'provider-secret' }],
  users: [{ id: ann, tenantId: acme, email: 'ann@example.com' }],
}

/** The account `main` as documents describe it. */
export const mainAccount = {
  id: main,
  userId: ann,
  name: 'Main',
  brokerType: 'mt5',
  accountNumber: '5012345',
  server: 'Example-Demo',
  purpose: 'trading',
  currency: 'USD',
  providerAccountId: 'p-1',
  region: 'london',
} as const

export const createTestSecrets = (): Secrets => {
  let made = 0
  return {
    newApiKey: () => `tp_live_only_for_automated_tests_made${(made += 1)}`,
    newAccessToken: () => `made${(made += 1)}`,
    hash: (secret) => `hash of ${secret}` as CredentialHash,
  }
}
