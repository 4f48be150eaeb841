// One closed trade, and how its figures come about.
import type { Trade } from '@tradeport/client'
import { duration, money, number, price } from './format.ts'
import { Age, Notice, Result, Section, Shown, Time } from './parts.tsx'
import { useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'

export const TradePage = ({ session, id }: { session: Session; id: string }) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'trades')
  const trade = useRead(
    id,
    hidden === undefined ? (signal) => client.getTrade(id, { signal }) : undefined,
  )
  const mayReadAccount = whyHidden(me, 'accounts') === undefined
  const accounts = useRead(
    'accounts',
    mayReadAccount ? async (signal) => (await client.listAccounts({ signal })).data : undefined,
  )
  const account = accounts.data?.find((one) => one.id === trade.data?.data.accountId)
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
            <Arithmetic trade={data} currency={account?.currency} />
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
