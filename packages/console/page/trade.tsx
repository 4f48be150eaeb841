// One closed trade, and how its figures come about.
import type { DataOf, Trade } from '@tradeport/client'
import { Reconciled } from './account-summary.tsx'
import { duration, lots, number, price } from './format.ts'
import { late } from './late.tsx'
import {
  Age,
  Facts,
  InCurrency,
  Notice,
  Result,
  Section,
  Shown,
  Table,
  Time,
  useMoney,
} from './parts.tsx'
import { dataOf, useAccounts, useRead } from './read.ts'

const TradePrices = late(async () => (await import('./trade-prices.tsx')).TradePrices)

/** The history may not have a position yet that was just closed. */
const untilFound = { everyMs: 5_000, until: () => true }

export const TradePage = ({ id }: { id: string }) => {
  const trade = useRead(
    'trades',
    id,
    (client, signal) => client.getTrade(id, { signal }),
    untilFound,
  )
  const deals = useRead(
    'insights',
    id,
    (client, signal) => client.getTradeDeals(id, {}, { signal }),
    untilFound,
  )
  const accounts = useAccounts()
  const accountId = trade.data?.data.accountId
  const account = accounts.data?.find((one) => one.id === accountId)
  const reconciliation = useRead(
    'insights',
    accountId ?? '',
    accountId === undefined
      ? undefined
      : (client, signal) => client.getReconciliation(accountId, { signal }).then(dataOf),
  )
  return (
    <>
      <p>
        <a href={`/console/trades${account === undefined ? '' : `?account=${account.id}`}`}>
          ← Trades
        </a>
      </p>
      <Shown read={trade}>
        {({ data, meta }) => (
          <InCurrency value={account?.currency}>
            <h1>
              {data.symbol} {data.type} {lots(data.volume)} lots <Result amount={data.netProfit} />
            </h1>
            <EntryAndExit trade={data} accountName={account?.name ?? data.accountId} />
            <TradePrices trade={data} deals={deals.data?.data.deals} />
            <Arithmetic trade={data} />
            <Section title="The broker's deals">
              <Shown read={deals}>
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
              </Shown>
            </Section>
            {reconciliation.hidden === undefined && (
              <Section title="Does the account's history agree with the broker?">
                <Shown read={reconciliation}>
                  {(shown) => (
                    <p>
                      <Reconciled reconciliation={shown} />
                    </p>
                  )}
                </Shown>
              </Section>
            )}
            <p class="quiet">
              From the broker's deals, read <Age iso={meta.provenance.readAt} />.
            </p>
          </InCurrency>
        )}
      </Shown>
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
        of={[
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
      keyOf={({ id }) => id}
      columns={[
        ['Deal', ({ id }) => id, 'row'],
        ['Time', ({ time }) => <Time iso={time} />],
        [
          'What it does',
          ({ type, entry, reason }) =>
            `${type}, ${entry === undefined ? 'not known' : entries[entry]}${reason === undefined ? '' : ` (${reason.replace('_', ' ')})`}`,
        ],
        ['Lots', ({ volume }) => (volume === undefined ? '–' : lots(volume)), 'figure'],
        ['Price', (deal) => (deal.price === undefined ? '–' : price(deal.price)), 'figure'],
        ['Profit', ({ profit }) => money(profit), 'figure'],
        ['Commission', ({ commission }) => money(commission), 'figure'],
        ['Swap', ({ swap }) => money(swap), 'figure'],
      ]}
      sums={[
        [
          'Sum',
          undefined,
          undefined,
          lots(sums.closedVolume),
          undefined,
          money(sums.profit),
          money(sums.commission),
          money(sums.swap),
        ],
      ]}
    />
  )
}
