// Nothing is sent to a broker on the link's word alone: an account that was never read is read first, and only a broker that calls it a demo
// account is sent orders and changes (1 rule 2, 4.3 rule 4; decision 17).
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isDemo, withReading } from '../../accounts/account.ts'
import type { Account } from '../../accounts/account.ts'
import { liveAccountRestricted } from '../../errors.ts'
import type { BrokerReadError, LiveAccountRestricted, ServiceUnavailable } from '../../errors.ts'
import type { PlacementAnswer } from '../../orders/placement.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'
import type { Trading } from '../../ports/trading.ts'

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

const notSent: PlacementAnswer = { kind: 'not_sent', retryAfterMs: null }

const notDemo: PlacementAnswer = {
  kind: 'refused',
  reason: {
    code: 'LIVE_ACCOUNT_RESTRICTED',
    message: 'The broker does not say that this is a demo account; the order was not sent. Link a demo account to trade.',
  },
}

/** Trading that confirms an account before each order. */
export const confirmingTrading = (ports: Ports): Trading => ({
  ...ports.trading,
  placeOrder: (brokerAccount, order) =>
    pipe(
      ports.accounts.find(brokerAccount.owner, brokerAccount.accountId),
      // An account that is no longer linked cannot be called a demo account by anybody.
      TE.flatMap(TE.fromOption(() => liveAccountRestricted)),
      TE.flatMap(confirmDemo(ports)),
      TE.matchE(
        ({ _tag }) => T.of(_tag === 'LiveAccountRestricted' ? notDemo : notSent),
        () => ports.trading.placeOrder(brokerAccount, order),
      ),
    ),
})
