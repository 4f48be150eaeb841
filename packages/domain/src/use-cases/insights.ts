// The capability `insights`: what is computed of closed trades beyond their statistics.
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../access/credential.ts'
import { requireBrokerAccount } from '../accounts/account.ts'
import { refuse, type AsyncResult } from '../errors.ts'
import type { BrokerDeal, CashFlows } from '../journal/broker-deal.ts'
import type { Calculate, JournalSums, TradeSelection } from '../ports/index.ts'
import { sumExactly } from '../primitives/exact-sum.ts'
import type { AccountId, Owner } from '../primitives/ids.ts'
import type { Instant } from '../primitives/instant.ts'
import { provenanceOf, type Provenance } from '../primitives/provenance.ts'
import {
  calculateHere,
  groupOf,
  type BreakdownKey,
  type CalculationInputs,
  type CalculationName,
  type CalculationResult,
  type RobustStatistics,
  type TimeZone,
  type TradeGroup,
  type BalanceHistory,
  type ExtendedStatistics,
  type TradeCurve,
  type TradeResults,
} from '../statistics/index.ts'
import type { TradeFilter } from '../trades/closed-trade.ts'
import { volumeOf } from '../trades/deal.ts'
import type { FoldedTrade } from '../trades/fold.ts'
import { findAccount } from './steps/find.ts'
import {
  createTradeReads,
  summed,
  type JournalTag,
  type Summed,
  type TradePorts,
  type TradeProvenance,
} from './steps/trade-reads.ts'

export interface TradeDeals {
  readonly deals: readonly BrokerDeal[]
  readonly sums: Pick<FoldedTrade, 'profit' | 'commission' | 'swap' | 'netProfit'> & {
    readonly openedVolume: number
    readonly closedVolume: number
  }
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

type OfTradeResults = Exclude<CalculationName, 'robustStatistics'>
/** Some brokers book a charge each day. */
const mostCashFlows = 500
/** Their statistics take some 10 ms. */
const mostTradesHere = 25_000

interface InsightPorts extends TradePorts {
  readonly calculate: Calculate
}

export const createInsights = (ports: InsightPorts) => {
  const { trades, broker, clock } = ports
  const { queryTrades, findTrade, readJournal } = createTradeReads(ports)

  /** In this thread, unless there are so many trades that other requests would wait for them. */
  const calculate = <Name extends OfTradeResults>(
    owner: Owner,
    name: Name,
    ...inputs: CalculationInputs<Name>
  ): AsyncResult<CalculationResult<Name>, 'RateLimitExceeded'> =>
    inputs[0].netProfits.length > mostTradesHere
      ? ports.calculate(owner, name, ...inputs)
      : TE.fromIO(() => calculateHere(name, inputs))

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
          calculate(owner, 'extendedStatistics', results, balances),
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
          calculate(owner, 'tradeCurve', results, balances, cashFlows, points),
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
            queryTrades(owner, filter, (selection) => trades.resultsBy(owner, selection, by)),
            TE.map(({ rows, ...found }) =>
              summed(
                found,
                rows.map(({ key, results }) => groupOf(key, results.netProfits)),
              ),
            ),
          )
        : pipe(
            queryTrades(owner, filter, (selection) => trades.results(owner, selection)),
            TE.bindW('data', ({ rows }) => calculate(owner, 'groupsOf', rows, by, timeZone)),
            TE.map(({ data, ...found }) => summed(found, data)),
          ),

    /** GET /trades/robust: intervals of the statistics, from so many resamples of the trades. */
    getRobustStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
      resamples: number,
    ): AsyncResult<Summed<RobustStatistics>, CalculationTag> =>
      pipe(
        queryTrades(owner, filter, (selection) => trades.results(owner, selection)),
        TE.bindW('data', ({ rows: { netProfits } }) =>
          ports.calculate(owner, 'robustStatistics', Float64Array.from(netProfits), resamples),
        ),
        TE.map(({ data, ...found }) => summed(found, data)),
      ),

    /** GET /trades/:id/deals: what the trade was folded from. */
    getTradeDeals: (
      { owner }: Caller,
      id: string,
    ): AsyncResult<TradeDeals, 'TradeNotFound' | JournalTag> =>
      pipe(
        findTrade(owner, id),
        TE.bindW('deals', ({ closed: { accountId, trade } }) =>
          trades.deals(owner, accountId, trade.positionId),
        ),
        TE.map(({ deals, provenance }) => ({ deals, sums: dealSums(deals), provenance })),
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

/** Exact sums, each rounded once. Volumes in lots, as far as deals report them. */
const dealSums = (deals: readonly BrokerDeal[]): TradeDeals['sums'] => {
  const sumOf = (of: (deal: BrokerDeal) => number): number => sumExactly(deals.map(of))
  return {
    openedVolume: sumOf((deal) => (deal.entry === 'in' ? volumeOf(deal) : 0)),
    closedVolume: sumOf((deal) => (deal.entry === 'out' ? volumeOf(deal) : 0)),
    profit: sumOf(({ profit }) => profit),
    commission: sumOf(({ commission }) => commission),
    swap: sumOf(({ swap }) => swap),
    netProfit: sumExactly(
      deals.flatMap(({ profit, commission, swap }) => [profit, commission, swap]),
    ),
  }
}

const reconciliationOf = ({ check, rereadAt, sum, ...sums }: JournalSums): Reconciliation => ({
  ...sums,
  sum,
  balance: check && sumExactly([sum, check.difference]),
  difference: check && check.difference,
  isComplete: check?.difference === 0 && rereadAt === null,
  checkedAt: check && check.at,
})
