// GET /operator/v1/tenants/:tenantId/desks: the tenant's desks, by id.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound } from '../errors.ts'
import type { Listed, ListRequest } from '../operator/listing.ts'
import type { Desk } from '../operator/records.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseRecordId } from '../primitives/ids.ts'
import type { TenantId } from '../primitives/ids.ts'
import { byId, readTenantList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

export const listTenantDesks =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'desks'> }) =>
  (tenantId: TenantId, request: ListRequest): TE.TaskEither<ListRefusal | NotFound, Listed<Desk>> =>
    readTenantList(ports)(
      tenantId,
      { name: ['desks'], ...byId(parseRecordId), read: (slice) => ports.records.desks(tenantId, slice) },
      request,
    )
