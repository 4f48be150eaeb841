// GET /accounts: linked accounts, oldest first, with figures read live where the broker can be read (4.1; decision 17).
import { pipe } from 'fp-ts/lib/function.js'
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
    pipe(ports.accounts.list(owner), TE.flatMap(TE.traverseArray(viewAccount(ports))))

// A broker that cannot be read leaves the stored figures, so that one account cannot take the list away. Where what was read cannot be written down, it is
// not the account that is in error.
const viewAccount =
  (ports: Ports) =>
  (account: Account): TE.TaskEither<ServiceUnavailable, AccountView> => {
    if (!isReadLive(account)) return TE.right(storedView(account))
    return pipe(
      ports.liveAccounts.read(account),
      TE.map((reading) => ({ account: withReading(account, reading), liveDataUpdatedAt: reading.readAt })),
      TE.orElse((failure) =>
        failure._tag === 'ServiceUnavailable' ? TE.left(failure) : TE.right(storedView(withFailedRead(account, ports.clock.now()))),
      ),
    )
  }

const storedView = (account: Account): AccountView => ({ account, liveDataUpdatedAt: null })
