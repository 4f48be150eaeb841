// GET /operator/v1/tenants/:tenantId/doctor: whether the provider takes the tenant's token, and whether its clock is ours.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { NotFound, ServiceUnavailable } from '../errors.ts'
import { clockHealth, providerTokenHealth } from '../operator/health.ts'
import type { HealthCheck } from '../operator/health.ts'
import type { ProviderProbe } from '../ports/service-health.ts'
import type { TenantRecords } from '../ports/tenant-records.ts'
import type { TenantId } from '../primitives/ids.ts'
import { requireTenant } from './steps/read-list.ts'

export const checkTenant =
  (ports: { readonly records: Pick<TenantRecords, 'find'>; readonly providerProbe: ProviderProbe }) =>
  (tenantId: TenantId): TE.TaskEither<ServiceUnavailable | NotFound, readonly HealthCheck[]> =>
    pipe(
      TE.Do,
      TE.bind('tenant', () => requireTenant(ports)(tenantId)),
      TE.bindW('standing', () => TE.fromTask(ports.providerProbe.probe(tenantId))),
      TE.map(({ tenant, standing }) => [
        providerTokenHealth(tenant, standing),
        ...(standing.kind === 'accepted' ? [clockHealth('provider clock', standing.clock)] : []),
      ]),
    )
