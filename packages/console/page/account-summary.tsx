// One account in short: what a user wants to know first, answered in sentences, and its curve.
import type { Account, DataOf, ReplyOf } from '@tradeport/client'
import type { ComponentChildren } from 'preact'
import { Curve, type CurveData, type OpenResult } from './curve.tsx'
import { localDay, money, number, percent, plural, pluralIs, sumOf, timeBetween } from './format.ts'
import {
  Age,
  CurrencyProvider,
  Notice,
  Result,
  Section,
  ReadResult,
  useMoney,
  Warnings,
} from './parts.tsx'
import { useData, useReply, type Read } from './read.ts'
import { useSession } from './session.ts'
import { verdict, worstFirst } from './statistics.tsx'
import { reconciledWords } from './words.ts'

/** They change with events, which not every service has, and with the balance. */
const everyMs = 5 * 60_000

/** Figures of an account that was never read are stored as 0, which says nothing of it. */
export const wasRead = ({ liveDataUpdatedAt, lastSyncAt, createdAt }: Account): boolean =>
  liveDataUpdatedAt !== null || lastSyncAt !== createdAt

/**
 * @param open what its open positions have made as a whole, and when they were read; undefined
 * where it is not known
 * @param changes a number that grows when something may have changed
 */
export const AccountSummary = ({
  account,
  open,
  changes,
}: {
  account: Account
  open: OpenResult | undefined
  changes: number
}) => {
  const { whyHidden } = useSession()
  const { id: accountId, currency, name, balance, equity, liveDataUpdatedAt: readAt } = account
  const when = { everyMs, changes: `${changes} ${balance}` }
  const statistics = useReply('insights', 'getTradeStatistics', [{ accountId }], when)
  const curve = useData('insights', 'getTradeCurve', [{ accountId }], when)
  const symbols = useData('insights', 'getTradeBreakdown', [{ accountId, by: 'symbol' }], when)
  const reconciliation = useData('insights', 'getReconciliation', [accountId], when)
  return (
    <Section
      title={`${name} in short`}
      whyHidden={whyHidden('insights')}
      aside={
        <>
          <a href={`/console/trades?account=${accountId}`}>Its trades and statistics</a> ·{' '}
          <a href={`/console/report?account=${accountId}`}>Its report</a>
        </>
      }
    >
      <CurrencyProvider value={currency}>
        <Warnings warnings={statistics.data?.meta.warnings} />
        <dl class="answers">
          <Answer question="Did it make money?" read={statistics}>
            {(reply) => (
              <ProfitAnswer
                {...reply}
                open={open?.amount}
                charges={chargesOf(curve.data)}
                agrees={reconciliation.data?.difference === 0}
              />
            )}
          </Answer>
          <Answer question="Is that luck?" read={statistics}>
            {({ data }) => verdict(data)}
          </Answer>
          <Answer question="What was the worst time?" read={curve}>
            {(data) => <DrawdownAnswer accountId={accountId} curve={data} />}
          </Answer>
          <Answer question="Which symbol lost most?" read={symbols}>
            {({ groups }) => <LosingSymbols groups={groups} accountId={accountId} />}
          </Answer>
          <Answer question="Does our history agree with the broker?" read={reconciliation}>
            {(data) => <Reconciled reconciliation={data} />}
          </Answer>
        </dl>
        <ReadResult read={curve}>
          {(data) => (
            <Curve curve={data} now={readAt === null ? undefined : { equity, at: readAt, open }} />
          )}
        </ReadResult>
        {readAt === null && (
          <Notice
            kind="warning"
            detail={
              wasRead(account) && (
                <>
                  It was {money(equity, currency)} <Age iso={account.lastSyncAt} />.
                </>
              )
            }
          >
            Equity now is unknown, because the broker cannot be read.
          </Notice>
        )}
      </CurrencyProvider>
    </Section>
  )
}

const Answer = <A,>({
  question,
  ...props
}: {
  question: string
  read: Read<A>
  children: (data: A) => ComponentChildren
}) => (
  <div>
    <dt>{question}</dt>
    <dd>
      {props.read.data === undefined && props.read.failure !== undefined && 'Not known.'}
      <ReadResult {...props} />
    </dd>
  </div>
)

/** What the broker charged and corrected besides trades; undefined where that is not known. */
const chargesOf = (curve: CurveData | undefined): number | undefined => {
  const flows = curve?.cashFlows
  if (!flows || flows.count > flows.points.length) return undefined
  return sumOf(flows.points, ({ reason, amount }) =>
    reason === 'charge' || reason === 'correction' ? amount : 0,
  )
}

const ProfitAnswer = ({
  data: { netProfit, totalTrades },
  meta: { provenance, warnings = [] },
  open,
  charges,
  agrees,
}: ReplyOf<'getTradeStatistics'> & {
  open: number | undefined
  charges: number | undefined
  /** Whether the history adds up to the balance. */
  agrees: boolean
}) => {
  const skipped = provenance.skipped.length
  // An open loss, or charges, may outweigh what was closed with a profit.
  const total = sumOf([netProfit, open ?? 0, charges ?? 0], (amount) => amount)
  const isKnown =
    agrees && open !== undefined && charges !== undefined && skipped === 0 && warnings.length === 0
  const word = total > 0 ? 'Yes' : total < 0 ? 'No' : 'Neither made nor lost'
  return (
    <>
      {isKnown ? word : `${word}, as far as is known`}:{' '}
      {totalTrades === 0 ? (
        'no trade has been closed yet'
      ) : (
        <>
          <Result amount={netProfit} /> from {plural(totalTrades, 'closed trade')}
        </>
      )}
      {open === undefined ? (
        ', with commission and swap. What is open now is not known.'
      ) : (
        <>
          , and <Result amount={open} /> from what is open now, both with commission and swap.
        </>
      )}
      {charges !== 0 && (
        <>
          {' '}
          Besides trades the broker booked{' '}
          {charges === undefined ? 'what is not known' : <Result amount={charges} />} in charges and
          corrections.
        </>
      )}
      {skipped > 0 &&
        ` ${pluralIs(skipped, 'closed position')} in no figure, because the deals do not add up to a trade.`}
    </>
  )
}

const DrawdownAnswer = ({ accountId, curve }: { accountId: string; curve: CurveData }) => {
  const { amount, percent: share, peakAt, troughAt, recoveredAt } = curve.maxDrawdown
  const { money } = useMoney()
  if (troughAt === null) return <>Net profit never fell below an earlier value.</>
  return (
    <>
      {peakAt === null ? 'From the first trade' : localDay(peakAt)} to {localDay(troughAt)}: closed
      trades lost {money(amount)} from their peak
      {share !== null && `, ${percent(share)} of the highest balance`}.{' '}
      {recoveredAt === null
        ? 'It has not recovered since.'
        : `It recovered on ${localDay(recoveredAt)}${peakAt === null ? '' : `, ${timeBetween(peakAt, recoveredAt)} after it began`}.`}{' '}
      <DrawdownSymbol {...{ accountId, peakAt, troughAt }} />
    </>
  )
}

/** The symbol that lost most from the peak to the trough. */
const DrawdownSymbol = ({
  accountId,
  peakAt,
  troughAt,
}: {
  accountId: string
  /** Null: the fall began with the first trade. */
  peakAt: string | null
  troughAt: string
}) => {
  const { money } = useMoney()
  // The trade that made the peak is no part of the fall, but all of it may be in one millisecond.
  const firstMs = peakAt !== null && Math.min(Date.parse(peakAt) + 1, Date.parse(troughAt))
  const query = {
    accountId,
    by: 'symbol',
    ...(firstMs !== false && { startDate: new Date(firstMs).toISOString() }),
    endDate: troughAt,
  } as const
  const { data, failure } = useData('insights', 'getTradeBreakdown', [query])
  if (failure) return <>Which symbol caused it is not known: {failure}</>
  const worst = worstFirst(data?.groups ?? [])[0]
  if (!worst) return null
  const { key, netProfit, totalTrades, largestLoss } = worst
  return (
    <>
      {key} lost most in it: <Result amount={netProfit} /> in {plural(totalTrades, 'trade')}
      {totalTrades > 1 && `, ${money(largestLoss)} of it in one`}.
    </>
  )
}

const LosingSymbols = ({
  groups,
  accountId,
}: {
  groups: DataOf<'getTradeBreakdown'>['groups']
  accountId: string
}) => {
  const losing = worstFirst(groups.filter(({ netProfit }) => netProfit < 0))
  const [worst] = losing
  if (!worst) return <>{groups.length === 0 ? 'No trade has been closed yet.' : 'None lost.'}</>
  const { key, netProfit, totalTrades, enough } = worst
  return (
    <>
      <a
        href={`/console/trades?${new URLSearchParams({ account: accountId, symbol: key }).toString()}`}
      >
        {key}
      </a>
      : <Result amount={netProfit} /> from {plural(totalTrades, 'trade')}
      {!enough && ', too few to tell skill from luck'}. {number(losing.length)} of{' '}
      {number(groups.length)} symbols lost.
    </>
  )
}

/** Whether the history of an account agrees with its broker, and when they were compared. */
export const Reconciled = ({
  reconciliation,
  isPrinted = false,
}: {
  reconciliation: DataOf<'getReconciliation'>
  /** Leaves out how long ago that was. */
  isPrinted?: boolean
}) => {
  const { currency } = useMoney()
  const { difference, checkedAt } = reconciliation
  return (
    <>
      <span class={difference === null || difference === 0 ? undefined : 'loss'}>
        {reconciledWords(reconciliation, currency)}
      </span>
      {checkedAt !== null && !isPrinted && (
        <>
          {' '}
          Checked <Age iso={checkedAt} />.
        </>
      )}
    </>
  )
}
