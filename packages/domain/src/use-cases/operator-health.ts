// What the operator's doctor reports. A part that cannot be read is reported as such, and does not
// prevent the others.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult } from '../errors.ts'
import {
  clockHealth,
  databaseHealth,
  durabilityHealth,
  journalsHealth,
  limitsHealth,
  maxCountedStuck,
  ordersHealth,
  providerTokenHealth,
  secretsHealth,
  stuckAfterMs,
  tablesHealth,
  type HealthCheck,
} from '../operator/health.ts'
import type { OperatorOrders, Ports, SealedSecrets, TenantRecords } from '../ports/index.ts'
import type { TenantId } from '../primitives/ids.ts'
import { requireTenant } from './steps/find.ts'

interface HealthPorts extends Pick<
  Ports,
  'database' | 'brokerHealth' | 'limiterHealth' | 'journalHealth' | 'providerProbe' | 'clock'
> {
  readonly sealedSecrets: Pick<SealedSecrets, 'census'>
  readonly operatorOrders: Pick<OperatorOrders, 'underWay'>
  readonly records: Pick<TenantRecords, 'find'>
}

export const createOperatorHealth = (ports: HealthPorts) => {
  const { database, operatorOrders, clock } = ports

  const checkDatabase: T.Task<readonly HealthCheck[]> = async () => {
    const askedAt = clock.now()
    const read = await database.now()
    const toClock = (reportedAt: number) =>
      clockHealth('database clock', {
        askedAt,
        reportedAt,
        answeredAt: clock.now(),
        toleranceMs: 0,
      })
    return [databaseHealth(read), ...(E.isRight(read) ? [toClock(read.right)] : [])]
  }

  const stuckOrders: AsyncResult<number> = () =>
    pipe(
      operatorOrders.underWay(
        { pendingSince: clock.now() - stuckAfterMs },
        { after: undefined, limit: maxCountedStuck },
      ),
      TE.map(({ length }) => length),
    )()

  return {
    /**
     * GET /operator/v1/doctor. The reads run at the same time, so that a database that hangs delays
     * the answer by one timeout and not by their sum.
     */
    checkService: (async () => {
      const [checked, isMigrated, durability, census, stuck, disagreeing, standing] =
        await Promise.all([
          checkDatabase(),
          database.isMigrated(),
          database.durability(),
          ports.sealedSecrets.census(),
          stuckOrders(),
          ports.journalHealth.disagreeing(),
          ports.limiterHealth.standing(),
        ])
      return E.right([
        ...checked,
        tablesHealth(isMigrated),
        ...durabilityHealth(durability, ports.brokerHealth),
        limitsHealth(standing),
        secretsHealth(census),
        ordersHealth(stuck),
        journalsHealth(disagreeing),
      ])
    }) satisfies TE.TaskEither<never, readonly HealthCheck[]>,

    /**
     * GET /operator/v1/tenants/:tenantId/doctor: whether the provider accepts the tenant's token,
     * and whether its clock is ours.
     */
    checkTenant: (tenantId: TenantId): AsyncResult<readonly HealthCheck[], 'NotFound'> =>
      pipe(
        requireTenant(ports)(tenantId),
        TE.bindTo('tenant'),
        TE.bind('standing', () => TE.fromTask(ports.providerProbe.probe(tenantId))),
        TE.map(({ tenant, standing }) => [
          providerTokenHealth(tenant, standing),
          ...(standing.kind === 'accepted' ? [clockHealth('provider clock', standing.clock)] : []),
        ]),
      ),
  }
}
