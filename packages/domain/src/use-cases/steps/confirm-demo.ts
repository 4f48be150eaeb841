// Nothing is sent to a broker on the link's word alone: an account that was never read is read first, and orders and changes go only to an account that
// its broker calls a demo account.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isDemo, withReading } from '../../accounts/account.ts'
import type { Account } from '../../accounts/account.ts'
import { liveAccountRestricted } from '../../errors.ts'
import type { BrokerReadError, LiveAccountRestricted, ServiceUnavailable } from '../../errors.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'

/** An account that its broker calls a demo account, now or when it was last read. */
export const confirmDemo =
  ({ liveAccounts }: { readonly liveAccounts: LiveAccounts }) =>
  (account: Account): TE.TaskEither<LiveAccountRestricted | BrokerReadError | ServiceUnavailable, Account> =>
    pipe(
      account.tradeMode === null ? readAccount(liveAccounts)(account) : TE.right(account),
      TE.filterOrElseW(isDemo, () => liveAccountRestricted),
    )

const readAccount =
  (liveAccounts: LiveAccounts) =>
  (account: Account): TE.TaskEither<BrokerReadError | ServiceUnavailable, Account> =>
    pipe(
      liveAccounts.read(account),
      TE.map((reading) => withReading(account, reading)),
    )
