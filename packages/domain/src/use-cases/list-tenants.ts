// GET /operator/v1/tenants: every tenant, by id.
import type * as TE from 'fp-ts/lib/TaskEither.js'
import type { Listed, ListedTenant, ListRequest } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import { parseTenantId } from '../primitives/ids.ts'
import { byId, readList } from './steps/read-list.ts'
import type { ListRefusal } from './steps/read-list.ts'

export const listTenants = (ports: {
  readonly records: Pick<TenantRecords, 'tenants'>
}): ((request: ListRequest) => TE.TaskEither<ListRefusal, Listed<ListedTenant>>) =>
  readList({ name: ['tenants'], ...byId(parseTenantId), read: ports.records.tenants })
