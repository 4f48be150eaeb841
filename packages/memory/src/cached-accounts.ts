// Linked accounts kept for at most a second for the routes that read positions and trades, which
// need to know of an account where it is and not how it stands: a request from the caches then
// reads no database. The second runs from the start of the read, as for credentials.
import type { Account } from '@tradeport/domain/accounts'
import type { ServiceUnavailable } from '@tradeport/domain/errors'
import type { AccountStore, Clock } from '@tradeport/domain/ports'
import * as O from 'fp-ts/lib/Option.js'
import { ownerKey } from './owner-key.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'

const linkedAccountTtlMs = 1_000

const maxEntries = 20_000

export interface CachedAccounts extends Pick<AccountStore, 'find' | 'list'> {
  /** After a document of the operator: this instance reads every account anew. */
  readonly forgetAll: () => void
}

interface Parts {
  readonly clock: Clock
  readonly tallies?: Tallies | undefined
}

/**
 * Only found accounts are kept: one that was just linked shows at once, and guesses take no room.
 */
export const cachedAccounts = (
  store: Pick<AccountStore, 'find' | 'list'>,
  { clock, tallies }: Parts,
): CachedAccounts => {
  const options = { clock, ttlMs: linkedAccountTtlMs, ageFrom: 'start', maxEntries } as const
  const found = createSingleFlightCache<string, ServiceUnavailable, O.Option<Account>>({
    ...options,
    isKept: O.isSome,
    tally: tallies?.('accounts'),
  })
  const lists = createSingleFlightCache<string, ServiceUnavailable, readonly Account[]>({
    ...options,
    isKept: (accounts) => accounts.length > 0,
    tally: tallies?.('account_lists'),
  })
  return {
    find: (owner, id) => found.read(`${ownerKey(owner)} ${id}`, () => store.find(owner, id)()),
    list: (owner) => lists.read(ownerKey(owner), () => store.list(owner)()),
    forgetAll: () => {
      found.dropAll()
      lists.dropAll()
    },
  }
}
