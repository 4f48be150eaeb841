// Closed trades, read from the journals of their accounts: lists, single ones, statistics and
// exports. The journals are brought up to date first; one account that cannot be read fails the
// whole.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { AsyncResult } from '../errors.ts'
import type { TradeExportPage, TradeSelection } from '../ports/index.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { TradeStatistics } from '../statistics/index.ts'
import {
  placeOf,
  readCursor,
  writeCursor,
  type ClosedTrade,
  type TradeFilter,
  type TradeSlice,
} from '../trades/closed-trade.ts'
import {
  createTradeReads,
  type JournalTag,
  type Summed,
  type TradePorts,
  type TradeProvenance,
  type TradeResult,
} from './steps/trade-reads.ts'

const tradesPerPage = 1_000

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
  const { trades, clock } = ports
  const { queryTrades, findTrade, summarise, calculate } = createTradeReads(ports)

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
    ): AsyncResult<TradeResult, 'TradeNotFound' | JournalTag> => findTrade(owner, id),

    /** GET /trades/stats. */
    getTradeStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
    ): AsyncResult<Summed<TradeStatistics>, 'AccountNotFound' | 'RateLimitExceeded' | JournalTag> =>
      summarise(
        owner,
        filter,
        (selection) => trades.netProfits(owner, selection),
        (profits) => calculate(owner, profits.length, 'statisticsOf', profits),
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
