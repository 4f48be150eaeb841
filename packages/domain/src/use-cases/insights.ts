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
  const { summarise, findTrade, readJournal, calculate } = createTradeReads(ports)

  /** With the movements of the balance where there is one account. */
  const queryResultsAndBalances = (owner: Owner, selection: TradeSelection) =>
    pipe(
      TE.Do,
      TE.apS('results', trades.results(owner, selection)),
      TE.apS(
        'balances',
        ofOnlyAccount(selection, (id) => trades.balances(owner, id, selection.filter.from)),
      ),
    )

  return {
    /** GET /trades/stats?extended=true. */
    getExtendedStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
    ): AsyncResult<Summed<ExtendedStatistics>, CalculationTag> =>
      summarise(
        owner,
        filter,
        (selection) => queryResultsAndBalances(owner, selection),
        ({ results, balances }) =>
          calculate(owner, countOf(results), 'extendedStatistics', results, balances),
      ),

    /** GET /trades/curve: net profit, balance and drawdown over time, in at most `points` points. */
    getTradeCurve: (
      { owner }: Caller,
      filter: TradeFilter,
      points: number,
    ): AsyncResult<Summed<TradeCurve>, CalculationTag> =>
      summarise(
        owner,
        filter,
        (selection) =>
          pipe(
            queryResultsAndBalances(owner, selection),
            TE.apS(
              'cashFlows',
              ofOnlyAccount(selection, (id) =>
                trades.cashFlows(owner, id, selection.filter, mostCashFlows),
              ),
            ),
          ),
        ({ results, balances, cashFlows }) =>
          calculate(owner, countOf(results), 'tradeCurve', results, balances, cashFlows, points),
      ),

    /** GET /trades/breakdown. The zone counts for months, weekdays and hours. */
    getTradeBreakdown: (
      { owner }: Caller,
      filter: TradeFilter,
      by: BreakdownKey,
      timeZone: TimeZone,
    ): AsyncResult<Summed<readonly TradeGroup[]>, CalculationTag> =>
      by === 'symbol' || by === 'side' || by === 'account'
        ? summarise(
            owner,
            filter,
            (selection) => trades.netProfitsBy(owner, selection, by),
            (groups) => {
              const count = groups.reduce((sum, { netProfits }) => sum + netProfits.length, 0)
              return calculate(owner, count, 'groupStatistics', groups)
            },
          )
        : summarise(
            owner,
            filter,
            (selection) => trades.results(owner, selection),
            (results) => calculate(owner, countOf(results), 'groupsOf', results, by, timeZone),
          ),

    /** GET /trades/robust: intervals of the statistics, from so many resamples of the trades. */
    getRobustStatistics: (
      { owner }: Caller,
      filter: TradeFilter,
      resamples: number,
    ): AsyncResult<Summed<RobustStatistics>, CalculationTag> =>
      summarise(
        owner,
        filter,
        (selection) => trades.netProfits(owner, selection),
        (profits) => ports.calculate(owner, 'robustStatistics', profits, resamples),
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

/** What is read of one account; null where the selection has several, or none. */
const ofOnlyAccount = <A>(
  { accountIds: [accountId, ...others] }: TradeSelection,
  read: (accountId: AccountId) => AsyncResult<A>,
): AsyncResult<A | null> =>
  accountId === undefined || others.length > 0 ? TE.right(null) : read(accountId)

const countOf = ({ netProfits }: TradeResults): number => netProfits.length

const reconciliationOf = ({ check, rereadAt, sum, ...sums }: JournalSums): Reconciliation => ({
  ...sums,
  sum,
  balance: check && sumExactly([sum, check.difference]),
  difference: check && check.difference,
  isComplete: check?.difference === 0 && rereadAt === null,
  checkedAt: check && check.at,
})
