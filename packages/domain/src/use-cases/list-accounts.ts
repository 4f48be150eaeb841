// GET /accounts: linked accounts, oldest first, with figures read live where the broker can be read (4.1; decision 17).
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isReadLive, withFailedRead, withReading } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import type { Caller } from '../access/credential.ts'
import type { ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { Clock } from '../ports/clock.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { Instant } from '../primitives/instant.ts'

/** An account and when its figures were read live; null for stored figures. */
export interface AccountView {
  readonly account: Account
  readonly liveDataUpdatedAt: Instant | null
}

interface Ports {
  readonly accounts: Pick<AccountStore, 'list'>
  readonly liveAccounts: LiveAccounts
  readonly clock: Clock
}

export const listAccounts =
  (ports: Ports) =>
  ({ owner }: Caller): TE.TaskEither<ServiceUnavailable, readonly AccountView[]> =>
    pipe(ports.accounts.list(owner), TE.flatMapTask(T.traverseArray(viewAccount(ports))))

// A failed read keeps the stored figures, so that one account cannot take the list away.
const viewAccount =
  (ports: Ports) =>
  (account: Account): T.Task<AccountView> => {
    if (!isReadLive(account)) return T.of(storedView(account))
    return pipe(
      ports.liveAccounts.read(account),
      TE.match(
        () => storedView(withFailedRead(account, ports.clock.now())),
        (reading) => ({ account: withReading(account, reading), liveDataUpdatedAt: reading.readAt }),
      ),
    )
  }

const storedView = (account: Account): AccountView => ({ account, liveDataUpdatedAt: null })
