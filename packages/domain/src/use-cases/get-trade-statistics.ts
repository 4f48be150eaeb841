// GET /trades/stats: what the closed trades of a filter amount to.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { tradeStatistics } from '../statistics/trade-statistics.ts'
import type { TradeStatistics } from '../statistics/trade-statistics.ts'
import type { TradeFilter } from '../trades/closed-trade.ts'
import { readJournals } from './steps/read-journals.ts'
import type { TradePorts, TradeProvenance, TradesRefusal } from './steps/read-journals.ts'

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

export const getTradeStatistics =
  (ports: TradePorts) =>
  ({ owner }: Caller, filter: TradeFilter): TE.TaskEither<TradesRefusal, StatisticsResult> =>
    pipe(
      TE.Do,
      TE.bind('read', () => readJournals(ports)(owner, filter)),
      TE.bindW('results', ({ read }) => ports.trades.results(owner, read.selection)),
      TE.map(({ read: { provenance, currencies }, results }) => ({
        statistics: tradeStatistics(results),
        provenance,
        warnings: currencies.length > 1 ? [{ code: 'mixed_currencies', currencies }] : [],
      })),
    )
