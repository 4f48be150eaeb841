// GET /trades: closed trades, most recently closed first, page by page with a cursor (4.5; decision 36).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { InvalidCursor } from '../errors.ts'
import { placeOf, sliceAfter } from '../trades/account-history.ts'
import type { ClosingPlace, TradeFilter, TradeSlice } from '../trades/account-history.ts'
import { readCursor, writeCursor } from '../trades/cursor.ts'
import { readMatchingTrades } from './steps/read-matching-trades.ts'
import type { TradePorts, TradeProvenance, TradesRefusal } from './steps/read-matching-trades.ts'

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
  (caller: Caller, { filter, limit, cursor }: TradesQuery): TE.TaskEither<TradesRefusal | InvalidCursor, TradesResult> =>
    pipe(
      TE.Do,
      TE.bind('after', () => readPlace(filter, cursor)),
      TE.bindW('found', () => readMatchingTrades(ports)(caller, filter)),
      TE.let('slice', ({ after, found }) => sliceAfter(found.matches, after, limit)),
      TE.map(({ found, slice }) => ({ ...slice, provenance: found.provenance, cursor: nextCursor(filter, slice) })),
    )

const readPlace = (filter: TradeFilter, cursor: string | undefined): TE.TaskEither<InvalidCursor, ClosingPlace | undefined> =>
  cursor === undefined ? TE.right(undefined) : TE.fromEither(readCursor(filter, cursor))

const nextCursor = (filter: TradeFilter, { trades, total, before }: TradeSlice): string | undefined => {
  const last = trades.at(-1)
  return last === undefined || before + trades.length >= total ? undefined : writeCursor(filter, placeOf(last))
}
