// GET /operator/v1/tenants/:tenantId/api-keys: keys of the tenant's users, by user, without what opens the door.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListedApiKey, OwnedListRequest } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseRecordId } from '../primitives/ids.ts'
import type { TenantId } from '../primitives/ids.ts'
import { byOwner, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

export const listTenantApiKeys =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'apiKeys'> }) =>
  (tenantId: TenantId, { userId, ...request }: OwnedListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<ListedApiKey>> =>
    readTenantList(ports)(
      tenantId,
      {
        name: ['api-keys', userId ?? ''],
        ...byOwner(parseRecordId),
        read: (slice) => ports.records.apiKeys(tenantId, { ...slice, userId }),
      },
      request,
    )
