// Warnings of an instance that lacks a capability which the database or another instance uses.
import * as E from 'fp-ts/lib/Either.js'
import type { AsyncResult } from '@tradeport/domain/errors'
import { minuteMs } from '@tradeport/domain/primitives'
import type { Logger } from 'pino'

type WarningLog = Pick<Logger, 'warn'>

// Reads now and each minute, and warns where the value is above the one before, which is `last` at
// first. Without it nothing is above the first value. Returns a function that ends it.
const warnAtIncrease = async (
  read: AsyncResult<number>,
  warn: (value: number) => void,
  last?: number,
): Promise<() => void> => {
  const check = async () => {
    const result = await read()
    if (E.isLeft(result)) return
    if (last !== undefined && result.right > last) warn(result.right)
    last = result.right
  }
  await check()
  const timer = setInterval(() => void check(), minuteMs)
  return () => clearInterval(timer)
}

/**
 * For an instance without `trading-tools`, which sends the orders of halted accounts. Warns where
 * accounts are halted, and each minute where more are; returns a function that ends it.
 */
export const warnOfIgnoredHalts = (
  countHaltedAccounts: AsyncResult<number>,
  log: WarningLog,
): Promise<() => void> =>
  warnAtIncrease(
    countHaltedAccounts,
    (accounts) =>
      log.warn(
        { event: 'halts_ignored', accounts },
        'accounts are halted in the database, and without the capability trading-tools their orders are sent all the same',
      ),
    0,
  )

/**
 * For an instance without `events`, which reports nothing of what it is the first to read at a
 * broker. Warns each minute in which another instance has recorded events; returns a function that
 * ends it.
 *
 * @param lastEventAt when the last event was recorded, in Unix milliseconds; 0 without one
 */
export const warnOfIgnoredEvents = (
  lastEventAt: AsyncResult<number>,
  log: WarningLog,
): Promise<() => void> =>
  warnAtIncrease(lastEventAt, () =>
    log.warn(
      { event: 'events_ignored' },
      'another instance records events, and without the capability events this one loses those that it is the first to read at a broker',
    ),
  )
