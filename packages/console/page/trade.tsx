// One closed trade, and how its figures come about.
import type { DataOf, Trade } from '@tradeport/client'
import { Reconciled } from './account-summary.tsx'
import { duration, money, number, price } from './format.ts'
import { late } from './late.tsx'
import { Age, figureHeads, heads, Notice, Result, Scroll, Section, Shown, Time } from './parts.tsx'
import { useAccounts, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'

const TradePrices = late(async () => (await import('./trade-prices.tsx')).TradePrices)

export const TradePage = ({ session, id }: { session: Session; id: string }) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'trades')
  const trade = useRead(
    id,
    hidden === undefined ? (signal) => client.getTrade(id, { signal }) : undefined,
  )
  const dealsHidden = whyHidden(me, 'insights')
  const deals = useRead(
    id,
    dealsHidden === undefined ? (signal) => client.getTradeDeals(id, {}, { signal }) : undefined,
  )
  const accounts = useAccounts(session)
  const accountId = trade.data?.data.accountId
  const account = accounts.data?.find((one) => one.id === accountId)
  const reconciliation = useRead(
    accountId ?? '',
    dealsHidden === undefined && accountId !== undefined
      ? async (signal) => (await client.getReconciliation(accountId, { signal })).data
      : undefined,
  )
  if (hidden !== undefined) return <Notice>{hidden}</Notice>
  return (
    <>
      <p>
        <a href={`/console/trades${account === undefined ? '' : `?account=${account.id}`}`}>
          ← Trades
        </a>
      </p>
      <Shown read={trade}>
        {({ data, meta }) => (
          <>
            <h1>
              {data.symbol} <span class={data.type}>{data.type}</span> {number(data.volume)} lots{' '}
              <Result amount={data.netProfit} currency={account?.currency} />
            </h1>
            <Facts trade={data} accountName={account?.name ?? data.accountId} />
            <TradePrices session={session} trade={data} deals={deals.data?.data.deals} />
            <Arithmetic trade={data} currency={account?.currency} />
            <Section title="The broker's deals">
              {dealsHidden === undefined ? (
                <Shown read={deals}>
                  {({ data: shown, meta: { pagination } }) => (
                    <>
                      <Deals deals={shown} currency={account?.currency} />
                      {pagination.has_next && (
                        <Notice>
                          These are the first {number(pagination.limit)} of{' '}
                          {number(pagination.total)} deals. The sums are of all.
                        </Notice>
                      )}
                    </>
                  )}
                </Shown>
              ) : (
                <Notice>{dealsHidden}</Notice>
              )}
            </Section>
            {dealsHidden === undefined && (
              <Section title="Does the account's history agree with the broker?">
                <Shown read={reconciliation}>
                  {(shown) => (
                    <p>
                      <Reconciled reconciliation={shown} currency={account?.currency} />
                    </p>
                  )}
                </Shown>
              </Section>
            )}
            <p class="quiet">
              From the broker's deals, read <Age iso={meta.provenance.readAt} />.
            </p>
          </>
        )}
      </Shown>
    </>
  )
}

const Facts = ({ trade, accountName }: { trade: Trade; accountName: string }) => {
  const move = (trade.exitPrice - trade.entryPrice) * (trade.type === 'buy' ? 1 : -1)
  return (
    <Section title="Entry and exit">
      <dl class="facts">
        <div>
          <dt>Account</dt>
          <dd>{accountName}</dd>
        </div>
        <div>
          <dt>Position</dt>
          <dd>{trade.positionId}</dd>
        </div>
        <div>
          <dt>Opened</dt>
          <dd>
            <Time iso={trade.openedAt} /> at {price(trade.entryPrice)}
          </dd>
        </div>
        <div>
          <dt>Closed</dt>
          <dd>
            <Time iso={trade.closedAt} /> at {price(trade.exitPrice)}
          </dd>
        </div>
        <div>
          <dt>Held</dt>
          <dd>{duration(trade.holdingTime)}</dd>
        </div>
        <div>
          <dt>Move in its favour</dt>
          <dd>{price(Number(move.toPrecision(10)))}</dd>
        </div>
        {trade.volumeEstimated === true && (
          <div>
            <dt>Volume</dt>
            <dd>estimated: a closing deal had none</dd>
          </div>
        )}
      </dl>
    </Section>
  )
}

const Arithmetic = ({ trade, currency }: { trade: Trade; currency: string | undefined }) => (
  <Section title="How the result adds up">
    <table class="sum">
      <tbody>
        <tr>
          <th scope="row">Profit of the price</th>
          <td class="figure">{money(trade.profit, currency)}</td>
        </tr>
        <tr>
          <th scope="row">Commission</th>
          <td class="figure">{money(trade.commission, currency)}</td>
        </tr>
        <tr>
          <th scope="row">Swap</th>
          <td class="figure">{money(trade.swap, currency)}</td>
        </tr>
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Net profit</th>
          <td class="figure">
            <Result amount={trade.netProfit} currency={currency} />
          </td>
        </tr>
      </tfoot>
    </table>
  </Section>
)

const entries = {
  in: 'opens',
  out: 'closes',
  inout: 'reverses',
  out_by: 'closes by another',
} as const

const Deals = ({
  deals: { deals, sums },
  currency,
}: {
  deals: DataOf<'getTradeDeals'>
  currency: string | undefined
}) => (
  <Scroll label="Deals">
    <table class="sum wide">
      <thead>
        <tr>
          {heads('Deal', 'Time', 'What it does')}
          {figureHeads('Lots', 'Price', 'Profit', 'Commission', 'Swap')}
        </tr>
      </thead>
      <tbody>
        {deals.map((deal) => (
          <tr key={deal.id}>
            <th scope="row">{deal.id}</th>
            <td>
              <Time iso={deal.time} />
            </td>
            <td>
              {deal.type}, {deal.entry === undefined ? 'not known' : entries[deal.entry]}
              {deal.reason !== undefined && ` (${deal.reason.replace('_', ' ')})`}
            </td>
            <td class="figure">{deal.volume === undefined ? '–' : number(deal.volume)}</td>
            <td class="figure">{deal.price === undefined ? '–' : price(deal.price)}</td>
            <td class="figure">{money(deal.profit, currency)}</td>
            <td class="figure">{money(deal.commission, currency)}</td>
            <td class="figure">{money(deal.swap, currency)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={3}>
            Sum
          </th>
          <td class="figure">{number(sums.closedVolume)}</td>
          <td />
          <td class="figure">{money(sums.profit, currency)}</td>
          <td class="figure">{money(sums.commission, currency)}</td>
          <td class="figure">{money(sums.swap, currency)}</td>
        </tr>
      </tfoot>
    </table>
  </Scroll>
)
