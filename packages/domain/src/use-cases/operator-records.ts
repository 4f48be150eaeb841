// The operator's lists of tenants and of what they have, and the change of the key that seals their
// secrets. No text of a credential comes out of them.
import type { WithBody, WithQuery } from './input.ts'
import { requireById, requireFound } from './steps/find.ts'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { invalid, refuse, type AsyncResult, type BrokerReadError, type Refusal } from '../errors.ts'
import {
  byId,
  byOwner,
  readList,
  readPlace,
  type ListRequest,
  type Listed,
  type ListedAccessToken,
  type ListedAccount,
  type ListedApiKey,
  type ListedTenant,
  type OwnedListRequest,
  type OwnedPlace,
  type CursorCodec,
  type Slice,
  type RecordCounts,
} from '../operator/listing.ts'
import type { Desk, ProviderAccount, User } from '../operator/records.ts'
import { secretCursor, type ResealedBatch } from '../operator/sealed-secrets.ts'
import type { Ports } from '../ports/index.ts'
import { cursorAfter } from '../primitives/cursor.ts'
import {
  parseAccountId,
  parseRecordId,
  parseTenantId,
  parseUserId,
  type TenantId,
  type UserId,
} from '../primitives/ids.ts'

/** Lists of an unknown tenant are not found, rather than empty. */
export const requireTenant =
  ({ records }: Pick<Ports, 'records'>) =>
  (text: string): AsyncResult<ListedTenant, 'NotFound'> =>
    requireById('tenant', parseTenantId(text), records.find)

/** `:tenantId` of the path. */
export interface OfTenant {
  readonly tenantId: string
}

/** A tenant, with how much it has. */
export interface TenantView extends ListedTenant {
  /** How many records it has. */
  readonly counts: RecordCounts
}

/** How many secrets were sealed anew, and where the next batch begins. */
export interface RotatedBatch extends Omit<ResealedBatch, 'last'> {
  /** Null where nothing is left. */
  readonly cursor: string | null
}

const byAccount = byOwner(parseAccountId)
const byRecord = byOwner(parseRecordId)
const sealedSecretsList = ['sealed-secrets']

/** The operator's lists, and the rotation of secrets. */
export const createOperatorRecords = ({
  records,
  sealedSecrets,
  providerAccounts,
  users,
}: Pick<Ports, 'records' | 'sealedSecrets' | 'providerAccounts' | 'users'>) => {
  const requireTenantById = requireTenant({ records })

  const listOfTenant =
    <Place, A>(
      name: string,
      codec: CursorCodec<Place, A>,
      read: (
        tenantId: TenantId,
        slice: Slice<Place> & { readonly userId: UserId | undefined },
      ) => AsyncResult<readonly A[]>,
    ) =>
    (
      _: unknown,
      { tenantId: text, query: { userId, ...request } }: OfTenant & WithQuery<OwnedListRequest>,
    ): AsyncResult<Listed<A>, 'NotFound' | 'InvalidCursor'> =>
      pipe(
        requireTenantById(text),
        // A user by whom the list is filtered must be the tenant's. Every user has an address.
        TE.tap(({ id: tenantId }) =>
          userId === undefined
            ? TE.right('')
            : requireFound('user')(users.email({ tenantId, userId })),
        ),
        TE.flatMap(({ id }) =>
          readList(
            {
              name: [name, userId ?? '', id],
              ...codec,
              read: (slice) => read(id, { ...slice, userId }),
            },
            request,
          ),
        ),
      )

  return {
    /** GET /operator/v1/tenants: by id. */
    listTenants: (
      _: unknown,
      { query }: WithQuery<ListRequest>,
    ): AsyncResult<Listed<ListedTenant>, 'InvalidCursor'> =>
      readList({ name: ['tenants'], ...byId(parseTenantId), read: records.tenants }, query),

    /** GET /operator/v1/tenants/:tenantId. */
    getTenant: (_: unknown, { tenantId }: OfTenant): AsyncResult<TenantView, 'NotFound'> =>
      pipe(
        requireTenantById(tenantId),
        TE.bindW('counts', ({ id }) => records.counts(id)),
      ),

    /**
     * GET /operator/v1/tenants/:tenantId/provider-accounts/:providerAccountId: what the provider
     * reports of an account, from which it can be linked.
     */
    getProviderAccount: (
      _: unknown,
      { tenantId, providerAccountId }: OfTenant & { readonly providerAccountId: string },
    ): AsyncResult<ProviderAccount, 'NotFound' | 'ValidationError'> =>
      pipe(
        requireTenantById(tenantId),
        TE.flatMap(({ id }) =>
          pipe(providerAccounts.find(id, providerAccountId), TE.mapLeft(asFaultOfInput)),
        ),
      ),

    /** GET /operator/v1/tenants/:tenantId/users: by id. */
    listUsers: listOfTenant<UserId, User>('users', byId(parseUserId), records.users),

    /** GET /operator/v1/tenants/:tenantId/desks: by id. */
    listDesks: listOfTenant<string, Desk>('desks', byId(parseRecordId), records.desks),

    /**
     * GET /operator/v1/tenants/:tenantId/accounts: linked accounts, by user, with their limits and
     * challenges.
     */
    listTenantAccounts: listOfTenant(
      'accounts',
      {
        parsePlace: byAccount.parsePlace,
        placeOf: ({ account: { id, owner } }: ListedAccount) =>
          byAccount.placeOf({ id, userId: owner.userId }),
      },
      records.accounts,
    ),

    /** GET /operator/v1/tenants/:tenantId/api-keys: by user. */
    listApiKeys: listOfTenant<OwnedPlace, ListedApiKey>('api-keys', byRecord, records.apiKeys),

    /** GET /operator/v1/tenants/:tenantId/access-tokens: stored ones, by user. */
    listAccessTokens: listOfTenant<OwnedPlace, ListedAccessToken>(
      'access-tokens',
      byRecord,
      records.accessTokens,
    ),

    /**
     * POST /operator/v1/secrets/rotate: seals one batch of secrets under the current key; the
     * cursor leads to the next.
     */
    rotateSecrets: (
      _: unknown,
      { body: { cursor, limit } }: WithBody<ListRequest>,
    ): AsyncResult<RotatedBatch, 'InvalidCursor'> =>
      pipe(
        TE.fromEither(readPlace({ name: sealedSecretsList, ...secretCursor }, cursor)),
        TE.flatMap((after) => sealedSecrets.reseal({ after, limit })),
        TE.map(({ last, ...batch }) => ({
          ...batch,
          cursor:
            last === undefined ? null : cursorAfter(sealedSecretsList, secretCursor.placeOf(last)),
        })),
      ),
  }
}

/** What the operator can mend is a fault of the input. Other failures of a read may pass. */
const asFaultOfInput = (
  error: BrokerReadError,
): Refusal<'ValidationError' | 'ServiceUnavailable'> => {
  const unread = 'provider_account'
  switch (error._tag) {
    case 'BrokerRateLimited':
      return refuse('ServiceUnavailable', { reason: 'the provider limits requests', unread })
    case 'BrokerUnavailable':
      if (error.cause === 'token_refused') return notReadable("it refuses the tenant's token")
      return error.cause === 'token_missing'
        ? notReadable('the tenant has no providerToken')
        : refuse('ServiceUnavailable', { reason: error.reason, unread })
    case 'NotProvisioned':
    case 'UnsupportedBroker':
      return notReadable("the tenant's token finds no such account there")
  }
}

const notReadable = (why: string): Refusal<'ValidationError'> => {
  const path = 'providerAccountId'
  return invalid(path, `${path} must be an account that the provider can read; ${why}`)
}
