// GET /operator/v1/tenants/:tenantId/api-keys: keys of the tenant's users, by user, without what opens the door.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListedApiKey, ListRequest } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseRecordId } from '../primitives/ids.ts'
import type { TenantId, UserId } from '../primitives/ids.ts'
import { byOwner, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

/** @param userId whose alone; undefined for all of the tenant's */
export const listTenantApiKeys =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'apiKeys'> }) =>
  (tenantId: TenantId, userId: UserId | undefined, request: ListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<ListedApiKey>> =>
    readTenantList(ports)(
      tenantId,
      {
        name: ['api-keys', userId ?? ''],
        ...byOwner(parseRecordId),
        read: (slice) => ports.records.apiKeys(tenantId, { ...slice, userId }),
      },
      request,
    )
