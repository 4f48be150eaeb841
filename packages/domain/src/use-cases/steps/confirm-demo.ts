// Trading that does not send on the link's word alone: an account that was never read is read first, and an order goes to it only when the broker
// says that it is a demo account (1 rule 2; decision 17).
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { isDemo, withReading } from '../../accounts/account.ts'
import type { Account } from '../../accounts/account.ts'
import type { PlacementAnswer } from '../../orders/placement.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { LiveAccounts } from '../../ports/live-accounts.ts'
import type { Trading } from '../../ports/trading.ts'

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

export const confirmingTrading = (ports: Ports): Trading => ({
  ...ports.trading,
  placeOrder: (brokerAccount, order) =>
    pipe(
      ports.accounts.find(brokerAccount.owner, brokerAccount.accountId),
      TE.flatMap(O.match(() => TE.right(false), isConfirmed(ports))),
      TE.matchE(
        () => T.of(notSent),
        (isDemoAccount) => (isDemoAccount ? ports.trading.placeOrder(brokerAccount, order) : T.of(notDemo)),
      ),
    ),
})

const isConfirmed =
  ({ liveAccounts }: Ports) =>
  (account: Account): TE.TaskEither<unknown, boolean> =>
    account.tradeMode === null
      ? pipe(
          liveAccounts.read(account),
          TE.map((reading) => isDemo(withReading(account, reading))),
        )
      : TE.right(isDemo(account))
