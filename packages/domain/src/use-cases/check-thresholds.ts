// Compares an account's figures with its risk thresholds, and records breaches as events.
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../accounts/account.ts'
import { checkThreshold, type ThresholdCheck } from '../accounts/risk-threshold.ts'
import type { AsyncResult, BrokerReadTag } from '../errors.ts'
import { thresholdBreached } from '../events/events.ts'
import type { Ports } from '../ports/index.ts'
import { formatPositionId } from '../primitives/ids.ts'

/**
 * Reads nothing of an account without thresholds. The broker must not be cached: a breach names the
 * positions that are open at that moment.
 */
export const checkThresholds =
  ({ riskThresholds, broker }: Pick<Ports, 'riskThresholds' | 'broker'>) =>
  (account: BrokerAccount): AsyncResult<void, BrokerReadTag> => {
    const check: AsyncResult<readonly ThresholdCheck[], BrokerReadTag> = pipe(
      riskThresholds.ofAccount(account),
      TE.flatMap((thresholds) =>
        thresholds.length === 0
          ? TE.right([])
          : pipe(
              broker.accountInformation(account),
              TE.map((reading) =>
                thresholds
                  .map((one) => checkThreshold(one, account.providerAccountId, reading))
                  .filter(({ before, after }) => after !== before),
              ),
            ),
      ),
    )
    /** A breach is reported also where they cannot be read. */
    const openPositions = pipe(
      broker.positions(account),
      TE.match(
        () => undefined,
        ({ positions }) =>
          positions.map(({ ticket }) => formatPositionId(account.accountId, ticket)),
      ),
    )
    return pipe(
      check,
      TE.bindTo('checks'),
      TE.bind('positions', ({ checks }) =>
        TE.fromTask(
          checks.some(({ breach }) => breach !== undefined) ? openPositions : T.of(undefined),
        ),
      ),
      TE.flatMap(({ checks, positions }) =>
        checks.length === 0
          ? TE.right(undefined)
          : riskThresholds.record(
              account,
              checks.map(({ before, after, breach }) => ({
                before,
                after,
                event: breach && thresholdBreached(breach, positions),
              })),
            ),
      ),
    )
  }
