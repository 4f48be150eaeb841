// Compares an account's figures with its risk thresholds, and records which are breached now, with
// an event for each new breach.
import { pipe } from 'fp-ts/lib/function.js'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { AccountReading, BrokerAccount } from '../accounts/account.ts'
import {
  checkThreshold,
  type CheckedThreshold,
  type ThresholdBreach,
} from '../accounts/risk-threshold.ts'
import type { AsyncResult, BrokerReadTag } from '../errors.ts'
import type { Ports } from '../ports/index.ts'
import type { BrokerPosition } from '../positions/position.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import { formatPositionId } from '../primitives/ids.ts'
import { secondMs } from '../primitives/instant.ts'
import { readWithin } from './steps/broker-change.ts'

const positionsTimeoutMs = secondMs

/**
 * Reads nothing of an account without thresholds, and returns whether it read the account's
 * figures. The broker must not be cached: a breach names the positions that are open at that
 * moment.
 */
export const checkThresholds =
  ({
    riskThresholds,
    broker,
    trades,
    pause,
    onBreach,
  }: Pick<Ports, 'riskThresholds' | 'broker' | 'pause'> & {
    readonly trades: Pick<Ports['trades'], 'reconciliation'>
    /** Called once for each breach that was recorded. */
    readonly onBreach: (account: BrokerAccount, breach: ThresholdBreach) => void
  }) =>
  (account: BrokerAccount): AsyncResult<boolean, BrokerReadTag> => {
    /**
     * A provider that has just connected may show an account without its money, and its history
     * without deals. Where an account has really lost its money, its deals show how.
     */
    const isCredible = async ({ figures }: AccountReading) => {
      if (figures.balance !== 0 || figures.equity !== 0) return true
      const sums = await trades.reconciliation(account.owner, account.accountId)()
      return E.isRight(sums) && sums.right.deals > 0 && sums.right.sum === 0
    }
    const compare =
      (thresholds: readonly CheckedThreshold[]) =>
      (reading: AccountReading): AsyncResult<readonly ThresholdBreach[]> =>
      async () => {
        const checks = thresholds
          .map((one) => checkThreshold(one, account.providerAccountId, reading, thresholds))
          .filter(({ before, after }) => after !== before)
        if (checks.length === 0 || !(await isCredible(reading))) return E.right([])
        const isBreached = checks.some(({ breach }) => breach !== undefined)
        // Left out where they are not read within a second: a halt does not wait longer for them.
        const open = isBreached
          ? await readWithin({ pause }, positionsTimeoutMs, broker.positions(account))
          : undefined
        if (open !== undefined && lacksPositions(reading, open.positions)) return E.right([])
        const openIds = open?.positions.map(({ ticket }) =>
          formatPositionId(account.accountId, ticket),
        )
        return riskThresholds.record(account, checks, openIds)()
      }
    return pipe(
      riskThresholds.ofAccount(account),
      TE.flatMap((thresholds) =>
        thresholds.length === 0
          ? TE.right(false)
          : pipe(
              broker.accountInformation(account),
              TE.flatMap(compare(thresholds)),
              TE.map((breaches) => {
                for (const breach of breaches) onBreach(account, breach)
                return true
              }),
            ),
      ),
    )
  }

/** Whether the equity is without the open positions, as a terminal that reconnects may show it. */
const lacksPositions = (
  { figures: { balance, equity } }: AccountReading,
  positions: readonly BrokerPosition[],
): boolean =>
  equity === balance && sumExactly(positions.map(({ unrealizedPnl }) => unrealizedPnl)) !== 0
