// GET /trades/:id: one closed trade; still open, skipped, unknown, malformed and another's are all 404.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import type { Account } from '../accounts/account.ts'
import { tradeNotFound } from '../errors.ts'
import type { ServiceUnavailable, TradeNotFound } from '../errors.ts'
import { parsePositionId } from '../primitives/ids.ts'
import type { PositionId } from '../primitives/ids.ts'
import type { ClosedTrade } from '../trades/closed-trade.ts'
import { readJournal, tradeProvenance } from './steps/read-journals.ts'
import type { JournalRefusal, TradePorts, TradeProvenance } from './steps/read-journals.ts'

export interface TradeResult {
  readonly closed: ClosedTrade
  readonly provenance: TradeProvenance
}

export const getTrade =
  (ports: TradePorts) =>
  ({ owner }: Caller, id: string): TE.TaskEither<TradeNotFound | JournalRefusal, TradeResult> =>
    pipe(
      TE.Do,
      TE.bind('id', () => TE.fromOption(() => tradeNotFound)(parsePositionId(id))),
      TE.bindW('account', (found) => ownAccount(ports)(owner, found.id)),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.bindW('read', ({ brokerAccount }) => readJournal(ports)(brokerAccount)),
      TE.bindW('closed', (found) => pipe(ports.trades.find(owner, found.id), TE.flatMap(TE.fromOption(() => tradeNotFound)))),
      TE.bindW('provenance', ({ read }) => tradeProvenance(ports)(owner, [read])),
      TE.map(({ closed, provenance }) => ({ closed, provenance })),
    )

const ownAccount =
  (ports: TradePorts) =>
  (owner: Caller['owner'], { accountId }: PositionId): TE.TaskEither<TradeNotFound | ServiceUnavailable, Account> =>
    pipe(ports.accounts.find(owner, accountId), TE.flatMap(TE.fromOption(() => tradeNotFound)))
