// GET /operator/v1/tenants/:tenantId/access-tokens: stored access tokens of the tenant's users, by user, without their texts.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListedAccessToken, OwnedListRequest } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseRecordId } from '../primitives/ids.ts'
import type { TenantId } from '../primitives/ids.ts'
import { byOwner, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

export const listTenantAccessTokens =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'accessTokens'> }) =>
  (tenantId: TenantId, { userId, ...request }: OwnedListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<ListedAccessToken>> =>
    readTenantList(ports)(
      tenantId,
      {
        name: ['access-tokens', userId ?? ''],
        ...byOwner(parseRecordId),
        read: (slice) => ports.records.accessTokens(tenantId, { ...slice, userId }),
      },
      request,
    )
