// GET /trades: closed trades, most recently closed first, page by page with a cursor.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { InvalidCursor } from '../errors.ts'
import { placeOf } from '../trades/closed-trade.ts'
import type { ClosingPlace, TradeFilter, TradeSlice } from '../trades/closed-trade.ts'
import { readCursor, writeCursor } from '../trades/cursor.ts'
import { readJournals } from './steps/read-journals.ts'
import type { TradePorts, TradeProvenance, TradesRefusal } from './steps/read-journals.ts'

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

export const listTrades =
  (ports: TradePorts) =>
  ({ owner }: Caller, { filter, limit, cursor }: TradesQuery): TE.TaskEither<TradesRefusal | InvalidCursor, TradesResult> =>
    pipe(
      TE.Do,
      TE.bind('after', () => readPlace(filter, cursor)),
      TE.bindW('read', () => readJournals(ports)(owner, filter)),
      TE.bindW('slice', ({ after, read }) => ports.trades.page(owner, read.selection, after, limit)),
      TE.map(({ read, slice }) => ({ ...slice, provenance: read.provenance, cursor: nextCursor(filter, slice) })),
    )

const readPlace = (filter: TradeFilter, cursor: string | undefined): TE.TaskEither<InvalidCursor, ClosingPlace | undefined> =>
  cursor === undefined ? TE.right(undefined) : TE.fromEither(readCursor(filter, cursor))

const nextCursor = (filter: TradeFilter, { trades, total, before }: TradeSlice): string | undefined => {
  const last = trades.at(-1)
  return last === undefined || before + trades.length >= total ? undefined : writeCursor(filter, placeOf(last))
}
