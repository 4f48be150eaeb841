// GET /operator/v1/doctor: the state of what the service depends on. A part that cannot be read is reported as such; the others are reported all the same.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { ServiceUnavailable } from '../errors.ts'
import {
  clockHealth,
  databaseHealth,
  durabilityHealth,
  journalsHealth,
  limitsHealth,
  maxCountedStuck,
  ordersHealth,
  secretsHealth,
  stuckAfterMs,
  tablesHealth,
} from '../operator/health.ts'
import type { BrokerHealth, HealthCheck } from '../operator/health.ts'
import type { Clock } from '../ports/clock.ts'
import type { OperatorOrders } from '../ports/operator-orders.ts'
import type { SealedSecrets } from '../ports/sealed-secrets.ts'
import type { DatabaseHealth, JournalHealth, LimiterHealth } from '../ports/service-health.ts'

interface Ports {
  readonly database: DatabaseHealth
  readonly brokerHealth: BrokerHealth
  readonly limiterHealth: LimiterHealth
  readonly sealedSecrets: Pick<SealedSecrets, 'census'>
  readonly operatorOrders: Pick<OperatorOrders, 'underWay'>
  readonly journalHealth: JournalHealth
  readonly clock: Clock
}

/** The reads run at the same time, so that a database that hangs delays the answer by one timeout and not by their sum. */
export const checkService = (ports: Ports): TE.TaskEither<never, readonly HealthCheck[]> =>
  pipe(
    T.Do,
    T.apS('database', checkDatabase(ports)),
    T.apS('isMigrated', ports.database.isMigrated),
    T.apS('durability', ports.database.durability),
    T.apS('census', ports.sealedSecrets.census),
    T.apS('stuck', countStuck(ports)),
    T.apS('disagreeing', ports.journalHealth.disagreeing),
    T.apS('standing', ports.limiterHealth.standing),
    T.map(({ database, isMigrated, durability, census, stuck, disagreeing, standing }) => [
      ...database,
      tablesHealth(isMigrated),
      ...durabilityHealth(durability, ports.brokerHealth),
      limitsHealth(standing),
      secretsHealth(census),
      ordersHealth(stuck),
      journalsHealth(disagreeing),
    ]),
    TE.fromTask,
  )

const countStuck = ({ operatorOrders, clock }: Ports): TE.TaskEither<ServiceUnavailable, number> =>
  pipe(
    operatorOrders.underWay({ pendingSince: clock.now() - stuckAfterMs }, { after: undefined, limit: maxCountedStuck }),
    TE.map(({ length }) => length),
  )

const checkDatabase = ({ database, clock }: Ports): T.Task<readonly HealthCheck[]> =>
  pipe(
    T.Do,
    T.bind('askedAt', () => T.fromIO(clock.now)),
    T.bind('read', () => database.now),
    T.bind('answeredAt', () => T.fromIO(clock.now)),
    T.map(({ read, askedAt, answeredAt }) => [
      databaseHealth(read),
      ...(E.isRight(read) ? [clockHealth('database clock', { askedAt, told: read.right, answeredAt, toleranceMs: 0 })] : []),
    ]),
  )
