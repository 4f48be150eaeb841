// GET /operator/v1/tenants/:tenantId/users: the tenant's users, by id.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListRequest } from '../operator/listing.ts'
import type { User } from '../operator/records.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseUserId } from '../primitives/ids.ts'
import type { TenantId } from '../primitives/ids.ts'
import { byId, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

export const listTenantUsers =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'users'> }) =>
  (tenantId: TenantId, request: ListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<User>> =>
    readTenantList(ports)(
      tenantId,
      { name: ['users'], ...byId(parseUserId), read: (slice) => ports.records.users(tenantId, slice) },
      request,
    )
