// Live reads of accounts, each made and recorded once for all who ask within five seconds.
import type { AccountReading } from '@tradeport/domain/accounts'
import type { BrokerReadError, ServiceUnavailable } from '@tradeport/domain/errors'
import type { Clock, LiveAccounts } from '@tradeport/domain/ports'
import { requireBrokerAccount } from '@tradeport/domain/accounts'
import * as E from 'fp-ts/lib/Either.js'
import { accountKey, accountOfKey } from './account-key.ts'
import type { ForgetsAccounts } from './account-key.ts'
import { createSingleFlightCache } from './single-flight-cache.ts'
import type { Tallies } from './single-flight-cache.ts'

const liveAccountTtlMs = 5_000

const maxAccounts = 10_000

interface Parts {
  readonly clock: Clock
  readonly tallies?: Tallies | undefined
}

/** Failures are shared by those who wait and not kept. */
export const cachedLiveAccounts = (
  liveAccounts: LiveAccounts,
  { clock, tallies }: Parts,
): LiveAccounts & ForgetsAccounts => {
  const readings = createSingleFlightCache<
    string,
    BrokerReadError | ServiceUnavailable,
    AccountReading
  >({
    clock,
    ttlMs: liveAccountTtlMs,
    maxEntries: maxAccounts,
    groupOf: accountOfKey,
    tally: tallies?.('live_accounts'),
  })
  return {
    read: (account) => {
      const read = liveAccounts.read(account)
      const brokerAccount = requireBrokerAccount(account)
      // What no broker can be asked about has nothing to keep.
      return E.isLeft(brokerAccount) ? read : readings.read(accountKey(brokerAccount.right), read)
    },
    forget: readings.dropGroup,
  }
}
