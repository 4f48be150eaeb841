// Synchronises the journals of the accounts that a read of trades covers. One account that cannot
// be read fails the whole.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { BrokerAccount } from '../../accounts/account.ts'
import { historyTooLarge } from '../../errors.ts'
import type {
  AccountNotFound,
  BrokerReadError,
  HistoryTooLarge,
  ServiceUnavailable,
} from '../../errors.ts'
import type { AccountStore } from '../../ports/account-store.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TradeRecords, TradeSelection } from '../../ports/journal.ts'
import type { AccountId, Owner } from '../../primitives/ids.ts'
import { secondMs } from '../../primitives/instant.ts'
import type { Instant } from '../../primitives/instant.ts'
import { provenanceOf } from '../../primitives/provenance.ts'
import type { Provenance } from '../../primitives/provenance.ts'
import type { TradeFilter } from '../../trades/closed-trade.ts'
import type { SkippedOnAccount } from '../../trades/folded-trade.ts'
import type { SynchroniseJournal } from '../synchronise-journal.ts'
import { selectBrokerAccounts } from './accounts.ts'
import type { SelectedAccount } from './accounts.ts'

/** How long a read of the broker's history stands for those that follow. */
const freshMs = 5 * secondMs

export interface TradePorts {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
  readonly synchroniseJournal: SynchroniseJournal
  readonly trades: TradeRecords
  readonly broker: Pick<Broker, 'source'>
  readonly clock: Clock
  /** The most deals of an account of which trades are shown. */
  readonly maxDeals: number
}

export interface TradeProvenance extends Provenance {
  /**
   * Of the accounts read, whatever the filter: a skipped position has no time or result to filter
   * by.
   */
  readonly skipped: readonly SkippedOnAccount[]
}

/** What a query of trades found after their journals were brought up to date. */
export interface QueriedTrades<A> {
  readonly rows: A
  readonly selection: TradeSelection
  readonly provenance: TradeProvenance
  /** Of the accounts read, each once, in the order of the accounts. */
  readonly currencies: readonly string[]
}

export type JournalRefusal = BrokerReadError | HistoryTooLarge | ServiceUnavailable
export type TradesRefusal = AccountNotFound | JournalRefusal

/** Brings the journals of the accounts up to date, then queries their trades. */
export const queryTrades =
  (ports: TradePorts) =>
  <A>(
    owner: Owner,
    filter: TradeFilter,
    query: (selection: TradeSelection) => TE.TaskEither<ServiceUnavailable, A>,
  ): TE.TaskEither<TradesRefusal, QueriedTrades<A>> =>
    pipe(
      TE.Do,
      TE.bind('selected', () => selectBrokerAccounts(ports)(owner, filter.accountId)),
      TE.bindW('reads', ({ selected }) => readAll(ports)(selected)),
      TE.let('selection', ({ reads }): TradeSelection => ({
        accountIds: reads.map(({ accountId }) => accountId),
        filter,
      })),
      // Both at once: they are two statements for the database.
      TE.bindW('found', ({ reads, selection }) =>
        pipe(
          TE.Do,
          TE.apS('rows', query(selection)),
          TE.apS('provenance', tradeProvenance(ports)(owner, reads)),
        ),
      ),
      TE.map(({ selected, selection, found }) => ({
        ...found,
        selection,
        currencies: [...new Set(selected.map(({ account }) => account.currency))],
      })),
    )

const readAll =
  (ports: TradePorts) =>
  (selected: readonly SelectedAccount[]): TE.TaskEither<JournalRefusal, readonly JournalRead[]> =>
    TE.traverseArray(readJournal(ports))(selected.map(({ brokerAccount }) => brokerAccount))

interface JournalRead {
  readonly accountId: AccountId
  readonly readAt: Instant
}

export const readJournal =
  ({ synchroniseJournal, clock, maxDeals }: TradePorts) =>
  (account: BrokerAccount): TE.TaskEither<JournalRefusal, JournalRead> =>
    pipe(
      TE.fromIO(clock.now),
      TE.flatMap((now) => synchroniseJournal(account, now - freshMs)),
      TE.filterOrElseW(
        ({ deals }) => deals <= maxDeals,
        () => historyTooLarge(account.accountId, maxDeals),
      ),
      TE.map(({ syncedAt }) => ({ accountId: account.accountId, readAt: syncedAt ?? clock.now() })),
    )

export const tradeProvenance =
  ({ trades, broker, clock }: TradePorts) =>
  (
    owner: Owner,
    reads: readonly JournalRead[],
  ): TE.TaskEither<ServiceUnavailable, TradeProvenance> =>
    pipe(
      trades.skipped(
        owner,
        reads.map(({ accountId }) => accountId),
      ),
      TE.map((skipped) => ({ ...provenanceOf(broker.source, reads, clock.now()), skipped })),
    )
