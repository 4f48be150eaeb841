// The report of an account over a period, on a page that prints: what happened, how sure it is, and
// what it leaves out. It is shown whole or not at all.
import type { Account, DataOf, Trade, TradeStatistics } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Curve, type CurveData } from './curve.tsx'
import { duration, localDay, money, number, price } from './format.ts'
import { figureHeads, heads, Moment, Notice, Result, Scroll, Section } from './parts.tsx'
import { Distribution, Months, type Group } from './pictures.tsx'
import { useAccounts, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'
import { Statistics } from './statistics.tsx'
import { AccountFilter, PeriodFilter } from './filters.tsx'

type Reconciliation = DataOf<'getReconciliation'>
type Provenance = Awaited<ReturnType<Session['client']['getTradeStatistics']>>['meta']['provenance']

/** Trades are read one by one for their best and worst, a hundred with each request. */
const mostListed = 5_000
const shownTrades = 5

/** What the report covers, as days of the viewer's zone; undefined: everything. */
interface Period {
  readonly from: string | undefined
  readonly to: string | undefined
}

interface Data {
  readonly account: Account
  readonly period: Period
  readonly madeAt: string
  readonly statistics: TradeStatistics
  readonly provenance: Provenance
  /** Undefined without the capability. */
  readonly insights:
    | {
        readonly curve: CurveData
        readonly reconciliation: Reconciliation
        readonly months: readonly Group[]
        readonly results: readonly Group[]
      }
    | undefined
  /** By net profit, the worst first; undefined where there are too many to be read. */
  readonly trades: readonly Trade[] | undefined
}

const { timeZone } = Intl.DateTimeFormat().resolvedOptions()

/** @throws where the text is no day */
const momentOf = (name: string, day: string, time: string): string => {
  const at = new Date(`${day}T${time}`)
  // February 30th is read as March 2nd.
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || at.getDate() !== Number(day.slice(-2)))
    throw new Error(`${name} must be a day such as 2026-01-31; got "${day}".`)
  return at.toISOString()
}

const readReport = async (
  { client, me }: Session,
  accountId: string,
  period: Period,
  signal: AbortSignal,
): Promise<Data> => {
  const hidden = whyHidden(me, 'accounts') ?? whyHidden(me, 'trades')
  if (hidden !== undefined) throw new Error(hidden)
  // Every read of trades ends at one moment: a trade that closes meanwhile is in none of them. The
  // account and the reconciliation are as they are when they are read.
  const madeAt = new Date().toISOString()
  const end = period.to === undefined ? madeAt : momentOf('to', period.to, '23:59:59.999')
  const start = period.from && momentOf('from', period.from, '00:00:00.000')
  const endDate = end < madeAt ? end : madeAt
  if (start !== undefined && start > endDate)
    throw new Error(
      `from must not be after ${end < madeAt ? period.to : 'today'}; got "${period.from}".`,
    )
  const filter = { accountId, endDate, ...(start && { startDate: start }) }
  const account = (await client.listAccounts({ signal })).data.find(({ id }) => id === accountId)
  if (account === undefined)
    throw new Error(`This key's user has no account with the id "${accountId}".`)
  const hasInsights = whyHidden(me, 'insights') === undefined
  // One after the other: the service computes few long histories of a user at a time.
  const { data: statistics, meta } = await client.getTradeStatistics(
    { ...filter, ...(hasInsights && { extended: true }) },
    { signal },
  )
  const groupsBy = async (by: 'month' | 'result'): Promise<readonly Group[]> =>
    (await client.getTradeBreakdown({ ...filter, by, timeZone }, { signal })).data.groups
  const insights = hasInsights
    ? {
        reconciliation: (await client.getReconciliation(accountId, { signal })).data,
        curve: (await client.getTradeCurve(filter, { signal })).data,
        months: await groupsBy('month'),
        results: await groupsBy('result'),
      }
    : undefined
  const trades: Trade[] = []
  const areListed = statistics.totalTrades <= mostListed
  if (areListed)
    for await (const trade of client.listTrades.each(filter, { signal })) trades.push(trade)
  trades.sort((one, other) => one.netProfit - other.netProfit)
  const { provenance } = meta
  return {
    account,
    period,
    madeAt,
    statistics,
    provenance,
    insights,
    trades: areListed ? trades : undefined,
  }
}

export const Report = ({ session, query }: { session: Session; query: URLSearchParams }) => {
  const accountId = query.get('account') ?? ''
  const period = { from: query.get('from') || undefined, to: query.get('to') || undefined }
  const { data, failure } = useRead(
    JSON.stringify([accountId, period]),
    accountId === '' ? undefined : (signal) => readReport(session, accountId, period, signal),
  )
  const name = data?.account.name
  useEffect(() => {
    const before = document.title
    // The name that browsers propose for the file.
    if (name !== undefined) document.title = `Report of ${name}, ${periodText(period)}`
    return () => void (document.title = before)
  }, [name, period.from, period.to])
  return (
    <>
      <Choice session={session} query={query} isMade={data !== undefined} />
      {/* A program that prints the page waits until this is complete or failed. */}
      <article
        class="report"
        data-report={failure !== undefined ? 'failed' : data === undefined ? 'reading' : 'complete'}
      >
        {failure !== undefined ? (
          <Notice kind="warning">The report cannot be made: {failure}</Notice>
        ) : data !== undefined ? (
          <Sheet data={data} missing={whyHidden(session.me, 'insights')} />
        ) : accountId === '' ? (
          <p class="quiet">Choose an account.</p>
        ) : (
          <p class="reading">Reading…</p>
        )}
      </article>
    </>
  )
}

/** On the screen only. */
const Choice = ({
  session,
  query,
  isMade,
}: {
  session: Session
  query: URLSearchParams
  isMade: boolean
}) => {
  const accounts = useAccounts(session)
  return (
    <form class="filters report-choice" onSubmit={(event) => event.preventDefault()}>
      <AccountFilter query={query} accounts={accounts.data ?? []} none="Choose…" />
      <PeriodFilter query={query} />
      <button type="button" class="primary" disabled={!isMade} onClick={() => print()}>
        Print or save as PDF
      </button>
    </form>
  )
}

const Source = ({ children }: { children: ComponentChildren }) => (
  <p class="source">Source: {children}</p>
)

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const periodText = ({ from, to }: Period): string => {
  if (from === undefined) return to === undefined ? 'the whole history' : `until ${to}`
  return to === undefined ? `since ${from}` : `${from} to ${to}`
}

const Sheet = ({ data, missing }: { data: Data; missing: string | undefined }) => {
  const { account, period, madeAt, statistics, insights, trades } = data
  const { currency } = account
  return (
    <>
      <header class="title">
        <p class="kind">Trading report</p>
        <h1>{account.name}</h1>
        <p>
          Closed trades of {periodText(period)}, made <Moment iso={madeAt} />
        </p>
      </header>
      <Identity account={account} period={period} />
      <Section title="Does the history agree with the broker?">
        {insights === undefined ? (
          <Notice>{missing}</Notice>
        ) : (
          <Reconciled reconciliation={insights.reconciliation} currency={currency} />
        )}
      </Section>
      <Section title="Result">
        <Statistics statistics={statistics} currency={currency} />
        <Source>
          the closed trades of the period, as <code>GET /trades/stats</code> sums them up. Money in{' '}
          {currency}, commission and swap included. Intervals are of 95 %.
        </Source>
      </Section>
      <Section title="Balance and drawdown">
        {insights === undefined ? (
          <Notice>{missing}</Notice>
        ) : (
          <>
            <Curve curve={insights.curve} currency={currency} />
            <Source>
              the closed trades of the period and the bookings between them, as{' '}
              <code>GET /trades/curve</code> computes them.
            </Source>
          </>
        )}
      </Section>
      <Section title="Months and distribution">
        {insights === undefined ? (
          <Notice>{missing}</Notice>
        ) : statistics.totalTrades === 0 ? (
          <p class="quiet">No trade was closed.</p>
        ) : (
          <>
            <div class="pictures">
              <Months groups={insights.months} currency={currency} zone={timeZone} />
              <Distribution groups={insights.results} currency={currency} />
            </div>
            <Source>
              the same trades, as <code>GET /trades/breakdown</code> groups them by month and by
              result.
            </Source>
          </>
        )}
      </Section>
      <Section title="Worst and best trades">
        <Extremes trades={trades} statistics={statistics} currency={currency} />
      </Section>
      <LeftOut {...data} />
    </>
  )
}

const platforms: Readonly<Record<string, string>> = { mt4: 'MetaTrader 4', mt5: 'MetaTrader 5' }

const Identity = ({ account, period }: { account: Account; period: Period }) => (
  <Section title="Account and period">
    <dl class="facts">
      <Fact name="Account">
        {account.accountNumber} ({account.isDemo ? 'demo' : 'not a confirmed demo account'})
      </Fact>
      <Fact name="Broker">{account.broker ?? 'not confirmed'}</Fact>
      <Fact name="Server">{account.server}</Fact>
      <Fact name="Platform">{platforms[account.brokerType] ?? account.brokerType}</Fact>
      <Fact name="Currency">{account.currency}</Fact>
      <Fact name="Leverage">
        {account.leverage === null ? 'not known: never read' : `1:${number(account.leverage)}`}
      </Fact>
      <Fact name="Period">{periodText(period)}</Fact>
      <Fact name="Time zone">{timeZone}</Fact>
    </dl>
    <Source>
      the account as it is linked and as its broker reports it, <code>GET /accounts</code>.
    </Source>
  </Section>
)

const Reconciled = ({
  reconciliation: { deals, firstDealAt, sum, balance, difference, complete, checkedAt },
  currency,
}: {
  reconciliation: Reconciliation
  currency: string
}) => (
  <>
    <p class="verdict">
      {balance === null || difference === null || checkedAt === null
        ? "Not checked: the broker's balance could not be read since the deals last changed, so whether any are missing is not known."
        : complete
          ? "It agrees: the deals add up to the broker's balance."
          : difference === 0
            ? "The deals add up to the broker's balance, but the history is being read again because it did not agree before."
            : `It differs: the broker's balance is ${money(Math.abs(difference), currency)} ${difference > 0 ? 'more' : 'less'} than the deals add up to. Figures of this report may be wrong by that much.`}
    </p>
    <dl class="facts">
      <Fact name="Deals">
        {number(deals)}
        {firstDealAt !== null && `, since ${localDay(firstDealAt)}`}
      </Fact>
      <Fact name="Their sum">{money(sum, currency)}</Fact>
      <Fact name="Balance at the broker">
        {balance === null || checkedAt === null ? (
          'not known'
        ) : (
          <>
            {money(balance, currency)}
            <div class="quiet">
              compared <Moment iso={checkedAt} />
            </div>
          </>
        )}
      </Fact>
      <Fact name="Difference">
        {difference === null ? 'not known' : money(difference, currency)}
      </Fact>
    </dl>
    <Source>
      all deals of the account, deposits and withdrawals included, whatever the period, as{' '}
      <code>GET /accounts/…/reconciliation</code> compares them.
    </Source>
  </>
)

const Extremes = ({
  trades,
  statistics: { totalTrades },
  currency,
}: {
  trades: readonly Trade[] | undefined
  statistics: TradeStatistics
  currency: string
}) => {
  if (trades === undefined)
    return (
      <Notice>
        The worst and best of {number(totalTrades)} trades are not listed: at most{' '}
        {number(mostListed)} are read one by one. A shorter period has them.
      </Notice>
    )
  if (trades.length === 0) return <p class="quiet">No trade was closed.</p>
  // No trade is in both.
  const count = Math.min(shownTrades, Math.ceil(trades.length / 2))
  const groups = [
    ['Worst', trades.slice(0, count)],
    ['Best', trades.slice(count).slice(-count).toReversed()],
  ] as const
  return (
    <>
      <Scroll label="Worst and best trades">
        <table>
          <thead>
            <tr>
              {heads('Position', 'Symbol', 'Side')}
              {figureHeads('Lots', 'Entry', 'Exit', 'Held')}
              {heads('Closed')}
              {figureHeads('Net profit')}
            </tr>
          </thead>
          {groups.map(([name, some]) => (
            <tbody key={name}>
              <tr class="group">
                <th scope="rowgroup" colSpan={9}>
                  {some.length === 0 ? `${name}: only one trade` : name}
                </th>
              </tr>
              {some.map((trade) => (
                <TradeRow key={trade.id} trade={trade} currency={currency} />
              ))}
            </tbody>
          ))}
        </table>
      </Scroll>
      <Source>
        the net profits of all {number(trades.length)} trades, <code>GET /trades</code>. The number
        of a position is the broker's, and leads to its deals in the console.
      </Source>
    </>
  )
}

const TradeRow = ({ trade, currency }: { trade: Trade; currency: string }) => (
  <tr>
    <td>
      <a href={`/console/trades/${encodeURIComponent(trade.id)}`}>{trade.positionId}</a>
    </td>
    <td>{trade.symbol}</td>
    <td>{trade.type}</td>
    <td class="figure">
      {number(trade.volume)}
      {trade.volumeEstimated === true && ' (estimated)'}
    </td>
    <td class="figure">{price(trade.entryPrice)}</td>
    <td class="figure">{price(trade.exitPrice)}</td>
    <td class="figure">{duration(trade.holdingTime)}</td>
    <td>
      <Moment iso={trade.closedAt} />
    </td>
    <td class="figure">
      <Result amount={trade.netProfit} currency={currency} />
    </td>
  </tr>
)

/** Why deals of a position make no trade. */
const reasons: Readonly<Record<Provenance['skipped'][number]['reason'], string>> = {
  unsupported_deal_entry_type:
    'it was reversed or closed by an opposite position, or a deal does not say whether it opens or closes',
  no_open_deal: 'the deal that opened it is not in the history',
  zero_open_volume: 'its opening deals have no volume',
  closed_exceeds_opened: 'more was closed than was opened',
  invalid_timestamp: 'a deal has a time that cannot be read',
  missing_symbol_or_times: 'its symbol or a time is missing',
  missing_price: 'a price is missing',
}

const LeftOut = ({ account, provenance, period, trades, insights }: Data) => {
  const { balance, equity, currency, liveDataUpdatedAt } = account
  const estimated = trades?.filter(({ volumeEstimated }) => volumeEstimated === true).length ?? 0
  const { skipped } = provenance
  return (
    <Section title="What is left out">
      <ul class="left-out">
        <li>
          {skipped.length === 0
            ? 'No position was skipped: the deals of every closed position add up to a trade.'
            : `${number(skipped.length)} ${skipped.length === 1 ? 'position is' : 'positions are'} in no figure and no table but the balance, because the deals do not add up to a trade:`}
          {skipped.length > 0 && (
            <ul>
              {skipped.map(({ positionId, reason }) => (
                <li key={positionId}>
                  Position {positionId}: {reasons[reason]}.
                </li>
              ))}
            </ul>
          )}
        </li>
        <li>
          Positions that are still open.{' '}
          {liveDataUpdatedAt === null ? (
            'What they have gained or lost is not known: the broker could not be read.'
          ) : (
            <>
              Together they stand at <Result amount={equity - balance} currency={currency} />,
              equity less balance, read <Moment iso={liveDataUpdatedAt} />.
            </>
          )}
        </li>
        {(period.from !== undefined || period.to !== undefined) && (
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
        {estimated > 0 && (
          <li>
            The volume of {number(estimated)} trades is estimated, because the broker does not
            report the volume of a closing deal. Their money is exact.
          </li>
        )}
        {insights?.reconciliation.complete === false && (
          <li>
            Deals that the broker has not reported, if the difference above is because of such.
          </li>
        )}
      </ul>
      <Source>
        the broker's deals, read <Moment iso={provenance.readAt} /> from {provenance.source}.
      </Source>
    </Section>
  )
}
