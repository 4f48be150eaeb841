// Closed trades, read from the journals of their accounts: lists, single ones, statistics and
// exports. The journals are brought up to date first; one account that cannot be read fails the
// whole.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount, type BrokerAccount } from '../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag } from '../errors.ts'
import type {
  AccountStore,
  Broker,
  Clock,
  TradeExportPage,
  TradeRecords,
  TradeSelection,
} from '../ports/index.ts'
import { parsePositionId, type AccountId, type Owner } from '../primitives/ids.ts'
import { secondMs, type Instant } from '../primitives/instant.ts'
import { provenanceOf, type Provenance } from '../primitives/provenance.ts'
import { tradeStatistics, type TradeStatistics } from '../statistics/trade-statistics.ts'
import {
  placeOf,
  readCursor,
  writeCursor,
  type ClosedTrade,
  type TradeFilter,
  type TradeSlice,
} from '../trades/closed-trade.ts'
import type { SkippedOnAccount } from '../trades/fold.ts'
import { selectBrokerAccounts } from './steps/find.ts'
import type { SynchroniseJournal } from './synchronise-journal.ts'

/** How long a read of the broker's history is reused by later reads. */
const freshMs = 5 * secondMs
const tradesPerPage = 1_000

interface TradePorts {
  readonly accounts: Pick<AccountStore, 'find' | 'list'>
  readonly synchroniseJournal: SynchroniseJournal
  readonly trades: TradeRecords
  readonly broker: Pick<Broker, 'source'>
  readonly clock: Clock
  /** The most deals of an account of which trades are shown. */
  readonly maxDeals: number
}

type JournalTag = BrokerReadTag | 'HistoryTooLarge'

export interface TradeProvenance extends Provenance {
  /**
   * Of the accounts read, whatever the filter: a skipped position has no time or result to filter
   * by.
   */
  readonly skipped: readonly SkippedOnAccount[]
}

interface JournalRead {
  readonly accountId: AccountId
  readonly readAt: Instant
}

export interface TradesQuery {
  readonly filter: TradeFilter
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface TradesResult extends TradeSlice {
  readonly provenance: TradeProvenance
  /** Leads to the next page; undefined on the last. */
  readonly cursor: string | undefined
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

export interface StatisticsResult {
  readonly statistics: TradeStatistics
  readonly provenance: TradeProvenance
  readonly warnings: readonly MixedCurrencies[]
}

export interface TradeExport {
  /**
   * Pages of trades. Throws where the rest cannot be read, or where a trade that was already given
   * has changed.
   */
  readonly pages: AsyncIterable<readonly ClosedTrade[]>
  readonly provenance: TradeProvenance
  /** When it was requested; its UTC day names the file. */
  readonly exportedAt: Instant
}

export const createTrades = (ports: TradePorts) => {
  const { accounts, trades, broker, clock, maxDeals } = ports

  const readJournal = (account: BrokerAccount): AsyncResult<JournalRead, JournalTag> =>
    pipe(
      TE.fromIO(clock.now),
      TE.flatMap((now) => ports.synchroniseJournal(account, now - freshMs)),
      TE.filterOrElseW(
        ({ deals }) => deals <= maxDeals,
        () => refuse('HistoryTooLarge', { accountId: account.accountId, limit: maxDeals }),
      ),
      TE.map(({ syncedAt }) => ({ accountId: account.accountId, readAt: syncedAt ?? clock.now() })),
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

  async function* pagesFrom(
    owner: Owner,
    selection: TradeSelection,
    first: TradeExportPage,
  ): TradeExport['pages'] {
    let page = first
    while (page.trades.length > 0) {
      yield page.trades
      if (page.trades.length < tradesPerPage) return
      const next = await trades.exportPage(
        owner,
        selection,
        placeOf(page.trades.at(-1) as ClosedTrade),
        tradesPerPage,
      )()
      if (E.isLeft(next)) throw new Error(`the trades cannot be read: ${next.left.reason}`)
      if (next.right.revision !== first.revision)
        throw new Error('a trade changed while the export was under way')
      page = next.right
    }
  }

  return {
    /** GET /trades: most recently closed first, page by page with a cursor. */
    listTrades: (
      { owner }: Caller,
      { filter, limit, cursor }: TradesQuery,
    ): AsyncResult<TradesResult, 'AccountNotFound' | 'InvalidCursor' | JournalTag> =>
      pipe(
        TE.Do,
        TE.bind('after', () =>
          TE.fromEither(cursor === undefined ? E.right(undefined) : readCursor(filter, cursor)),
        ),
        TE.flatMap(({ after }) =>
          queryTrades(owner, filter, (selection) => trades.page(owner, selection, after, limit)),
        ),
        TE.map(({ rows, provenance }) => ({
          ...rows,
          provenance,
          cursor: nextCursor(filter, rows),
        })),
      ),

    /**
     * GET /trades/:id: a position that is still open, skipped, unknown, malformed or another's has
     * no trade.
     */
    getTrade: (
      { owner }: Caller,
      id: string,
    ): AsyncResult<TradeResult, 'TradeNotFound' | JournalTag> =>
      pipe(
        TE.Do,
        TE.bind('id', () => TE.fromOption(() => refuse('TradeNotFound'))(parsePositionId(id))),
        TE.bindW('found', (requested) => accounts.find(owner, requested.id.accountId)),
        TE.bindW('account', ({ found }) => TE.fromOption(() => refuse('TradeNotFound'))(found)),
        TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
        TE.bindW('read', ({ brokerAccount }) => readJournal(brokerAccount)),
        TE.bindW('closed', (requested) =>
          pipe(
            trades.find(owner, requested.id),
            TE.flatMap(TE.fromOption(() => refuse('TradeNotFound'))),
          ),
        ),
        TE.bindW('provenance', ({ read }) => tradeProvenance(owner, [read])),
        TE.map(({ closed, provenance }) => ({ closed, provenance })),
      ),

    /** GET /trades/stats. */
    getTradeStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
    ): AsyncResult<StatisticsResult, 'AccountNotFound' | JournalTag> =>
      pipe(
        queryTrades(owner, filter, (selection) => trades.results(owner, selection)),
        TE.map(({ rows, provenance, currencies }) => ({
          statistics: tradeStatistics(rows),
          provenance,
          warnings: currencies.length > 1 ? [{ code: 'mixed_currencies', currencies }] : [],
        })),
      ),

    /**
     * GET /trades/export: every trade of a filter, page by page, so that a long history needs no
     * more memory than a short one.
     */
    exportTrades: (
      { owner }: Caller,
      filter: TradeFilter,
    ): AsyncResult<TradeExport, 'AccountNotFound' | JournalTag> =>
      pipe(
        // The first page is read before the reply begins, so that a database that cannot be read is
        // an error and not a broken file.
        queryTrades(owner, filter, (selection) =>
          trades.exportPage(owner, selection, undefined, tradesPerPage),
        ),
        TE.map(({ rows, selection, provenance }) => ({
          pages: pagesFrom(owner, selection, rows),
          provenance,
          exportedAt: clock.now(),
        })),
      ),
  }
}

const nextCursor = (
  filter: TradeFilter,
  { trades, total, before }: TradeSlice,
): string | undefined => {
  const last = trades.at(-1)
  return last === undefined || before + trades.length >= total
    ? undefined
    : writeCursor(filter, placeOf(last))
}
