// Which accounts a read of positions or trades covers: the one that was asked for, or every linked one but the paper book (4.3 rule 2; decision 29).
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isPaper, requireBrokerAccount } from '../../accounts/account.ts'
import type { Account, BrokerAccount } from '../../accounts/account.ts'
import type { AccountNotFound, NotProvisioned, ServiceUnavailable, UnsupportedBroker } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { AccountId, Owner } from '../../primitives/ids.ts'
import { findAccount } from './find-account.ts'

/** An account with the broker's view of it. */
export interface SelectedAccount {
  readonly account: Account
  readonly brokerAccount: BrokerAccount
}

export const selectBrokerAccounts =
  (ports: { readonly accounts: Pick<AccountStore, 'find' | 'list'> }) =>
  (
    owner: Owner,
    accountId: AccountId | undefined,
  ): TE.TaskEither<AccountNotFound | UnsupportedBroker | NotProvisioned | ServiceUnavailable, readonly SelectedAccount[]> =>
    pipe(
      accountId === undefined ? linkedAccounts(ports)(owner) : oneAccount(ports)(owner, accountId),
      TE.flatMapEither(E.traverseArray(selectAccount)),
    )

const selectAccount = (account: Account): E.Either<UnsupportedBroker | NotProvisioned, SelectedAccount> =>
  pipe(
    requireBrokerAccount(account),
    E.map((brokerAccount) => ({ account, brokerAccount })),
  )

const linkedAccounts =
  (ports: { readonly accounts: Pick<AccountStore, 'list'> }) =>
  (owner: Owner): TE.TaskEither<AccountNotFound | ServiceUnavailable, readonly Account[]> =>
    pipe(ports.accounts.list(owner), TE.map(RA.filter((account) => !isPaper(account))))

const oneAccount =
  (ports: { readonly accounts: Pick<AccountStore, 'find'> }) =>
  (owner: Owner, id: AccountId): TE.TaskEither<AccountNotFound | ServiceUnavailable, readonly Account[]> =>
    pipe(findAccount(ports)(owner, id), TE.map(RA.of))
