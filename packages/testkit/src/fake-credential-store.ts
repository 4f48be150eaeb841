// Credentials in memory.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Credential, CredentialHash, UserPlan } from '@tradeport/domain/access'
import type { StoredAccessToken, StoredApiKey, User } from '@tradeport/domain/operator'
import type { CredentialStore } from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import type { FakeRecords } from './fake-records.ts'

export const createFakeCredentialStore = (records: FakeRecords): CredentialStore => {
  const find = (
    stored: ReadonlyMap<string, StoredApiKey | StoredAccessToken>,
    hash: CredentialHash,
  ): O.Option<Credential> => {
    const credential = [...stored.values()].find((candidate) => candidate.hash === hash)
    const user = records.tables.users.get(credential?.userId ?? '')
    return credential === undefined || user === undefined
      ? O.none
      : O.some(credentialOf(credential, user))
  }
  return {
    findApiKey: (hash) => TE.fromIO(() => find(records.tables.apiKeys, hash)),
    findAccessToken: (hash) => TE.fromIO(() => find(records.tables.accessTokens, hash)),
    findUserPlan: (owner) =>
      TE.fromIO(() => userPlan(records.tables.users.get(owner.userId), owner)),
  }
}

const userPlan = (user: User | undefined, owner: Owner): O.Option<UserPlan> =>
  user === undefined || user.tenantId !== owner.tenantId
    ? O.none
    : O.some({ owner, plan: user.plan })

const credentialOf = (
  stored: StoredApiKey | StoredAccessToken,
  { id: userId, tenantId, plan }: User,
): Credential => ({
  kind: 'applicationId' in stored ? 'access_token' : 'api_key',
  id: stored.id,
  owner: { tenantId, userId },
  applicationId: 'applicationId' in stored ? stored.applicationId : null,
  plan,
  scopes: new Set(stored.scopes),
  ipAllowlist: 'ipAllowlist' in stored ? stored.ipAllowlist : [],
  expiresAt: stored.expiresAt,
  enabled: stored.enabled,
})
