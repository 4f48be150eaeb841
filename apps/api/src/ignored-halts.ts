// Without the capability `trading-tools` the orders of halted accounts are sent all the same. Their
// halts stay in the database while another configuration, or another instance, obeys them.
import * as E from 'fp-ts/lib/Either.js'
import type { AsyncResult } from '@tradeport/domain/errors'
import { minuteMs } from '@tradeport/domain/primitives'
import type { Logger } from 'pino'

/** Warns where there are any now, and whenever there are more; returns what ends that. */
export const warnOfIgnoredHalts = async (
  count: AsyncResult<number>,
  log: Pick<Logger, 'warn'>,
): Promise<() => void> => {
  let known = 0
  const check = async (): Promise<void> => {
    const accounts = E.getOrElse(() => known)(await count())
    if (accounts > known)
      log.warn(
        { event: 'halts_ignored', accounts },
        'accounts are halted in the database, and without the capability trading-tools their orders are sent all the same',
      )
    known = accounts
  }
  await check()
  const checking = setInterval(() => void check(), minuteMs)
  return () => clearInterval(checking)
}
