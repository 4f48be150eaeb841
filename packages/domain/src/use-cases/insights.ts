// The capability `insights`: what is computed of closed trades beyond their statistics.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import { refuse, type AsyncResult } from '../errors.ts'
import type { JournalSums, PositionDeals, TradeSelection } from '../ports/index.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import type { PageRequest } from '../primitives/pages.ts'
import { provenanceOf, type Provenance } from '../primitives/provenance.ts'
import type {
  CashFlows,
  BalanceHistory,
  BreakdownKey,
  ExtendedStatistics,
  RobustStatistics,
  TimeZone,
  TradeCurve,
  TradeGroup,
  TradeResults,
} from '../statistics/index.ts'
import type { TradeFilter } from '../trades/closed-trade.ts'
import { findAccount } from './steps/find.ts'
import {
  createTradeReads,
  summed,
  type JournalTag,
  type Summed,
  type TradePorts,
  type TradeProvenance,
} from './steps/trade-reads.ts'

export interface TradeDeals extends PositionDeals {
  readonly provenance: TradeProvenance
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
  readonly isComplete: boolean
  readonly checkedAt: Instant | null
}

interface ReconciliationResult {
  readonly reconciliation: Reconciliation
  readonly provenance: Provenance
}

type InsightTag = 'AccountNotFound' | JournalTag
type CalculationTag = InsightTag | 'RateLimitExceeded'

/** Some brokers book a charge each day. */
const mostCashFlows = 500

export const createInsights = (ports: TradePorts) => {
  const { trades, broker, clock } = ports
  const { queryTrades, findTrade, readJournal, calculate } = createTradeReads(ports)

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

  const queryCashFlows = (
    owner: Owner,
    { accountIds: [accountId, ...others], filter }: TradeSelection,
  ): AsyncResult<CashFlows | null> =>
    accountId === undefined || others.length > 0
      ? TE.right(null)
      : trades.cashFlows(owner, accountId, filter, mostCashFlows)

  return {
    /** GET /trades/stats?extended=true. */
    getExtendedStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
    ): AsyncResult<Summed<ExtendedStatistics>, CalculationTag> =>
      pipe(
        queryTrades(owner, filter, (selection) => queryResultsAndBalances(owner, selection)),
        TE.bindW('data', ({ rows: { results, balances } }) =>
          calculate(owner, countOf(results), 'extendedStatistics', results, balances),
        ),
        TE.map(({ data, ...found }) => summed(found, data)),
      ),

    /** GET /trades/curve: net profit, balance and drawdown over time, in at most `points` points. */
    getTradeCurve: (
      { owner }: Caller,
      filter: TradeFilter,
      points: number,
    ): AsyncResult<Summed<TradeCurve>, CalculationTag> =>
      pipe(
        queryTrades(owner, filter, (selection) =>
          pipe(
            queryResultsAndBalances(owner, selection),
            TE.apS('cashFlows', queryCashFlows(owner, selection)),
          ),
        ),
        TE.bindW('data', ({ rows: { results, balances, cashFlows } }) =>
          calculate(owner, countOf(results), 'tradeCurve', results, balances, cashFlows, points),
        ),
        TE.map(({ data, ...found }) => summed(found, data)),
      ),

    /** GET /trades/breakdown. The zone counts for months, weekdays and hours. */
    getTradeBreakdown: (
      { owner }: Caller,
      filter: TradeFilter,
      by: BreakdownKey,
      timeZone: TimeZone,
    ): AsyncResult<Summed<readonly TradeGroup[]>, CalculationTag> =>
      by === 'symbol' || by === 'side' || by === 'account'
        ? pipe(
            queryTrades(owner, filter, (selection) => trades.netProfitsBy(owner, selection, by)),
            TE.bindW('data', ({ rows }) => {
              const count = rows.reduce((sum, { netProfits }) => sum + netProfits.length, 0)
              return calculate(owner, count, 'groupStatistics', rows)
            }),
            TE.map(({ data, ...found }) => summed(found, data)),
          )
        : pipe(
            queryTrades(owner, filter, (selection) => trades.results(owner, selection)),
            TE.bindW('data', ({ rows }) =>
              calculate(owner, countOf(rows), 'groupsOf', rows, by, timeZone),
            ),
            TE.map(({ data, ...found }) => summed(found, data)),
          ),

    /** GET /trades/robust: intervals of the statistics, from so many resamples of the trades. */
    getRobustStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
      resamples: number,
    ): AsyncResult<Summed<RobustStatistics>, CalculationTag> =>
      pipe(
        queryTrades(owner, filter, (selection) => trades.netProfits(owner, selection)),
        TE.bindW('data', ({ rows }) => ports.calculate(owner, 'robustStatistics', rows, resamples)),
        TE.map(({ data, ...found }) => summed(found, data)),
      ),

    /** GET /trades/:id/deals: what the trade was folded from, page by page. */
    getTradeDeals: (
      { owner }: Caller,
      id: string,
      page: PageRequest,
    ): AsyncResult<TradeDeals, 'TradeNotFound' | JournalTag> =>
      pipe(
        findTrade(owner, id),
        TE.bindW('found', ({ closed: { accountId, trade } }) =>
          trades.deals(owner, accountId, trade.positionId, page),
        ),
        TE.map(({ found, provenance }) => ({ ...found, provenance })),
      ),

    /** GET /accounts/:id/reconciliation: whether the deals add up to the balance. */
    getReconciliation: (
      { owner }: Caller,
      accountId: AccountId,
    ): AsyncResult<ReconciliationResult, InsightTag> =>
      pipe(
        findAccount(ports)(owner, accountId),
        TE.flatMapEither(requireBrokerAccount),
        TE.flatMap(readJournal),
        TE.bindTo('read'),
        TE.bindW('sums', () =>
          pipe(
            trades.reconciliation(owner, accountId),
            // The account was removed, or linked to another one, since it was read.
            TE.flatMap(TE.fromOption(() => refuse('AccountNotFound'))),
          ),
        ),
        TE.map(({ read, sums }) => ({
          reconciliation: reconciliationOf(sums),
          provenance: provenanceOf(broker.source, [read], clock.now()),
        })),
      ),
  }
}

const countOf = ({ netProfits }: TradeResults): number => netProfits.length

const reconciliationOf = ({ check, rereadAt, sum, ...sums }: JournalSums): Reconciliation => ({
  ...sums,
  sum,
  balance: check && sumExactly([sum, check.difference]),
  difference: check && check.difference,
  isComplete: check?.difference === 0 && rereadAt === null,
  checkedAt: check && check.at,
})
