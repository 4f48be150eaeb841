// The report of an account over a period, on a page that prints: what happened, how sure it is, and
// what it leaves out. It is shown whole or not at all.
import type { DataOf } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Reconciled } from './account-summary.tsx'
import type { Group } from './breakdown.tsx'
import { Curve } from './curve.tsx'
import { AccountFilter, PeriodFilter } from './filters.tsx'
import { localDay, momentOf, number, plural, pluralIs, serviceNow, userZone } from './format.ts'
import { useQuery } from './location.ts'
import {
  Facts,
  CurrencyProvider,
  TimeWithDay,
  Notice,
  Section,
  Skipped,
  Table,
  Result,
  useMoney,
  Warnings,
} from './parts.tsx'
import { Distribution, Months } from './trade-charts.tsx'
import { useAccounts, useRead } from './read.ts'
import { useSession, type Session } from './session.ts'
import { Statistics, worstFirst } from './statistics.tsx'
import { columnsOf } from './trade-list.tsx'
import { withDistinctNames } from './words.ts'

/** To find the best and the worst, all trades are read, a hundred with each request. */
const maxTradesRead = 5_000
const shownTrades = 5

/** What the report covers, as days of the user's zone; undefined: everything. */
interface Period {
  readonly from: string | undefined
  readonly to: string | undefined
}

type Data = Awaited<ReturnType<typeof readReport>>

/** @throws where the text is no day */
const requireMoment = (name: string, ...of: Parameters<typeof momentOf>): string => {
  const moment = momentOf(...of)
  if (!moment) throw new Error(`${name} must be a day such as 2026-01-31; got "${of[0]}".`)
  return moment
}

const readReport = async (
  { client, whyHidden }: Session,
  accountId: string,
  period: Period,
  signal: AbortSignal,
) => {
  const { from, to } = period
  // Every read of trades ends at one moment: a trade that closes meanwhile is in none of them. The
  // account and the reconciliation are as they are when they are read.
  const madeAt = new Date(serviceNow()).toISOString()
  const end = to ? requireMoment('to', to, 'end') : madeAt
  const startDate = from && requireMoment('from', from, 'start')
  const endDate = end < madeAt ? end : madeAt
  if (startDate && startDate > endDate)
    throw new Error(`from must not be after ${end < madeAt ? to : 'today'}; got "${from}".`)
  const filter = { accountId, endDate, ...(startDate && { startDate }) }
  const accounts = withDistinctNames((await client.listAccounts({ signal })).data)
  const account = accounts.find(({ id }) => id === accountId)
  if (!account) throw new Error(`This key's user has no account with the id "${accountId}".`)
  const hasInsights = !whyHidden('insights')
  // One after the other: the service computes few long histories of a user at a time.
  const { data: statistics, meta } = await client.getTradeStatistics(
    { ...filter, ...(hasInsights && { extended: true }) },
    { signal },
  )
  const groupsBy = async (by: 'month' | 'result'): Promise<readonly Group[]> =>
    (await client.getTradeBreakdown({ ...filter, by, timeZone: userZone }, { signal })).data.groups
  const insights = hasInsights
    ? {
        reconciliation: (await client.getReconciliation(accountId, { signal })).data,
        curve: (await client.getTradeCurve(filter, { signal })).data,
        months: await groupsBy('month'),
        results: await groupsBy('result'),
      }
    : undefined
  const trades =
    statistics.totalTrades <= maxTradesRead
      ? worstFirst(await Array.fromAsync(client.listTrades.each(filter, { signal })))
      : undefined
  return {
    account,
    period,
    madeAt,
    statistics,
    provenance: meta.provenance,
    warnings: meta.warnings,
    /** Undefined without the capability. */
    insights,
    /** By net profit, the worst first; undefined where there are too many to be read. */
    trades,
  }
}

export const Report = () => {
  const session = useSession()
  const query = useQuery()
  const accountId = query.get('account') ?? ''
  const period = { from: query.get('from') || undefined, to: query.get('to') || undefined }
  const hidden = session.whyHidden('accounts', 'trades')
  const { data, failure } = useRead(
    'trades',
    JSON.stringify([accountId, period]),
    hidden || accountId === ''
      ? undefined
      : (_, signal) => readReport(session, accountId, period, signal),
  )
  const name = data?.account.name
  useEffect(() => {
    const before = document.title
    // The name that browsers propose for the file.
    if (name) document.title = `Report of ${name}, ${periodText(period)}`
    return () => void (document.title = before)
  }, [name, period.from, period.to])
  const whyNot = hidden ?? failure
  const accounts = useAccounts()
  return (
    <>
      {/* On the screen only. */}
      <form class="filters report-choice">
        <AccountFilter accounts={accounts} none="Choose…" />
        <PeriodFilter />
        <button type="button" class="primary" disabled={!data} onClick={() => print()}>
          Print or save as PDF
        </button>
      </form>
      {/* A program that prints the page waits until this is complete or failed. */}
      <article class="report" data-report={whyNot ? 'failed' : data ? 'complete' : 'reading'}>
        {whyNot ? (
          <Notice kind="warning">The report cannot be made: {whyNot}</Notice>
        ) : data ? (
          <ReportBody {...data} />
        ) : accountId === '' ? (
          <p class="quiet">Choose an account.</p>
        ) : (
          <p class="reading">Reading…</p>
        )}
      </article>
    </>
  )
}

const SourceNote = ({ children }: { children: ComponentChildren }) => (
  <p class="source">Source: {children}</p>
)

const periodText = ({ from, to }: Period): string => {
  if (!from) return to ? `until ${to}` : 'whole history'
  return to ? `${from} to ${to}` : `since ${from}`
}

const ReportBody = (data: Data) => {
  const { account, period, madeAt, statistics, insights } = data
  const whyNoInsights = useSession().whyHidden('insights')
  return (
    <CurrencyProvider value={account.currency}>
      <header class="title">
        <p class="kind">Trading report</p>
        <h1>{account.name}</h1>
        <p>
          Closed trades, {periodText(period)}; made <TimeWithDay iso={madeAt} />
        </p>
      </header>
      <AccountFacts {...data} />
      <Warnings warnings={data.warnings} />
      <Section title="Does the history agree with the broker?" whyHidden={whyNoInsights}>
        {insights && <ReconciliationFacts reconciliation={insights.reconciliation} />}
      </Section>
      <Section title="Result">
        <Statistics statistics={statistics} />
        <SourceNote>
          the closed trades of the period, as <code>GET /trades/stats</code> sums them up. Money in{' '}
          {account.currency}, commission and swap included. Intervals are of 95 %.
        </SourceNote>
      </Section>
      <Section title="Balance and drawdown" whyHidden={whyNoInsights}>
        {insights && (
          <>
            <Curve curve={insights.curve} />
            <SourceNote>
              the closed trades of the period and the bookings between them, as{' '}
              <code>GET /trades/curve</code> computes them.
            </SourceNote>
          </>
        )}
      </Section>
      <Section title="Months and distribution" whyHidden={whyNoInsights}>
        {statistics.totalTrades === 0 && <p class="quiet">No trade was closed.</p>}
        {insights && statistics.totalTrades > 0 && (
          <>
            <div class="charts">
              <Months groups={insights.months} zone={userZone} />
              <Distribution groups={insights.results} />
            </div>
            <SourceNote>
              the same trades, as <code>GET /trades/breakdown</code> groups them by month and by
              result.
            </SourceNote>
          </>
        )}
      </Section>
      <Section title="Worst and best trades">
        <WorstAndBest {...data} />
      </Section>
      <LeftOut {...data} />
    </CurrencyProvider>
  )
}

const platforms: Readonly<Record<string, string>> = { mt4: 'MetaTrader 4', mt5: 'MetaTrader 5' }

const AccountFacts = ({ account, period }: Data) => (
  <Section title="Account and period">
    <Facts
      facts={[
        [
          'Account',
          `${account.accountNumber} (${account.isDemo ? 'demo' : 'not a confirmed demo account'})`,
        ],
        ['Broker', account.broker ?? 'not confirmed'],
        ['Server', account.server],
        ['Platform', platforms[account.brokerType] ?? account.brokerType],
        ['Currency', account.currency],
        [
          'Leverage',
          account.leverage === null ? 'not known: never read' : `1:${number(account.leverage)}`,
        ],
        ['Period', periodText(period)],
        ['Time zone', userZone],
      ]}
    />
    <SourceNote>
      the account as it is linked and as its broker reports it, <code>GET /accounts</code>.
    </SourceNote>
  </Section>
)

const ReconciliationFacts = ({
  reconciliation,
}: {
  reconciliation: DataOf<'getReconciliation'>
}) => {
  const { deals, firstDealAt, sum, balance, difference, checkedAt } = reconciliation
  const { money } = useMoney()
  return (
    <>
      <p class="verdict">
        <Reconciled reconciliation={reconciliation} isPrinted />
      </p>
      <Facts
        facts={[
          [
            'Deals',
            `${number(deals)}${firstDealAt === null ? '' : `, since ${localDay(firstDealAt)}`}`,
          ],
          ['Their sum', money(sum)],
          [
            'Balance at the broker',
            balance === null || checkedAt === null ? (
              'not known'
            ) : (
              <>
                {money(balance)}
                <div class="quiet">
                  compared <TimeWithDay iso={checkedAt} />
                </div>
              </>
            ),
          ],
          ['Difference', difference === null ? 'not known' : money(difference)],
        ]}
      />
      <SourceNote>
        all deals of the account, deposits and withdrawals included, whatever the period, as{' '}
        <code>GET /accounts/…/reconciliation</code> compares them.
      </SourceNote>
    </>
  )
}

const WorstAndBest = ({ trades, statistics: { totalTrades } }: Data) => {
  if (!trades)
    return (
      <Notice>
        The worst and best of {number(totalTrades)} trades are not listed: at most{' '}
        {number(maxTradesRead)} are read one by one. A shorter period has them.
      </Notice>
    )
  if (trades.length === 0) return <p class="quiet">No trade was closed.</p>
  const columns = columnsOf(() => undefined)
  // No trade is among both the worst and the best.
  const count = Math.min(shownTrades, Math.ceil(trades.length / 2))
  const worst = trades.slice(0, count)
  const best = trades.slice(count).slice(-count).toReversed()
  return (
    <>
      <p class="quiet">
        {best.length === 0
          ? 'There is only one.'
          : `The ${worst.length} worst by net profit, and below the line the ${best.length} best.`}
      </p>
      <Table
        label="Worst and best trades"
        rows={[...worst, ...best]}
        keyOf={({ id }) => id}
        classOf={(trade) => (trade === best[0] ? 'best' : undefined)}
        columns={[
          [
            'Position',
            ({ id, positionId }) => (
              <a href={`/console/trades/${encodeURIComponent(id)}`}>{positionId}</a>
            ),
          ],
          columns.symbol,
          columns.type,
          columns.volume,
          columns.entryPrice,
          columns.exitPrice,
          columns.holdingTime,
          ['Closed', ({ closedAt }) => <TimeWithDay iso={closedAt} />],
          columns.netProfit,
        ]}
      />
      <SourceNote>
        the net profits of all {plural(trades.length, 'trade')}, <code>GET /trades</code>. The
        ticket of a position leads to its deals in the console.
      </SourceNote>
    </>
  )
}

const LeftOut = ({ account, provenance, period, trades, insights }: Data) => {
  const { balance, equity, liveDataUpdatedAt } = account
  const { money } = useMoney()
  const estimated = trades?.filter(({ volumeEstimated }) => volumeEstimated === true).length ?? 0
  const { skipped } = provenance
  const { complete = true, difference = 0 } = insights?.reconciliation ?? {}
  return (
    <Section title="What is left out">
      <ul class="left-out">
        <li>
          {skipped.length === 0
            ? 'No position was skipped: the deals of every closed position add up to a trade.'
            : `${pluralIs(skipped.length, 'position')} in no figure and no table but the balance, because the deals do not add up to a trade:`}
          <Skipped skipped={skipped} />
        </li>
        <li>
          Positions that are still open.{' '}
          {liveDataUpdatedAt === null ? (
            'What they have gained or lost is not known: the broker could not be read.'
          ) : (
            <>
              Their floating result was <Result amount={equity - balance} /> on{' '}
              <TimeWithDay iso={liveDataUpdatedAt} />: equity less balance, with swap, and with a
              credit of the broker if there is one.
            </>
          )}
        </li>
        {(period.from || period.to) && (
          <li>
            Trades that were closed outside of the period. One that was opened before it and closed
            in it counts wholly.
          </li>
        )}
        <li>
          Deposits, withdrawals and other bookings are in the balance, and in no result, win rate or
          drawdown in money.
        </li>
        <li>
          Results while a position was open: drawdown is measured from one closing to the next.
        </li>
        {trades === undefined ? (
          <li>
            Which volumes are estimated: of more than {number(maxTradesRead)} trades that is not
            looked up. No figure of this report is computed from volumes.
          </li>
        ) : (
          estimated > 0 && (
            <li>
              The exact volume of {plural(estimated, 'trade')}: the broker does not report the
              volume of a closing deal, so that it is estimated. The money is exact.
            </li>
          )
        )}
        {difference === null ? (
          <li>Deals that the broker has not reported, should there be any.</li>
        ) : (
          !complete &&
          difference !== 0 && (
            <li>
              Deals that the broker has not reported: they may explain why its balance differs by{' '}
              {money(Math.abs(difference))}.
            </li>
          )
        )}
      </ul>
      <SourceNote>
        the broker's deals, read <TimeWithDay iso={provenance.readAt} /> from {provenance.source}.
      </SourceNote>
    </Section>
  )
}
