// Nothing is sent to a broker on the link's word alone: an account that was never read is read first, and only a broker that calls it a demo
// account is sent orders and changes (1 rule 2, 4.3 rule 4; decision 17).
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isDemo, withReading } from '../../accounts/account.ts'
import type { Account } from '../../accounts/account.ts'
import { accountNotFound, liveAccountRestricted } from '../../errors.ts'
import type { AccountNotFound, BrokerReadError, LiveAccountRestricted, ServiceUnavailable } from '../../errors.ts'
import { unusableReason } from '../../orders/placement.ts'
import type { PlacementAnswer } from '../../orders/placement.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'
import type { Trading } from '../../ports/trading.ts'
import { secondMs } from '../../primitives/instant.ts'

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

interface Ports {
  readonly accounts: Pick<AccountStore, 'find'>
  readonly liveAccounts: LiveAccounts
  readonly trading: Trading
}

/** Trading that confirms an account before each order. */
export const confirmingTrading = (ports: Ports): Trading => ({
  ...ports.trading,
  placeOrder: (brokerAccount, order) =>
    pipe(
      ports.accounts.find(brokerAccount.owner, brokerAccount.accountId),
      TE.flatMap(TE.fromOption(() => accountNotFound)),
      TE.flatMap(confirmDemo(ports)),
      TE.matchE(
        (why) => T.of(answerOf(why)),
        () => ports.trading.placeOrder(brokerAccount, order),
      ),
    ),
})

const answerOf = (why: AccountNotFound | LiveAccountRestricted | BrokerReadError | ServiceUnavailable): PlacementAnswer => {
  if (why._tag === 'AccountNotFound' || why._tag === 'LiveAccountRestricted') return { kind: 'refused', reason: unusableReason(why) }
  return { kind: 'not_sent', retryAfterMs: why._tag === 'BrokerRateLimited' ? why.retryAfterSeconds * secondMs : null }
}
