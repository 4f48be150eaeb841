// Reads an account's figures from the broker and writes down what came of it: new figures, or that the read failed (3.2; decisions 17 and 18).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount } from '../../accounts/account.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'

export const createLiveAccounts = (ports: {
  readonly accounts: Pick<AccountStore, 'recordReading' | 'recordFailedRead'>
  readonly broker: Pick<Broker, 'accountInformation'>
  readonly clock: Clock
}): LiveAccounts => ({
  read: (account) =>
    pipe(
      TE.fromEither(requireBrokerAccount(account)),
      TE.flatMap(ports.broker.accountInformation),
      TE.tapError(() => ports.accounts.recordFailedRead(account.owner, account.id, ports.clock.now())),
      TE.tap((reading) => ports.accounts.recordReading(account.owner, account, reading)),
    ),
})
