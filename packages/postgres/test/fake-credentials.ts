// Credentials among the stored records in memory.
import type { Credential, CredentialHash } from '@tradeport/domain/access'
import type { User } from '@tradeport/domain/operator'
import type { CredentialStore } from '@tradeport/domain/ports'
import { portOf, userOf, type FakeRecords } from '@tradeport/testkit'
import * as O from 'fp-ts/lib/Option.js'

export const createFakeCredentialStore = (records: FakeRecords): CredentialStore => {
  const find = (
    table: FakeRecords['tables']['apiKeys' | 'accessTokens'],
    hash: CredentialHash,
  ): O.Option<Credential> => {
    const stored = [...table.values()].find((one) => one.hash === hash)
    const user = records.tables.users.get(stored?.userId ?? '')
    if (stored === undefined || user === undefined) return O.none
    const isToken = 'applicationId' in stored
    return O.some({
      kind: isToken ? 'access_token' : 'api_key',
      id: stored.id,
      owner: { tenantId: user.tenantId, userId: user.id },
      applicationId: isToken ? stored.applicationId : null,
      plan: user.plan,
      scopes: new Set(stored.scopes),
      ipAllowlist: isToken ? [] : stored.ipAllowlist,
      expiresAt: stored.expiresAt,
      enabled: stored.enabled,
    })
  }
  return portOf<CredentialStore>({
    findApiKey: (hash) => find(records.tables.apiKeys, hash),
    findAccessToken: (hash) => find(records.tables.accessTokens, hash),
    findUserPlan: (owner) => O.map(({ plan }: User) => ({ owner, plan }))(userOf(records, owner)),
  })
}
