// What the operator's doctor reports. A part that cannot be read is reported as such, and does not
// prevent the others.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AsyncResult, Refusal } from '../errors.ts'
import { resolveSymbol } from '../market/broker-symbol.ts'
import { instruments } from '../market/instruments.ts'
import {
  clockHealth,
  databaseHealth,
  durabilityHealth,
  feedHealth,
  haltsHealth,
  issuerHealth,
  journalsHealth,
  limitsHealth,
  maxCountedStuck,
  noticesHealth,
  ordersHealth,
  providerTokenHealth,
  secretsHealth,
  stuckAfterMs,
  tablesHealth,
  thresholdsHealth,
  writesHealth,
  type FeedStanding,
  type HealthCheck,
} from '../operator/health.ts'
import type { Ports } from '../ports/index.ts'
import { requireTenant, type OfTenant } from './operator-records.ts'
import { findBrokerAccount } from './steps/find.ts'

type HealthPorts = Pick<
  Ports,
  'health' | 'operatorOrders' | 'records' | 'sealedSecrets' | 'clock'
> & {
  /** Left out without the capability `market-data`. */
  readonly feedStanding?: T.Task<FeedStanding> | undefined
}

/** How the account of the operator's feed stands. */
export const readFeedStanding = (
  ports: Pick<Ports, 'accounts' | 'marketData' | 'marketDataFeeds'>,
): T.Task<FeedStanding> =>
  pipe(
    ports.marketDataFeeds.find,
    TE.flatMap(
      O.match(
        (): TE.TaskEither<Refusal, FeedStanding> => TE.right({ kind: 'none' }),
        ({ owner, accountId, symbols }) =>
          pipe(
            findBrokerAccount(ports)(owner, accountId),
            TE.flatMap(ports.marketData.symbols),
            TE.map((listed): FeedStanding => {
              const ofKind = (kind: string) =>
                instruments
                  .map(({ symbol }) => symbol)
                  .filter(
                    (symbol) => resolveSymbol(symbols[symbol] ?? symbol, listed).kind === kind,
                  )
              return {
                kind: 'read',
                accountId,
                unknown: ofKind('unknown'),
                ambiguous: ofKind('ambiguous'),
              }
            }),
          ),
      ),
    ),
    TE.getOrElse((failure): T.Task<FeedStanding> =>
      T.of(
        failure._tag === 'ServiceUnavailable'
          ? { kind: 'database_unreadable' }
          : { kind: 'unreadable', reason: 'reason' in failure ? failure.reason : failure._tag },
      ),
    ),
  )

/** The checks of the service, and of a tenant at the provider. */
export const createOperatorHealth = (ports: HealthPorts) => {
  const { health, operatorOrders, clock } = ports

  const checkDatabase = async () => {
    const askedAt = clock.now()
    const read = await health.databaseNow()
    if (E.isLeft(read)) return [databaseHealth(read)]
    const reading = { askedAt, reportedAt: read.right, answeredAt: clock.now(), toleranceMs: 0 }
    return [databaseHealth(read), clockHealth('database clock', reading)]
  }

  const stuckOrders = () =>
    pipe(
      operatorOrders.underWay(
        { unresolvedSince: clock.now() - stuckAfterMs },
        { after: undefined, limit: maxCountedStuck },
      ),
      TE.map(({ length }) => length),
    )()

  return {
    /**
     * GET /operator/v1/doctor. The reads run at the same time, so that a database that hangs delays
     * the answer by one timeout and not by their sum.
     */
    checkService: () => async () => {
      const checks = await Promise.all([
        checkDatabase(),
        health.tryWrite().then(writesHealth),
        health.isMigrated().then(tablesHealth),
        health.durability().then((read) => durabilityHealth(read, health.sendsRealOrders)),
        health.limiterStanding().then(limitsHealth),
        Promise.resolve(noticesHealth(health.noticesConfirmedAt(), clock.now())),
        health.readIssuerKeys?.().then(issuerHealth) ?? [],
        ports.sealedSecrets.counts().then(secretsHealth),
        stuckOrders().then(ordersHealth),
        health.disagreeingJournals().then(journalsHealth),
        health.ignoredHalts().then(haltsHealth),
        health.uncheckedThresholds().then(thresholdsHealth),
        ports.feedStanding?.().then(feedHealth) ?? [],
      ])
      return E.right(checks.flat())
    },

    /**
     * GET /operator/v1/tenants/:tenantId/doctor: whether the provider accepts the tenant's token,
     * and whether its clock is ours.
     */
    checkTenant: (
      _: unknown,
      { tenantId }: OfTenant,
    ): AsyncResult<readonly HealthCheck[], 'NotFound'> =>
      pipe(
        requireTenant(ports)(tenantId),
        TE.bindTo('tenant'),
        TE.bind('standing', ({ tenant }) => TE.fromTask(health.probeProvider(tenant.id))),
        TE.map(({ tenant, standing }) => [
          providerTokenHealth(tenant, standing),
          ...(standing.kind === 'accepted' ? [clockHealth('provider clock', standing.clock)] : []),
        ]),
      ),
  }
}
