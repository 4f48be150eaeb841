// GET /operator/v1/doctor: what the service stands on. A part that cannot be read is told as such, and takes none of the others along.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { clockHealth, databaseHealth, limitsHealth, secretsHealth, tablesHealth } from '../operator/health.ts'
import type { HealthCheck } from '../operator/health.ts'
import type { Clock } from '../ports/clock.ts'
import type { SealedSecrets } from '../ports/sealed-secrets.ts'
import type { DatabaseHealth, LimiterHealth } from '../ports/service-health.ts'

interface Ports {
  readonly database: DatabaseHealth
  readonly limiterHealth: LimiterHealth
  readonly sealedSecrets: Pick<SealedSecrets, 'census'>
  readonly clock: Clock
}

export const checkService = (ports: Ports): TE.TaskEither<never, readonly HealthCheck[]> =>
  pipe(
    T.Do,
    T.bind('database', () => checkDatabase(ports)),
    T.bind('isMigrated', () => ports.database.isMigrated),
    T.bind('census', () => ports.sealedSecrets.census),
    T.map(({ database, isMigrated, census }) => [
      ...database,
      tablesHealth(isMigrated),
      limitsHealth(ports.limiterHealth.standing()),
      secretsHealth(census),
    ]),
    TE.fromTask,
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
