// The operator's lists of tenants and of what they have, and the change of the key that seals their
// secrets. No text of a credential comes out of them.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { InvalidCursor, NotFound, ServiceUnavailable } from '../errors.ts'
import { writeListCursor } from '../operator/listing.ts'
import type {
  Listed,
  ListedAccessToken,
  ListedAccount,
  ListedApiKey,
  ListedTenant,
  ListRequest,
  OwnedListRequest,
  TenantCounts,
} from '../operator/listing.ts'
import type { Desk, User } from '../operator/records.ts'
import { parseSecretPlace, placeOfSecret } from '../operator/sealed-secrets.ts'
import type { ResealedBatch } from '../operator/sealed-secrets.ts'
import type { Ports } from '../ports/ports.ts'
import { parseAccountId, parseRecordId, parseTenantId, parseUserId } from '../primitives/ids.ts'
import type { TenantId } from '../primitives/ids.ts'
import { byId, byOwner, readList, readPlace, requireTenant } from './steps/read-list.ts'
import type { ListRefusal, ReadableList } from './steps/read-list.ts'

export interface TenantView {
  readonly tenant: ListedTenant
  /** How many records it has. */
  readonly counts: TenantCounts
}

export interface RotatedBatch extends Omit<ResealedBatch, 'last'> {
  /** Undefined where nothing is left. */
  readonly cursor: string | undefined
}

type OfTenant<A> = TE.TaskEither<ListRefusal | NotFound, Listed<A>>

const byAccount = byOwner(parseAccountId)
const sealedSecretsList = ['sealed-secrets']

export const createOperatorRecords = ({
  records,
  sealedSecrets,
}: Pick<Ports, 'records' | 'sealedSecrets'>) => {
  /** A list of one tenant's, which must be there: what nobody has is not shown as an empty list. */
  const listOfTenant = <Place, A>(
    tenantId: TenantId,
    list: ReadableList<Place, A>,
    request: ListRequest,
  ): OfTenant<A> =>
    pipe(
      requireTenant({ records })(tenantId),
      TE.flatMap(() => readList({ ...list, name: [...list.name, tenantId] }, request)),
    )

  return {
    /** GET /operator/v1/tenants: by id. */
    listTenants: (request: ListRequest): TE.TaskEither<ListRefusal, Listed<ListedTenant>> =>
      readList({ name: ['tenants'], ...byId(parseTenantId), read: records.tenants }, request),

    /** GET /operator/v1/tenants/:tenantId. */
    getTenant: (tenantId: TenantId): TE.TaskEither<ServiceUnavailable | NotFound, TenantView> =>
      pipe(
        requireTenant({ records })(tenantId),
        TE.bindTo('tenant'),
        TE.bindW('counts', () => records.counts(tenantId)),
      ),

    /** GET /operator/v1/tenants/:tenantId/users: by id. */
    listTenantUsers: (tenantId: TenantId, request: ListRequest): OfTenant<User> =>
      listOfTenant(
        tenantId,
        { name: ['users'], ...byId(parseUserId), read: (slice) => records.users(tenantId, slice) },
        request,
      ),

    /** GET /operator/v1/tenants/:tenantId/desks: by id. */
    listTenantDesks: (tenantId: TenantId, request: ListRequest): OfTenant<Desk> =>
      listOfTenant(
        tenantId,
        {
          name: ['desks'],
          ...byId(parseRecordId),
          read: (slice) => records.desks(tenantId, slice),
        },
        request,
      ),

    /**
     * GET /operator/v1/tenants/:tenantId/accounts: linked accounts, by user, with their limits and
     * challenges.
     */
    listTenantAccounts: (
      tenantId: TenantId,
      { userId, ...request }: OwnedListRequest,
    ): OfTenant<ListedAccount> =>
      listOfTenant(
        tenantId,
        {
          name: ['accounts', userId ?? ''],
          parsePlace: byAccount.parsePlace,
          placeOf: ({ account: { id, owner } }) => byAccount.placeOf({ id, userId: owner.userId }),
          read: (slice) => records.accounts(tenantId, { ...slice, userId }),
        },
        request,
      ),

    /** GET /operator/v1/tenants/:tenantId/api-keys: by user. */
    listTenantApiKeys: (
      tenantId: TenantId,
      { userId, ...request }: OwnedListRequest,
    ): OfTenant<ListedApiKey> =>
      listOfTenant(
        tenantId,
        {
          name: ['api-keys', userId ?? ''],
          ...byOwner(parseRecordId),
          read: (slice) => records.apiKeys(tenantId, { ...slice, userId }),
        },
        request,
      ),

    /** GET /operator/v1/tenants/:tenantId/access-tokens: stored ones, by user. */
    listTenantAccessTokens: (
      tenantId: TenantId,
      { userId, ...request }: OwnedListRequest,
    ): OfTenant<ListedAccessToken> =>
      listOfTenant(
        tenantId,
        {
          name: ['access-tokens', userId ?? ''],
          ...byOwner(parseRecordId),
          read: (slice) => records.accessTokens(tenantId, { ...slice, userId }),
        },
        request,
      ),

    /**
     * POST /operator/v1/secrets/rotate: seals one batch of secrets under the current key; the
     * cursor leads to the next.
     */
    rotateSecrets: ({
      cursor,
      limit,
    }: ListRequest): TE.TaskEither<ServiceUnavailable | InvalidCursor, RotatedBatch> =>
      pipe(
        readPlace(sealedSecretsList, cursor, parseSecretPlace),
        TE.flatMap((after) => sealedSecrets.reseal({ after, limit })),
        TE.map(({ last, ...batch }) => ({
          ...batch,
          cursor:
            last === undefined
              ? undefined
              : writeListCursor(sealedSecretsList, placeOfSecret(last)),
        })),
      ),
  }
}
