// Which accounts a read of positions or trades covers: the one that was asked for, or every linked one but the paper book (4.3 rule 2; decision 29).
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type * as TE from 'fp-ts/lib/TaskEither.js'
import { isPaper, requireBrokerAccount } from '../../accounts/account.ts'
import type { Account, BrokerAccount } from '../../accounts/account.ts'
import { accountNotFound } from '../../errors.ts'
import type { AccountNotFound, NotProvisioned, ServiceUnavailable, UnsupportedBroker } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { AccountId, Owner } from '../../primitives/ids.ts'

/** An account with the broker's view of it. */
export interface SelectedAccount {
  readonly account: Account
  readonly brokerAccount: BrokerAccount
}

type SelectionRefusal = AccountNotFound | UnsupportedBroker | NotProvisioned | ServiceUnavailable

// On the way of every read of positions and trades: written out, because each step of a pipe costs as much as what is done here.
export const selectBrokerAccounts =
  (ports: { readonly accounts: Pick<AccountStore, 'find' | 'list'> }) =>
  (owner: Owner, accountId: AccountId | undefined): TE.TaskEither<SelectionRefusal, readonly SelectedAccount[]> =>
  async () => {
    if (accountId === undefined) {
      const linked = await ports.accounts.list(owner)()
      return E.isLeft(linked) ? linked : selectAll(linked.right.filter((account) => !isPaper(account)))
    }
    const found = await ports.accounts.find(owner, accountId)()
    if (E.isLeft(found)) return found
    return O.isNone(found.right) ? E.left(accountNotFound) : selectAll([found.right.value])
  }

const selectAll = (accounts: readonly Account[]): E.Either<UnsupportedBroker | NotProvisioned, readonly SelectedAccount[]> => {
  const selected: SelectedAccount[] = []
  for (const account of accounts) {
    const brokerAccount = requireBrokerAccount(account)
    if (E.isLeft(brokerAccount)) return brokerAccount
    selected.push({ account, brokerAccount: brokerAccount.right })
  }
  return E.right(selected)
}
