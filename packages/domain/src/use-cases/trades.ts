// Closed trades and what is computed of them. The journals of the accounts are brought up to date
// first, and then queried; one account that cannot be read fails the whole.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount, type BrokerAccount } from '../accounts/account.ts'
import { refuse, type AsyncResult, type BrokerReadTag } from '../errors.ts'
import type { BrokerDeal } from '../journal/broker-deal.ts'
import type {
  JournalSums,
  Ports,
  PositionDeals,
  TradeExportPage,
  TradePage,
  TradeSelection,
} from '../ports/index.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { AccountId, Owner, PositionId } from '../primitives/ids.ts'
import { secondMs, type Instant } from '../primitives/instant.ts'
import type { Page, PageRequest } from '../primitives/pages.ts'
import { provenanceOf, type Provenance, type Sourced } from '../primitives/provenance.ts'
import {
  calculateHere,
  type BreakdownKey,
  type CalculationInputs,
  type CalculationName,
  type CalculationResult,
  type ExtendedStatistics,
  type RobustStatistics,
  type TimeZone,
  type TradeCurve,
  type TradeGroup,
  type TradeStatistics,
} from '../statistics/index.ts'
import {
  placeOf,
  readCursor,
  writeCursor,
  type ClosedTrade,
  type TradeFilter,
} from '../trades/closed-trade.ts'
import type { SkippedOnAccount } from '../trades/fold.ts'
import type { ById, WithQuery } from './input.ts'
import {
  findBrokerAccount,
  findPositionAccount,
  readEach,
  selectBrokerAccounts,
} from './steps/find.ts'
import type { SynchroniseJournal } from './synchronise-journal.ts'

/** How long a read of the broker's history is reused by later reads. */
const freshMs = 5 * secondMs
/** Statistics of so many take some 10 ms. */
const maxTradesOnMainThread = 25_000

const exportPageSize = 1_000
/** Some brokers book a charge each day. */
const mostCashFlows = 500

interface TradePorts extends Pick<Ports, 'accounts' | 'trades' | 'broker' | 'clock' | 'calculate'> {
  readonly synchroniseJournal: SynchroniseJournal
  /** Where an account has more deals, its trades are refused. */
  readonly maxDeals: number
}

type JournalTag = BrokerReadTag | 'HistoryTooLarge'

/** What trades were read from. */
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
  /** Whether the last comparison with the balance disagreed, or none was made since deals came. */
  readonly mayBeIncomplete: boolean
}

/** Something to know about trades, or about what was computed of them. */
export type TradeWarning =
  /** The accounts that are covered have several currencies. */
  | { readonly code: 'mixed_currencies'; readonly currencies: readonly string[] }
  /** What is kept of these accounts disagreed with the broker, and is read again. */
  | { readonly code: 'history_incomplete'; readonly accounts: readonly AccountId[] }

interface WithWarnings {
  /** Absent where there is none. */
  readonly warnings?: readonly TradeWarning[]
}

/** Trades, or what was computed of them. */
export interface WarnedTrades<A> extends Sourced<A, TradeProvenance>, WithWarnings {}

/** The trades to compute over. There is no filter by their result. */
type CalculationQuery = Omit<TradeFilter, 'profitFilter'>

/** Which trades, and which page of them. */
export interface TradesQuery extends TradeFilter {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** A page of trades. */
export interface TradesResult extends WarnedTrades<readonly ClosedTrade[]> {
  readonly pagination: Pick<TradePage, 'total' | 'before'> & {
    readonly limit: number
    /** Leads to the next page; undefined on the last. */
    readonly cursor: string | undefined
  }
}

/** Every trade of a filter, for a file. */
export interface TradeExport extends WithWarnings {
  /**
   * Pages of trades. Throws where the rest cannot be read, or where a trade that was already given
   * has changed.
   */
  readonly pages: AsyncIterable<readonly ClosedTrade[]>
  readonly provenance: TradeProvenance
  /** When it was requested; its UTC day names the file. */
  readonly exportedAt: Instant
}

/** A page of the deals of a trade, and the sums of all of them. */
export interface TradeDeals extends WarnedTrades<{
  readonly deals: readonly BrokerDeal[]
  readonly sums: PositionDeals['sums']
}> {
  readonly pagination: Page<unknown>['pagination']
}

/** Money in the account's currency. */
export interface Reconciliation extends Pick<
  JournalSums,
  'deals' | 'firstDealAt' | 'lastDealAt' | 'sum'
> {
  /** The broker's at the last comparison; null where there was none since the deals changed. */
  readonly balance: number | null
  /** `balance` less `sum`. */
  readonly difference: number | null
  /** Whether the deals explain the balance, and none is known to be missing. */
  readonly complete: boolean
  readonly checkedAt: Instant | null
}

type ReadTag = 'AccountNotFound' | JournalTag
type CalculationTag = ReadTag | 'RateLimitExceeded'

/** Closed trades, what is computed of them, and whether they explain the balance. */
export const createTrades = (ports: TradePorts) => {
  const { trades, broker, clock, maxDeals } = ports

  /** Brings the journal of an account up to date, unless that was done a moment ago. */
  const synchroniseAccount = (account: BrokerAccount): AsyncResult<JournalRead, JournalTag> =>
    pipe(
      () => ports.synchroniseJournal(account, clock.now() - freshMs)(),
      TE.filterOrElseW(
        ({ deals }) => deals <= maxDeals,
        () => refuse('HistoryTooLarge', { accountId: account.accountId, limit: maxDeals }),
      ),
      TE.map(({ syncedAt, check, disagreements }) => ({
        accountId: account.accountId,
        readAt: syncedAt ?? clock.now(),
        // A read that is not compared with the balance may be silently incomplete.
        mayBeIncomplete: disagreements > 0 || check === null,
      })),
    )

  const tradeProvenance = (
    reads: readonly JournalRead[],
    skipped: readonly SkippedOnAccount[],
  ): TradeProvenance => ({ ...provenanceOf(broker.source, reads, clock.now()), skipped })

  /**
   * To be called after the trades were read: it fails with BrokerUnavailable where an account was
   * linked anew meanwhile, whose trades that read may have missed.
   */
  const readProvenance = (
    owner: Owner,
    reads: readonly JournalRead[],
  ): AsyncResult<TradeProvenance, 'BrokerUnavailable'> =>
    pipe(
      trades.skipped(
        owner,
        reads.map(({ accountId }) => accountId),
      ),
      TE.map((skipped) => tradeProvenance(reads, skipped)),
    )

  /**
   * A trade, or what is read of it: `read` returns none where the position is still open, skipped
   * or unknown.
   */
  const readTrade = <A>(
    owner: Owner,
    rawId: string,
    read: (id: PositionId) => AsyncResult<O.Option<A>>,
  ): AsyncResult<WarnedTrades<A>, 'TradeNotFound' | JournalTag> =>
    pipe(
      findPositionAccount(ports)(owner, rawId, refuse('TradeNotFound')),
      TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
      TE.bindW('journal', ({ brokerAccount }) => synchroniseAccount(brokerAccount)),
      TE.bindW('found', ({ id }) => read(id)),
      // Also where nothing was found, which may be because the account was linked anew.
      TE.bindW('provenance', ({ journal }) => readProvenance(owner, [journal])),
      TE.flatMap(({ found, provenance, journal }) =>
        O.isNone(found)
          ? TE.left(refuse('TradeNotFound'))
          : TE.right({ data: found.value, provenance, ...withWarnings([journal]) }),
      ),
    )

  /** The same for every account that a filter covers. */
  const synchronise = (owner: Owner, filter: TradeFilter) =>
    pipe(
      selectBrokerAccounts(ports)(owner, filter.accountId),
      TE.bindTo('selected'),
      TE.bindW('reads', ({ selected }) =>
        readEach(selected.map(({ brokerAccount }) => synchroniseAccount(brokerAccount))),
      ),
      TE.let('selection', ({ reads }): TradeSelection => ({
        accountIds: reads.map(({ accountId }) => accountId),
        filter,
      })),
    )

  const synchroniseAndQuery = <A>(
    owner: Owner,
    filter: TradeFilter,
    read: (owner: Owner, selection: TradeSelection) => AsyncResult<A>,
  ) =>
    pipe(
      synchronise(owner, filter),
      TE.bindW('rows', ({ selection }) => read(owner, selection)),
      TE.bindW('provenance', ({ reads }) => readProvenance(owner, reads)),
    )

  /** Computes in this thread, or in another where so many trades would delay other requests. */
  const calculate = <Name extends CalculationName>(
    owner: Owner,
    count: number,
    name: Name,
    ...inputs: CalculationInputs<Name>
  ): AsyncResult<CalculationResult<Name>, 'RateLimitExceeded'> =>
    count > maxTradesOnMainThread
      ? ports.calculate(owner, name, ...inputs)
      : TE.fromIO(() => calculateHere(name, inputs))

  /** The result of a calculation over all trades of a filter. */
  const summarise = <Rows, A>(
    owner: Owner,
    query: CalculationQuery,
    read: (owner: Owner, selection: TradeSelection) => AsyncResult<Rows>,
    compute: (rows: Rows) => AsyncResult<A, 'RateLimitExceeded'>,
  ): AsyncResult<WarnedTrades<A>, CalculationTag> =>
    pipe(
      synchroniseAndQuery(owner, query, read),
      TE.bindW('data', ({ rows }) => compute(rows)),
      TE.map(({ data, provenance, reads, selected }) => ({
        data,
        provenance,
        ...withWarnings(reads, new Set(selected.map(({ account }) => account.currency))),
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
      if (page.trades.length < exportPageSize) return
      const next = await trades.exportPage(
        owner,
        selection,
        placeOf(page.trades.at(-1) as ClosedTrade),
        exportPageSize,
      )()
      if (E.isLeft(next)) throw new Error(`the trades cannot be read: ${next.left.reason}`)
      if (next.right.revision !== first.revision)
        throw new Error('a trade changed while the export was under way')
      page = next.right
    }
  }

  /** With the movements of the balance where there is one account. */
  const queryResultsAndBalances = (owner: Owner, selection: TradeSelection) =>
    pipe(
      TE.Do,
      TE.apS('results', trades.results(owner, selection)),
      TE.apS(
        'balances',
        forSingleAccount(selection, (id) => trades.balances(owner, id, selection.filter.startDate)),
      ),
    )

  return {
    /** GET /trades: most recently closed first, page by page with a cursor. */
    listTrades: (
      { owner }: Caller,
      { query: { limit, cursor, ...filter } }: WithQuery<TradesQuery>,
    ): AsyncResult<TradesResult, 'InvalidCursor' | ReadTag> =>
      pipe(
        TE.fromEither(
          cursor === undefined ? E.right(undefined) : readCursor(owner, filter, cursor),
        ),
        TE.bindTo('after'),
        TE.bindW('read', () => synchronise(owner, filter)),
        TE.bindW('page', ({ after, read }) => trades.page(owner, read.selection, after, limit)),
        TE.map(({ read: { reads }, page }) => {
          const { trades: data, total, before, skipped } = page
          const pagination = { total, before, limit, cursor: nextCursor(owner, filter, page) }
          return {
            data,
            pagination,
            provenance: tradeProvenance(reads, skipped),
            ...withWarnings(reads),
          }
        }),
      ),

    /**
     * GET /trades/:id: a position that is still open, skipped, unknown, malformed or another's has
     * no trade.
     */
    getTrade: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<WarnedTrades<ClosedTrade>, 'TradeNotFound' | JournalTag> =>
      readTrade(owner, id, (position) => trades.find(owner, position)),

    /** GET /trades/stats. */
    getTradeStatistics: (
      { owner }: Caller,
      { query }: WithQuery<CalculationQuery & { readonly extended?: boolean }>,
    ): AsyncResult<WarnedTrades<TradeStatistics | ExtendedStatistics>, CalculationTag> =>
      query.extended === true
        ? summarise(owner, query, queryResultsAndBalances, ({ results, balances }) =>
            calculate(owner, results.netProfits.length, 'extendedStatistics', results, balances),
          )
        : summarise(owner, query, trades.results, ({ netProfits }) =>
            calculate(owner, netProfits.length, 'statisticsOf', netProfits),
          ),

    /**
     * GET /trades/export: every trade of a filter, page by page, so that a long history needs no
     * more memory than a short one.
     */
    exportTrades: (
      { owner }: Caller,
      { query }: WithQuery<TradeFilter>,
    ): AsyncResult<TradeExport, ReadTag> =>
      pipe(
        // The first page is read before the reply begins, so that a database that cannot be read is
        // an error and not a broken file.
        synchroniseAndQuery(owner, query, (_, selection) =>
          trades.exportPage(owner, selection, undefined, exportPageSize),
        ),
        TE.map(({ rows, selection, provenance, reads }) => ({
          pages: pagesFrom(owner, selection, rows),
          provenance,
          ...withWarnings(reads),
          exportedAt: clock.now(),
        })),
      ),

    /**
     * GET /trades/curve: net profit, balance and drawdown over time, in at most `points` points.
     */
    getTradeCurve: (
      { owner }: Caller,
      { query }: WithQuery<CalculationQuery & { readonly points: number }>,
    ): AsyncResult<WarnedTrades<TradeCurve>, CalculationTag> =>
      summarise(
        owner,
        query,
        (_, selection) =>
          pipe(
            queryResultsAndBalances(owner, selection),
            TE.apS(
              'cashFlows',
              forSingleAccount(selection, (id) =>
                trades.cashFlows(owner, id, selection.filter, mostCashFlows),
              ),
            ),
          ),
        ({ results, balances, cashFlows }) =>
          calculate(
            owner,
            results.netProfits.length,
            'tradeCurve',
            results,
            balances,
            cashFlows,
            query.points,
          ),
      ),

    /** GET /trades/breakdown. The zone counts for months, weekdays and hours. */
    getTradeBreakdown: (
      { owner }: Caller,
      {
        query: { by, timeZone, ...query },
      }: WithQuery<CalculationQuery & { readonly by: BreakdownKey; readonly timeZone: TimeZone }>,
    ): AsyncResult<WarnedTrades<readonly TradeGroup[]>, CalculationTag> =>
      by === 'symbol' || by === 'side' || by === 'account'
        ? summarise(
            owner,
            query,
            (_, selection) => trades.netProfitsBy(owner, selection, by),
            (groups) => {
              const count = groups.reduce((sum, { netProfits }) => sum + netProfits.length, 0)
              return calculate(owner, count, 'groupStatistics', groups)
            },
          )
        : summarise(owner, query, trades.results, (results) =>
            calculate(owner, results.netProfits.length, 'groupsOf', results, by, timeZone),
          ),

    /** GET /trades/robust: intervals of the statistics, from so many resamples of the trades. */
    getRobustStatistics: (
      { owner }: Caller,
      { query }: WithQuery<CalculationQuery & { readonly resamples: number }>,
    ): AsyncResult<WarnedTrades<RobustStatistics>, CalculationTag> =>
      summarise(owner, query, trades.results, ({ netProfits }) =>
        ports.calculate(owner, 'robustStatistics', netProfits, query.resamples),
      ),

    /** GET /trades/:id/deals: what the trade was folded from, page by page. */
    getTradeDeals: (
      { owner }: Caller,
      { id, query }: ById & WithQuery<PageRequest>,
    ): AsyncResult<TradeDeals, 'TradeNotFound' | JournalTag> =>
      pipe(
        readTrade(owner, id, (position) =>
          pipe(
            TE.Do,
            TE.bind('trade', () => trades.find(owner, position)),
            TE.bind('page', () => trades.deals(owner, position.accountId, position.ticket, query)),
            TE.map(({ trade, page }) => O.as(page)(trade)),
          ),
        ),
        TE.map(({ data: { deals, sums }, ...source }) => ({
          ...source,
          data: { deals: deals.data, sums },
          pagination: deals.pagination,
        })),
      ),

    /** GET /accounts/:id/reconciliation: whether the deals add up to the balance. */
    getReconciliation: (
      { owner }: Caller,
      { id }: ById,
    ): AsyncResult<Sourced<Reconciliation>, ReadTag> =>
      pipe(
        findBrokerAccount(ports)(owner, id),
        TE.flatMap(synchroniseAccount),
        TE.bindTo('read'),
        TE.bindW('sums', ({ read: { accountId } }) => trades.reconciliation(owner, accountId)),
        TE.map(({ read, sums }) => ({
          data: reconciliationOf(sums),
          provenance: provenanceOf(broker.source, [read], clock.now()),
        })),
      ),
  }
}

const withWarnings = (
  reads: readonly JournalRead[],
  currencies: ReadonlySet<string> = new Set(),
): WithWarnings => {
  const accounts = reads
    .filter(({ mayBeIncomplete }) => mayBeIncomplete)
    .map(({ accountId }) => accountId)
  const warnings: readonly TradeWarning[] = [
    ...(currencies.size > 1
      ? [{ code: 'mixed_currencies', currencies: [...currencies] } as const]
      : []),
    ...(accounts.length > 0 ? [{ code: 'history_incomplete', accounts } as const] : []),
  ]
  return warnings.length === 0 ? {} : { warnings }
}

const nextCursor = (
  owner: Owner,
  filter: TradeFilter,
  { trades, total, before }: TradePage,
): string | undefined => {
  const last = trades.at(-1)
  return last === undefined || before + trades.length >= total
    ? undefined
    : writeCursor(owner, filter, placeOf(last))
}

/** What is read of one account; null where the selection has several, or none. */
const forSingleAccount = <A>(
  { accountIds: [accountId, ...others] }: TradeSelection,
  read: (accountId: AccountId) => AsyncResult<A>,
): AsyncResult<A | null> =>
  accountId === undefined || others.length > 0 ? TE.right(null) : read(accountId)

const reconciliationOf = ({ check, disagreements, sum, ...sums }: JournalSums): Reconciliation => ({
  ...sums,
  sum,
  balance: check && sumExactly([sum, check.difference]),
  difference: check && check.difference,
  complete: check?.difference === 0 && disagreements === 0,
  checkedAt: check && check.at,
})
