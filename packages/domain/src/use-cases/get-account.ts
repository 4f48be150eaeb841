// GET /accounts/:id: one account; disconnected, or unreadable now, is 503 and not a stale answer (3.2, 4.1; decision 17).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isReadLive, withReading } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import type { Caller } from '../access/credential.ts'
import { accountDisconnected } from '../errors.ts'
import type { AccountDisconnected, AccountNotFound, BrokerReadError, ServiceUnavailable } from '../errors.ts'
import type { AccountStore } from '../ports/account-store.ts'
import type { LiveAccounts } from '../ports/live-accounts.ts'
import type { AccountId } from '../primitives/ids.ts'
import type { AccountView } from './list-accounts.ts'
import { findAccount } from './steps/find-account.ts'

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
}

export const getAccount =
  (ports: Ports) =>
  ({ owner }: Caller, id: AccountId): TE.TaskEither<AccountNotFound | AccountDisconnected | ServiceUnavailable, AccountView> =>
    pipe(findAccount(ports)(owner, id), TE.flatMap(viewAccount(ports)))

const viewAccount =
  (ports: Ports) =>
  (account: Account): TE.TaskEither<AccountDisconnected | ServiceUnavailable, AccountView> => {
    if (isReadLive(account)) return viewLive(ports)(account)
    if (account.status === 'disconnected' || account.status === 'error') return TE.left(accountDisconnected(account.id, account.status))
    return TE.right({ account, liveDataUpdatedAt: null })
  }

const viewLive =
  (ports: Ports) =>
  (account: Account): TE.TaskEither<AccountDisconnected | ServiceUnavailable, AccountView> =>
    pipe(
      ports.liveAccounts.read(account),
      TE.mapLeft((error) => toDisconnected(account, error)),
      TE.map((reading) => ({ account: withReading(account, reading), liveDataUpdatedAt: reading.readAt })),
    )

const toDisconnected = (account: Account, error: BrokerReadError | ServiceUnavailable): AccountDisconnected | ServiceUnavailable =>
  error._tag === 'ServiceUnavailable' ? error : accountDisconnected(account.id, 'error')
