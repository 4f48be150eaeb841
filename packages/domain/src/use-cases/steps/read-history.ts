// Reads an account's deals and folds them, letting others have their turn between the steps of the fold (4.5; decisions 33 and 34).
import { pipe } from 'fp-ts/lib/function.js'
import * as T from 'fp-ts/lib/Task.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import type { Broker, DealsReading } from '../../ports/broker.ts'
import type { Breather } from '../../ports/clock.ts'
import type { Histories } from '../../ports/histories.ts'
import type { AccountHistory, ClosedTrade } from '../../trades/account-history.ts'
import { foldInSteps } from '../../trades/fold-deals.ts'
import type { FoldedPositions } from '../../trades/fold-deals.ts'
import { takeTurns } from './take-turns.ts'

interface Ports extends Breather {
  readonly broker: Pick<Broker, 'deals'>
}

export const createHistories = (ports: Ports): Histories => ({
  read: (account) => pipe(ports.broker.deals(account), TE.flatMapTask(foldReading(ports, account))),
})

const foldReading =
  (ports: Breather, account: BrokerAccount) =>
  ({ deals, readAt }: DealsReading): T.Task<AccountHistory> =>
    pipe(
      takeTurns(ports)(foldInSteps(deals)),
      T.map((folded) => ({ accountId: account.accountId, readAt, trades: closedTrades(account, folded), skipped: folded.skipped })),
    )

const closedTrades = ({ accountId, owner: { userId } }: BrokerAccount, { trades, closingDeals }: FoldedPositions): readonly ClosedTrade[] =>
  trades.map((trade, index) => ({ accountId, userId, closingDealId: closingDeals[index]?.id ?? '', trade }))
