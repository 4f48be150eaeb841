// One account in short: what a reader wants to know first, answered in sentences, and its curve.
import type { Account, DataOf, TradeStatistics } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Curve, type CurveData, type EquityNow } from './curve.tsx'
import { duration, localDay, money, number, percent } from './format.ts'
import { Age, Notice, Result, Section, Shown } from './parts.tsx'
import { inTurn, useRead, type Read } from './read.ts'
import { whyHidden, type Session } from './session.ts'
import { verdict } from './statistics.tsx'

/** Figures of an account that was never read are stored as 0, which says nothing of it. */
export const wasRead = ({ liveDataUpdatedAt, lastSyncAt, createdAt }: Account): boolean =>
  liveDataUpdatedAt !== null || lastSyncAt !== createdAt

const equityNow = ({ equity, liveDataUpdatedAt: at }: Account): EquityNow | undefined =>
  at === null ? undefined : { equity, at }

/** @param changes a number that grows when something may have changed */
export const AccountSummary = ({
  session: { client, me },
  account,
  changes,
}: {
  session: Session
  account: Account
  changes: number
}) => {
  const hidden = whyHidden(me, 'insights')
  const { id: accountId, currency, name } = account
  const readOf = <A,>(read: (signal: AbortSignal) => Promise<{ readonly data: A }>) =>
    hidden === undefined ? inTurn(async (signal) => (await read(signal)).data) : undefined
  const reads = {
    statistics: useRead(
      accountId,
      readOf((signal) => client.getTradeStatistics({ accountId }, { signal })),
    ),
    curve: useRead(
      accountId,
      readOf((signal) => client.getTradeCurve({ accountId }, { signal })),
    ),
    symbols: useRead(
      accountId,
      readOf((signal) => client.getTradeBreakdown({ accountId, by: 'symbol' }, { signal })),
    ),
    reconciliation: useRead(
      accountId,
      readOf((signal) => client.getReconciliation(accountId, { signal })),
    ),
  }
  useEffect(() => {
    if (changes > 0) for (const { refresh } of Object.values(reads)) refresh()
  }, [changes])
  const { statistics, curve, symbols, reconciliation } = reads
  return (
    <Section
      title={`${name} in short`}
      aside={
        <>
          <a href={`/console/trades?account=${accountId}`}>Its trades and statistics</a> ·{' '}
          <a href={`/console/report?account=${accountId}`}>Its report</a>
        </>
      }
    >
      {hidden === undefined ? (
        <>
          <dl class="answers">
            <Answer question="Did it make money?" read={statistics}>
              {(data) => <Made statistics={data} account={account} />}
            </Answer>
            <Answer question="Is that luck?" read={statistics}>
              {verdict}
            </Answer>
            <Answer question="What was the worst time?" read={curve}>
              {(data) => <Worst curve={data} currency={currency} />}
            </Answer>
            <Answer question="Which symbol lost most?" read={symbols}>
              {({ groups }) => <Losing {...{ groups, currency, accountId }} />}
            </Answer>
            <Answer question="Does our history agree with the broker?" read={reconciliation}>
              {(data) => <Reconciled reconciliation={data} currency={currency} />}
            </Answer>
          </dl>
          <Shown read={curve}>
            {(data) => <Curve curve={data} currency={currency} now={equityNow(account)} />}
          </Shown>
          {equityNow(account) === undefined && (
            <Notice kind="warning">
              Equity now is unknown, because the broker cannot be read.{' '}
              {wasRead(account) && (
                <>
                  It was {money(account.equity, currency)} <Age iso={account.lastSyncAt} />.
                </>
              )}
            </Notice>
          )}
        </>
      ) : (
        <Notice>{hidden}</Notice>
      )}
    </Section>
  )
}

/** An answer that cannot be read is unknown; an older one keeps its time. */
const Answer = <A,>({
  question,
  read: { data, readAt, failure },
  children,
}: {
  question: string
  read: Read<A>
  children: (data: A) => ComponentChildren
}) => (
  <div>
    <dt>{question}</dt>
    <dd class={failure === undefined ? undefined : 'stale'}>
      {data === undefined ? (
        failure === undefined ? (
          <span class="reading">Reading…</span>
        ) : (
          'Not known.'
        )
      ) : (
        children(data)
      )}
      {failure !== undefined && (
        <>
          {' '}
          {failure}{' '}
          {readAt !== undefined && (
            <>
              Read <Age iso={new Date(readAt).toISOString()} />.
            </>
          )}
        </>
      )}
    </dd>
  </div>
)

const Made = ({
  statistics: { netProfit, totalTrades },
  account,
}: {
  statistics: TradeStatistics
  account: Account
}) => {
  const { currency, equity, balance, liveDataUpdatedAt } = account
  const isKnown = liveDataUpdatedAt !== null
  const open = equity - balance
  // An open loss may outweigh what was closed with a profit.
  const total = isKnown ? netProfit + open : netProfit
  const word = total > 0 ? 'Yes' : total < 0 ? 'No' : 'Neither made nor lost'
  return (
    <>
      {isKnown ? word : `${word}, as far as is known`}:{' '}
      {totalTrades === 0 ? (
        'no trade has been closed yet'
      ) : (
        <>
          <Result amount={netProfit} currency={currency} /> from {number(totalTrades)} closed{' '}
          {totalTrades === 1 ? 'trade' : 'trades'}, with commission and swap
        </>
      )}
      {isKnown ? (
        <>
          , and <Result amount={open} currency={currency} /> from what is open now.
        </>
      ) : (
        '. What is open now is not known.'
      )}
    </>
  )
}

const between = (from: string, to: string): string =>
  duration(Math.floor((Date.parse(to) - Date.parse(from)) / 1_000))

const Worst = ({ curve: { maxDrawdown }, currency }: { curve: CurveData; currency: string }) => {
  const { amount, percent: share, peakAt, troughAt, recoveredAt } = maxDrawdown
  if (troughAt === null) return <>Net profit never fell below an earlier value.</>
  return (
    <>
      {peakAt === null ? 'From the first trade' : localDay(peakAt)} to {localDay(troughAt)}: closed
      trades lost {money(amount, currency)} from their peak
      {share !== null && `, ${percent(share)} of the highest balance`}.{' '}
      {recoveredAt === null
        ? 'It has not recovered since.'
        : `It recovered on ${localDay(recoveredAt)}${peakAt === null ? '' : `, ${between(peakAt, recoveredAt)} after it began`}.`}
    </>
  )
}

const Losing = ({
  groups,
  currency,
  accountId,
}: {
  groups: DataOf<'getTradeBreakdown'>['groups']
  currency: string
  accountId: string
}) => {
  const losing = groups
    .filter(({ netProfit }) => netProfit < 0)
    .toSorted((one, other) => one.netProfit - other.netProfit)
  const [worst] = losing
  if (worst === undefined)
    return <>{groups.length === 0 ? 'No trade has been closed yet.' : 'None lost.'}</>
  const { key, netProfit, totalTrades, enough } = worst
  return (
    <>
      <a
        href={`/console/trades?${new URLSearchParams({ account: accountId, symbol: key }).toString()}`}
      >
        {key}
      </a>
      : <Result amount={netProfit} currency={currency} /> from {number(totalTrades)} trades
      {!enough && ', too few to tell skill from luck'}. {number(losing.length)} of{' '}
      {number(groups.length)} symbols lost.
    </>
  )
}

/** Whether the history of an account agrees with its broker. */
export const Reconciled = ({
  reconciliation: { deals, difference, complete, checkedAt },
  currency,
}: {
  reconciliation: DataOf<'getReconciliation'>
  currency: string | undefined
}) => {
  if (difference === null || checkedAt === null)
    return (
      <>
        Not known: {number(deals)} deals are kept, and were not compared with the broker's balance
        since the latest one.
      </>
    )
  return (
    <>
      {complete ? (
        <>Yes: the {number(deals)} deals that are kept add up to the broker's balance</>
      ) : (
        <span class="loss">
          No: the {number(deals)} deals that are kept do not explain the broker's balance
          {difference === 0 ? ' for certain' : `, ${money(difference, currency)} of it are missing`}
        </span>
      )}
      , checked <Age iso={checkedAt} />.
    </>
  )
}
