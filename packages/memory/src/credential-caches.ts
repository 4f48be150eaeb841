// Caches of what identifies a caller and its accounts, so that a request needs no database read.
import type { Account } from '@tradeport/domain/accounts'
import type { Credential, UserPlan } from '@tradeport/domain/access'
import type { AsyncResult, ServiceUnavailable } from '@tradeport/domain/errors'
import type { AffectedUsers } from '@tradeport/domain/operator'
import type {
  AccountStore,
  CredentialStore,
  PeerNotices,
  Secrets,
  TokenVerifier,
  VerifiedToken,
} from '@tradeport/domain/ports'
import type { Owner } from '@tradeport/domain/primitives'
import * as O from 'fp-ts/lib/Option.js'
import { createSingleFlightCache, type CacheParts } from './single-flight-cache.ts'

const maxFound = 20_000
const maxMissing = 10_000
const shortTtlMs = 1_000
const longTtlMs = 5 * 60_000
/**
 * How long a confirmation that every notice has arrived is valid: less than a second, so that a
 * revocation takes effect within one.
 */
const confirmationTtlMs = 800

// No stored text holds U+0000.
const ownerKey = ({ tenantId, userId }: Owner, ...more: readonly string[]): string =>
  [tenantId, userId, ...more].join('\0')

/**
 * Two caches: one of what is found, and one of what is not, for a second. They are apart so that
 * guessed keys evict nothing. Ages count from the start of a read, or a slow one could outlive a
 * revocation.
 */
const createFindCache = <A>(
  parts: CacheParts,
  name: string,
  options: { readonly ttlMs: number | (() => number); readonly maxJoinMs?: number },
) => {
  const found = createSingleFlightCache<ServiceUnavailable, O.Option<A>>(parts, name, {
    ...options,
    ageFrom: 'start',
    maxWeight: maxFound,
    isKept: O.isSome,
  })
  const missing = createSingleFlightCache<ServiceUnavailable, O.Option<A>>(parts, undefined, {
    ttlMs: shortTtlMs,
    ageFrom: 'start',
    maxWeight: maxMissing,
    isKept: O.isNone,
  })
  return {
    read: (key: string, load: AsyncResult<O.Option<A>>) => found.read(key, missing.read(key, load)),
    dropWhere: (isDropped: (value: A) => boolean): void => {
      missing.dropWhere(() => true)
      found.dropWhere(O.exists(isDropped))
    },
  }
}

/**
 * Keeps credentials for five minutes while every notice of a change is known to have arrived, and
 * otherwise for a second, so that a revocation takes effect within a second on every instance.
 */
export const cachedCredentials = (
  store: CredentialStore,
  parts: CacheParts & { readonly peerNotices: Pick<PeerNotices, 'confirmedAt'> },
) => {
  const { clock, peerNotices } = parts
  const ttlMs = (): number => {
    const ageMs = clock.now() - peerNotices.confirmedAt()
    return ageMs >= 0 && ageMs < confirmationTtlMs ? longTtlMs : shortTtlMs
  }
  const options = { ttlMs, maxJoinMs: shortTtlMs }
  const apiKeys = createFindCache<Credential>(parts, 'api_keys', options)
  const accessTokens = createFindCache<Credential>(parts, 'access_tokens', options)
  const userPlans = createFindCache<UserPlan>(parts, 'user_plans', options)
  return {
    findApiKey: (hash) => apiKeys.read(hash, () => store.findApiKey(hash)()),
    findAccessToken: (hash) => accessTokens.read(hash, () => store.findAccessToken(hash)()),
    findUserPlan: (owner) => userPlans.read(ownerKey(owner), () => store.findUserPlan(owner)()),
    /** Drops what is kept of these users, after a change of them, their keys or their tokens. */
    invalidate: (users: AffectedUsers): void => {
      if (users.length === 0) return
      const affected = new Set<string>(users)
      for (const cache of [apiKeys, accessTokens, userPlans])
        cache.dropWhere(({ owner }) => users === 'everyone' || affected.has(owner.userId))
    },
  } satisfies CredentialStore & { readonly invalidate: (users: AffectedUsers) => void }
}

/**
 * Keeps what a token proved for five minutes, by its hash, and that it is invalid for a second.
 * Callers check whether it has expired.
 */
export const cachedTokenVerifier = (
  verifier: TokenVerifier,
  parts: CacheParts & { readonly secrets: Pick<Secrets, 'hash'> },
): TokenVerifier => {
  const tokens = createFindCache<VerifiedToken>(parts, 'issued_tokens', { ttlMs: longTtlMs })
  return { verify: (token) => tokens.read(parts.secrets.hash(token), verifier.verify(token)) }
}

/**
 * Keeps linked accounts for a second, for routes that need where an account is and not its state.
 * An account that was just linked shows at once, because only found accounts are kept.
 */
export const cachedAccounts = (
  store: AccountStore,
  parts: CacheParts,
): AccountStore & { readonly invalidateAll: () => void } => {
  const options = { ttlMs: shortTtlMs, ageFrom: 'start', maxWeight: maxFound } as const
  const found = createSingleFlightCache<ServiceUnavailable, O.Option<Account>>(parts, 'accounts', {
    ...options,
    isKept: O.isSome,
  })
  const lists = createSingleFlightCache<ServiceUnavailable, readonly Account[]>(
    parts,
    'account_lists',
    {
      ...options,
      isKept: (accounts) => accounts.length > 0,
    },
  )
  return {
    ...store,
    find: (owner, id) => found.read(ownerKey(owner, id), () => store.find(owner, id)()),
    list: (owner) => lists.read(ownerKey(owner), () => store.list(owner)()),
    /** Drops everything, after an operator's document. */
    invalidateAll: () => {
      for (const cache of [found, lists]) cache.dropWhere(() => true)
    },
  }
}
