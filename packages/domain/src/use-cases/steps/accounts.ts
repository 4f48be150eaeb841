// Finds the accounts of a caller. Another user's or tenant's account is as absent as one that never
// was.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isDemo, isPaper, requireBrokerAccount, withReading } from '../../accounts/account.ts'
import type { Account, BrokerAccount } from '../../accounts/account.ts'
import { accountNotFound, liveAccountRestricted } from '../../errors.ts'
import type {
  AccountNotFound,
  BrokerReadError,
  LiveAccountRestricted,
  NotProvisioned,
  ServiceUnavailable,
  UnsupportedBroker,
} from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { Ports } from '../../ports/ports.ts'
import type { AccountId, Owner } from '../../primitives/ids.ts'

export const findAccount =
  ({ accounts }: { readonly accounts: Pick<AccountStore, 'find'> }) =>
  (owner: Owner, id: AccountId): TE.TaskEither<AccountNotFound | ServiceUnavailable, Account> =>
    pipe(accounts.find(owner, id), TE.flatMap(TE.fromOption(() => accountNotFound)))

/** An account with the broker's view of it. */
export interface SelectedAccount {
  readonly account: Account
  readonly brokerAccount: BrokerAccount
}

type SelectionRefusal = AccountNotFound | UnsupportedBroker | NotProvisioned | ServiceUnavailable

/**
 * The accounts that a read of positions or trades covers: the one that was asked for, or every
 * linked one but the paper book. Every such read calls this, and it is written out because each
 * step of a pipe costs as much as what is done here.
 */
export const selectBrokerAccounts =
  ({ accounts }: { readonly accounts: Pick<AccountStore, 'find' | 'list'> }) =>
  (
    owner: Owner,
    accountId: AccountId | undefined,
  ): TE.TaskEither<SelectionRefusal, readonly SelectedAccount[]> =>
  async () => {
    const selected: SelectedAccount[] = []
    const found = await (accountId === undefined
      ? accounts.list(owner)()
      : findAccount({ accounts })(owner, accountId)())
    if (E.isLeft(found)) return found
    const covered = Array.isArray(found.right)
      ? found.right.filter((account) => !isPaper(account))
      : [found.right]
    for (const account of covered) {
      const brokerAccount = requireBrokerAccount(account)
      if (E.isLeft(brokerAccount)) return brokerAccount
      selected.push({ account, brokerAccount: brokerAccount.right })
    }
    return E.right(selected)
  }

/**
 * An account that its broker calls a demo account, now or when it was last read. One that was never
 * read is read first: nothing is sent to a broker on the link's word alone.
 */
export const confirmDemo =
  ({ liveAccounts }: Pick<Ports, 'liveAccounts'>) =>
  (
    account: Account,
  ): TE.TaskEither<LiveAccountRestricted | BrokerReadError | ServiceUnavailable, Account> =>
    pipe(
      account.tradeMode === null
        ? pipe(
            liveAccounts.read(account),
            TE.map((reading) => withReading(account, reading)),
          )
        : TE.right(account),
      TE.filterOrElseW(isDemo, () => liveAccountRestricted),
    )
