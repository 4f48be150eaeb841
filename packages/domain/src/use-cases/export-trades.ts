// GET /trades/export: every trade of a filter, most recently closed first, for a file (4.5; decision 39).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { Instant } from '../primitives/instant.ts'
import type { ClosedTrade, TradeFilter } from '../trades/account-history.ts'
import { readMatchingTrades } from './steps/read-matching-trades.ts'
import type { TradePorts, TradeProvenance, TradesRefusal } from './steps/read-matching-trades.ts'

export interface TradeExport {
  readonly trades: readonly ClosedTrade[]
  readonly provenance: TradeProvenance
  /** When it was asked for; its UTC day names the file. */
  readonly exportedAt: Instant
}

export const exportTrades =
  (ports: TradePorts) =>
  (caller: Caller, filter: TradeFilter): TE.TaskEither<TradesRefusal, TradeExport> =>
    pipe(
      readMatchingTrades(ports)(caller, filter),
      TE.map(({ matches, provenance }) => ({ trades: matches.toReversed(), provenance, exportedAt: ports.clock.now() })),
    )
