// One position: what it is while it is open, and the trade that it has become.
import { lots, money } from './format.ts'
import { Age, Facts, Result, Section, ReadResult, Time } from './parts.tsx'
import { readPosition, totalResult } from './positions.ts'
import { useAccounts, useRead } from './read.ts'
import { useSession } from './session.ts'
import { TradePage } from './trade.tsx'
import { priceFormatFor } from './words.ts'

const everyMs = 10_000

export const PositionPage = ({ id }: { id: string }) => {
  const { whyHidden } = useSession()
  const read = useRead(
    'positions',
    id,
    async (client, signal) => (await readPosition(client, id, signal)) ?? 'closed',
    { everyMs, isFinal: (data) => data === 'closed' },
  )
  const accounts = useAccounts()
  // A position and the trade that it becomes have one id.
  if (read.data === 'closed') return <TradePage id={id} />
  return (
    <ReadResult read={read}>
      {(position) => {
        if (position === 'closed') return null
        const { accountId, symbol, type, volume, realizedPnl } = position
        const { entryPrice, currentPrice, stopLoss, takeProfit } = position
        const account = accounts.data?.find((one) => one.id === accountId)
        const priceText = priceFormatFor(entryPrice, currentPrice, stopLoss, takeProfit)
        const amount = (value: number): string => money(value, account?.currency)
        const whole = <Result amount={totalResult(position)} currency={account?.currency} />
        return (
          <>
            <h1>
              {symbol} {type} {lots(volume)} lots {whole}
            </h1>
            <Section
              title="Open position"
              aside={
                read.readAt && (
                  <>
                    read <Age iso={read.readAt} />
                  </>
                )
              }
            >
              <Facts
                facts={[
                  ['Account', account?.name ?? accountId],
                  ['Opened', <Time iso={position.openedAt} />],
                  ['Entry', priceText(entryPrice)],
                  ['Now', priceText(currentPrice)],
                  ['Stop loss', priceText(stopLoss)],
                  ['Take profit', priceText(takeProfit)],
                  ['Price result', amount(position.unrealizedPnl)],
                  ['Swap', amount(position.swap)],
                  ['Commission', amount(position.commission)],
                  ['Made by partial closes', realizedPnl !== 0 && amount(realizedPnl)],
                  ['Result, all of these together', whole],
                  ["The broker's number", position.brokerPositionId],
                ]}
              />
              {whyHidden('changing') === undefined && (
                <a
                  href={`/console/trading?account=${accountId}&position=${encodeURIComponent(id)}`}
                >
                  Change or close it
                </a>
              )}
            </Section>
          </>
        )
      }}
    </ReadResult>
  )
}
