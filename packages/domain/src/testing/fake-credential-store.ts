// Credentials in memory, as a fake of the port; it passes the same contract as the database.
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Credential, CredentialHash, UserPlan } from '../access/credential.ts'
import type { StoredAccessToken, StoredApiKey, User } from '../operator/records.ts'
import type { CredentialStore } from '../ports/credential-store.ts'
import type { Owner } from '../primitives/ids.ts'
import type { FakeRecords } from './fake-records.ts'

export const createFakeCredentialStore = (records: FakeRecords): CredentialStore => {
  const find = <A extends StoredApiKey | StoredAccessToken>(
    stored: ReadonlyMap<string, A>,
    hash: CredentialHash,
    asCredential: (credential: A, user: User) => Credential,
  ): O.Option<Credential> => {
    const credential = [...stored.values()].find((candidate) => candidate.hash === hash)
    const user = records.tables.users.get(credential?.userId ?? '')
    return credential === undefined || user === undefined ? O.none : O.some(asCredential(credential, user))
  }
  return {
    findApiKey: (hash) => TE.fromIO(() => find(records.tables.apiKeys, hash, apiKeyCredential)),
    findAccessToken: (hash) => TE.fromIO(() => find(records.tables.accessTokens, hash, accessTokenCredential)),
    findUserPlan: (owner) => TE.fromIO(() => userPlan(records.tables.users.get(owner.userId), owner)),
  }
}

const userPlan = (user: User | undefined, owner: Owner): O.Option<UserPlan> =>
  user === undefined || user.tenantId !== owner.tenantId ? O.none : O.some({ owner, plan: user.plan })

const apiKeyCredential = (key: StoredApiKey, user: User): Credential => ({
  kind: 'api_key',
  id: key.id,
  owner: { tenantId: user.tenantId, userId: user.id },
  applicationId: null,
  plan: user.plan,
  scopes: new Set(key.scopes),
  ipAllowlist: key.ipAllowlist,
  expiresAt: key.expiresAt,
  enabled: key.enabled,
})

const accessTokenCredential = (token: StoredAccessToken, user: User): Credential => ({
  kind: 'access_token',
  id: token.id,
  owner: { tenantId: user.tenantId, userId: user.id },
  applicationId: token.applicationId,
  plan: user.plan,
  scopes: new Set(token.scopes),
  ipAllowlist: [],
  expiresAt: token.expiresAt,
  enabled: token.enabled,
})
