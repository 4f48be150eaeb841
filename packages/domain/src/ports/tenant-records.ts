// A tenant's records as its operator looks at them. Each method takes the tenant, whose records
// alone it sees; `tenants` is the list of these owners and has none. No secret comes out of it, and
// no hash of one. No route of users reaches it.
import type * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import type {
  ListedAccessToken,
  ListedAccount,
  ListedApiKey,
  ListedTenant,
  OwnedPlace,
  Slice,
  TenantCounts,
} from '../operator/listing.ts'
import type { Desk, User } from '../operator/records.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'

/** A list of what users own, of one of them where `userId` says so. */
export interface OwnedSlice<Id extends string = string> extends Slice<
  OwnedPlace & { readonly id: Id }
> {
  readonly userId: UserId | undefined
}

type Listing<A> = TE.TaskEither<ServiceUnavailable, readonly A[]>

/**
 * Every list has an order of its own that new records do not change, and a place in it outlives the
 * record that stood there.
 */
export interface TenantRecords {
  /** By id. */
  readonly tenants: (slice: Slice<TenantId>) => Listing<ListedTenant>
  readonly find: (tenantId: TenantId) => TE.TaskEither<ServiceUnavailable, O.Option<ListedTenant>>
  /** All 0 where there is no such tenant. */
  readonly counts: (tenantId: TenantId) => TE.TaskEither<ServiceUnavailable, TenantCounts>
  /** By id. */
  readonly users: (tenantId: TenantId, slice: Slice<UserId>) => Listing<User>
  /** By user, then id. */
  readonly accounts: (tenantId: TenantId, slice: OwnedSlice<AccountId>) => Listing<ListedAccount>
  /** By user, then id. */
  readonly apiKeys: (tenantId: TenantId, slice: OwnedSlice) => Listing<ListedApiKey>
  /** By user, then id. */
  readonly accessTokens: (tenantId: TenantId, slice: OwnedSlice) => Listing<ListedAccessToken>
  /** By id. */
  readonly desks: (tenantId: TenantId, slice: Slice<string>) => Listing<Desk>
}
