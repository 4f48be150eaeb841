// Closed trades, read from the journals of their accounts: lists, single ones, statistics and
// exports.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import { tradeNotFound } from '../errors.ts'
import type { InvalidCursor, TradeNotFound } from '../errors.ts'
import type { TradeExportPage, TradeSelection } from '../ports/journal.ts'
import { parsePositionId } from '../primitives/ids.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { tradeStatistics } from '../statistics/trade-statistics.ts'
import type { TradeStatistics } from '../statistics/trade-statistics.ts'
import { placeOf } from '../trades/closed-trade.ts'
import type { ClosedTrade, TradeFilter, TradeSlice } from '../trades/closed-trade.ts'
import { readCursor, writeCursor } from '../trades/cursor.ts'
import { queryTrades, readJournal, tradeProvenance } from './steps/read-journals.ts'
import type {
  JournalRefusal,
  TradePorts,
  TradeProvenance,
  TradesRefusal,
} from './steps/read-journals.ts'

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

/** Sums over accounts of several currencies are sums of unlike things, and the reply says so. */
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
  /** When it was asked for; its UTC day names the file. */
  readonly exportedAt: Instant
}

const tradesPerPage = 1_000

export const createTrades = (ports: TradePorts) => {
  const { accounts, trades, clock } = ports

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
    ): TE.TaskEither<TradesRefusal | InvalidCursor, TradesResult> =>
      pipe(
        TE.Do,
        TE.bind('after', () =>
          TE.fromEither(cursor === undefined ? E.right(undefined) : readCursor(filter, cursor)),
        ),
        TE.flatMap(({ after }) =>
          queryTrades(ports)(owner, filter, (selection) =>
            trades.page(owner, selection, after, limit),
          ),
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
    ): TE.TaskEither<TradeNotFound | JournalRefusal, TradeResult> =>
      pipe(
        TE.Do,
        TE.bind('id', () => TE.fromOption(() => tradeNotFound)(parsePositionId(id))),
        TE.bindW('found', (asked) => accounts.find(owner, asked.id.accountId)),
        TE.bindW('account', ({ found }) => TE.fromOption(() => tradeNotFound)(found)),
        TE.bindW('brokerAccount', ({ account }) => TE.fromEither(requireBrokerAccount(account))),
        TE.bindW('read', ({ brokerAccount }) => readJournal(ports)(brokerAccount)),
        TE.bindW('closed', (asked) =>
          pipe(trades.find(owner, asked.id), TE.flatMap(TE.fromOption(() => tradeNotFound))),
        ),
        TE.bindW('provenance', ({ read }) => tradeProvenance(ports)(owner, [read])),
        TE.map(({ closed, provenance }) => ({ closed, provenance })),
      ),

    /** GET /trades/stats. */
    getTradeStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
    ): TE.TaskEither<TradesRefusal, StatisticsResult> =>
      pipe(
        queryTrades(ports)(owner, filter, (selection) => trades.results(owner, selection)),
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
    ): TE.TaskEither<TradesRefusal, TradeExport> =>
      pipe(
        // The first page is read before the reply begins, so that a database that cannot be read is
        // an error and not a broken file.
        queryTrades(ports)(owner, filter, (selection) =>
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
