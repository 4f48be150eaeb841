// One position: what it is while it is open, and the trade that it has become.
import { isTradeportError, type Position } from '@tradeport/client'
import { money, number, price } from './format.ts'
import { Age, Notice, Result, Section, Shown, Time } from './parts.tsx'
import { useAccounts, useInterval, useRead } from './read.ts'
import { whyHidden, type Session } from './session.ts'
import { TradePage } from './trade.tsx'

const refreshMs = 10_000

export const PositionPage = ({ session, id }: { session: Session; id: string }) => {
  const { client, me } = session
  const hidden = whyHidden(me, 'positions')
  const position = useRead(
    id,
    hidden === undefined
      ? async (signal) => {
          try {
            return (await client.getPosition(id, { signal })).data
          } catch (error) {
            if (isTradeportError(error) && error.code === 'POSITION_NOT_FOUND') return 'closed'
            throw error
          }
        }
      : undefined,
  )
  const accounts = useAccounts(session)
  useInterval(position.refresh, refreshMs)
  if (hidden !== undefined) return <Notice>{hidden}</Notice>
  // A position and the trade that it becomes have one id.
  if (position.data === 'closed') return <TradePage session={session} id={id} />
  return (
    <Shown read={position}>
      {(data) =>
        data !== 'closed' && (
          <Facts
            position={data}
            mayChange={whyHidden(me, 'changing') === undefined}
            readAt={position.readAt}
            account={accounts.data?.find((one) => one.id === data.accountId)}
          />
        )
      }
    </Shown>
  )
}

const Facts = ({
  position,
  account,
  mayChange,
  readAt = 0,
}: {
  position: Position
  account: { readonly name: string; readonly currency: string } | undefined
  mayChange: boolean
  readAt: number | undefined
}) => {
  const { symbol, type, volume, entryPrice, currentPrice, stopLoss, takeProfit } = position
  const facts = [
    ['Account', account?.name ?? position.accountId],
    ['Opened', <Time iso={position.openedAt} />],
    ['Entry', price(entryPrice)],
    ['Now', price(currentPrice)],
    ['Stop loss', stopLoss === undefined ? 'none' : price(stopLoss)],
    ['Take profit', takeProfit === undefined ? 'none' : price(takeProfit)],
    ['Swap', money(position.swap, account?.currency)],
    ['Commission', money(position.commission, account?.currency)],
    ["The broker's number", position.brokerPositionId],
  ] as const
  return (
    <>
      <h1>
        {symbol} <span class={type}>{type}</span> {number(volume)} lots{' '}
        <Result amount={position.unrealizedPnl} currency={account?.currency} />
      </h1>
      <Section
        title="Open position"
        aside={
          <>
            read <Age iso={new Date(readAt).toISOString()} />
          </>
        }
      >
        <dl class="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {mayChange && (
          <a
            href={`/console/trading?account=${position.accountId}&position=${encodeURIComponent(position.id)}`}
          >
            Change or close it
          </a>
        )}
      </Section>
    </>
  )
}
