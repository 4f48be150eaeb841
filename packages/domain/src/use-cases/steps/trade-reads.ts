// What the reads of trades share: the journals of the accounts are brought up to date, and then
// queried. One account that cannot be read fails the whole.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { requireBrokerAccount, type BrokerAccount } from '../../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag } from '../../errors.ts'
import type { JournalState } from '../../journal/journal-state.ts'
import type { Ports, TradeSelection } from '../../ports/index.ts'
import { parsePositionId, type AccountId, type Owner } from '../../primitives/ids.ts'
import { secondMs, type Instant } from '../../primitives/instant.ts'
import { provenanceOf, type Provenance } from '../../primitives/provenance.ts'
import {
  calculateHere,
  type CalculationInputs,
  type CalculationName,
  type CalculationResult,
} from '../../statistics/index.ts'
import type { ClosedTrade, TradeFilter } from '../../trades/closed-trade.ts'
import type { SkippedOnAccount } from '../../trades/fold.ts'
import type { SynchroniseJournal } from '../synchronise-journal.ts'
import { selectBrokerAccounts } from './find.ts'

/** How long a read of the broker's history is reused by later reads. */
const freshMs = 5 * secondMs
/** Their statistics take some 10 ms. */
const mostTradesHere = 25_000

export interface TradePorts extends Pick<
  Ports,
  'accounts' | 'trades' | 'broker' | 'clock' | 'calculate'
> {
  readonly synchroniseJournal: SynchroniseJournal
  /** The most deals of an account of which trades are shown. */
  readonly maxDeals: number
}

export type JournalTag = BrokerReadTag | 'HistoryTooLarge'

export interface TradeProvenance extends Provenance {
  /**
   * Of the accounts read, whatever the filter: a skipped position has no time or result to filter
   * by.
   */
  readonly skipped: readonly SkippedOnAccount[]
}

export interface JournalRead {
  readonly accountId: AccountId
  readonly readAt: Instant
  readonly state: JournalState
}

export interface TradeResult {
  readonly closed: ClosedTrade
  readonly provenance: TradeProvenance
}

/** A warning: sums over accounts of several currencies mix amounts of different currencies. */
export interface MixedCurrencies {
  readonly code: 'mixed_currencies'
  readonly currencies: readonly string[]
}

/** What was computed of all trades of a filter. */
export interface Summed<A> {
  readonly data: A
  readonly provenance: TradeProvenance
  readonly warnings: readonly MixedCurrencies[]
}

export const createTradeReads = (ports: TradePorts) => {
  const { accounts, trades, broker, clock, maxDeals } = ports

  const readJournal = (account: BrokerAccount): AsyncResult<JournalRead, JournalTag> =>
    pipe(
      TE.fromIO(clock.now),
      TE.flatMap((now) => ports.synchroniseJournal(account, now - freshMs)),
      TE.filterOrElseW(
        ({ deals }) => deals <= maxDeals,
        () => refuse('HistoryTooLarge', { accountId: account.accountId, limit: maxDeals }),
      ),
      TE.map((state) => ({
        accountId: account.accountId,
        readAt: state.syncedAt ?? clock.now(),
        state,
      })),
    )

  const tradeProvenance = (
    owner: Owner,
    reads: readonly JournalRead[],
  ): AsyncResult<TradeProvenance> =>
    pipe(
      trades.skipped(
        owner,
        reads.map(({ accountId }) => accountId),
      ),
      TE.map((skipped) => ({ ...provenanceOf(broker.source, reads, clock.now()), skipped })),
    )

  const findTrade = (
    owner: Owner,
    text: string,
  ): AsyncResult<TradeResult, 'TradeNotFound' | JournalTag> =>
    pipe(
      TE.Do,
      TE.bind('id', () => TE.fromOption(() => refuse('TradeNotFound'))(parsePositionId(text))),
      TE.bindW('found', ({ id }) => accounts.find(owner, id.accountId)),
      TE.bindW('account', ({ found }) => TE.fromOption(() => refuse('TradeNotFound'))(found)),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.bindW('read', ({ brokerAccount }) => readJournal(brokerAccount)),
      TE.bindW('closed', ({ id }) =>
        pipe(trades.find(owner, id), TE.flatMap(TE.fromOption(() => refuse('TradeNotFound')))),
      ),
      TE.bindW('provenance', ({ read }) => tradeProvenance(owner, [read])),
      TE.map(({ closed, provenance }) => ({ closed, provenance })),
    )

  /** Brings the journals of the accounts up to date, then queries their trades. */
  const queryTrades = <A>(
    owner: Owner,
    filter: TradeFilter,
    query: (selection: TradeSelection) => AsyncResult<A>,
  ) =>
    pipe(
      selectBrokerAccounts(ports)(owner, filter.accountId),
      TE.bindTo('selected'),
      TE.bindW('reads', ({ selected }) =>
        TE.traverseArray(readJournal)(selected.map(({ brokerAccount }) => brokerAccount)),
      ),
      TE.let('selection', ({ reads }): TradeSelection => ({
        accountIds: reads.map(({ accountId }) => accountId),
        filter,
      })),
      // Both at once: they are two statements for the database.
      TE.bindW('found', ({ reads, selection }) =>
        pipe(
          TE.Do,
          TE.apS('rows', query(selection)),
          TE.apS('provenance', tradeProvenance(owner, reads)),
        ),
      ),
      TE.map(({ selected, selection, found }) => ({
        ...found,
        selection,
        currencies: [...new Set(selected.map(({ account }) => account.currency))],
      })),
    )

  /** In this thread, unless there are so many trades that other requests would wait for them. */
  const calculate = <Name extends CalculationName>(
    owner: Owner,
    count: number,
    name: Name,
    ...inputs: CalculationInputs<Name>
  ): AsyncResult<CalculationResult<Name>, 'RateLimitExceeded'> =>
    count > mostTradesHere
      ? ports.calculate(owner, name, ...inputs)
      : TE.fromIO(() => calculateHere(name, inputs))

  /** What is computed of all trades of a filter, with a warning about several currencies. */
  const summarise = <Rows, A>(
    owner: Owner,
    filter: TradeFilter,
    query: (selection: TradeSelection) => AsyncResult<Rows>,
    compute: (rows: Rows) => AsyncResult<A, 'RateLimitExceeded'>,
  ): AsyncResult<Summed<A>, 'AccountNotFound' | 'RateLimitExceeded' | JournalTag> =>
    pipe(
      queryTrades(owner, filter, query),
      TE.bindW('data', ({ rows }) => compute(rows)),
      TE.map(({ data, provenance, currencies }) => ({
        data,
        provenance,
        warnings: currencies.length > 1 ? [{ code: 'mixed_currencies', currencies }] : [],
      })),
    )

  return { readJournal, findTrade, queryTrades, summarise, calculate }
}
