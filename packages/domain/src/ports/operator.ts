// What the operator reads and changes. The operator stands above tenants, so that no method here is
// bound to a user, and no route of users reaches these ports.
import type * as E from 'fp-ts/lib/Either.js'
import type * as O from 'fp-ts/lib/Option.js'
import type * as T from 'fp-ts/lib/Task.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult, BrokerReadError, Refusal } from '../errors.ts'
import type {
  DisagreeingJournal,
  Durability,
  LimiterStanding,
  ProviderStanding,
} from '../operator/health.ts'
import type {
  ListedAccessToken,
  ListedAccount,
  ListedApiKey,
  ListedTenant,
  OwnedPlace,
  Slice,
  RecordCounts,
} from '../operator/listing.ts'
import type {
  Desk,
  OperatorChanges,
  OperatorKeys,
  OperatorRecords,
  ProviderAccount,
  User,
} from '../operator/records.ts'
import type { ResealedBatch, SealedSecret, SecretCounts } from '../operator/sealed-secrets.ts'
import type { OrderId } from '../orders/order.ts'
import type { ManualFinish } from '../orders/placement.ts'
import type { AccountId, TenantId, UserId } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { StoredOrder } from './orders.ts'

/** The records that documents of the operator change. */
export interface OperatorStore {
  /**
   * In one transaction, one document at a time: reads the named records, lets `decide` choose
   * the changes, and writes them or nothing. Every instance, this one too, is notified whose
   * credentials changed (`PeerNotices`), if and only if they were written.
   */
  readonly apply: <A extends { readonly changes: OperatorChanges }>(
    keys: OperatorKeys,
    decide: (records: OperatorRecords) => E.Either<Refusal<'ValidationError'>, A>,
  ) => AsyncResult<A, 'ValidationError'>
}

/** The tenants' credentials at the provider. */
export interface ProviderTokens {
  /**
   * The tenant's token for the provider, a secret; none where the operator set none. One that cannot
   * be decrypted is ServiceUnavailable.
   */
  readonly find: (tenantId: TenantId) => AsyncResult<O.Option<string>>
}

/** An order of any tenant, with what only the operator sees. */
export interface OperatorOrder extends StoredOrder {
  /**
   * When a process continues with the order, by the database's clock; null where nothing is to be
   * done, as while the broker holds it.
   */
  readonly dueAt: Instant | null
  /** Who ended the order by hand, at its `updatedAt`; null where nobody did. */
  readonly finish: ManualFinish | null
}

/** Orders of any of these tenants, users or accounts. */
export interface OrderOwners {
  readonly tenants: readonly TenantId[]
  readonly users: readonly UserId[]
  readonly accounts: readonly AccountId[]
}

/** Which orders under way. */
export interface UnderWayFilter {
  /** Undefined for the orders of everybody. */
  readonly of?: OrderOwners | undefined
  /**
   * Only orders that are pending and were made at this moment or before, or that are open and were
   * missed at the broker then.
   */
  readonly unresolvedSince?: Instant | undefined
}

/** The place of an order in a list by creation time, then by id. */
export interface OrderListPlace {
  readonly createdAt: Instant
  readonly id: OrderId
}

/** Orders of all tenants. */
export interface OperatorOrders {
  /**
   * Orders with which something is still to be done, and those that the broker holds, oldest first.
   * The cost depends on these, not on how many have ended.
   */
  readonly underWay: (
    filter: UnderWayFilter,
    slice: Slice<OrderListPlace>,
  ) => AsyncResult<readonly OperatorOrder[]>
  /** Any order, under way or ended. */
  readonly find: (id: OrderId) => AsyncResult<O.Option<OperatorOrder>>
}

/** A list of what users own, of one user where `userId` is given. */
export interface OwnedSlice<Id extends string = string> extends Slice<
  OwnedPlace & { readonly id: Id }
> {
  readonly userId: UserId | undefined
}

type Listing<A> = AsyncResult<readonly A[]>

/**
 * A tenant's records for the operator. Each method but `tenants` sees the records of one tenant,
 * and none returns a secret or its hash. New records do not change the order of a list, and a place
 * in it outlives its record.
 */
export interface TenantRecords {
  /** By id. */
  readonly tenants: (slice: Slice<TenantId>) => Listing<ListedTenant>
  readonly find: (tenantId: TenantId) => AsyncResult<O.Option<ListedTenant>>
  /** Of the tenant, or of one user of it; all 0 where there is none. */
  readonly counts: (tenantId: TenantId, userId?: UserId) => AsyncResult<RecordCounts>
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

/** The sealed secrets of all tenants, for changing the key that seals them. It opens none. */
export interface SealedSecrets {
  /**
   * Seals up to `limit` secrets anew that are not sealed under the current key. One that is written
   * meanwhile is sealed by whoever writes it, and is not written over; one that no
   * key opens stays as it is.
   */
  readonly reseal: (slice: Slice<SealedSecret>) => AsyncResult<ResealedBatch>
  /** By the key that seals them. */
  readonly counts: AsyncResult<SecretCounts>
}

/** What the operator's doctor reads, in addition to records. */
export interface HealthReads {
  /** The database's clock. */
  readonly databaseNow: AsyncResult<Instant>
  /** Whether the database accepts a write; it is rolled back. */
  readonly tryWrite: AsyncResult<unknown>
  /** Whether the tables are those that this version needs. */
  readonly isMigrated: AsyncResult<boolean>
  readonly durability: AsyncResult<Durability>
  /** Up to `maxListedAccounts`, the oldest comparison first. */
  readonly disagreeingJournals: AsyncResult<readonly DisagreeingJournal[]>
  /** How many accounts are halted and get orders all the same: 0 with `trading-tools`. */
  readonly ignoredHalts: AsyncResult<number>
  /**
   * Accounts with thresholds whose last check is longer ago than it should be, up to
   * `maxListedAccounts`.
   */
  readonly uncheckedThresholds: AsyncResult<readonly AccountId[]>
  /** Asks whatever counts the requests. */
  readonly limiterStanding: T.Task<LimiterStanding>
  /** Left out where no issuer of access tokens is trusted. */
  readonly readIssuerKeys?: AsyncResult<unknown> | undefined
  /** As in PeerNotices. */
  readonly noticesConfirmedAt: () => Instant
  /** Whether orders reach a real broker, not the sandbox. */
  readonly sendsRealOrders: boolean
  /** Shows the tenant's token to the provider, by a read that changes nothing. */
  readonly probeProvider: (tenantId: TenantId) => T.Task<ProviderStanding>
}

/**
 * The unfinished work of all instances. Ages in milliseconds by the clock of the database; 0 where
 * there is nothing.
 */
export interface Backlog {
  /** Jobs that are due and that no process has claimed. */
  readonly queues: readonly {
    readonly queue: string
    readonly waiting: number
    readonly oldestMs: number
  }[]
  /**
   * Unknown: pending, and may have been sent, which their age is since; or open, and missing at the
   * broker, since they were missed.
   */
  readonly orders: {
    readonly pending: number
    readonly unknown: number
    readonly oldestUnknownMs: number
  }
  /**
   * Accounts whose kept deals do not add up to their balance, and those of the watch. The lag is
   * that of the most overdue read of an account that could be read last time. Unchecked are those
   * with thresholds whose last check is longer ago than it should be.
   */
  readonly journals: {
    readonly disagreeing: number
    readonly watched: number
    readonly watchedFailing: number
    readonly watchLagMs: number
    readonly unchecked: number
  }
  readonly deliveries: {
    readonly pending: number
    readonly due: number
    readonly oldestDueMs: number
  }
}

/** What the provider knows of an account before anybody has linked it. */
export interface ProviderAccounts {
  /** Read with the tenant's token; the account must be deployed at the provider. */
  readonly find: (
    tenantId: TenantId,
    providerAccountId: string,
  ) => TE.TaskEither<BrokerReadError, ProviderAccount>
}
