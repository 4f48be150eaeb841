// One order, from its record to its outcome.
import type { Order } from '@tradeport/client'
import { number, price } from './format.ts'
import { Notice, Section, Shown, Time } from './parts.tsx'
import { useAccounts, useInterval, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'

const refreshMs = 5_000

export const OrderPage = ({ session, id }: { session: Session; id: string }) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'orders')
  const order = useRead(
    id,
    hidden === undefined
      ? async (signal) => (await client.getOrder(id, { signal })).data
      : undefined,
  )
  const accounts = useAccounts(session)
  useInterval(order.refresh, refreshMs)
  if (hidden !== undefined) return <Notice>{hidden}</Notice>
  return (
    <Shown read={order}>
      {(data) => (
        <Facts
          order={data}
          accountName={
            accounts.data?.find((one) => one.id === data.accountId)?.name ?? data.accountId
          }
        />
      )}
    </Shown>
  )
}

const time = (iso: string | undefined) => iso && <Time iso={iso} />
const level = (value: number | undefined) => value !== undefined && price(value)

/** What the order says of itself; what it does not say is left out. */
const Facts = ({ order, accountName }: { order: Order; accountName: string }) => {
  const { positionId, rejectReason } = order
  const facts = [
    ['Account', accountName],
    ['Status', order.status.replace('_', ' ')],
    ['Why it was rejected', rejectReason && `${rejectReason.message} (${rejectReason.code})`],
    ['Recorded', time(order.createdAt)],
    ['Filled', time(order.filledAt)],
    ['Cancelled', time(order.cancelledAt)],
    ['Expired', time(order.expiredAt)],
    ['Price', level(order.price)],
    ['Filled at', level(order.fillPrice)],
    ['Filled lots', order.filledVolume !== undefined && number(order.filledVolume)],
    ['Stop loss', level(order.stopLoss)],
    ['Take profit', level(order.takeProfit)],
    ['Valid until', time(order.expiresAt)],
    [
      'Position',
      positionId && <a href={`/console/positions/${encodeURIComponent(positionId)}`}>Look at it</a>,
    ],
    ['Comment', order.comment],
    ['Id of the client', order.clientId],
    ["The broker's number", order.brokerOrderId],
    ['Id', order.id],
  ] as const
  return (
    <>
      <h1>
        Order: {order.symbol} <span class={order.type}>{order.type}</span>{' '}
        {order.orderType.replace('_', ' ')} {number(order.volume)} lots
      </h1>
      <Section title="Outcome">
        <dl class="facts">
          {facts.map(
            ([name, value]) =>
              value && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </Section>
    </>
  )
}
