// API keys and access tokens of an operator's document: what is made, given, changed and revoked.
import { apiKeyRequirement, isApiKey } from '../access/api-key.ts'
import type { CredentialHash } from '../access/credential.ts'
import type { Scope } from '../access/scopes.ts'
import type { Issue } from '../errors.ts'
import type { UserId } from '../primitives/ids.ts'
import type { AccessTokenEntry, ApiKeyEntry, OperatorDocument, Setting } from './document.ts'
import type { EntryReader } from './entry-reader.ts'
import type { Changes, OperatorRecords, StoredAccessToken, StoredApiKey } from './records.ts'
import { decideSection } from './world.ts'
import type { World } from './world.ts'

/** Makes and hashes credentials; a port does it, since randomness and digests are not for the pure rooms. */
export interface CredentialSource {
  readonly newApiKey: () => string
  readonly newAccessToken: () => string
  readonly hash: (secret: string) => CredentialHash
}

/** A credential's text, told once: when it was made or given. */
export interface IssuedSecret {
  readonly id: string
  readonly secret: string
}

export interface CredentialChanges<Put> {
  readonly changes: Changes<Put, string>
  readonly issued: readonly IssuedSecret[]
}

// A new key starts with read access to accounts and market data only (5 rule 8).
const firstScopes: readonly Scope[] = ['accounts:read', 'market-data:read']

export const decideApiKeys = (
  entries: OperatorDocument['apiKeys'],
  stored: OperatorRecords['apiKeys'],
  world: World,
  secrets: CredentialSource,
  faults: Issue[],
): CredentialChanges<StoredApiKey> => {
  const vault = createVault(stored, secrets.newApiKey, secrets.hash)
  const changes = decideSection({ name: 'apiKeys', entries, keyOf: ({ id }) => id }, faults, (entry, read) =>
    decideApiKey(entry, read, world, vault),
  )
  return { changes, issued: vault.issued }
}

export const decideAccessTokens = (
  entries: OperatorDocument['accessTokens'],
  stored: OperatorRecords['accessTokens'],
  world: World,
  secrets: CredentialSource,
  faults: Issue[],
): CredentialChanges<StoredAccessToken> => {
  const vault = createVault(stored, secrets.newAccessToken, secrets.hash)
  const changes = decideSection({ name: 'accessTokens', entries, keyOf: ({ id }) => id }, faults, (entry, read) =>
    decideAccessToken(entry, read, world, vault),
  )
  return { changes, issued: vault.issued }
}

const decideApiKey = (entry: ApiKeyEntry, read: EntryReader, world: World, vault: Vault<StoredApiKey>): StoredApiKey | undefined => {
  const stored = vault.byId.get(entry.id)
  const userId = existingUser(entry.userId, stored, read, world)
  const hash = vault.hashOf(entry.id, 'key', entry.key, read)
  if (typeof entry.key === 'string' && !isApiKey(entry.key)) read.fault('key', `a key must be ${apiKeyRequirement}`)
  if (userId === undefined || hash === undefined) return undefined
  return {
    id: entry.id,
    userId,
    name: read.optional(entry.name, stored?.name, entry.id),
    hash,
    scopes: read.optional(entry.scopes, stored?.scopes, firstScopes),
    ipAllowlist: read.optional(entry.ipAllowlist, stored?.ipAllowlist, []),
    expiresAt: read.optional<number | null>(entry.expiresAt, stored?.expiresAt, null),
    enabled: read.optional(entry.enabled, stored?.enabled, true),
  }
}

const decideAccessToken = (
  entry: AccessTokenEntry,
  read: EntryReader,
  world: World,
  vault: Vault<StoredAccessToken>,
): StoredAccessToken | undefined => {
  const stored = vault.byId.get(entry.id)
  const userId = existingUser(entry.userId, stored, read, world)
  const applicationId = read.required('applicationId', entry.applicationId, stored?.applicationId)
  const scopes = read.required('scopes', entry.scopes, stored?.scopes)
  const hash = vault.hashOf(entry.id, 'token', entry.token, read)
  if (userId === undefined || applicationId === undefined || scopes === undefined || hash === undefined) return undefined
  return {
    id: entry.id,
    userId,
    applicationId,
    hash,
    scopes,
    expiresAt: read.optional<number | null>(entry.expiresAt, stored?.expiresAt, null),
    enabled: read.optional(entry.enabled, stored?.enabled, true),
  }
}

const existingUser = (
  named: Setting<UserId>,
  stored: { readonly userId: UserId } | undefined,
  read: EntryReader,
  world: World,
): UserId | undefined => {
  const userId = read.fixed('userId', named, stored?.userId)
  if (userId === undefined || world.users.has(userId)) return userId
  return read.fault('userId', `there is no user ${userId}`)
}

interface Vault<Stored> {
  readonly byId: ReadonlyMap<string, Stored>
  readonly issued: IssuedSecret[]
  readonly hashOf: (id: string, field: string, given: Setting<string>, read: EntryReader) => CredentialHash | undefined
}

const createVault = <Stored extends { readonly id: string; readonly hash: CredentialHash }>(
  stored: readonly Stored[],
  make: () => string,
  hash: CredentialSource['hash'],
): Vault<Stored> => {
  const byId = new Map(stored.map((credential) => [credential.id, credential]))
  const holders = new Map<CredentialHash, string>(stored.map((credential) => [credential.hash, credential.id]))
  const issued: IssuedSecret[] = []
  return {
    byId,
    issued,
    hashOf: (id, field, given, read) => {
      const before = byId.get(id)?.hash
      if (given === null) return read.fault(field, `a ${field} cannot be unset; revoke it with enabled: false or remove it`)
      if (given === undefined && before !== undefined) return before
      const secret = given ?? make()
      const digest = hash(secret)
      const holder = holders.get(digest)
      if (holder !== undefined && holder !== id) return read.fault(field, `this ${field} is already in use; give another or none`)
      holders.set(digest, id)
      issued.push({ id, secret })
      return digest
    },
  }
}
