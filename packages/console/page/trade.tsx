// One closed trade, and how its figures come about.
import type { DataOf, Trade } from '@tradeport/client'
import { useEffect, useState } from 'preact/hooks'
import { Reconciled } from './account-summary.tsx'
import { duration, lots, number, price } from './format.ts'
import {
  Age,
  Facts,
  CurrencyProvider,
  Notice,
  Result,
  Section,
  ReadResult,
  ReadSection,
  Table,
  Time,
  useMoney,
  Warnings,
} from './parts.tsx'
import { useAccounts, useData, useReply } from './read.ts'
import { TradePrices } from './trade-prices.tsx'

/** A position that was just closed may not be in the history yet: it is read again for a minute. */
const [everyMs, maxWaitMs] = [5_000, 60_000]

/** Whether the part was shown within the last minute. */
export const useMountedRecently = (): boolean => {
  const [isRecent, setIsRecent] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setIsRecent(false), maxWaitMs)
    return () => clearTimeout(timer)
  }, [])
  return isRecent
}

export const TradePage = ({ id }: { id: string }) => {
  const isRecent = useMountedRecently()
  const untilFound = { ...(isRecent && { everyMs }), isFinal: () => true }
  const trade = useReply('trades', 'getTrade', [id], untilFound)
  const deals = useReply('insights', 'getTradeDeals', [id, {}], untilFound)
  const accounts = useAccounts()
  const accountId = trade.data?.data.accountId
  const account = accounts.data?.find((one) => one.id === accountId)
  const reconciliation = useData(
    'insights',
    'getReconciliation',
    accountId ? [accountId] : undefined,
  )
  return (
    <>
      <p>
        <a href={`/console/trades${account ? `?account=${account.id}` : ''}`}>← Trades</a>
      </p>
      <ReadResult read={trade}>
        {({ data, meta }) => (
          <CurrencyProvider value={account?.currency}>
            <h1>
              {data.symbol} {data.type} {lots(data.volume)} lots <Result amount={data.netProfit} />
            </h1>
            <Warnings warnings={meta.warnings} />
            <EntryAndExit trade={data} accountName={account?.name ?? data.accountId} />
            <TradePrices trade={data} deals={deals.data?.data.deals} />
            <Arithmetic trade={data} />
            <ReadSection title="The broker's deals" read={deals}>
              {({ data: shown, meta: { pagination } }) => (
                <>
                  <Deals deals={shown} />
                  {pagination.has_next && (
                    <Notice>
                      These are the first {number(pagination.limit)} of {number(pagination.total)}{' '}
                      deals. The sums are of all.
                    </Notice>
                  )}
                </>
              )}
            </ReadSection>
            {!reconciliation.whyHidden && (
              <ReadSection
                title="Does the account's history agree with the broker?"
                read={reconciliation}
              >
                {(shown) => (
                  <p>
                    <Reconciled reconciliation={shown} />
                  </p>
                )}
              </ReadSection>
            )}
            <p class="quiet">
              From the broker's deals, read <Age iso={meta.provenance.readAt} />.
            </p>
          </CurrencyProvider>
        )}
      </ReadResult>
    </>
  )
}

const at = (iso: string, value: number) => (
  <>
    <Time iso={iso} /> at {price(value)}
  </>
)

const EntryAndExit = ({ trade, accountName }: { trade: Trade; accountName: string }) => {
  const { type, entryPrice, exitPrice, openedAt, closedAt } = trade
  const move = (exitPrice - entryPrice) * (type === 'buy' ? 1 : -1)
  return (
    <Section title="Entry and exit">
      <Facts
        facts={[
          ['Account', accountName],
          ['Position', trade.positionId],
          ['Opened', at(openedAt, entryPrice)],
          ['Closed', at(closedAt, exitPrice)],
          ['Held', duration(trade.holdingTime)],
          ['Move in its favour', price(Number(move.toPrecision(10)))],
          ['Volume', trade.volumeEstimated === true && 'estimated: a closing deal had none'],
        ]}
      />
    </Section>
  )
}

const Arithmetic = ({ trade }: { trade: Trade }) => {
  const { money } = useMoney()
  return (
    <Section title="How the result adds up">
      <table class="sum">
        <tbody>
          {(
            [
              ['Profit of the price', 'profit'],
              ['Commission', 'commission'],
              ['Swap', 'swap'],
            ] as const
          ).map(([name, field]) => (
            <tr key={field}>
              <th scope="row">{name}</th>
              <td class="figure">{money(trade[field])}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Net profit</th>
            <td class="figure">
              <Result amount={trade.netProfit} />
            </td>
          </tr>
        </tfoot>
      </table>
    </Section>
  )
}

const entries = {
  in: 'opens',
  out: 'closes',
  inout: 'reverses',
  out_by: 'closes by another',
} as const

const Deals = ({ deals: { deals, sums } }: { deals: DataOf<'getTradeDeals'> }) => {
  const { money } = useMoney()
  return (
    <Table
      label="Deals"
      kind="sum wide"
      rows={deals}
      keyOf={({ time, id, entry }) => `${time} ${id} ${entry}`}
      columns={[
        ['Deal', ({ id }) => id, 'row'],
        ['Time', ({ time }) => <Time iso={time} />],
        [
          'What it does',
          ({ type, entry, reason }) =>
            `${type}, ${entry ? entries[entry] : 'not known'}${reason ? ` (${reason.replace('_', ' ')})` : ''}`,
        ],
        ['Lots', ({ volume }) => (volume === undefined ? '–' : lots(volume)), 'figure'],
        ['Price', (deal) => (deal.price === undefined ? '–' : price(deal.price)), 'figure'],
        ['Profit', ({ profit }) => money(profit), 'figure'],
        ['Commission', ({ commission }) => money(commission), 'figure'],
        ['Swap', ({ swap }) => money(swap), 'figure'],
      ]}
      sums={[
        {
          Deal: 'Sum',
          Lots: `${lots(sums.closedVolume)} closed`,
          Profit: money(sums.profit),
          Commission: money(sums.commission),
          Swap: money(sums.swap),
        },
      ]}
    />
  )
}
