// GET /trades/:id: one closed trade; still open, skipped, unknown, malformed and another's are all 404 (4.5; decision 28).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { tradeNotFound } from '../errors.ts'
import type { BrokerReadError, HistoryTooLarge, ServiceUnavailable, TradeNotFound } from '../errors.ts'
import { parsePositionId } from '../primitives/ids.ts'
import type { PositionId } from '../primitives/ids.ts'
import type { ClosedTrade } from '../trades/account-history.ts'
import { tradeProvenance } from './steps/read-matching-trades.ts'
import type { TradePorts, TradeProvenance } from './steps/read-matching-trades.ts'

export interface TradeResult {
  readonly closed: ClosedTrade
  readonly provenance: TradeProvenance
}

export const getTrade =
  (ports: TradePorts) =>
  ({ owner }: Caller, id: string): TE.TaskEither<TradeNotFound | BrokerReadError | HistoryTooLarge | ServiceUnavailable, TradeResult> =>
    pipe(
      TE.Do,
      TE.bind('id', () => TE.fromOption(() => tradeNotFound)(parsePositionId(id))),
      TE.bindW('account', (found) => ownAccount(ports)(owner, found.id)),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.bindW('history', ({ brokerAccount }) => ports.histories.read(brokerAccount)),
      TE.bindW('closed', (found) => closedTrade(found.history.trades, found.id)),
      TE.map(({ history, closed }) => ({ closed, provenance: tradeProvenance(ports, [history]) })),
    )

const ownAccount =
  (ports: TradePorts) =>
  (owner: Caller['owner'], { accountId }: PositionId): TE.TaskEither<TradeNotFound | ServiceUnavailable, Account> =>
    pipe(ports.accounts.find(owner, accountId), TE.flatMap(TE.fromOption(() => tradeNotFound)))

const closedTrade = (trades: readonly ClosedTrade[], { ticket }: PositionId): TE.TaskEither<TradeNotFound, ClosedTrade> =>
  TE.fromNullable(tradeNotFound)(trades.find(({ trade }) => trade.positionId === ticket))
