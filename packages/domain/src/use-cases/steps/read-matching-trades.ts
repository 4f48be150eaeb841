// The trades that a filter lets through, over one account or all, with where they come from (4.5). One unreadable account fails the whole.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../access/credential.ts'
import type { BrokerAccount } from '../../accounts/account.ts'
import type { AccountNotFound, BrokerReadError, HistoryTooLarge, ServiceUnavailable } from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Breather, Clock } from '../../ports/clock.ts'
import type { Histories } from '../../ports/histories.ts'
import { provenanceOf } from '../../primitives/provenance.ts'
import type { Provenance } from '../../primitives/provenance.ts'
import { matchingTrades } from '../../trades/account-history.ts'
import type { AccountHistory, ClosedTrade, TradeFilter } from '../../trades/account-history.ts'
import type { SkippedPosition } from '../../trades/folded-trade.ts'
import { selectBrokerAccounts } from './select-broker-accounts.ts'
import type { SelectedAccount } from './select-broker-accounts.ts'
import { takeTurns } from './take-turns.ts'

export interface TradePorts extends Breather {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
  readonly histories: Histories
  readonly broker: Pick<Broker, 'source'>
  readonly clock: Clock
}

/** A position that could not be folded, and on which account. */
export interface SkippedOnAccount extends SkippedPosition {
  readonly accountId: AccountHistory['accountId']
}

export interface TradeProvenance extends Provenance {
  /** Of the accounts read, whatever the filter: a skipped position has no time or result to filter by. */
  readonly skipped: readonly SkippedOnAccount[]
}

export interface MatchingTrades {
  /** In closing order, the oldest first. */
  readonly matches: readonly ClosedTrade[]
  readonly provenance: TradeProvenance
  /** Of the accounts read, each once, in the order of the accounts. */
  readonly currencies: readonly string[]
}

export type TradesRefusal = AccountNotFound | BrokerReadError | HistoryTooLarge | ServiceUnavailable

export const readMatchingTrades =
  (ports: TradePorts) =>
  ({ owner }: Caller, filter: TradeFilter): TE.TaskEither<TradesRefusal, MatchingTrades> =>
    pipe(
      TE.Do,
      TE.bind('selected', () => selectBrokerAccounts(ports)(owner, filter.accountId)),
      TE.bindW('histories', ({ selected }) => TE.traverseArray(readHistory(ports))(selected)),
      TE.bindW('matches', ({ histories }) => TE.fromTask(takeTurns(ports)(matchingTrades(histories, filter)))),
      TE.map(({ selected, histories, matches }) => ({
        matches,
        provenance: tradeProvenance(ports, histories),
        currencies: currenciesOf(selected),
      })),
    )

export const tradeProvenance = (ports: Pick<TradePorts, 'broker' | 'clock'>, histories: readonly AccountHistory[]): TradeProvenance => ({
  ...provenanceOf(ports.broker.source, histories, ports.clock.now()),
  skipped: histories.flatMap(({ accountId, skipped }) => skipped.map((position) => ({ accountId, ...position }))),
})

const readHistory =
  (ports: TradePorts) =>
  ({ brokerAccount }: { readonly brokerAccount: BrokerAccount }): TE.TaskEither<BrokerReadError | HistoryTooLarge, AccountHistory> =>
    ports.histories.read(brokerAccount)

const currenciesOf = (selected: readonly SelectedAccount[]): readonly string[] => [
  ...new Set(selected.map(({ account }) => account.currency)),
]
