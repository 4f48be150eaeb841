// GET /trades/export: every trade of a filter, most recently closed first, page by page, so that a long history needs no more memory than a short one.
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { TradeExportPage, TradeSelection } from '../ports/journal.ts'
import type { Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { placeOf } from '../trades/closed-trade.ts'
import type { ClosedTrade, TradeFilter } from '../trades/closed-trade.ts'
import { readJournals } from './steps/read-journals.ts'
import type { TradePorts, TradeProvenance, TradesRefusal } from './steps/read-journals.ts'

export interface TradeExport {
  /** Pages of trades. Throws where the rest cannot be read, or where a trade that was already given has changed. */
  readonly pages: AsyncIterable<readonly ClosedTrade[]>
  readonly provenance: TradeProvenance
  /** When it was asked for; its UTC day names the file. */
  readonly exportedAt: Instant
}

const tradesPerPage = 1_000

export const exportTrades =
  (ports: TradePorts) =>
  ({ owner }: Caller, filter: TradeFilter): TE.TaskEither<TradesRefusal, TradeExport> =>
    pipe(
      TE.Do,
      TE.bind('read', () => readJournals(ports)(owner, filter)),
      // The first page is read before the reply begins, so that a database that cannot be read is an error and not a broken file.
      TE.bindW('first', ({ read }) => ports.trades.exportPage(owner, read.selection, undefined, tradesPerPage)),
      TE.map(({ read, first }) => ({
        pages: pagesFrom(ports, owner, read.selection, first),
        provenance: read.provenance,
        exportedAt: ports.clock.now(),
      })),
    )

async function* pagesFrom(
  { trades: records }: TradePorts,
  owner: Owner,
  selection: TradeSelection,
  first: TradeExportPage,
): AsyncGenerator<readonly ClosedTrade[], void, void> {
  let page = first
  while (page.trades.length > 0) {
    yield page.trades
    if (page.trades.length < tradesPerPage) return
    const next = await records.exportPage(owner, selection, placeOf(page.trades.at(-1) as ClosedTrade), tradesPerPage)()
    if (E.isLeft(next)) throw new Error(`the trades cannot be read: ${next.left.reason}`)
    if (next.right.revision !== first.revision) throw new Error('a trade changed while the export was under way')
    page = next.right
  }
}
