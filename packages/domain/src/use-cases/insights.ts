// The capability `insights`: what is computed of closed trades beyond their statistics.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import type { AsyncResult } from '../errors.ts'
import type { TradeSelection } from '../ports/index.ts'
import type { Owner } from '../primitives/ids.ts'
import {
  extendedStatistics,
  tradeCurve,
  type BalanceHistory,
  type ExtendedStatistics,
  type TradeCurve,
  type TradeResults,
} from '../statistics/index.ts'
import type { TradeFilter } from '../trades/closed-trade.ts'
import {
  createTradeReads,
  summed,
  type JournalTag,
  type Summed,
  type TradePorts,
} from './steps/trade-reads.ts'

type InsightTag = 'AccountNotFound' | JournalTag

export const createInsights = (ports: TradePorts) => {
  const { trades } = ports
  const { queryTrades } = createTradeReads(ports)

  /** With the movements of the balance where there is one account. */
  const queryResultsAndBalances = (
    owner: Owner,
    selection: TradeSelection,
  ): AsyncResult<{ readonly results: TradeResults; readonly balances: BalanceHistory | null }> => {
    const [accountId, ...others] = selection.accountIds
    return pipe(
      TE.Do,
      TE.apS('results', trades.results(owner, selection)),
      TE.apS(
        'balances',
        accountId === undefined || others.length > 0
          ? TE.right(null)
          : trades.balances(owner, accountId, selection.filter.from),
      ),
    )
  }

  return {
    /** GET /trades/stats?extended=true. */
    getExtendedStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
    ): AsyncResult<Summed<ExtendedStatistics>, InsightTag> =>
      pipe(
        queryTrades(owner, filter, (selection) => queryResultsAndBalances(owner, selection)),
        TE.map(({ rows: { results, balances }, ...found }) =>
          summed(found, extendedStatistics(results, balances)),
        ),
      ),

    /** GET /trades/curve: net profit, balance and drawdown over time, in at most `points` points. */
    getTradeCurve: (
      { owner }: Caller,
      filter: TradeFilter,
      points: number,
    ): AsyncResult<Summed<TradeCurve>, InsightTag> =>
      pipe(
        queryTrades(owner, filter, (selection) => queryResultsAndBalances(owner, selection)),
        TE.map(({ rows: { results, balances }, ...found }) =>
          summed(found, tradeCurve(results, balances, points)),
        ),
      ),
  }
}
