// GET /operator/v1/tenants/:tenantId: a tenant, and how many records it has.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import type { ListedTenant, TenantCounts } from '../operator/listing.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import type { TenantId } from '../primitives/ids.ts'
import { requireTenant } from './steps/read-list.ts'

export interface TenantView {
  readonly tenant: ListedTenant
  readonly counts: TenantCounts
}

export const getTenant =
  (ports: { readonly records: Pick<TenantRecords, 'find' | 'counts'> }) =>
  (tenantId: TenantId): TE.TaskEither<ServiceUnavailable | NotFound, TenantView> =>
    pipe(
      TE.Do,
      TE.bind('tenant', () => requireTenant(ports)(tenantId)),
      TE.bindW('counts', () => ports.records.counts(tenantId)),
    )
