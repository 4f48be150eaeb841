// GET /trades/stats: what the closed trades of a filter amount to (2.6, 4.5; decisions 37 and 38).
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { statisticsInSteps } from '../statistics/trade-statistics.ts'
import type { TradeStatistics } from '../statistics/trade-statistics.ts'
import type { TradeFilter } from '../trades/account-history.ts'
import { readMatchingTrades } from './steps/read-matching-trades.ts'
import type { MatchingTrades, TradePorts, TradeProvenance, TradesRefusal } from './steps/read-matching-trades.ts'
import { takeTurns } from './steps/take-turns.ts'

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
  (caller: Caller, filter: TradeFilter): TE.TaskEither<TradesRefusal, StatisticsResult> =>
    pipe(
      readMatchingTrades(ports)(caller, filter),
      TE.bindTo('found'),
      TE.bindW('statistics', ({ found }) => TE.fromTask(takeTurns(ports)(statisticsInSteps(found.matches.map(({ trade }) => trade))))),
      TE.map(({ found, statistics }) => ({
        statistics,
        provenance: found.provenance,
        warnings: currencyWarnings(found.currencies),
      })),
    )

const currencyWarnings = (currencies: MatchingTrades['currencies']): readonly MixedCurrencies[] =>
  currencies.length > 1 ? [{ code: 'mixed_currencies', currencies }] : []
