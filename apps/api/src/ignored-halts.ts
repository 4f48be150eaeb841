// Without the capability `trading-tools` an instance obeys no halt: it sends the orders of halted
// accounts. The database may have halts from an earlier configuration, or of another instance that
// does obey them.
import * as E from 'fp-ts/lib/Either.js'
import type { AsyncResult } from '@tradeport/domain/errors'
import { minuteMs } from '@tradeport/domain/primitives'
import type { Logger } from 'pino'

/**
 * For an instance without the capability. Warns where accounts are halted now, and at a check each
 * minute where they are more than at the last one; returns a function that ends the checks.
 */
export const warnOfIgnoredHalts = async (
  countHaltedAccounts: AsyncResult<number>,
  log: Pick<Logger, 'warn'>,
): Promise<() => void> => {
  let lastCount = 0
  const check = async (): Promise<void> => {
    const accounts = E.getOrElse(() => lastCount)(await countHaltedAccounts())
    if (accounts > lastCount)
      log.warn(
        { event: 'halts_ignored', accounts },
        'accounts are halted in the database, and without the capability trading-tools their orders are sent all the same',
      )
    lastCount = accounts
  }
  await check()
  const timer = setInterval(() => void check(), minuteMs)
  return () => clearInterval(timer)
}
