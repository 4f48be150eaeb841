// Credentials kept so that a request needs no database read, and a revocation still takes effect
// within one second on every instance: a kept one is used while every notice of a change is known
// to have arrived, or while it is younger than a second itself.
import type { Credential, UserPlan } from '@tradeport/domain/access'
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { AffectedUsers } from '@tradeport/domain/operator'
import type { Clock, CredentialStore, PeerNotices } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { ownerKey } from './owner-key.ts'
import { createRecentMisses } from './recent-misses.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'

/**
 * For how long a moment up to which every notice has arrived vouches for what is kept: less than a
 * second, so that what it vouched for can go in time.
 */
const confirmationTtlMs = 800
/** How long a credential is kept that nothing vouches for. */
const unconfirmedTtlMs = 1_000
/** How long one is kept at most, should a notice be lost that nobody missed. */
const confirmedTtlMs = 5 * 60_000

const maxCredentials = 20_000
const maxMisses = 10_000

interface Parts {
  readonly clock: Clock
  readonly notices: Pick<PeerNotices, 'confirmedAt'>
  readonly tallies?: Tallies | undefined
}

export interface CachedCredentials extends CredentialStore {
  /** After a change of these users, their keys or their tokens: all of it is read anew. */
  readonly forget: (users: AffectedUsers) => void
}

/**
 * What was looked for in vain is remembered for a second at most, apart from the rest, so that
 * guesses drive out nothing.
 */
export const cachedCredentials = (store: CredentialStore, parts: Parts): CachedCredentials => {
  const apiKeys = createShelf<Credential>(parts, 'api_keys')
  const accessTokens = createShelf<Credential>(parts, 'access_tokens')
  const userPlans = createShelf<UserPlan>(parts, 'user_plans')
  return {
    findApiKey: (hash) => apiKeys.read(hash, () => store.findApiKey(hash)()),
    findAccessToken: (hash) => accessTokens.read(hash, () => store.findAccessToken(hash)()),
    findUserPlan: (owner) => userPlans.read(ownerKey(owner), () => store.findUserPlan(owner)()),
    forget: (users) => {
      for (const shelf of [apiKeys, accessTokens, userPlans]) shelf.forget(users)
    },
  }
}

interface Shelf<A> {
  readonly read: (key: string, load: Find<A>) => Find<A>
  readonly forget: (users: AffectedUsers) => void
}

type Find<A> = TE.TaskEither<ServiceUnavailable, O.Option<A>>

const createShelf = <A extends UserPlan>(
  { clock, notices, tallies }: Parts,
  name: string,
): Shelf<A> => {
  const misses = createRecentMisses({ clock, ttlMs: unconfirmedTtlMs, maxEntries: maxMisses })
  const isConfirmed = (): boolean => {
    const ageMs = clock.now() - notices.confirmedAt()
    return ageMs >= 0 && ageMs < confirmationTtlMs
  }
  const found = createSingleFlightCache<string, ServiceUnavailable, O.Option<A>>({
    clock,
    ttlMs: () => (isConfirmed() ? confirmedTtlMs : unconfirmedTtlMs),
    // From its end, a slow read could outlive a revocation that came while it was under way.
    ageFrom: 'start',
    maxFlightMs: unconfirmedTtlMs,
    maxEntries: maxCredentials,
    isKept: O.isSome,
    tally: tallies?.(name),
  })
  return {
    read: (key, load) => found.read(key, () => misses.through(key, load)()),
    forget: (users) => {
      if (users.length === 0) return
      misses.clear()
      if (users === 'everyone') return found.dropAll()
      const affected = new Set<string>(users)
      found.dropWhere(
        (credential) => O.isSome(credential) && affected.has(credential.value.owner.userId),
      )
    },
  }
}
